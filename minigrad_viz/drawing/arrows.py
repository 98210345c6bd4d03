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
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any

from ..trace.graph import Route
from .boxes import Measured
from .dot import NODESEP
from .places import Places, halves, tightened
from .plane import AXES, Axes, Cubic, Point, Rect, bend, between, join, level, mirrored, shifted

# How far below Graphviz's curve the arrows pass a column: the first of these that meets no box.
FORWARD, GRADIENT = (0.0, -6.0, 6.0), (15.0, 8.0, -15.0, -8.0, 0.0)
LATE = 0.78  # where data turns to its target: near that, to leave the gap to the pills of others
STRAIGHT = 11.0  # the level bit before a deck, where the arrow's head is
LANE = 11.0  # pixels between forward arrows that leave over the top of a station with several cards


def read(
    positions: Mapping[str, Any], measured: Measured, direction: str = "LR", *, routes: Iterable[Route] = (),
    room: float = inf,
) -> Places:  # fmt: skip
    """`Places` from Graphviz's json output for the DOT that `to_dot` wrote of the same graph. Given its
    `routes`, gaps get the width that they need, and less if the picture is wider than `room`."""
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
    places = Places(measured, axes, centres, curves, frames, *_columns(centres, measured, axes))
    routes = list(routes)
    return tightened(places, routes, room) if routes else places


def _cubics(pos: str, height: float, axes: Axes) -> Iterator[Cubic]:
    """The Bézier pieces of an edge's `pos`; `s,x,y` and `e,x,y` belong to arrow heads and are skipped."""
    pairs = [pair for pair in pos.replace(";", " ").split() if pair[0] not in "se"]
    points = [axes.into((float(x), height - float(y))) for x, y in (pair.split(",") for pair in pairs)]
    for i in range(0, len(points) - 3, 3):
        yield points[i], points[i + 1], points[i + 2], points[i + 3]


def _columns(
    centres: Mapping[str, Point], measured: Measured, axes: Axes
) -> tuple[list[tuple[float, float]], dict[str, int]]:
    """Borders of the columns (boxes whose centers are above each other), and the column of each box."""
    borders: list[tuple[float, float]] = []
    column: dict[str, int] = {}
    middle = float("-inf")
    for (u, _), id in sorted((axes.into(centre), id) for id, centre in centres.items()):
        half = halves(measured, id, axes)[0]
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


def forward_arrow(places: Places, route: Route, spread: float = 0.0, bulge: float = 0.0) -> list[Cubic]:
    """The forward arrow of `route` as Bézier pieces from card to card, `spread` off the decks' middles, and
    `bulge` between neighbors."""
    tail = places.measured.tail(route)
    box, axes = places.measured.boxes[tail], places.axes
    _, top, out, _ = places.extent(tail)
    behind = len(box.cards) - 1 - route.card if axes.sign > 0 else route.card
    if axes.upright or not box.cards or behind <= 0:
        low, high = places.ends(tail, route.card if box.cards else 0, route.target, False)
        start, end = (out, low + spread), (places.extent(route.target)[0], high + spread)
        return _turned(places, _arrow(places, route, start, end, FORWARD, -1.0, bulge - spread))
    end = places.extent(route.target)[0], places.upper(route.target) + spread
    # Not the last card of its station: out at the top and over the cards behind it, in a lane of its own.
    card_box = box.cards[route.card]
    x = places.corner(tail)[0] + card_box.x + card_box.width / 2 + spread
    u, lane = axes.into((x, 0.0))[0], top - min(LANE * behind, NODESEP / 2 - 2)
    corner = (u, top), (u, lane), (u, lane), (u + LANE, lane)
    rest = _arrow(places, route, (out, lane), end, FORWARD, -1.0)
    return _turned(places, [corner, level((u + LANE, lane), out), *rest])


def gradient_arrow(places: Places, route: Route, spread: float = 0.0, bulge: float = 0.0) -> list[Cubic]:
    """The gradient arrow of `route` as Bézier pieces from deck to deck, against the forward direction,
    off the decks' middles as in `forward_arrow`."""
    tail = places.measured.tail(route)
    card = route.card if places.measured.boxes[tail].cards else 0
    low, high = places.ends(tail, card, route.target, True)
    start, end = (places.extent(tail)[2], low + spread), (places.extent(route.target)[0], high + spread)
    pieces = _arrow(places, route, start, end, GRADIENT, 1.0, bulge - spread)
    return _turned(places, [(d, c, b, a) for a, b, c, d in reversed(pieces)])


def seed_arrow(places: Places, id: str, card: int, length: float) -> list[Cubic]:
    """The arrow along which a given gradient comes to a box from outside, `length` long."""
    end = places.extent(id)[2], places.lower(id, card)
    (a, b, c, d) = level(end, end[0] + length)
    return _turned(places, [(d, c, b, a)])


def _arrow(
    places: Places, route: Route, start: Point, end: Point, asides: Iterable[float], lean: float,
    bulge: float = 0.0,
) -> list[Cubic]:  # fmt: skip
    """From `start`, the right edge of one box, to `end`, the left edge of another, `asides` off Graphviz's
    curve.

    `lean` is -1 or 1: which way to bend off the middle of a gap, so that two arrows along one route do not
    run into each other where both are steep. Between neighbors it runs `bulge` beside the straight way.
    """
    first, last = places.column[places.measured.tail(route)], places.column[route.target]
    a = max(start[0], places.columns[first][1]) + STRAIGHT, start[1]
    b = min(end[0], places.columns[last][0]) - STRAIGHT, end[1]
    pieces = [level(start, a[0])]
    if last - first < 2 and bulge:
        middle = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + bulge
        pieces += [bend(a, middle, 0.0), bend(middle, b, 0.0)]
    elif last - first < 2:
        pieces.append(bend(a, b, lean) if route.tracked else bend(a, b, 0.0, LATE))
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
