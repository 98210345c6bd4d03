"""The picture's graph as Graphviz is asked to lay it out, and the reading of its answer.

`to_dot` writes one fixed-size box a station and one edge a route; `Places` holds what came back (centres,
curves, frames) in the picture's coordinates, y downwards; `forward_arrow` and `gradient_arrow` turn a curve
into the two arrows that are drawn along it.

Note [Two arrows along one curve]
    Graphviz draws an edge from box to box. We want two arrows: the forward one between the upper decks and
    the gradient one, the other way, between the lower decks. Boxes stand in columns, and only the gaps
    between columns are empty. So each arrow leaves its deck level, changes height inside the first gap,
    follows Graphviz's curve through every column it has to pass (the gradient arrow a little aside, where no
    box is in the way), and changes height to its last deck inside the last gap. Where the route goes from one
    column to the next there is but one gap and nothing in between, and an arrow is one S between two decks.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .boxes import Measured, measure
from .graph import Graph, Route
from .words import clean

if TYPE_CHECKING:
    import graphviz

Point = tuple[float, float]
Cubic = tuple[Point, Point, Point, Point]
Rect = tuple[float, float, float, float]  # left, top, right, bottom

NODESEP = 46.0  # pixels between stations of a column; half of it stays free beside a passing route
RANKSEP = 84.0  # pixels between columns, at least: room for an arrow and the pill on it
FRAME = 26.0  # pixels from a frame to the stations in it; its title stands in there
# How far below Graphviz's curve the arrows pass a column: the first of these that meets no box.
FORWARD, GRADIENT = (0.0, -6.0, 6.0), (15.0, 8.0, -15.0, -8.0, 0.0)
# How hard an edge pulls the boxes at its ends into one line: the way of the results is to be straight.
WEIGHTS = {"result": "8", "leaf": "2", "other": "1"}
STRAIGHT = 11.0  # the level bit before a deck, where the arrow's head is
LANE = 11.0  # pixels between forward arrows that leave over the top of a station with several cards


def to_dot(
    graph: Graph, *, detail: str = "normal", rankdir: str = "LR", lang: str | None = None,
    digraph: Any = None, labels: bool = False,
) -> graphviz.Digraph:  # fmt: skip
    """The `graphviz.Digraph` that lays `graph` out: deterministic, and safe for any name.

    `digraph` is the class to build (graphviz.Digraph, or a subclass that displays itself differently). With
    `labels` every box says what it is, for Graphviz's own drawing; without, boxes are empty and only their
    places count. Raises ValueError for an unknown `detail`.
    """
    measured = measure(graph, detail, lang)
    pills = [pill.width for pill in measured.pills.values()]
    dot = (digraph or _plain())(
        graph_attr={
            "rankdir": rankdir,
            "newrank": "true",  # else an edge into a frame may run within one column, or even backwards
            "nodesep": _inches(NODESEP),
            "ranksep": _inches(max(RANKSEP, *(width + 40 for width in pills)) if pills else RANKSEP),
        },
        node_attr={"shape": "box", "fixedsize": str(not labels).lower(), "label": ""},
        edge_attr={"arrowhead": "none"} if not labels else {},
    )
    for order in sorted({station.order for station in graph.stations}):
        if order < 2:
            _nodes(dot, graph, measured, order, labels)
        else:
            with dot.subgraph(name=f"cluster_{order}") as frame:
                frame.attr(margin=str(int(FRAME)), id=f"frame{order}")
                _nodes(frame, graph, measured, order, labels)
    made = {route.target for route in graph.routes}
    for route in graph.routes:
        if measured.line(route) == route.id:
            tail = measured.tail(route)
            weight = WEIGHTS[
                "result" if tail in made else "leaf" if route.tracked and tail == route.source else "other"
            ]
            dot.edge(tail, route.target, id=route.id, weight=weight)
    return dot


def _plain() -> Any:
    import graphviz

    return graphviz.Digraph


def _nodes(dot: Any, graph: Graph, measured: Measured, order: int, labels: bool) -> None:
    """One node a station of this order, each preceded by the reference chips that it uses."""
    chips: dict[str, list[str]] = {}
    for reference in dict.fromkeys(measured.references.values()):
        chips.setdefault(reference.target, []).append(reference.id)
    says = {reference.id: reference.text for reference in measured.references.values()}
    for station in graph.stations:
        if station.order != order:
            continue
        lines = [measured.names[station.id, i] for i in range(len(station.cards))]
        says[station.id] = "\n".join([*lines, clean(station.deck.name)] if station.deck else lines)
        for id in (*chips.get(station.id, ()), station.id):
            box = measured.boxes[id]
            label = {"label": _literal(says[id])} if labels else {}
            dot.node(id, id=id, width=_inches(box.width), height=_inches(box.height), **label)


def _literal(label: str) -> Any:
    """`label` so that Graphviz shows it as it stands: no escapes, entities or HTML, a line a line."""
    import graphviz

    lines = (str(graphviz.escape(line.replace("&", "&amp;"))) for line in label.split("\n"))
    return graphviz.nohtml("\\n".join(lines))


def _inches(pixels: float) -> str:
    return f"{pixels / 72:.4f}"


# ------------------------------------------------------------------------------------------ Graphviz's answer


@dataclass(frozen=True)
class Places:
    """Where Graphviz put things: centres by box id, curves by route id (cubic Béziers), frames by order.

    A frame is (left, top, right, bottom). `columns` are the (left, right) borders of the columns of boxes,
    from left to right; `column` says in which of them a box stands.
    """

    measured: Measured
    width: float
    height: float
    centres: dict[str, Point]
    curves: dict[str, list[Cubic]]
    frames: dict[int, Rect]
    columns: list[tuple[float, float]]
    column: dict[str, int]

    @cached_property
    def standing(self) -> list[list[Rect]]:
        """The boxes of each column, as (left, top, right, bottom)."""
        columns: list[list[Rect]] = [[] for _ in self.columns]
        for id, column in self.column.items():
            (left, top), box = self.corner(id), self.measured.boxes[id]
            columns[column].append((left, top, left + box.width, top + box.height))
        return columns

    def corner(self, id: str) -> Point:
        """Upper left corner of a station or reference chip."""
        (x, y), box = self.centres[id], self.measured.boxes[id]
        return x - box.width / 2, y - box.height / 2

    def inside(self, pieces: Iterable[Cubic]) -> int:
        """How many of some points along a line lie in or at the edge of a box."""
        lefts = [left for left, _ in self.columns]
        points = [at(piece, i / 16) for piece in pieces for i in range(17)]
        return sum(
            left - 2 < x < right + 2 and top - 2 < y < bottom + 2
            for x, y in points
            for left, top, right, bottom in self.standing[max(0, bisect(lefts, x) - 1)]
        )

    def upper(self, id: str) -> float:
        """Height of the middle of a box's upper deck."""
        return self.corner(id)[1] + self.measured.boxes[id].upper / 2

    def lower(self, id: str) -> float:
        """Height of the middle of a box's lower deck."""
        box = self.measured.boxes[id]
        return self.corner(id)[1] + (box.upper + box.height) / 2


def read(positions: Mapping[str, Any], measured: Measured) -> Places:
    """`Places` from Graphviz's json output for the DOT that `to_dot` wrote of the same graph."""
    _, _, width, height = map(float, positions["bb"].split(","))
    centres: dict[str, Point] = {}
    frames: dict[int, Rect] = {}
    for thing in positions.get("objects", ()):
        if thing["name"].startswith("cluster_"):
            left, bottom, right, top = map(float, thing["bb"].split(","))
            frames[int(thing["name"][8:])] = (left, height - top, right, height - bottom)
        else:
            x, y = map(float, thing["pos"].split(","))
            centres[thing["name"]] = (x, height - y)
    curves = {edge["id"]: list(_cubics(edge["pos"], height)) for edge in positions.get("edges", ())}
    return Places(measured, width, height, centres, curves, frames, *_columns(centres, measured))


def _cubics(pos: str, height: float) -> Iterator[Cubic]:
    """The Bézier pieces of an edge's `pos`; `s,x,y` and `e,x,y` belong to arrow heads and are skipped."""
    pairs = [pair for pair in pos.replace(";", " ").split() if pair[0] not in "se"]
    points = [(float(x), height - float(y)) for x, y in (pair.split(",") for pair in pairs)]
    for i in range(0, len(points) - 3, 3):
        yield points[i], points[i + 1], points[i + 2], points[i + 3]


def _columns(
    centres: Mapping[str, Point], measured: Measured
) -> tuple[list[tuple[float, float]], dict[str, int]]:
    """Borders of the columns (boxes whose centres stand above each other), and the column of each box."""
    borders: list[tuple[float, float]] = []
    column: dict[str, int] = {}
    middle = float("-inf")
    for id, (x, _) in sorted(centres.items(), key=lambda item: item[1]):
        half = measured.boxes[id].width / 2
        if x - middle > 12:  # far coordinates come rounded to five digits
            middle = x
            borders.append((x - half, x + half))
        left, right = borders[-1]
        borders[-1] = (min(left, x - half), max(right, x + half))
        column[id] = len(borders) - 1
    return borders, column


# ------------------------------------------------------------------------------------- arrows, see Note above


def forward_arrow(places: Places, route: Route, spread: float = 0.0) -> list[Cubic]:
    """The forward arrow of `route` as Bézier pieces from card to card, `spread` off the decks' middles."""
    tail = places.measured.tail(route)
    (left, top), box = places.corner(tail), places.measured.boxes[tail]
    end = places.corner(route.target)[0], places.upper(route.target) + spread
    behind = len(box.cards) - 1 - route.card
    if behind <= 0:
        return _arrow(places, route, (left + box.width, places.upper(tail) + spread), end, FORWARD, -1.0)
    # Not the last card of its station: out at the top and over the cards behind it, in a lane of its own.
    card = box.cards[route.card]
    x, lane = left + card.x + card.width / 2 + spread, top - min(LANE * behind, NODESEP / 2 - 2)
    out = left + box.width
    corner = (x, top), (x, lane), (x, lane), (x + LANE, lane)
    return [corner, _level((x + LANE, lane), out), *_arrow(places, route, (out, lane), end, FORWARD, -1.0)]


def gradient_arrow(places: Places, route: Route, spread: float = 0.0) -> list[Cubic]:
    """The gradient arrow of `route` as Bézier pieces from deck to deck, against the forward direction."""
    tail = places.measured.tail(route)
    start = places.corner(tail)[0] + places.measured.boxes[tail].width, places.lower(tail) + spread
    end = places.corner(route.target)[0], places.lower(route.target) + spread
    pieces = _arrow(places, route, start, end, GRADIENT, 1.0)
    return [(d, c, b, a) for a, b, c, d in reversed(pieces)]


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
    pieces = [_level(start, a[0])]
    if last - first < 2:
        pieces.append(_bend(a, b, lean))
    else:
        passed = _between(
            places.curves[places.measured.line(route)],
            places.columns[first + 1][0],
            places.columns[last - 1][1],
        )
        tries = [[_shift(piece, aside) for piece in passed] for aside in asides]
        passed = min(tries, key=places.inside)
        pieces += [_join(a, passed[0]), *passed, _flip(_join((-b[0], b[1]), _flip(passed[-1])))]
    return [*pieces, _level(b, end[0])]


def _level(start: Point, x: float) -> Cubic:
    return start, start, (x, start[1]), (x, start[1])


def _bend(a: Point, b: Point, lean: float) -> Cubic:
    """One S from `a` to `b`, level at both ends."""
    gap, rise = b[0] - a[0], b[1] - a[1]
    x = a[0] + gap / 2 + lean * max(-1.0, min(1.0, -rise / 90)) * 0.2 * gap
    return a, (x, a[1]), (x, b[1]), b


def _join(a: Point, piece: Cubic) -> Cubic:
    """From `a`, level, into the beginning of `piece`, in its direction."""
    (x, y), gap = piece[0], piece[0][0] - a[0]
    dx, dy = next(((p[0] - x, p[1] - y) for p in piece[1:] if p != piece[0]), (1.0, 0.0))
    size = 0.45 * gap / max(abs(dx), abs(dy), 1e-9)
    return a, (a[0] + gap / 2, a[1]), (x - dx * size, y - dy * size), (x, y)


def _flip(piece: Cubic) -> Cubic:
    """Mirrored left to right and run the other way: the end of a route is its beginning, seen in a mirror."""
    a, b, c, d = ((-x, y) for x, y in piece)
    return d, c, b, a


def _shift(piece: Cubic, dy: float) -> Cubic:
    a, b, c, d = ((x, y + dy) for x, y in piece)
    return a, b, c, d


def _between(curve: list[Cubic], left: float, right: float) -> list[Cubic]:
    """The part of a curve from where it first reaches `left` to where it last leaves `right`."""
    rest = [piece for piece in curve if piece[3][0] > left]
    rest[0] = _split(rest[0], _reach(rest[0], left))[1]
    while len(rest) > 1 and rest[-1][0][0] >= right:
        rest.pop()
    rest[-1] = _split(rest[-1], _reach(rest[-1], right))[0]
    return rest


def _reach(piece: Cubic, x: float) -> float:
    """The parameter at which a piece that runs from left to right reaches `x`; 0 or 1 if it lies beyond."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if at(piece, middle)[0] < x else (low, middle)
    return high


def _split(piece: Cubic, t: float) -> tuple[Cubic, Cubic]:
    """Both parts of a Bézier piece, cut at parameter `t` (de Casteljau)."""
    a, b, c, d = piece
    ab, bc, cd = _mix(a, b, t), _mix(b, c, t), _mix(c, d, t)
    abc, bcd = _mix(ab, bc, t), _mix(bc, cd, t)
    middle = _mix(abc, bcd, t)
    return (a, ab, abc, middle), (middle, bcd, cd, d)


def _mix(p: Point, q: Point, t: float) -> Point:
    return p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t


def at(piece: Cubic, t: float) -> Point:
    """The point of a Bézier piece at parameter `t`, 0 to 1."""
    a, b, c, d = piece
    s = 1 - t
    u, v, w, z = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    return u * a[0] + v * b[0] + w * c[0] + z * d[0], u * a[1] + v * b[1] + w * c[1] + z * d[1]


def along(path: list[Cubic]) -> list[Point]:
    """Points at equal distances along a path."""
    points = [path[0][0], *(at(piece, i / 24) for piece in path for i in range(1, 25))]
    lengths = [0.0]
    for (x, y), (u, v) in pairwise(points):
        lengths.append(lengths[-1] + ((u - x) ** 2 + (v - y) ** 2) ** 0.5)
    even: list[Point] = []
    i = 0
    for step in range(101):
        while i < len(points) - 1 and lengths[i] < lengths[-1] * step / 100:
            i += 1
        even.append(points[i])
    return even


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
