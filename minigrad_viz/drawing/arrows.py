"""Where Graphviz put everything, and the arrows that are drawn along its routes.

`Places` holds Graphviz's answer to what `dot` asked; `forward_arrow` and `gradient_arrow` turn a route's
curve into the two arrows that are drawn along it.

Note [Two arrows along one curve]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Graphviz draws an edge from box to box.
We want two arrows: the forward one between the upper decks and the gradient one, the other way, between the
lower decks. Boxes stand in columns, and only the gaps between columns are empty. So each arrow leaves its
deck level, changes height inside the first gap, follows Graphviz's curve through every column it has to
pass (the gradient arrow a little aside, where no box is in the way), and changes height to its last deck
inside the last gap. Where the route goes from one column to the next there is but one gap and nothing in
between, and an arrow is one S between two decks.

Note [Four directions]
~~~~~~~~~~~~~~~~~~~~~~
The arrows are computed for a graph that runs from left to
right, and `Axes` turns the plane for the others: `u` grows the way the forward pass runs, `v` across it.
Where it runs up or down, columns lie on their side, and the two arrows of a station are not at its two
decks, which then lie behind each other, but side by side: the forward one at a quarter of its width, the
gradient one at three quarters.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ..trace.graph import Route
from .boxes import Measured
from .curves import Cubic, Point, at, bend, between, join, level, mirrored, shifted
from .dot import NODESEP

Rect = tuple[float, float, float, float]  # left, top, right, bottom

# How far below Graphviz's curve the arrows pass a column: the first of these that meets no box.
FORWARD, GRADIENT = (0.0, -6.0, 6.0), (15.0, 8.0, -15.0, -8.0, 0.0)
STRAIGHT = 11.0  # the level bit before a deck, where the arrow's head is
LANE = 11.0  # pixels between forward arrows that leave over the top of a station with several cards


class Axes(NamedTuple):
    """How the plane is turned, see Note [Four directions]."""

    upright: bool
    sign: float

    def into(self, point: Point) -> Point:
        """(x, y) as (u, v)."""
        x, y = point
        return (self.sign * y, x) if self.upright else (self.sign * x, y)

    def back(self, point: Point) -> Point:
        """(u, v) as (x, y)."""
        u, v = point
        return (v, self.sign * u) if self.upright else (self.sign * u, v)


AXES = {"LR": Axes(False, 1.0), "RL": Axes(False, -1.0), "TB": Axes(True, 1.0), "BT": Axes(True, -1.0)}


@dataclass(frozen=True)
class Places:
    """Where Graphviz put things: centres by box id and frames by order, in pixels, y downwards; curves by
    route id (cubic Béziers), in (u, v).

    A frame is (left, top, right, bottom). `columns` are the borders of the columns of boxes, in u; `column`
    says in which of them a box stands.
    """

    measured: Measured
    axes: Axes
    centres: dict[str, Point]
    curves: dict[str, list[Cubic]]
    frames: dict[int, Rect]
    columns: list[tuple[float, float]]
    column: dict[str, int]

    @cached_property
    def standing(self) -> list[list[Rect]]:
        """The boxes of each column, in (u, v)."""
        columns: list[list[Rect]] = [[] for _ in self.columns]
        for id, column in self.column.items():
            columns[column].append(self.extent(id))
        return columns

    def corner(self, id: str) -> Point:
        """Upper left corner of a station or reference chip, in (x, y)."""
        (x, y), box = self.centres[id], self.measured.boxes[id]
        return x - box.width / 2, y - box.height / 2

    def extent(self, id: str) -> Rect:
        """Least u and v and greatest u and v of a box."""
        u, v = self.axes.into(self.centres[id])
        half, across = _halves(self.measured, id, self.axes)
        return u - half, v - across, u + half, v + across

    def inside(self, pieces: Iterable[Cubic]) -> int:
        """How many of some points along a line lie in or at the edge of a box."""
        lefts = [left for left, _ in self.columns]
        points = [at(piece, i / 16) for piece in pieces for i in range(17)]
        return sum(
            left - 2 < u < right + 2 and top - 2 < v < bottom + 2
            for u, v in points
            for left, top, right, bottom in self.standing[max(0, bisect(lefts, u) - 1)]
        )

    def upper(self, id: str, card: int = 0) -> float:
        """At which v forward arrows meet a box: the middle of its upper deck, or a quarter of its card."""
        box = self.measured.boxes[id]
        left, top = self.corner(id)
        return left + self._across(id, card, 0.25) if self.axes.upright else top + box.upper / 2

    def lower(self, id: str, card: int = 0) -> float:
        """At which v gradient arrows meet a box: the middle of its lower deck, or three quarters of its
        card."""
        box = self.measured.boxes[id]
        left, top = self.corner(id)
        return (
            left + self._across(id, card, 0.75) if self.axes.upright else top + (box.upper + box.height) / 2
        )

    def _across(self, id: str, card: int, share: float) -> float:
        box = self.measured.boxes[id]
        if not box.cards:
            return box.width * share
        return box.cards[card].x + box.cards[card].width * share

    def room(self, id: str, lower: bool) -> float:
        """How far apart, at most, parallel arrows may meet a box."""
        box = self.measured.boxes[id]
        if self.axes.upright:
            return box.width / (2 * max(1, len(box.cards)))
        return box.height - box.upper if lower else box.upper


def _halves(measured: Measured, id: str, axes: Axes) -> Point:
    """Half the size of a box, along u and across."""
    box = measured.boxes[id]
    return (box.height / 2, box.width / 2) if axes.upright else (box.width / 2, box.height / 2)


def read(positions: Mapping[str, Any], measured: Measured, direction: str = "LR") -> Places:
    """`Places` from Graphviz's json output for the DOT that `to_dot` wrote of the same graph."""
    height, axes = float(positions["bb"].split(",")[3]), AXES[direction]
    centres: dict[str, Point] = {}
    frames: dict[int, Rect] = {}
    for thing in positions.get("objects", ()):
        if thing["name"].startswith("cluster_"):
            left, bottom, right, top = map(float, thing["bb"].split(","))
            frames[int(thing["name"][8:])] = (left, height - top, right, height - bottom)
        else:
            x, y = map(float, thing["pos"].split(","))
            centres[thing["name"]] = (x, height - y)
    curves = {edge["id"]: list(_cubics(edge["pos"], height, axes)) for edge in positions.get("edges", ())}
    return Places(measured, axes, centres, curves, frames, *_columns(centres, measured, axes))


def _cubics(pos: str, height: float, axes: Axes) -> Iterator[Cubic]:
    """The Bézier pieces of an edge's `pos`; `s,x,y` and `e,x,y` belong to arrow heads and are skipped."""
    pairs = [pair for pair in pos.replace(";", " ").split() if pair[0] not in "se"]
    points = [axes.into((float(x), height - float(y))) for x, y in (pair.split(",") for pair in pairs)]
    for i in range(0, len(points) - 3, 3):
        yield points[i], points[i + 1], points[i + 2], points[i + 3]


def _columns(
    centres: Mapping[str, Point], measured: Measured, axes: Axes
) -> tuple[list[tuple[float, float]], dict[str, int]]:
    """Borders of the columns (boxes whose centres stand above each other), and the column of each box."""
    borders: list[tuple[float, float]] = []
    column: dict[str, int] = {}
    middle = float("-inf")
    for (u, _), id in sorted((axes.into(centre), id) for id, centre in centres.items()):
        half = _halves(measured, id, axes)[0]
        if u - middle > 12:  # far coordinates come rounded to five digits
            middle = u
            borders.append((u - half, u + half))
        left, right = borders[-1]
        borders[-1] = (min(left, u - half), max(right, u + half))
        column[id] = len(borders) - 1
    return borders, column


def _turned(places: Places, pieces: Iterable[Cubic]) -> list[Cubic]:
    """Pieces in (u, v) as the ones in (x, y) that are drawn."""
    back = places.axes.back
    return [(back(a), back(b), back(c), back(d)) for a, b, c, d in pieces]


def forward_arrow(places: Places, route: Route, spread: float = 0.0) -> list[Cubic]:
    """The forward arrow of `route` as Bézier pieces from card to card, `spread` off the decks' middles."""
    tail = places.measured.tail(route)
    box, axes = places.measured.boxes[tail], places.axes
    _, top, out, _ = places.extent(tail)
    end = places.extent(route.target)[0], places.upper(route.target) + spread
    behind = len(box.cards) - 1 - route.card if axes.sign > 0 else route.card
    if axes.upright or not box.cards or behind <= 0:
        card = route.card if box.cards else 0
        start = out, places.upper(tail, card) + spread
        return _turned(places, _arrow(places, route, start, end, FORWARD, -1.0))
    # Not the last card of its station: out at the top and over the cards behind it, in a lane of its own.
    card_box = box.cards[route.card]
    x = places.corner(tail)[0] + card_box.x + card_box.width / 2 + spread
    u, lane = axes.into((x, 0.0))[0], top - min(LANE * behind, NODESEP / 2 - 2)
    corner = (u, top), (u, lane), (u, lane), (u + LANE, lane)
    rest = _arrow(places, route, (out, lane), end, FORWARD, -1.0)
    return _turned(places, [corner, level((u + LANE, lane), out), *rest])


def gradient_arrow(places: Places, route: Route, spread: float = 0.0) -> list[Cubic]:
    """The gradient arrow of `route` as Bézier pieces from deck to deck, against the forward direction."""
    tail = places.measured.tail(route)
    card = route.card if places.measured.boxes[tail].cards else 0
    start = places.extent(tail)[2], places.lower(tail, card) + spread
    end = places.extent(route.target)[0], places.lower(route.target) + spread
    pieces = _arrow(places, route, start, end, GRADIENT, 1.0)
    return _turned(places, [(d, c, b, a) for a, b, c, d in reversed(pieces)])


def seed_arrow(places: Places, id: str, card: int, length: float) -> list[Cubic]:
    """The arrow along which a given gradient comes to a box from outside, `length` long."""
    end = places.extent(id)[2], places.lower(id, card)
    (a, b, c, d) = level(end, end[0] + length)
    return _turned(places, [(d, c, b, a)])


def _arrow(
    places: Places, route: Route, start: Point, end: Point, asides: Iterable[float], lean: float
) -> list[Cubic]:
    """From `start`, the right edge of one box, to `end`, the left edge of another, `asides` off Graphviz's
    curve.

    `lean` is -1 or 1: which way to bend off the middle of a gap, so that two arrows along one route do not
    run into each other where both are steep.
    """
    first, last = places.column[places.measured.tail(route)], places.column[route.target]
    a = max(start[0], places.columns[first][1]) + STRAIGHT, start[1]
    b = min(end[0], places.columns[last][0]) - STRAIGHT, end[1]
    pieces = [level(start, a[0])]
    if last - first < 2:
        pieces.append(bend(a, b, lean))
    else:
        passed = between(
            places.curves[places.measured.line(route)],
            places.columns[first + 1][0],
            places.columns[last - 1][1],
        )
        tries = [[shifted(piece, aside) for piece in passed] for aside in asides]
        passed = min(tries, key=places.inside)
        pieces += [join(a, passed[0]), *passed, mirrored(join((-b[0], b[1]), mirrored(passed[-1])))]
    return [*pieces, level(b, end[0])]


class Space:
    """Rectangles (left, top, right, bottom) that are taken, found quickly by place."""

    CELL = 160.0

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], list[Rect]] = {}

    def _around(self, rect: Rect) -> Iterator[tuple[int, int]]:
        left, top, right, bottom = (int(side // self.CELL) for side in rect)
        return ((i, j) for i in range(left, right + 1) for j in range(top, bottom + 1))

    def take(self, rect: Rect) -> None:
        """Mark `rect` as taken."""
        for cell in self._around(rect):
            self.cells.setdefault(cell, []).append(rect)

    def covered(self, rect: Rect) -> float:
        """How much of `rect` lies over rectangles that are taken, in square pixels; 0 if it is free."""
        near = {other for cell in self._around(rect) for other in self.cells.get(cell, ())}
        return sum(
            max(0.0, min(rect[2], other[2]) - max(rect[0], other[0]))
            * max(0.0, min(rect[3], other[3]) - max(rect[1], other[1]))
            for other in near
        )
