"""Several recorded cells as one trace, so that what is explained of a cell can speak of the whole notebook.

Note [One trace of several cells]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Each cell numbers its tensors, nodes and calls for itself. In the joined trace they are numbered on, and what
a later cell found again has the id that it had before. The texts of the cells are one below the other; a
span of a later cell has the line there. So whatever reads a trace reads this one like that of a single
cell. Which record has which ids is known from the types of its fields.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from ..fields import CALL, MODULE_CALL, NODE, TENSOR, Id
from ..protocol import Value
from .events import Event, Forward, InPlaceWrite, ModeChanged, Snapshot, TensorCreated, Trace
from .source_positions import SourceText, Span
from .statements import nodes_of

Names = tuple[int, str]  # the number of a recorded cell, and an id there


class RecordedCell(NamedTuple):
    """A cell as a notebook has it: its `label` (`In [3]`, `model.py`), its source, and what was recorded
    (None: it ran without a recorder, or is a file). `others` are the texts that its spans number from 1 on;
    `tensors` and `nodes` say which ids the things that it found again had in the cells that made them."""

    label: str
    source: str
    trace: Trace | None = None
    others: tuple[str, ...] = ()
    tensors: Mapping[str, Names] = types.MappingProxyType({})
    nodes: Mapping[str, Names] = types.MappingProxyType({})
    number: int = -1


class Chapter(NamedTuple):
    """Where a cell is in the joined text: after this `line`."""

    cell: RecordedCell
    line: int


class JoinedTrace(NamedTuple):
    """A joined trace, its chapters, and the number of the first event of the last one, and its first call.
    `unseen` are the labels of earlier cells of which there is no recording, with the tensors and models that
    they share with the last one."""

    trace: Trace
    chapters: tuple[Chapter, ...]
    begin: int
    call: int
    unseen: tuple[tuple[str, frozenset[str]], ...] = ()

    def chapter_at(self, line: int) -> Chapter:
        """The chapter in which a line of the joined text is."""
        return next(c for c in reversed(self.chapters) if line > c.line)

    def local(self, span: Span | None) -> Span | None:
        """A place as the last cell has it; of another chapter with an origin of its own."""
        if span is None or span.origin:
            return span
        chapter = self.chapter_at(span.line)
        last = chapter is self.chapters[-1]
        origin = 0 if last else 1 + self.chapters.index(chapter)
        lines = span.line - chapter.line, span.end_line - chapter.line
        return span._replace(line=lines[0], end_line=lines[1], origin=origin)


def join_traces(cells: Sequence[RecordedCell]) -> JoinedTrace:
    """Several cells as one trace; the last one must have been recorded."""
    chapters, line = [], 0
    for cell in cells:
        chapters.append(Chapter(cell, line))
        line += len(cell.source.split("\n"))
    writer = Joiner(chapters)
    for chapter in chapters:
        writer.add(chapter)
    last = cells[-1].trace
    assert last is not None
    files = {module_name(cell.label) for cell in cells} - {""}
    source = "\n".join(without_imports(plain_source(cell.source), files) for cell in cells)
    trace = last._replace(source=source, events=tuple(writer.events), nodes=tuple(writer.nodes.values()))
    trace = trace._replace(names=writer.names, deposits=())
    return JoinedTrace(trace, tuple(chapters), writer.begin, writer.call)


def plain_source(source: str) -> str:
    """The source of a cell as it may be below another: a magic in its first line as a comment."""
    return "#" + source[1:] if source.startswith("%%") else source


def module_name(label: str) -> str:
    """How the file with this label is imported; "" for anything but a file."""
    return label.rpartition("/")[2].removesuffix(".py") if label.endswith(".py") else ""


def without_imports(source: str, files: Set[str]) -> str:
    """A text without its imports from `files`, which are above it: so a name has one definition."""
    tree = SourceText(source).tree if any(file in source for file in files) else None
    found = [node for node in nodes_of(tree) if isinstance(node, ast.ImportFrom)] if tree else []
    lines = source.split("\n")
    for node in found:
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        whole = not lines[first][: node.col_offset].strip()
        whole = whole and not lines[last - 1].encode()[node.end_col_offset :].partition(b"#")[0].strip()
        if whole and (node.module or "").rpartition(".")[2] in files:
            lines[first:last] = [lines[first][: node.col_offset] + "pass", *[""] * (last - first - 1)]
    return "\n".join(lines)


class Joiner:
    """Puts together the events of chapters, one after the other."""

    def __init__(self, chapters: Sequence[Chapter]) -> None:
        self.chapters = chapters
        self.events: list[Event] = []
        self.nodes: dict[str, Any] = {}
        self.names: tuple[tuple[str, str], ...] = ()
        self.begin = self.call = 0
        self._tensors = self._nodes = self._calls = self._modules = 0
        self._known: dict[Names, str] = {}  # the ids in the joined trace
        self._node_known: dict[Names, str] = {}
        self._versions: dict[str, int] = {}
        self._modes: set[str] = set()

    def add(self, chapter: Chapter) -> None:
        """Add what was recorded of a chapter."""
        cell = chapter.cell
        if cell.trace is None:
            return
        self.begin, self.call = len(self.events), self._calls + 1
        rename = self._renaming(chapter)
        again = {id for id, names in cell.tensors.items() if names in self._known}
        for event in cell.trace.events:
            self._take(event, rename, again)
        for node in cell.trace.nodes:
            new = rename(node)
            self.nodes[new.id] = new
        self.names = tuple((rename.tensor(id), name) for id, name in cell.trace.names)
        self._tensors += rename.count(TENSOR) + 1
        self._nodes += rename.count(NODE) + 1
        self._calls += rename.count(CALL)
        self._modules += rename.count(MODULE_CALL) + 1

    def _take(self, event: Event, rename: Renaming, again: set[str]) -> None:
        """Add one event, unless it only says that something was found again."""
        new = rename(event)
        if isinstance(event, TensorCreated) and event.span is None and event.tensor.id in again:
            known = new.tensor
            if known.version > self._versions.get(known.id, known.version):  # written to by what nobody saw
                self.events.append(InPlaceWrite("", known.id, known, (known.id,), None, known.version - 1))
            return
        if isinstance(event, Forward) and event.outputs and all(s.id in again for s in event.outputs):
            return
        match event:
            case Snapshot():
                new = new._replace(call=new.call + self._calls)
            case ModeChanged(span=None) if event.mode in self._modes:
                return
            case ModeChanged():
                self._modes.add(event.mode)
        for state in (*new.made, *new.changed):
            self._versions[state.id] = state.version
        self.events.append(new)

    def _renaming(self, chapter: Chapter) -> Renaming:
        """How the ids and the places of a chapter are called in the joined trace."""
        cell = chapter.cell
        origins: dict[int, int] = {0: chapter.line}
        for number, other in enumerate(cell.others, 1):
            found = [each for each in self.chapters if same_text(each.cell.source, other)]
            if found:
                before = [each for each in found if each.line <= chapter.line]
                origins[number] = (before or found)[-1].line

        def tensor(id: str) -> str:
            key = cell.number, id
            if key not in self._known:
                again = cell.tensors.get(id, key)  # how the cell that made it has it
                new = f"t{self._tensors + int(id[1:].partition('.')[0])}"
                self._known[key] = self._known.setdefault(again, new)
            return self._known[key]

        def node(id: str) -> str:
            key = cell.number, id
            if key not in self._node_known:
                again = cell.nodes.get(id, key)
                self._node_known[key] = self._node_known.setdefault(again, f"n{self._nodes + int(id[1:])}")
            return self._node_known[key]

        return Renaming(tensor, node, self._calls, self._modules, origins)


def same_text(a: str, b: str) -> bool:
    """Whether two texts are the same except for a magic in the first line and the space at the end."""
    one, other = a.rstrip().split("\n"), b.rstrip().split("\n")
    magic = one[0].startswith("%%") or other[0].startswith("%%")
    return one == other or (magic and one[1:] == other[1:] and len(one) > 1)


class Renaming:
    """Gives an event, or a part of one, with the ids, calls and lines that it has in the joined trace."""

    def __init__(
        self,
        tensor: Callable[[str], str],
        node: Callable[[str], str],
        calls: int,
        modules: int,
        origins: Mapping[int, int],
    ) -> None:
        self.tensor = self._counted(TENSOR, tensor)
        self.node = self._counted(NODE, node)
        self.calls, self.modules, self.origins = calls, modules, origins
        self._counts: dict[str, int] = {}

    def _counted(self, kind: str, rename: Callable[[str], str]) -> Callable[[str], str]:
        def counted(id: str) -> str:
            if not id[1:2].isdigit():  # "" and "…" stand for none
                return id
            self._counts[kind] = max(self._counts.get(kind, 0), int(id[1:].partition(".")[0]))
            return rename(id)

        return counted

    def count(self, kind: str) -> int:
        """The largest number of that kind that was renamed."""
        return self._counts.get(kind, 0)

    def __call__(self, record: Any) -> Any:
        """A record with its new ids."""
        parts = [
            value if how is None else how(self, value)
            for how, value in zip(parts_of(record.__class__), record, strict=True)
        ]
        return record._make(parts)

    def number(self, kind: str, number: int) -> int:
        """A call in the joined trace; 0 stands for none."""
        self._counts[kind] = max(self._counts.get(kind, 0), number)
        if kind == CALL:
            return number + self.calls if number else 0
        return number + self.modules

    def span(self, span: Span) -> Span:
        """A place in the joined text."""
        line = self.origins.get(span.origin)
        if line is None:
            return span
        return span._replace(line=span.line + line, end_line=span.end_line + line, origin=0)


How = Callable[[Renaming, Any], Any]


@functools.cache
def parts_of(record: Any) -> tuple[How | None, ...]:
    """How the fields of a record are renamed; None for those that stay."""
    hints = get_type_hints(record, include_extras=True)
    return tuple(renaming_of(hints[name]) for name in record._fields)


def renaming_of(hint: Any) -> How | None:
    """How a value of this type is renamed; None if it has no ids, calls and places."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        ids = [each for each in inner[1:] if isinstance(each, Id)]
        return renaming_of_id(ids[0].kind) if ids else None
    if origin in (Union, types.UnionType):
        ways = [way for each in inner if (way := renaming_of(each)) is not None]
        return maybe(ways[0]) if ways else None
    if origin is tuple and inner[1:] == (Ellipsis,):
        way = renaming_of(inner[0])
        return None if way is None else lambda rename, values: tuple([way(rename, v) for v in values])
    if origin is tuple:
        each = [renaming_of(part) for part in inner]
        return fit_tuple(each) if any(each) else None
    if hint is Span:
        return Renaming.span
    if hint is not Value and isinstance(hint, type) and hasattr(hint, "_fields"):
        return Renaming.__call__ if any(parts_of(hint)) else None
    return None


def renaming_of_id(kind: str) -> How:
    """How an id, or a number, of a kind is renamed."""
    if kind == TENSOR:
        return lambda rename, id: rename.tensor(id)
    if kind == NODE:
        return lambda rename, id: rename.node(id)
    return lambda rename, number: rename.number(kind, number)


def maybe(way: How) -> How:
    """The same for a value that may be None."""
    return lambda rename, value: None if value is None else way(rename, value)


def fit_tuple(ways: Sequence[How | None]) -> How:
    """The same for a tuple of several types."""
    return lambda rename, values: tuple(
        value if way is None else way(rename, value) for way, value in zip(ways, values, strict=True)
    )
