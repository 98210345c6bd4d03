"""Recording outside a notebook, and what is shown of a recorded cell."""

from __future__ import annotations

import sys
import tokenize
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .build import build
from .events import Trace
from .graph import Graph
from .picture import Picture
from .recorder import Recorder
from .table import Table, table_of, to_html, to_text
from .timeline import Frame, frames_of
from .words import text


class Report:
    """A recorded cell, ready to be shown: its picture, its state table, its steps.

    `roots` limits the picture to what these variables were computed from; ValueError if the cell has none
    of that name.
    """

    def __init__(
        self, trace: Trace, *, roots: tuple[str, ...] = (), lang: str | None = None, **options: Any
    ) -> None:
        self.trace = trace
        self.lang = lang
        graph = build(trace)
        self.graph: Graph = narrowed(graph, roots) if roots else graph
        self.picture = Picture(self.graph, lang=lang, **options)
        self.table: Table = table_of(trace, lang)
        self._graph = self._table = True

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The steps of the cell."""
        return frames_of(self.trace, self.graph, lang=self.lang)

    def head(self) -> list[str]:
        """Sentences that stand before the picture."""
        return [text("graph_until_error", self.lang)] if self.trace.error else []

    def text(self) -> str:
        """Outline and state table for a terminal."""
        if not self.graph.stations:
            return text("no_tensors", self.lang)
        parts = [*self.head(), self.picture.outline()] if self._graph else []
        if self.table.rows and self._table:
            parts += [""] * bool(parts) + [to_text(self.table, self.lang)]
        return "\n".join(parts)

    def html(self) -> str:
        """Picture and state table for a page."""
        if not self.graph.stations:
            return f"<p>{text('no_tensors', self.lang)}</p>"
        head = "".join(
            f'<p style="font:13px system-ui,sans-serif;margin:.3em 0">{sentence}</p>'
            for sentence in self.head()
        )
        picture = head + self.picture.html() if self._graph else ""
        return picture + (to_html(self.table, self.lang) if self.table.rows and self._table else "")

    def without(self, *, graph: bool = False, table: bool = False) -> Report:
        """The same report with its picture or its table left out when it is shown."""
        self._graph, self._table = not graph, not table
        return self

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        page = self.html()  # first, for the text tells what hindered it
        return {"text/plain": self.text(), "text/html": page}

    def __repr__(self) -> str:
        return self.text()


def narrowed(graph: Graph, roots: tuple[str, ...]) -> Graph:
    """The part of the picture that leads to the tensors named in `roots`."""
    names = {card.name: station.id for station, card in graph.cards() if card.name}
    missing = [r for r in roots if r not in names]
    if missing:
        raise ValueError(
            f"no tensor of this cell is called {missing[0]!r}; there are: {', '.join(names) or 'none'}"
        )
    keep = {names[r] for r in roots}
    stack = list(keep)
    while stack:
        target = stack.pop()
        for route in graph.routes:
            if route.target == target and route.source not in keep:
                keep.add(route.source)
                stack.append(route.source)
    stations = tuple(s for s in graph.stations if s.id in keep)
    routes = tuple(r for r in graph.routes if r.source in keep and r.target in keep)
    return Graph(stations, routes, graph.note, graph.omitted)


class Recording(AbstractContextManager["Recording"]):
    """`with record() as r: …`, then `r.report` (shows itself) and `r.trace`."""

    def __init__(self, source: str, namespace: dict[str, Any], options: dict[str, Any]) -> None:
        self._recorder = Recorder(source, namespace)
        self._options = options
        self.trace: Trace | None = None

    def __enter__(self) -> Recording:
        self._recorder.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self.trace = self._recorder.stop(error)

    @property
    def report(self) -> Report:
        """What was recorded, ready to be shown; RuntimeError before the block has ended."""
        if self.trace is None:
            raise RuntimeError("record() has nothing to show before its block has ended")
        return Report(self.trace, **self._options)


def record(**options: Any) -> Recording:
    """Record what the block of a `with` statement does with tensors. Options are those of `Report`."""
    import linecache

    frame = sys._getframe(1)
    source = "".join(linecache.getlines(frame.f_code.co_filename))
    return Recording(source, frame.f_globals, options)


def trace_source(
    source: str, filename: str = "<cell>", **options: Any
) -> tuple[Report, BaseException | None]:
    """Run a program and record it; its report, and the error that ended it. SyntaxError if it does not
    compile.

    `sys.exit()` ends the program and is an error only with a code other than 0.
    """
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": filename}
    code = compile(source, filename, "exec")
    recorder = Recorder(source, namespace)
    recorder.start()
    error: BaseException | None = None
    try:
        exec(code, namespace)
    except SystemExit as left:
        error = left if left.code else None
    except Exception as raised:
        error = raised
    except BaseException:
        recorder.stop()
        raise
    return Report(recorder.stop(error), **options), error


def trace_file(path: Path, **options: Any) -> tuple[Report, BaseException | None]:
    """`trace_source` for a file, with its folder on the import path and its name in `sys.argv`, as `python
    FILE` has it.

    OSError if it cannot be read, SyntaxError if it is no Python.
    """
    with tokenize.open(path) as file:
        source = file.read()
    arguments = sys.argv
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        return trace_source(source, str(path), **options)
    finally:
        sys.path.remove(str(path.resolve().parent))
        sys.argv = arguments
