"""Scene → groups: which stations are one box until a reader opens it.

Note [What is one box]
    A call of a module is a box, in the box of the call that it ran inside. So is a call of a function of
    `nn.functional` that left several stations and, where the backward call stands in a loop or modules leave
    little room, a statement that did. What repeats at least three times, one after the other, is a box of
    boxes: blocks of the same structure, or the rounds of a loop. Stations that ran one after the other are
    gathered, so a box never needs what was computed from its own results outside of it.

    Leaves come to no box by when they were first seen. A parameter stands in the innermost module that
    contains all of its uses, outside of all modules where there is none. A constant stands in the box that
    alone uses it, unless that was given it as an input, or a variable of the cell still is the constant.
    The same goes for results that nobody saw being computed, `weight.T` for instance.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterator
from typing import Any

import minigrad

from ..trace.events import Forward, Statement, is_whole
from ..trace.graph import FUNCTION, LINE, MODULE, ROUND, Graph, Group
from ..trace.source_text import SourceText
from ..trace.statements import find, head, nodes_of
from .drafts import GroupDraft, absorb, repeats
from .module_calls import ModuleCall, below
from .place import LIBRARY, Place
from .scene import Scene

FUNCTIONAL = re.compile(r"(?:(?:\w+\.)*functional\.|F\.)?(\w+)\(")  # a call of one of its functions
MOST = 5  # boxes and results beside each other; where modules are more, a statement is one box, too
SHORT = 12  # fewer results in a loop are shown one by one
LEAST = {FUNCTION: 2, LINE: 2, MODULE: 1, ROUND: 1}  # results in a box


class Lines:
    """The statements of the cell: which one an expression stands in, and which run again and again."""

    def __init__(self, scene: Scene) -> None:
        text = SourceText(scene.trace.source)
        self.tree, self.lines = text.tree, text.lines
        self.loops = (
            [n for n in nodes_of(self.tree) if isinstance(n, ast.For | ast.While)] if self.tree else []
        )
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        self.definitions = [n for n in nodes_of(self.tree) if isinstance(n, kinds)] if self.tree else []
        self.again = [time for time, event in enumerate(scene.trace.events) if isinstance(event, Statement)]
        started = scene.now.started
        span = None if started is None else started.span
        spans = [started.span for started in scene.index.started]
        inside = span is not None and span.origin == 0 and self.loop(span.line) is not None
        self.modules = False  # whether statements beside modules are boxes, too
        self.looped = inside or (span is not None and (spans.count(span) > 1 or scene.trace.skipped > 0))

    def loop(self, line: int) -> Any:
        """The innermost loop around a line."""
        around = [loop for loop in self.loops if loop.lineno <= line <= (loop.end_lineno or 0)]
        return max(around, key=lambda loop: loop.lineno, default=None)

    def statement(self, place: Place) -> ast.stmt | None:
        """The statement that computed a place, if it runs several times or stands beside modules."""
        span = place.span
        found = find(self.tree, span.line, span.column) if span is not None and span.origin == 0 else None
        if found is None or not (self.modules or found.again or isinstance(found.statement, ast.For)):
            return None
        return found.statement

    def began(self, box: GroupDraft, place: Place) -> bool:
        """Whether a statement began between the last place of a box and another."""
        since = list(box.places())[-1].time
        return any(since < time < place.time for time in self.again)

    def function(self, line: int) -> str:
        """The innermost function around a line of the cell, as it is called: `Neuron(…)`; "" for none."""
        name = ""
        for node in self.definitions:  # outer ones first
            if node.lineno <= line <= (node.end_lineno or 0):
                called = isinstance(node, ast.ClassDef) or node.name not in ("__call__", "forward")
                name = node.name if called else name
        return f"{name}(…)" if name else ""

    def text(self, statement: ast.stmt) -> str:
        """A statement as it stands in the source; of one with a block what stands before it, of a `return`
        what stands behind it."""
        first, column, last, end = head(statement, self.lines)
        lines = self.lines[first - 1 : last]
        lines[-1] = lines[-1].encode()[:end].decode()
        lines[0] = lines[0].encode()[column:].decode()
        return " ".join(" ".join(lines).split()).removeprefix("return ")


def groups_of(scene: Scene, graph: Graph) -> tuple[Group, ...]:
    """The groups of a graph of the scene, with ids that begin at `g0`."""
    there = {station.id for station in graph.stations}
    here = [place for place in scene.shown if place.id in there]
    root, calls = modules(scene, here)
    lines = Lines(scene)
    for box in (root, *list(root.boxes())):
        functions(box, lines)
    lines.modules = chain_of(root) > MOST
    if lines.looped or lines.modules:
        by_line(root, lines)
    for box in (root, *list(root.boxes())):
        rounds(box, lines)
    for box in (root, *root.boxes()):
        for item in box.items:
            if isinstance(item, GroupDraft):
                item.around = box
    absorb(scene, graph, root, calls, here)
    return written(scene, [box for box in root.boxes() if len(list(results(box))) >= LEAST[box.kind]], graph)


def chain_of(root: GroupDraft) -> int:
    """How many boxes and results stand beside each other where modules are shown; 0 without modules."""
    modules = [item for item in root.items if isinstance(item, GroupDraft) and item.kind == MODULE]
    parts = sum(len(list(box.items)) - 1 for box in modules if box.items)
    return len(root.items) + parts if modules else 0


def is_result(place: Place) -> bool:
    """Whether somebody saw the place being computed in a forward pass."""
    return place.order == 1 and not place.brought and bool(place.inputs) and not place.built


def modules(scene: Scene, here: list[Place]) -> tuple[GroupDraft, dict[int, GroupDraft]]:
    """The outermost box with those of the modules in it."""
    root = GroupDraft("", "", [])
    known: dict[int, GroupDraft] = {}
    for place in sorted(here, key=lambda place: place.time):
        if place.id in scene.given or not is_result(place):
            continue
        box = root
        call = scene.index.module_calls.at(place.time)
        for each in call.chain() if call is not None else ():
            inner = known.get(each.event.number)
            if inner is None:
                inner = known[each.event.number] = GroupDraft(MODULE, named(each, box), [], each)
                box.items.append(inner)
            box = inner
        box.items.append(place)
    return root, known


def named(call: ModuleCall, around: GroupDraft) -> str:
    """What the box of a module is called: `0 Linear 2→4`."""
    own = below(call.event.path, around.path)
    return " ".join(filter(None, (own, call.event.kind, call.event.about)))


def functions(box: GroupDraft, lines: Lines) -> None:
    """Put what one call of a function left into one box."""
    found: list[Any] = []
    last: Any = None
    for item in box.items:
        event = None if isinstance(item, GroupDraft) else item.event
        span = None if event is None else event.span
        if event is not None and is_whole(event):
            found.append(GroupDraft(FUNCTION, title_of(event), [item]))
            last = None
            continue
        callee = None if span is None else FUNCTIONAL.match(LIBRARY.sub("", span.flat))
        if callee is None or callee[1] not in vars(minigrad.nn.functional):
            found.append(item)
            last = None
        elif span == last and not lines.began(found[-1], item):
            found[-1].items.append(item)
        else:
            found.append(GroupDraft(FUNCTION, callee[1], [item]))
            last = span
    box.items = found


def title_of(event: Forward) -> str:
    """What the box of a call is called that stands as a whole."""
    return event.op if event.span is None else LIBRARY.sub("", event.span.flat)


def by_line(root: GroupDraft, lines: Lines) -> None:
    """Put what one statement left into one box, where it called no module."""
    found: list[Any] = []
    last: Any = None
    for item in root.items:
        first = item if not isinstance(item, GroupDraft) else next(item.places())
        module = isinstance(item, GroupDraft) and item.kind == MODULE
        statement = None if module or first.leaf else lines.statement(first)
        if statement is None:
            found.append(item)
            last = None
        elif statement is last and (isinstance(statement, ast.For) or not lines.began(found[-1], first)):
            found[-1].items.append(item)
        else:
            found.append(GroupDraft(LINE, lines.text(statement), [item]))
            last = statement
    root.items = [opened(item) for item in found]


def opened(item: Any) -> Any:
    """An item; of a box with a single item that item, unless it is a module."""
    alone = isinstance(item, GroupDraft) and item.kind == LINE and len(item.items) == 1
    return item.items[0] if alone else item


def rounds(box: GroupDraft, lines: Lines) -> None:
    """Put what repeats into one box, with a box for each round."""
    found: list[Any] = []
    done = 0
    for start, length, times in repeats([token(item) for item in box.items]):
        parts = [box.items[start + i * length : start + (i + 1) * length] for i in range(times)]
        chain = length == 1 and not isinstance(parts[0][0], GroupDraft)
        if chain or times * sum(1 for _ in GroupDraft("", "", parts[0]).places()) < SHORT:
            continue
        found += box.items[done:start]
        done = start + length * times
        found.append(alike(parts) if length == 1 else round_boxes(parts, box, lines))
    box.items = [*found, *box.items[done:]]


def alike(parts: list[list[GroupDraft]]) -> GroupDraft:
    """One box for boxes of the same structure."""
    boxes = [part[0] for part in parts]
    first, last = boxes[0], boxes[-1]
    title, rest = first.title.partition(" ")[::2]
    if first.path != last.path:
        title = f"{title} … {last.path.rpartition('.')[2]}"
    whole = GroupDraft(first.kind, f"{title} {rest}".strip(), list(boxes))
    whole.path = first.path if first.path == last.path else first.path.rpartition(".")[0]
    whole.times = len(boxes)
    whole.given = {id for box in boxes for id in box.given}
    return whole


def round_boxes(parts: list[list[Any]], around: GroupDraft, lines: Lines) -> GroupDraft:
    """One box for the rounds of a loop, with a box for each."""
    places = list(GroupDraft("", "", parts[0]).places())
    inside = len(places) > 1 and len({place.span for place in places}) == 1  # of one call of a library
    loop = None if inside or not places[0].line else lines.loop(places[0].line)
    outer = around.title.partition(" ")[0] or lines.function(places[0].line)
    title = lines.text(loop) if loop is not None else outer
    inner = [GroupDraft(ROUND, f"{i}/{len(parts)}", list(part)) for i, part in enumerate(parts, 1)]
    whole = GroupDraft(ROUND, title, list(inner))
    whole.times = len(parts)
    return whole


def token(item: Any) -> tuple[Hashable, ...]:
    """What makes two items of a sequence alike."""
    if not isinstance(item, GroupDraft):
        return "op", item.event.op if item.event is not None else "", item.event and item.event.span
    if item.call is None:
        return item.kind, item.title, len(item.items)
    event = item.call.event
    ran = tuple(place.event.op if place.event is not None else "" for place in item.places())
    return item.kind, event.kind, event.about, ran


def results(box: GroupDraft) -> Iterator[Place]:
    """The computed places of a box and of those inside."""
    for each in (box, *box.boxes()):
        yield from (item for item in each.items if isinstance(item, Place))
        yield from (leaf for leaf in each.leaves if leaf.node is not None)


def written(scene: Scene, boxes: list[GroupDraft], graph: Graph) -> tuple[Group, ...]:
    """The groups of boxes, outer ones first."""
    names = {box: f"g{i}" for i, box in enumerate(boxes)}
    order = {station.id: i for i, station in enumerate(graph.stations)}
    groups: list[Group] = []
    for box in boxes:
        inside = [box, *box.boxes()]
        members = {p.id for each in inside for p in (*each.leaves, *each.items) if isinstance(p, Place)}
        parent = next((names[each] for each in box.chain()[1:] if each in names), "")
        groups.append(
            Group(
                names[box], box.kind, box.title, tuple(sorted(members, key=order.__getitem__)), parent,
                box.path, tuple(parameters(scene, box, inside)), box.times,
            )
        )  # fmt: skip
    return tuple(groups)


def parameters(scene: Scene, box: GroupDraft, inside: list[GroupDraft]) -> Iterator[tuple[str, str]]:
    """The parameters that stand in a box, with their places in its module; of a function its other inputs."""
    known = scene.index.module_calls.parameters
    order = {id: i for i, id in enumerate(known)}  # of the modules; others come behind
    leaves = [leaf for each in inside for leaf in each.leaves]
    for place in sorted(leaves, key=lambda leaf: (order.get(leaf.states[0].id, len(order)), leaf.time)):
        id = place.states[0].id
        path, name = known.get(id, ("", ""))
        if name and place.states[0].parameter:
            way = path[len(box.path) + 1 :] if box.path and path.startswith(f"{box.path}.") else ""
            yield f"{way}.{name}" if way else name, place.id
        elif box.kind == FUNCTION and place.node is None and id in scene.named:
            yield scene.named[id], place.id
