"""Where everything is, in pixels: boxes, frames, columns, and the arrows along Graphviz's routes.

Note [Gaps]
~~~~~~~~~~~
Graphviz keeps the same distance between all columns, that which the widest pill needs. Afterwards each gap
gets the width that its own pills need, and if the picture is wider than there is room, all gaps give way as
far as they can. Columns move as they are; curves are stretched between them.

`Places` holds Graphviz's answer to what `dot` asked; `forward_arrow` and `gradient_arrow` turn a route's
curve into the two arrows that are drawn along it.

Note [Two arrows along one curve]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Graphviz draws an edge from box to box.
We want two arrows: the forward one between the upper decks and the gradient one, the other way, between the
lower decks. Boxes are in columns, and only the gaps between columns are empty. So each arrow leaves its
deck level, changes height inside the first gap, follows Graphviz's curve through every column it has to
pass (the gradient arrow a little aside, where no box is in the way), and changes height to its last deck
inside the last gap. Where the route goes from one column to the next there is but one gap and nothing in
between, and an arrow is one S between two decks.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from math import inf
from typing import Any

from ..model.naming import PARALLEL
from ..trace.graph import Route
from .boxes import Measurements
from .dot import FRAME, NODESEP
from .geometry import AXES, Axes, Cubic, Point, Rect, at, bend, clip_curve, join, level, mirror, shift
from .look import HEAD, SMALL

# ─── Where everything stands, in pixels


EDGE = 7.0  # how near to its end a straight arrow may meet a deck
JOG = 24.0  # arrows between neighbors run straight where their decks' middles are no farther apart than this
# Pixels between columns: as it looks best, and what is possible; where columns lie on their side.
GAP, TIGHT, GAP_DOWN, TIGHT_DOWN = 86.0, 44.0, 54.0, 40.0
BUSY = 3  # in a gap with so many more arrows than one there is most room for pills


@dataclass(frozen=True)
class Places:
    """The positions that Graphviz computed, in pixels with y downwards: the centers of boxes by id, and the
    frames by order. Curves by route id are cubic Béziers in (u, v).

    A frame is (left, top, right, bottom). `columns` are the borders of the columns of boxes, in u; `column`
    maps a box to its column. `arrows` and `spots` are the lines that were drawn here with the places of their
    signs; pictures of one structure share them.
    """

    measured: Measurements
    axes: Axes
    centres: dict[str, Point]
    curves: dict[str, list[Cubic]]
    frames: dict[int, Rect]
    columns: list[tuple[float, float]]
    column: dict[str, int]
    arrows: dict[str, list[Cubic]] = field(default_factory=dict)
    spots: dict[Hashable, Point] = field(default_factory=dict)

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
        """Minimum u, minimum v, maximum u and maximum v of a box."""
        u, v = self.axes.into(self.centres[id])
        half, across = halves(self.measured, id, self.axes)
        return u - half, v - across, u + half, v + across

    def inside(self, pieces: Iterable[Cubic]) -> int:
        """How many points of a line are inside a box or on its edge."""
        lefts = [left for left, _ in self.columns]
        points = [at(piece, i / 16) for piece in pieces for i in range(17)]
        return sum(
            left - 2 < u < right + 2 and top - 2 < v < bottom + 2
            for u, v in points
            for left, top, right, bottom in self.standing[max(0, bisect(lefts, u) - 1)]
        )

    def span(self, id: str, card: int, lower: bool) -> Point:
        """The range of v in which forward arrows meet a box, or gradient arrows (`lower`)."""
        box, corner = self.measured.boxes[id], self.corner(id)
        there = corner[0] if self.axes.upright else corner[1]
        length, divide = (box.width, box.across) if self.axes.upright else (box.height, box.upper)
        if self.axes.upright and box.height > box.upper:  # its deck is below its cards
            part = length / max(1, len(box.cards))
            begin = there + part * card + part / 2 * lower
            return begin, begin + part / 2
        if lower and divide >= length:  # without a deck
            return there + 0.6 * length, there + length
        if lower and not self.axes.upright:
            return there + divide, there + length
        if lower:
            part = (length - divide) / max(1, len(box.cards))
            return there + divide + card * part, there + divide + (card + 1) * part
        if self.axes.upright and box.cards:
            return there + box.cards[card].x, there + box.cards[card].x + box.cards[card].width
        return there + (HEAD if divide > HEAD and not self.axes.upright else 0), there + divide

    def upper(self, id: str, card: int = 0) -> float:
        """At which v forward arrows meet a box."""
        return sum(self.span(id, card, False)) / 2

    def lower(self, id: str, card: int = 0) -> float:
        """At which v gradient arrows meet a box."""
        return sum(self.span(id, card, True)) / 2

    def room(self, id: str, lower: bool) -> float:
        """How far apart, at most, parallel arrows may meet a box."""
        low, high = self.span(id, 0, lower)
        return high - low

    def ends(self, tail: str, card: int, target: str, lower: bool) -> Point:
        """At which v an arrow between two boxes begins and ends: at the same where it can run straight."""
        first, second = self.span(tail, card, lower), self.span(target, 0, lower)
        a, b = sum(first) / 2, sum(second) / 2
        low, high = max(first[0], second[0]) + EDGE, min(first[1], second[1]) - EDGE
        if self.column[target] - self.column[tail] == 1 and abs(a - b) <= JOG and low <= high:
            a = b = min(max((a + b) / 2, low), high)
        return a, b

    @property
    def width(self) -> float:
        """Pixels that all boxes and frames need across the picture, and what comes to its roots from
        outside."""
        boxes = ((x, self.measured.boxes[id].width / 2) for id, (x, _) in self.centres.items())
        ends = [end for x, half in boxes for end in (x - half, x + half)]
        ends += [end for frame in self.frames.values() for end in (frame[0], frame[2])]
        points = (point for curve in self.curves.values() for piece in curve for point in piece)
        ends += [self.axes.back(point)[0] for point in points]
        return max(ends, default=0) - min(ends, default=0) + self.beside

    @property
    def beside(self) -> float:
        """Pixels that gradients from outside take."""
        seeds = [pill.width for id, pill in self.measured.pills.items() if id.endswith("-seed")]
        return 0.0 if self.axes.upright or not seeds else max(seeds) + 24


def halves(measured: Measurements, id: str, axes: Axes) -> Point:
    """Half the size of a box, along u and across."""
    box = measured.boxes[id]
    return (box.height / 2, box.width / 2) if axes.upright else (box.width / 2, box.height / 2)


def with_gaps(places: Places, routes: Sequence[Route], room: float) -> Places:
    """The same with other gaps. See Note [Gaps]."""
    axes, columns = places.axes, places.columns
    gaps = [(a[1], b[0]) for a, b in pairwise(columns)]
    least: list[float] = gap_needs(places, routes)
    usual, more = (GAP_DOWN, 8.0) if axes.upright else (GAP, 14.0)
    sizes, crowds = [], crossings(places, routes)
    for need, n in zip(least, crowds, strict=True):
        beside = 12.0 if axes.upright else 20.0 if n > 1 else max(20.0, 0.9 * (need - TIGHT) + 14)
        sizes.append(max(usual, need + more + min(BUSY, n) * beside))
    if not axes.upright:
        over = places.width - sum(b - a for a, b in gaps) + sum(sizes) - room
        slack: list[float] = [max(0.0, size - need) for size, need in zip(sizes, least, strict=True)]
        if over > sum(slack):  # it does not fit anyway: the fullest gaps keep some room for their pills
            slack = [each / 2 if n > BUSY else each for each, n in zip(slack, crowds, strict=True)]
        if over > 0 and any(slack):
            share = min(1.0, over / sum(slack))
            sizes = [size - share * each for size, each in zip(sizes, slack, strict=True)]
    # By how much each column moves, and in between each point in proportion.
    shifts = [0.0, *accumulate(b - a - size for (a, b), size in zip(gaps, sizes, strict=True))]
    new = [(a - shift, b - shift) for (a, b), shift in zip(columns, shifts, strict=True)]
    froms, tos = [u for column in columns for u in column], [u for column in new for u in column]

    def moved(point: Point) -> Point:
        u, v = point
        i = bisect(froms, u)
        if i in (0, len(froms)):
            return u + tos[max(i - 1, 0)] - froms[max(i - 1, 0)], v
        (a, b), (to_a, to_b) = froms[i - 1 : i + 1], tos[i - 1 : i + 1]
        return (to_a + (u - a) * (to_b - to_a) / (b - a) if b > a else to_b), v

    def turned(point: Point) -> Point:
        return axes.back(moved(axes.into(point)))

    centres = {id: turned(centre) for id, centre in places.centres.items()}
    curves = {
        id: [(moved(a), moved(b), moved(c), moved(d)) for a, b, c, d in curve]
        for id, curve in places.curves.items()
    }
    frames = {}
    for order, (left, top, right, bottom) in places.frames.items():
        (x, y), (z, w) = turned((left, top)), turned((right, bottom))
        frames[order] = min(x, z), min(y, w), max(x, z), max(y, w)
    return Places(places.measured, axes, centres, curves, frames, new, places.column)


def crossings(places: Places, routes: Sequence[Route]) -> list[int]:
    """How many more pairs of neighbors than one are joined in each gap: there arrows cross, and pills need
    room beside that."""
    joined: list[set[tuple[str, str]]] = [set() for _ in places.columns[1:]]
    for route in routes:
        tail = places.measured.tail(route)
        for gap in range(places.column[tail], places.column[route.target]):
            joined[gap].add((tail, route.target))
    return [max(0, len(pairs) - 1) for pairs in joined]


def gap_needs(places: Places, routes: Sequence[Route]) -> list[float]:
    """How wide the gap behind each column has to be, at least: for pills and shapes, and for frames."""
    axes, measured = places.axes, places.measured
    needs = [TIGHT_DOWN if axes.upright else TIGHT] * (len(places.columns) - 1)
    far = []
    for route in routes:
        if measured.line(route) != route.id:
            continue
        first, last = places.column[measured.tail(route)], places.column[route.target]
        pill, shape = measured.pills.get(route.id), measured.shapes.get(route.id, "")
        tags = [measured.tags[id].width for id in (route.id, f"{route.id}-g") if id in measured.tags]
        if axes.upright:
            beside = len(measured.bundles[route.id])
            size = pill.height * (1 if beside > PARALLEL else beside) + 26 if pill else 0.0
        else:
            size = max(
                [
                    pill.width + pill.beside + (18 if pill.heat else 28) if pill else 0,
                    len(shape) * SMALL + 24,
                    *(t + 24 for t in tags),
                ]
            )
        if last - first == 1:
            needs[first] = max(needs[first], size)
        elif last - first > 1:
            far.append((first, last, size))
    for id, pill in measured.pills.items():  # a given gradient comes to a root that others follow
        if id.endswith("-seed") and not axes.upright:
            behind = places.column[id.partition("-")[0]]
            if behind < len(needs):
                needs[behind] = max(needs[behind], pill.width + 40)
    for first, last, size in far:  # there is room for it in one of the gaps
        if max(needs[first:last]) < size:
            needs[last - 1] = size
    borders: list[float] = [axes.into(corner)[0] for f in places.frames.values() for corner in (f[:2], f[2:])]
    for i, (a, b) in enumerate(pairwise(places.columns)):
        needs[i] += FRAME * sum(1 for border in borders if a[1] < border < b[0])
    return needs


# ─── Where Graphviz put everything, and the arrows that are drawn along its routes


# How far below Graphviz's curve the arrows pass a column: the first of these that meets no box.
FORWARD, GRADIENT = (0.0, -6.0, 6.0), (15.0, 8.0, -15.0, -8.0, 0.0)
LATE = 0.78  # where data turns to its target: near that, to leave the gap to the pills of others
STRAIGHT = 11.0  # the level bit before a deck, where the arrow's head is
LANE = 11.0  # pixels between forward arrows that leave over the top of a station with several cards


def read_positions(
    positions: Mapping[str, Any], measured: Measurements, direction: str = "LR", *,
    routes: Iterable[Route] = (), room: float = inf,
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
    return with_gaps(places, routes, room) if routes else places


def _cubics(pos: str, height: float, axes: Axes) -> Iterator[Cubic]:
    """The Bézier pieces of an edge's `pos`; `s,x,y` and `e,x,y` belong to arrow heads and are skipped."""
    pairs = [pair for pair in pos.replace(";", " ").split() if pair[0] not in "se"]
    points = [axes.into((float(x), height - float(y))) for x, y in (pair.split(",") for pair in pairs)]
    for i in range(0, len(points) - 3, 3):
        yield points[i], points[i + 1], points[i + 2], points[i + 3]


def _columns(
    centres: Mapping[str, Point], measured: Measurements, axes: Axes
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


def _turn(places: Places, pieces: Iterable[Cubic]) -> list[Cubic]:
    """Pieces in (u, v) as the ones in (x, y) that are drawn."""
    back = places.axes.back
    return [(back(a), back(b), back(c), back(d)) for a, b, c, d in pieces]


def forward_arrow(places: Places, route: Route, spread: float = 0.0, bulge: float = 0.0) -> list[Cubic]:
    """The forward arrow of `route` as Bézier pieces from card to card, `spread` off the decks' middles, and
    `bulge` between neighbors."""
    tail = places.measured.tail(route)
    box, axes = places.measured.boxes[tail], places.axes
    _, top, out, _ = places.extent(tail)
    behind = len(box.cards) - 1 - route.card
    if axes.upright or not box.cards or behind <= 0:
        low, high = places.ends(tail, route.card if box.cards else 0, route.target, False)
        start, end = (out, low + spread), (places.extent(route.target)[0], high + spread)
        return _turn(places, _arrow(places, route, start, end, FORWARD, -1.0, bulge - spread))
    end = places.extent(route.target)[0], places.upper(route.target) + spread
    # Not the last card of its station: out at the top and over the cards behind it, in a lane of its own.
    card_box = box.cards[route.card]
    x = places.corner(tail)[0] + card_box.x + card_box.width / 2 + spread
    u, lane = axes.into((x, 0.0))[0], top - min(LANE * behind, NODESEP / 2 - 2)
    corner = (u, top), (u, lane), (u, lane), (u + LANE, lane)
    rest = _arrow(places, route, (out, lane), end, FORWARD, -1.0)
    return _turn(places, [corner, level((u + LANE, lane), out), *rest])


def gradient_arrow(places: Places, route: Route, spread: float = 0.0, bulge: float = 0.0) -> list[Cubic]:
    """The gradient arrow of `route` as Bézier pieces from deck to deck, against the forward direction,
    off the decks' middles as in `forward_arrow`."""
    tail = places.measured.tail(route)
    card = route.card if places.measured.boxes[tail].cards else 0
    low, high = places.ends(tail, card, route.target, True)
    start, end = (places.extent(tail)[2], low + spread), (places.extent(route.target)[0], high + spread)
    pieces = _arrow(places, route, start, end, GRADIENT, 1.0, bulge - spread)
    return _turn(places, [(d, c, b, a) for a, b, c, d in reversed(pieces)])


def seed_arrow(places: Places, id: str, card: int, length: float) -> list[Cubic]:
    """The arrow along which a given gradient comes to a box from outside, `length` long."""
    end = places.extent(id)[2], places.lower(id, card)
    (a, b, c, d) = level(end, end[0] + length)
    return _turn(places, [(d, c, b, a)])


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
        passed = clip_curve(
            places.curves[places.measured.line(route)],
            places.columns[first + 1][0],
            places.columns[last - 1][1],
        )
        tries = [[shift(piece, aside) for piece in passed] for aside in asides]
        passed = min(tries, key=places.inside)
        pieces += [join(a, passed[0]), *passed, mirror(join((-b[0], b[1]), mirror(passed[-1])))]
    return [*pieces, level(b, end[0])]
