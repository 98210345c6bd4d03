"""Running a cell, watched or not, and everything that a user could tell of it, as plain data."""

from __future__ import annotations

import contextlib
import gc
import io
import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from twins import graph, is_tensor, node_name, nodes, numbers

import minigrad
from minigrad.core import modes
from minigrad_viz.recording.recorder import Recorder

OURS = ("note", "__warningregistry__")  # the latter is Python's: where a warning came from, see `place`


class Told(NamedTuple):
    """All that a user could tell of a cell: what it printed and noted, the warnings with their places, the
    error with its user's lines, the modes it left, and every variable."""

    printed: str
    complained: str
    noted: list[Any]
    warned: list[tuple[Any, ...]]
    error: Any
    modes: Any
    variables: list[Any]


class Ran(NamedTuple):
    """A cell that ran: its description, its variables, and what its observer `kept`."""

    told: Told
    space: dict[str, Any]
    kept: list[Any]


def plainly(cell: str, space: dict[str, Any]) -> None:
    """Run a cell."""
    exec(compile(cell, "<cell>", "exec"), space)


def recorded(cell: str, space: dict[str, Any]) -> None:
    """Run a cell under a Recorder, whose trace is kept."""
    code = compile(cell, "<cell>", "exec")
    recorder = Recorder(cell, space)
    recorder.start()
    error: BaseException | None = None
    try:
        exec(code, space)
    except BaseException as raised:
        error = raised
        raise
    finally:
        space["kept"].append(recorder.stop(error))


def run_cell(cell: str, library: Any, how: Callable[[str, dict[str, Any]], Any] = plainly) -> Ran:
    """Run a cell in a new namespace, without the cycle collector, whose moments nobody can foresee."""
    noted: list[Any] = []
    space: dict[str, Any] = {"torch": library, "__name__": "__main__", "weakref": weakref}
    space["note"] = lambda *things: noted.append([exact(thing, done=False) for thing in things])
    space["kept"] = []
    error = None
    out, complaints = io.StringIO(), io.StringIO()
    with calm(library), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaints):
            try:
                how(cell, space)
            except BaseException as raised:
                error = failure(raised)
                raised.__traceback__ = None
        left = library.is_grad_enabled(), threading.active_count(), sys.gettrace(), sys.getprofile()
        library.set_grad_enabled(True)
        kept = space.pop("kept")
    told = Told(
        out.getvalue(), complaints.getvalue(), noted,
        [(w.category.__name__, str(w.message), *place(w)) for w in warned],
        error, left, [(name, exact(value)) for name, value in space.items() if name not in OURS],
    )  # fmt: skip
    return Ran(told, space, kept)


def place(warning: warnings.WarningMessage) -> list[Any]:
    """The file and line of a warning; not of one from PyTorch's C++, which has the place of the nearest frame
    of Python, and while a cell is recorded that is one of the recorder's."""
    return [] if "Triggered internally" in str(warning.message) else [warning.filename, warning.lineno]


@contextlib.contextmanager
def calm(library: Any) -> Iterator[None]:
    """Without the cycle collector; every warning of PyTorch is given each time; the grad mode is put back."""
    collecting = gc.isenabled()
    gc.disable()
    if library is not minigrad:
        library.set_warn_always(True)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        library.set_grad_enabled(True)
        if library is not minigrad:
            library.set_warn_always(False)
        if collecting:
            gc.enable()


def failure(error: BaseException | None) -> Any:
    """Class, text, the user's frames, and the same of what led to it."""
    if error is None:
        return None
    frames = [(f.lineno, f.end_lineno, f.colno, f.end_colno, f.name)
              for f in traceback.extract_tb(error.__traceback__) if f.filename == "<cell>"]  # fmt: skip
    before = [failure(error.__cause__), failure(error.__context__), error.__suppress_context__]
    return type(error).__name__, str(error), getattr(error, "__notes__", None), frames, before


def exact(thing: Any, done: bool = True) -> Any:
    """A thing as plain data, to the bit: a tensor with its gradient and its graph, the rest by its repr or
    its class. Hooks of nodes are counted when the cell is `done`; a recorder may have some while it runs."""
    if is_tensor(thing):
        try:
            kept = thing.grad if thing.is_leaf or thing.retains_grad else None
        except RuntimeError as error:  # of a view whose history PyTorch finds ambiguous
            return str(error)
        hooks = len(thing._backward_hooks or ())
        return [*outside(thing), hooks, None if kept is None else outside(kept), history(thing, done)]
    if isinstance(thing, tuple | list):
        return [exact(one, done) for one in thing]
    if isinstance(thing, int | float | complex | str | bool | None):
        return repr(thing)
    return type(thing).__name__


def outside(t: Any) -> list[Any]:
    """The properties of a tensor without its history."""
    data = numbers(t)
    return [
        str(t.dtype), tuple(t.shape), data.tobytes(), t.requires_grad, t.is_leaf, t.retains_grad, t._version,
        t.output_nr, None if t.grad_fn is None else t.grad_fn.name(),
    ]  # fmt: skip


def history(t: Any, done: bool) -> Any:
    """The graph behind a tensor: names, edges, which saved values can be read, how many hooks there are."""
    if t.grad_fn is None:
        return None
    return graph(t), [[node_name(n), readable(n), hooked(n) if done else None] for n in nodes(t)]


def readable(node: Any) -> list[Any]:
    """What a node saved, or the error that reading it gives."""
    found = []
    for name in ("saved_tensors", *(n for n in dir(type(node)) if n.startswith("_saved_"))):
        try:
            value = getattr(node, name, None)
        except RuntimeError as error:
            found.append((name, str(error)))
        else:
            flat = value if isinstance(value, tuple | list) else [value]
            found.append((name, [outside(v) if is_tensor(v) else repr(v) for v in flat]))
    return found


def hooked(node: Any) -> list[int]:
    """How many hooks a node has, where the library tells."""
    extra = getattr(node, "_extra", None)
    if extra is None:
        return [0, 0, 0]
    return [len(extra.pre or ()), len(extra.post or ()), sum(map(len, extra.tensor_hooks.values()))]


def surroundings() -> list[Any]:
    """What of the process a recording could leave changed."""
    found: list[Any] = [modes.snapshot(), list(sys.meta_path), threading.active_count(), gc.isenabled()]
    torch = sys.modules.get("torch")
    if torch is not None:
        found.append(torch.overrides._get_current_function_mode_stack())
        found.append(type(torch.autograd.Variable._execution_engine).__name__)
        found.append([type(mode) for mode in torch.utils._python_dispatch._get_current_dispatch_mode_stack()])
    return found
