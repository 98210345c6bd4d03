"""What is remembered about the cells of a notebook: their sources, and what was recorded of them.

Note [The notebook is the program]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
An explanation may need what an earlier cell did: the class of a model, the optimizer, a write, a backward
call. A session keeps the newest recorded cells, up to `CELLS` cells with `EVENTS` events together; of the
others, and of cells that ran without the magic, the shell has the sources. Only the cells that a cell depends
on are read: those that made its tensors or assigned the names that it uses, and so on; and the
`SHARED` newest that used one of its tensors, because they may have written to it. Of what goes beyond
`JOINED` events only the sources are read, so that the hundredth run of a cell costs what the third one does.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import os
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..protocol import is_tensor
from ..recording.modules import is_module
from ..recording.recorder import Recorder
from ..trace.events import (
    BackwardStarted,
    GradSet,
    InPlaceWrite,
    ModeChanged,
    RequiresGradSet,
    Trace,
)
from ..trace.ids import Ids
from ..trace.joining import JoinedTrace, Names, RecordedCell, join_traces
from ..trace.source_positions import SourceText, is_users_file
from ..trace.statements import nodes_of

CELLS = 40  # recorded cells that are kept
EVENTS = 20_000  # of all of them together
JOINED = 3_000  # events of the cells that are read with one
SHARED = 2  # of the cells that used the same tensors; more while they have together
SMALL = 150  # events, as where each statement of a training step has a cell
SOURCES = 200  # earlier cells whose names are looked at
FILES = 20  # files of the user's that are read with a cell
LINES = 5_000  # of all of them together; those in which code ran come first


CHANGES = InPlaceWrite, BackwardStarted, GradSet, RequiresGradSet


class Session:
    """The cells of one notebook, oldest first."""

    def __init__(self) -> None:
        self.cells: list[RecordedCell] = []
        self._ids: list[Ids] = []
        self._count = 0
        self._names: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def begin(self, recorder: Recorder) -> None:
        """A cell is about to be recorded: what earlier cells made is to be found again."""
        recorder.tape.ids.earlier = tuple(reversed(self._ids))

    def end(
        self, recorder: Recorder, trace: Trace, label: str, sources: Mapping[str, str]
    ) -> JoinedTrace | None:
        """A cell was recorded, which the notebook calls `label`; `sources` are all cells before it, by their
        labels. The joined trace of it and the cells that it depends on; None if it depends on none."""
        ids = recorder.tape.ids
        len(trace.events)  # minigrad's nodes get their ids as the events are made
        ids.match_numbers()
        number = {id(each): cell.number for each, cell in zip(self._ids, self.cells, strict=True)}
        known = {each.number: each for each in self.cells}
        tensors, nodes = dict[str, Names](), dict[str, Names]()
        for new, (each, old) in ids.same_tensors.items():  # by the cell that made it, if that is known
            tensors[new] = known[number[id(each)]].tensors.get(old, (number[id(each)], old))
        used = nodes_in(trace) if ids.same_nodes else set()
        for new in ids.same_nodes.keys() & used:
            each, old = ids.same_nodes[new]
            nodes[new] = known[number[id(each)]].nodes.get(old, (number[id(each)], old))
        others = tuple(recorder.tape.locator.others)
        cell = RecordedCell(label, recorder.source, trace, others, tensors, nodes, self._count)
        before = self._needed(cell, sources)
        files = users_files([*before, cell], recorder.tape.namespace, recorder.tape.locator.files)
        before = [*files, *before]
        self._keep(cell, ids)
        if not before:
            return None
        unseen = tuple(self._unseen(cell, sources, recorder.tape.namespace))
        return join_traces([*before, cell])._replace(unseen=unseen)

    def _unseen(
        self, cell: RecordedCell, sources: Mapping[str, str], namespace: dict[str, Any]
    ) -> Iterator[tuple[str, frozenset[str]]]:
        """The earlier cells of which there is no recording, with the tensors and models that they share with
        a cell."""
        read, given = self._names_in(cell.source)
        every = ((name, namespace.get(name)) for name in read | given)
        mine = frozenset(name for name, held in every if is_tensor(held) or is_module(held))
        for each in self._every(sources):
            if each.trace is None and (shared := mine & frozenset().union(*self._names_in(each.source))):
                yield each.label, shared

    def _keep(self, cell: RecordedCell, ids: Ids) -> None:
        """Remember a cell, and forget the oldest ones."""
        self._count += 1
        ids.earlier = ()
        ids.same_tensors, ids.same_nodes = {}, {}
        self.cells.append(cell)
        self._ids.append(ids)
        sizes = [0 if each.trace is None else len(each.trace.events) for each in self.cells]
        while len(self.cells) > 1 and (len(self.cells) > CELLS or sum(sizes) > EVENTS):
            del self.cells[0], self._ids[0], sizes[0]

    def _needed(self, cell: RecordedCell, sources: Mapping[str, str]) -> list[RecordedCell]:
        """The earlier cells that a cell depends on, oldest first."""
        every = self._every(sources)
        found: dict[int, RecordedCell] = {}
        todo: list[tuple[int, RecordedCell]] = [(len(every), cell)]
        shared = newest_sharing(cell, every)
        room = JOINED
        for at, each in todo:  # grows while it is read
            wanted = set(self._givers(each, at, every)) | set(shared)
            made = {number for number, _ in (*each.tensors.values(), *each.nodes.values())}
            wanted |= {i for i, other in enumerate(every[:at]) if other.number in made and other.number >= 0}
            wanted |= set(mode_givers(each, at, every))
            for i in sorted(wanted - found.keys(), reverse=True):
                other = every[i]
                size = 0 if other.trace is None else len(other.trace.events)
                fits = size <= room
                room -= size if fits else 0
                found[i] = other if fits else RecordedCell(other.label, other.source)
                todo.append((i, found[i]))
        return [found[i] for i in sorted(found)]

    def _every(self, sources: Mapping[str, str]) -> list[RecordedCell]:
        """All earlier cells in their order: what was recorded, else the source alone."""
        recorded = {cell.label: cell for cell in self.cells}
        labels = list(sources)[-SOURCES:]
        every = [recorded.pop(label, RecordedCell(label, sources[label])) for label in labels]
        return [*recorded.values(), *every] if recorded else every

    def _givers(self, cell: RecordedCell, at: int, every: Sequence[RecordedCell]) -> Iterator[int]:
        """The cells that last assigned the names that a cell reads, and the one before where that may
        matter."""
        read, _ = self._names_in(cell.source)
        for name in read:
            for i in range(at - 1, -1, -1):
                if name in self._names_in(every[i].source)[1]:
                    yield i
                    break

    def _names_in(self, source: str) -> tuple[frozenset[str], frozenset[str]]:
        """The names that a source reads, and those that it gives values to at the top level."""
        known = self._names.get(source)
        if known is None:
            if len(self._names) > 2 * SOURCES:
                self._names.clear()
            known = self._names[source] = names_in(source)
        return known


def nodes_in(trace: Trace) -> set[str | None]:
    """The nodes of a trace. Others may only have been looked at."""
    made = {state.node for event in trace.events for state in event.made}
    reached = {node.id for event in trace.of(BackwardStarted) for node in event.nodes}
    return made | reached | {node.id for node in trace.nodes}


def newest_sharing(cell: RecordedCell, every: Sequence[RecordedCell]) -> list[int]:
    """The newest cells that may have changed something that a cell uses too."""
    found, size = list[int](), 0
    for i in range(len(every) - 1, -1, -1):
        trace = every[i].trace
        if trace is None or not uses_same(cell, every[i]):
            continue
        size += len(trace.events)
        if len(found) >= SHARED and size > SMALL:
            break
        found.append(i)
    return found


def uses_same(cell: RecordedCell, other: RecordedCell) -> bool:
    """Whether another cell wrote to something or went backward, and used a tensor or a node that a cell uses
    too and that neither has made."""
    if other.trace is None or not any(isinstance(event, CHANGES) for event in other.trace.events):
        return False
    same = set(cell.tensors.values()) & set(other.tensors.values())
    return bool(same or set(cell.nodes.values()) & set(other.nodes.values()))


def joined_program(recorder: Recorder, trace: Trace) -> JoinedTrace | None:
    """The trace of a whole program together with the files of the user's that it imports; None without."""
    return Session().end(recorder, trace, "", {})


# ─── Files of the user's that a cell uses


def users_files(
    cells: Sequence[RecordedCell], namespace: dict[str, Any], located: Mapping[str, str]
) -> list[RecordedCell]:
    """The files of the user's from which the names in some cells come, and those in which code ran, by
    `located`; what a file imports comes before it."""
    names: set[str] = set()
    for cell in cells:
        tree = SourceText(cell.source).tree
        names |= {node.id for node in nodes_of(tree) if isinstance(node, ast.Name)} if tree else set()
        names |= {bound for node in nodes_of(tree) for bound in imported_names(node)} if tree else set()
    spaces = [vars(module) for each in sorted(names) for module in modules_of(namespace.get(each))]
    own = namespace.get("__file__")
    texts: dict[str, str] = {}
    seen = {id(namespace)}
    for space in spaces:
        add_files(space, own, texts, seen)
    texts = {**{file: text for file, text in located.items() if file not in texts}, **texts}
    room, chosen = LINES, set[str]()
    for file in sorted(texts, key=lambda file: file not in located):
        room -= texts[file].count("\n") + 1
        chosen |= {file} if room >= 0 else set()
    files = [file for file in texts if file in chosen]
    return [RecordedCell(label, texts[file]) for label, file in zip(file_labels(files), files, strict=True)]


def add_files(space: dict[str, Any], own: Any, texts: dict[str, str], seen: set[int]) -> None:
    """Add the text of a file of the user's, after those that it imports."""
    if id(space) in seen or not is_users_file(space) or space["__file__"] == own or len(seen) > FILES:
        return
    seen.add(id(space))
    for value in list(space.values()):
        for module in modules_of(value):
            add_files(vars(module), own, texts, seen)
    lines = linecache.getlines(space["__file__"])
    if lines:
        texts[space["__file__"]] = "\n".join(SourceText("".join(lines)).lines)


def modules_of(value: Any) -> Iterator[types.ModuleType]:
    """The module that a value is, or that its class or function comes from."""
    if isinstance(value, types.ModuleType):
        yield value
        return
    kind = value if isinstance(value, type | types.FunctionType) else type(value)
    name = kind.__dict__.get("__module__") if isinstance(kind, type) else kind.__module__
    module = sys.modules.get(name) if type(name) is str else None
    if isinstance(module, types.ModuleType):
        yield module


def imported_names(node: ast.AST) -> Iterator[str]:
    """The variables to which an import gives a value."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]


def file_labels(files: Sequence[str]) -> list[str]:
    """How files are called: by their names, or where two have the same one with their folders."""
    names = [os.path.basename(file) for file in files]
    return [
        name if names.count(name) == 1 else "/".join(file.replace("\\", "/").split("/")[-2:])
        for file, name in zip(files, names, strict=True)
    ]


def mode_givers(cell: RecordedCell, at: int, every: Sequence[RecordedCell]) -> Iterator[int]:
    """The cells that switched the modes which were not as usual when a cell began."""
    switches = () if cell.trace is None else cell.trace.of(ModeChanged)
    for mode in {event.mode for event in switches if event.span is None}:
        for i in range(at - 1, -1, -1):
            trace = every[i].trace
            changes = () if trace is None else trace.of(ModeChanged)
            if any(event.mode == mode and event.span is not None for event in changes):
                yield i
                break


def names_in(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a source reads before it gives them a value, without those of Python, and those that it
    gives values to at the top level."""
    tree = SourceText(source).tree
    read, given = set[str](), set[str]()
    for statement in () if tree is None else tree.body:
        used, stored = names_of(statement)
        read |= used - given
        given |= stored
    return frozenset(read - set(dir(builtins))), frozenset(given)


def names_of(tree: ast.AST) -> tuple[set[str], set[str]]:
    """The names that a part of a source reads, and those that it gives values to; of functions in it those
    that are not their own."""
    read, given = set[str](), set[str]()
    for part in ast.iter_child_nodes(tree):
        used, stored = names_of(part)
        if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            stored |= {part.arg} if isinstance(part, ast.arg) else set()
        read |= used - given if isinstance(part, ast.stmt) else used  # the value comes before the target
        given |= stored
    match tree:
        case ast.Name(id=name, ctx=ast.Load()):
            return {name}, set()
        case ast.Name(id=name):
            return set(), {name}
        case ast.arg(arg=name):
            return set(), {name}
        case ast.AugAssign(target=ast.Name(id=name)):
            return read | {name}, given
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return read - given, {name}
        case ast.Lambda():
            return read - given, set()
        case ast.ClassDef(name=name):
            return read - given, {name}
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return read - given, set()
    return read, given


def cell_sources(shell: Any, source: str, unstored: Sequence[str] = ()) -> tuple[str, dict[str, str]]:
    """The label of the cell with this source, which a shell is running, and the sources of those before it,
    by their labels. Without a history, as programs run notebooks, these are the cells `unstored` since the
    first, which loaded the extension."""
    inputs = list(getattr(shell.history_manager, "input_hist_raw", ()))
    if len(inputs) < 2 and unstored:
        inputs = ["", "", *unstored]
    stored = len(inputs) > 1 and inputs[-1].strip().endswith(source.strip())
    number = len(inputs) - 1 if stored else shell.execution_count
    found = {i: str(each) for i, each in enumerate(inputs) if 0 < i < number}
    return f"In [{number}]", {f"In [{i}]": each for i, each in found.items()}
