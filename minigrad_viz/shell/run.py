"""Recording outside a notebook: a block of a program, a program; and what was recorded before."""

from __future__ import annotations

import sys
import tokenize
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ..replay import watch
from ..replay.program import Program
from ..trace.events import Trace
from ..trace.joining import JoinedTrace
from .report import Report
from .session import joined_program


class Recording(AbstractContextManager["Recording"]):
    """`with record() as r: …`, then `r`, which shows itself in any notebook, `r.report` and `r.trace`."""

    def __init__(self, source: str, namespace: dict[str, Any], options: dict[str, Any]) -> None:
        self._source, self._namespace = source, namespace
        self._options, self._rounds = options, bool(options.get("live"))
        self.trace: Trace | None = None
        self._program: Program | None = None
        self._joined: JoinedTrace | None = None

    def __enter__(self) -> Recording:
        self._watch = watch(self._source, self._namespace, self._rounds, whole=False)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self.trace, self._program = self._watch.stop(error)
        self._joined = joined_program(self._watch.recorder, self.trace)

    @property
    def report(self) -> Report:
        """What was recorded, ready to be shown; RuntimeError before the block has ended."""
        if self.trace is None:
            raise RuntimeError("record() has nothing to show before its block has ended")
        return Report(self.trace, program=self._program, notebook=self._joined, **self._options)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": repr(self)} if self.trace is None else self.report._repr_mimebundle_()

    def __repr__(self) -> str:
        return object.__repr__(self) if self.trace is None else repr(self.report)


def record(**options: Any) -> Recording:
    """Record what the block of a `with` statement does with tensors. Options are those of `Report`.

    >>> import minigrad as torch
    >>> with record(lang="en") as recording:
    ...     x = torch.tensor(5.0, requires_grad=True)
    ...     (x ** 2).backward()
    >>> print(recording.trace.rounds)
    (25.0,)
    """
    import linecache

    frame = sys._getframe(1)
    source = "".join(linecache.getlines(frame.f_code.co_filename))
    return Recording(source, frame.f_globals, options)


def compile_program(source: str, filename: str) -> Any:
    """The code of a program; SyntaxError if it is none."""
    try:
        return compile(source, filename, "exec")
    except ValueError as problem:  # what older Pythons raise for null bytes
        raise SyntaxError(str(problem)) from None


def trace_source(
    source: str, filename: str = "<cell>", **options: Any
) -> tuple[Report, BaseException | None]:
    """Run a program and record it; its report, and the error that ended it. SyntaxError if it does not
    compile.

    `sys.exit()` ends the program and is an error only with a code other than 0.
    """
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": filename}
    code = compile_program(source, filename)
    watched = watch(source, namespace, bool(options.get("live")))
    error: BaseException | None = None
    try:
        exec(code, namespace)
    except SystemExit as left:
        error = left if left.code else None
    except Exception as raised:
        error = raised
    except BaseException:
        watched.stop()
        raise
    trace, program = watched.stop(error)
    notebook = joined_program(watched.recorder, trace)
    return Report(trace, program=program, notebook=notebook, **options), error


def load(path: Path, **options: Any) -> Report:
    """The report of a trace that was saved as .json; nothing is run. OSError if it cannot be read,
    `InvalidTrace`, a ValueError, if it is not a trace."""
    return Report(Trace.load(path), **options)


def trace_file(path: Path, passed: Sequence[str] = (), **options: Any) -> tuple[Report, BaseException | None]:
    """`trace_source` for a file, with its folder on the import path, and its name and the arguments that are
    `passed` to it in `sys.argv`, as `python FILE ARGUMENTS` has it.

    OSError if it cannot be read, SyntaxError if it is not Python.
    """
    with tokenize.open(path) as file:
        source = file.read()
    arguments = sys.argv
    sys.argv = [str(path), *passed]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        return trace_source(source, str(path), **options)
    finally:
        sys.path.remove(str(path.resolve().parent))
        sys.argv = arguments
