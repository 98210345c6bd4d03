"""One layout for many texts: what pictures of one structure share.

The rounds of a loop are the same stations and arrows with other numbers. Graphviz lays them out once, each
station and each pill as large as the largest text over all of them asks for. So nothing moves from round to
round, and a round is a table of texts for the same picture (see `player/texts.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from graphlib import TopologicalSorter
from typing import NamedTuple

from ..trace.graph import Graph
from .boxes import Box, Contents, Measurements, Pill, box_of, contents_of, measure
from .cards import CardBox
from .dot import dot_text
from .graphviz_wasm import LayoutError
from .lane import LaneBox
from .layout import layout
from .look import CLOSE, CLOSEST, Look
from .positions import TIGHT, Places, read_positions
from .style import MARGIN

AUTO = "auto"  # the direction that fits better
ROOM = 958.0 - 2 * MARGIN  # pixels that a picture should fit in: the output of a cell is usually that wide
TRIED = 120  # stations; a larger graph fits in no direction
NARROWER = 0.7  # a picture from top to bottom that does not fit either has to be that much narrower


class Layout(NamedTuple):
    """What Graphviz was asked, where it put everything, and how large that is in each graph."""

    dot: str
    places: Places
    sizes: tuple[Measurements, ...]


class Structure:
    """Graphs that differ in their numbers only (see `structure_of`), which share a layout; of most pictures
    it is one graph. `direction`, `engine` and `deadline` are those of `Picture`."""

    def __init__(
        self, graphs: Sequence[Graph], look: Look, direction: str, engine: str, deadline: float
    ) -> None:
        self.graphs, self.look, self.direction = graphs, look, direction
        self.engine, self.deadline = engine, deadline
        self._contents: dict[int, Contents] = {}
        self._alone: dict[tuple[int, Look, bool], Measurements] = {}
        self._sizes: dict[tuple[bool, Look], tuple[Measurements, ...]] = {}  # by whether they run down
        self._tried: dict[tuple[str, Look], Layout] = {}
        self._laid: Layout | None = None
        self._problem: LayoutError | None = None

    def of(self, graphs: Sequence[Graph]) -> Structure:
        """The same of other graphs."""
        return Structure(graphs, self.look, self.direction, self.engine, self.deadline)

    @cached_property
    def upright(self) -> Structure:
        """The same from top to bottom."""
        twin = Structure(self.graphs, self.look, "TB", self.engine, self.deadline)
        twin._contents, twin._alone = self._contents, self._alone
        twin._sizes, twin._tried = self._sizes, self._tried
        return twin

    def sizes(self, direction: str, look: Look) -> tuple[Measurements, ...]:
        """How large everything is in each graph, equal in all of them."""
        key = direction == "TB", look
        if key not in self._sizes:
            alone = [self._measured(i, look, key[0]) for i in range(len(self.graphs))]
            self._sizes[key] = equal_sizes(alone, key[0])
        return self._sizes[key]

    def _measured(self, i: int, look: Look, upright: bool) -> Measurements:
        """How large everything is in the `i`th graph alone."""
        key = i, look, upright
        if key not in self._alone:
            if i not in self._contents:
                self._contents[i] = contents_of(self.graphs[i], self.look)
            self._alone[key] = measure(self.graphs[i], look, upright, self._contents[i])
        return self._alone[key]

    def places(self, i: int) -> tuple[str, Places]:
        """What Graphviz was asked, and where everything is in the `i`th graph. Raises a `LayoutError`, the
        same for each."""
        if self._problem is not None:
            raise self._problem
        try:
            self._laid = self._laid or self._fitting()
        except LayoutError as problem:
            self._problem = problem
            raise
        dot, places, sizes = self._laid
        return dot, replace(places, measured=sizes[i])

    def _lay(self, direction: str, look: Look) -> Layout:
        """The layout in one direction."""
        if (direction, look) not in self._tried:
            graph, sizes = self.graphs[0], self.sizes(direction, look)
            widest = union_of(sizes)
            dot = dot_text(graph, widest, direction)
            positions = layout(dot, engine=self.engine, deadline=self.deadline)
            places = read_positions(positions, widest, direction, routes=graph.routes, room=ROOM)
            self._tried[direction, look] = Layout(dot, places, sizes)
        return self._tried[direction, look]

    def _fitting(self) -> Layout:
        """The layout in the direction that was asked for, or in the one that fits better; where there is
        little room, with shorter texts."""
        close, closest = (replace(self.look, widest=widest) for widest in (CLOSE, CLOSEST))
        if self.direction != AUTO:
            laid = self._lay(self.direction, self.look)
            return laid if laid.places.width <= ROOM else self._lay(self.direction, closest)
        large = len(self.graphs[0].stations) > TRIED
        found: Layout | None = None
        for direction, looks in (("LR", (self.look, close, closest)), ("TB", (self.look, closest))):
            tried: dict[str, tuple[float, float]] = {}
            for look in looks:
                alone = self._measured(0, look, direction == "TB")
                boxes = {id: (box.width, box.height) for id, box in alone.boxes.items()}
                if boxes == tried:
                    continue  # its texts are short anyway
                tried = boxes
                if direction == "LR" and not large and least_width(self.graphs[0], alone) > ROOM:
                    continue  # Graphviz could not make it fit either
                found = self._lay(direction, look)
                if found.places.width <= ROOM or large:
                    return found
        across = self._lay("LR", closest)
        if found is None or found.places.width > NARROWER * across.places.width:
            return across
        return found


def least_width(graph: Graph, sizes: Measurements) -> float:
    """How wide a graph is at least, from left to right: what is along its longest path."""
    before: dict[str, dict[str, float]] = {station.id: {} for station in graph.stations}
    for route in graph.routes:
        if sizes.tail(route) == route.source:
            pill = sizes.pills.get(route.id)
            gap = TIGHT if pill is None else max(TIGHT, pill.width + pill.beside + 18)
            before[route.target][route.source] = max(gap, before[route.target].get(route.source, 0.0))
    ends: dict[str, float] = {}
    for id in TopologicalSorter(before).static_order():
        come = (ends[source] + gap for source, gap in before[id].items())
        ends[id] = max(come, default=0.0) + sizes.boxes[id].width
    return max(ends.values(), default=0.0)


def structure_of(graph: Graph) -> Hashable:
    """What two graphs have in common that differ in their numbers only."""
    stations = (
        (s.id, s.order, s.deck and s.deck.name, *((card.role, bool(card.fog)) for card in s.cards))
        for s in graph.stations
    )
    routes = ((r.id, r.source, r.card, r.target, r.tracked, r.cut) for r in graph.routes)
    folds = ((fold.station, fold.members) for fold in graph.folds)
    groups = ((group.id, group.title, group.times, group.kind) for group in graph.groups)
    updates = ((u.id, u.kind, u.title, *(change.name for change in u.changes)) for u in graph.updates)
    return (*stations, *routes, *folds, *groups, *updates, *graph.marks, graph.omitted, graph.unseen)


# ─── Sizes that are equal in all graphs of a structure


def equal_sizes(sizes: Sequence[Measurements], upright: bool) -> tuple[Measurements, ...]:
    """The sizes of graphs of one structure, each part as large as the largest of them."""
    if len(sizes) == 1:
        return tuple(sizes)
    boxes = {id: equal_boxes([each.boxes[id] for each in sizes], upright) for id in sizes[0].boxes}
    ids = dict.fromkeys(id for each in sizes for id in each.pills)
    pills = {id: equal_pills({i: m.pills[id] for i, m in enumerate(sizes) if id in m.pills}) for id in ids}
    lanes = equal_lanes([each.lane for each in sizes])
    return tuple(
        replace(
            each, boxes={id: equal[i] for id, equal in boxes.items()},
            pills={id: pills[id][i] for id in each.pills}, lane=lanes[i],
        )
        for i, each in enumerate(sizes)
    )  # fmt: skip


def union_of(sizes: Sequence[Measurements]) -> Measurements:
    """Equal sizes as one, with every pill and the longest shapes."""
    pills = {id: pill for each in sizes for id, pill in each.pills.items()}
    shapes: dict[str, str] = {}
    for each in sizes:
        shapes |= {id: max(shape, shapes.get(id, ""), key=len) for id, shape in each.shapes.items()}
    return replace(sizes[0], pills=pills, shapes=shapes)


def equal_boxes(boxes: Sequence[Box], upright: bool) -> list[Box]:
    """One station in all graphs."""
    width, height = largest(box.width for box in boxes), largest(box.height for box in boxes)
    if not boxes[0].cards:  # the small stand-in for a leaf
        across, upper = largest(box.across for box in boxes), largest(box.upper for box in boxes)
        return [replace(box, width=width, height=height, across=across, upper=upper) for box in boxes]
    x = 0.0
    cards: list[list[CardBox]] = [[] for _ in boxes]
    for several in zip(*(box.cards for box in boxes), strict=True):
        wide, high = largest(card.width for card in several), largest(card.height for card in several)
        for own, card in zip(cards, several, strict=True):
            own.append(replace(card, x=x, width=wide, height=high))
        x += wide
    decks = [box.deck for box in boxes if box.deck is not None]
    wide, high = largest(deck.width for deck in decks), largest(deck.height for deck in decks)
    return [
        box_of(
            own, None if box.deck is None else replace(box.deck, width=wide, height=high), upright, box.fold,
            box.stack,
        )
        for own, box in zip(cards, boxes, strict=True)
    ]  # fmt: skip


def equal_pills(pills: dict[int, Pill]) -> dict[int, Pill]:
    """The pill at one arrow, by the place of its graph."""
    width, height = largest(pill.width for pill in pills.values()), largest(p.height for p in pills.values())
    beside = largest(pill.beside for pill in pills.values())
    return {i: replace(pill, width=width, height=height, beside=beside) for i, pill in pills.items()}


def equal_lanes(lanes: Sequence[LaneBox]) -> list[LaneBox]:
    """The updates below all graphs, in columns of equal places."""
    places = tuple(map(max, zip(*(lane.places for lane in lanes), strict=True)))
    width = largest(lane.width for lane in lanes)
    return [replace(lane, places=places, width=width) for lane in lanes]


def largest(sizes: Iterable[float]) -> float:
    """The largest of some sizes; 0 without any."""
    return max(sizes, default=0.0)
