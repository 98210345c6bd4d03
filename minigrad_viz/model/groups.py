"""Scene → groups: which stations are one box until a reader opens it.

Note [What is one box]
    A call of a module is a box, in the box of the call that it ran inside. So is a call of a function of
    `nn.functional` that left several stations and, where the backward call is in a loop or modules leave
    little room, a statement that did. What repeats at least three times, one after the other, is a box of
    boxes: blocks of the same structure, or the rounds of a loop. Stations that ran one after the other are
    gathered, so a box never needs what was computed from its own results outside of it.

    Leaves come to no box by when they were first seen. A parameter is in the innermost module that
    contains all of its uses, outside of all modules where there is none. A constant is in the box that
    alone uses it, unless that was given it as an input, or a variable of the cell still is the constant.
    The same goes for results that nobody saw being computed, `weight.T` for instance.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import minigrad

from ..trace.events import Forward, is_whole
from ..trace.graph import FUNCTION, LINE, MODULE, PARAMETER, ROUND, Graph, Group, Station
from ..trace.source_positions import SourceText
from ..trace.statements import find, nodes_of, statement_head
from .execution import ModuleCall, below
from .fold import leading_to_them
from .scene import Scene
from .stations import LIBRARY, Place

# ─── Groups while they are put together


ROUNDS = 3  # fewer are no repetition worth a box
WORK = 2_000_000  # comparisons that may be made for one sequence


class Repeat(NamedTuple):
    """`rounds` times the same `length` elements, from `start` on."""

    start: int
    length: int
    rounds: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + self.length * self.rounds


def repeats(sequence: Sequence[Hashable]) -> list[Repeat]:
    """The repetitions that cover most, none overlapping another, in order."""
    n = len(sequence)
    kinds: dict[Hashable, int] = {}
    numbers = np.array([kinds.setdefault(element, len(kinds)) for element in sequence], dtype=np.int64)
    found = [
        repeat
        for length in range(1, min(n // ROUNDS, WORK // max(n, 1)) + 1)
        for repeat in of_length(numbers, length)
    ]
    taken: list[Repeat] = []
    for repeat in sorted(found, key=lambda r: (-r.length * r.rounds, r.length, r.start)):
        if all(repeat.end <= other.start or other.end <= repeat.start for other in taken):
            taken.append(repeat)
    return sorted(taken)


def of_length(numbers: NDArray[np.int64], length: int) -> Iterator[Repeat]:
    """The repetitions of so many elements, each as long as it goes. Equal elements have equal numbers."""
    differ = np.flatnonzero(numbers[:-length] != numbers[length:])
    begins, ends = np.append(0, differ + 1), np.append(differ, len(numbers) - length)
    free = 0
    for run in np.flatnonzero(ends - begins >= length * (ROUNDS - 1)):
        start = max(free, int(begins[run]))
        rounds = (int(ends[run]) - start) // length + 1
        if rounds >= ROUNDS:
            yield Repeat(start, length, rounds)
            free = start + length * rounds


class GroupDraft:
    """A group while it is being put together; the outermost has no kind. `items` are boxes and places of the
    scene, in the order in which they ran; `given` the tensors that it received."""

    def __init__(self, kind: str, title: str, items: list[Any], call: ModuleCall | None = None) -> None:
        self.kind, self.title, self.items, self.call = kind, title, items, call
        self.path = call.event.path if call is not None else ""
        self.around: GroupDraft | None = None
        self.times = 1
        self.leaves: list[Place] = []  # what nobody computed and stands inside
        self.given: set[str] = set() if call is None else set(call.inputs)

    def places(self) -> Iterator[Place]:
        """All places inside that were computed there."""
        for item in self.items:
            yield from item.places() if isinstance(item, GroupDraft) else (item,)

    def boxes(self) -> Iterator[GroupDraft]:
        """The boxes inside, outer ones first."""
        for item in self.items:
            if isinstance(item, GroupDraft):
                yield item
                yield from item.boxes()

    def chain(self) -> list[GroupDraft]:
        """This box and those around it, innermost first."""
        found, box = [], self
        while box.around is not None:
            found.append(box)
            box = box.around
        return [*found, box]


def absorb(
    scene: Scene, graph: Graph, root: GroupDraft, calls: dict[int, GroupDraft], here: list[Place]
) -> None:
    """Put leaves, and results that nobody saw, into the boxes that alone use them."""
    at: dict[str, GroupDraft] = {
        p.id: box for box in (root, *root.boxes()) for p in box.items if isinstance(p, Place)
    }
    stations = {station.id: station for station in graph.stations}
    users: dict[str, set[str]] = {}
    main = leading_to_them(graph, [scene.at[root][0].id for root in scene.now.roots if root in scene.at])
    for route in graph.routes:
        if route.target in main or route.source not in main:
            users.setdefault(route.source, set()).add(route.target)
    for place in reversed(here):
        if place.id in at:
            continue
        if place.id in scene.given:
            continue  # another call's
        used = [at[id] for id in users.get(place.id, ()) if id in at]
        box = root
        call = scene.index.module_calls.at(place.time) if place.brought and place.node and not used else None
        if call is not None and call.event.number in calls:
            box = calls[call.event.number]  # a result that nobody used
        elif used and place.order == 1:
            box = home(place, stations[place.id], common(used), scene)
        at[place.id] = box
        box.leaves.append(place)


def common(boxes: list[GroupDraft]) -> GroupDraft:
    """The innermost box around all of these."""
    chains = [box.chain() for box in boxes]
    return next(box for box in chains[0] if all(box in chain for chain in chains))


def home(place: Place, station: Station, box: GroupDraft, scene: Scene) -> GroupDraft:
    """The box of something that is used in `box` alone: that or one around it."""
    card = station.cards[0]
    ids = {state.id for state in place.states}
    chain = box.chain()
    if card.role == PARAMETER:
        chain = [each for each in chain if each.kind in ("", MODULE)]
    elif card.requires_grad and card.is_leaf:
        return chain[-1]
    elif card.held and card.name:
        target = box.kind == FUNCTION and place.node is None and ids.isdisjoint(first_inputs(box))
        return box if target else chain[-1]
    given = (i + 1 for i, each in enumerate(chain) if not ids.isdisjoint(each.given))
    return chain[max(given, default=0)]


def first_inputs(box: GroupDraft) -> set[str | None]:
    """The first input of each result in a box."""
    return {place.inputs[0] for place in box.places() if place.inputs}


# ─── Scene → groups: which stations are one box until a reader opens it


FUNCTIONAL = re.compile(r"(?:(?:\w+\.)*functional\.|F\.)?(\w+)\(")  # a call of one of its functions
MOST = 5  # boxes and results beside each other; where modules are more, a statement is one box, too
SHORT = 12  # fewer results in a loop are shown one by one
LEAST = {FUNCTION: 2, LINE: 2, MODULE: 1, ROUND: 1}  # results in a box


class Lines:
    """The statements of the cell: which one an expression is in, and which run again and again."""

    def __init__(self, scene: Scene) -> None:
        text = SourceText(scene.trace.source)
        self.tree, self.lines = text.tree, text.lines
        self.loops = (
            [n for n in nodes_of(self.tree) if isinstance(n, ast.For | ast.While)] if self.tree else []
        )
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        self.definitions = [n for n in nodes_of(self.tree) if isinstance(n, kinds)] if self.tree else []
        self.again = scene.index.statement_times
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
        """The statement that computed a place, if it runs several times or is beside modules."""
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
        """A statement as written in the source; of one with a block what precedes the block, of a `return`
        what follows it."""
        first, column, last, end = statement_head(statement, self.lines)
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
        rounds(box, lines, [place.time for place in here if place.brought or place.inputs])
    for box in (root, *root.boxes()):
        for item in box.items:
            if isinstance(item, GroupDraft):
                item.around = box
    absorb(scene, graph, root, calls, here)
    return group_list(
        scene, [box for box in root.boxes() if len(list(computed_places(box))) >= LEAST[box.kind]], graph
    )


def chain_of(root: GroupDraft) -> int:
    """How many boxes and results fit beside each other where modules are shown; 0 without modules. A module
    without modules stays closed."""
    modules = [item for item in root.items if isinstance(item, GroupDraft) and item.kind == MODULE]
    parts = sum(
        len(box.items) - 1 for box in modules if any(isinstance(item, GroupDraft) for item in box.items)
    )
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
                inner = known[each.event.number] = GroupDraft(MODULE, module_title(each, box), [], each)
                box.items.append(inner)
            box = inner
        box.items.append(place)
    return root, known


def module_title(call: ModuleCall, around: GroupDraft) -> str:
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
    """The title of the box of a call that is drawn as a whole."""
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
    root.items = [unwrap_box(item) for item in found]


def unwrap_box(item: Any) -> Any:
    """An item; of a box with a single item that item, unless it is a module."""
    alone = isinstance(item, GroupDraft) and item.kind == LINE and len(item.items) == 1
    return item.items[0] if alone else item


def rounds(box: GroupDraft, lines: Lines, ran: Sequence[int]) -> None:
    """Put what repeats into one box, with a box for each round. Few results need none: all that `ran`
    meanwhile count, also those that a library computed inside of a call."""
    found: list[Any] = []
    done = 0
    for start, length, times in repeats([token(item) for item in box.items]):
        parts = [box.items[start + i * length : start + (i + 1) * length] for i in range(times)]
        chain = length == 1 and not isinstance(parts[0][0], GroupDraft)
        seen = [
            place.time for place in GroupDraft("", "", box.items[start : start + length * times]).places()
        ]
        if chain or sum(seen[0] <= time <= seen[-1] for time in ran) < SHORT:
            continue
        found += box.items[done:start]
        done = start + length * times
        found.append(merge_equal_boxes(parts) if length == 1 else round_boxes(parts, box, lines))
    box.items = [*found, *box.items[done:]]


def merge_equal_boxes(parts: list[list[GroupDraft]]) -> GroupDraft:
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


def computed_places(box: GroupDraft) -> Iterator[Place]:
    """The computed places of a box and of those inside."""
    for each in (box, *box.boxes()):
        yield from (item for item in each.items if isinstance(item, Place))
        yield from (leaf for leaf in each.leaves if leaf.node is not None)


def group_list(scene: Scene, boxes: list[GroupDraft], graph: Graph) -> tuple[Group, ...]:
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
    """The parameters that are in a box, with their places in its module; of a function its other inputs."""
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
