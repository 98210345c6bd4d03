"""The plane that a picture is drawn on: Bézier curves, which parts of it are taken, and how it is turned.

Note [Two directions]
~~~~~~~~~~~~~~~~~~~~~
The arrows are computed for a graph that runs from left to right, and `Axes` turns the plane for one that runs
down: `u` grows the way the forward pass runs, `v` across it. Where it runs down, columns and stations lie on
their side: the tensor is at the left, the node at the right, so forward arrows run left of gradient ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

Point = tuple[float, float]
Cubic = tuple[Point, Point, Point, Point]


def level(start: Point, x: float) -> Cubic:
    """A straight line to `x`."""
    return start, start, (x, start[1]), (x, start[1])


def bend(a: Point, b: Point, lean: float, share: float = 0.5) -> Cubic:
    """One S from `a` to `b`, level at both ends and steepest at a `share` of the way."""
    gap, rise = b[0] - a[0], b[1] - a[1]
    x = a[0] + gap * share + lean * max(-1.0, min(1.0, -rise / 90)) * 0.2 * gap
    return a, (x, a[1]), (x, b[1]), b


def join(a: Point, piece: Cubic) -> Cubic:
    """From `a`, level, into the beginning of `piece`, in its direction."""
    (x, y), gap = piece[0], piece[0][0] - a[0]
    dx, dy = next(((p[0] - x, p[1] - y) for p in piece[1:] if p != piece[0]), (1.0, 0.0))
    size = 0.45 * gap / max(abs(dx), abs(dy), 1e-9)
    return a, (a[0] + gap / 2, a[1]), (x - dx * size, y - dy * size), (x, y)


def mirror(piece: Cubic) -> Cubic:
    """Mirrored left to right and run the other way: the end of a route is its beginning, seen in a mirror."""
    a, b, c, d = ((-x, y) for x, y in piece)
    return d, c, b, a


def shift(piece: Cubic, dy: float) -> Cubic:
    """`dy` lower."""
    a, b, c, d = ((x, y + dy) for x, y in piece)
    return a, b, c, d


def clip_curve(curve: list[Cubic], left: float, right: float) -> list[Cubic]:
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


def points_along(path: list[Cubic]) -> list[Point]:
    """Points at equal distances along a path."""
    points = [path[0][0], *(at(piece, i / 24) for piece in path for i in range(1, 25))]
    pieces = (((u - x) ** 2 + (v - y) ** 2) ** 0.5 for (x, y), (u, v) in pairwise(points))
    lengths = [0.0, *accumulate(pieces)]
    return [points[bisect_left(lengths, min(lengths[-1] * i / 100, lengths[-1]))] for i in range(101)]


Rect = tuple[float, float, float, float]  # left, top, right, bottom


class Axes(NamedTuple):
    """How the plane is turned, see Note [Two directions]."""

    upright: bool

    def into(self, point: Point) -> Point:
        """(x, y) as (u, v)."""
        x, y = point
        return (y, x) if self.upright else (x, y)

    def back(self, point: Point) -> Point:
        """(u, v) as (x, y)."""
        u, v = point
        return (v, u) if self.upright else (u, v)


AXES = {"LR": Axes(False), "TB": Axes(True)}


class Space:
    """Rectangles (left, top, right, bottom) that are taken, found quickly by place."""

    CELL, FINE = 160.0, 32.0  # how large the cells are in which rectangles are looked for, and arrows

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], list[Rect]] = {}
        self.points: dict[tuple[int, int], list[tuple[float, float, str]]] = {}  # of arrows
        self._drawn: list[tuple[str, Sequence[Point]]] = []  # arrows whose pieces nobody has asked for yet
        self._pieces: dict[tuple[int, int], list[tuple[str, Point, Point]]] = {}  # between points

    def _around(self, rect: Rect, size: float = CELL) -> Iterator[tuple[int, int]]:
        left, top, right, bottom = (int(side // size) for side in rect)
        return ((i, j) for i in range(left, right + 1) for j in range(top, bottom + 1))

    def take(self, rect: Rect) -> None:
        """Mark `rect` as taken."""
        for cell in self._around(rect):
            self.cells.setdefault(cell, []).append(rect)

    def draw(self, id: str, points: Sequence[Point]) -> None:
        """Take note of an arrow by points at equal distances."""
        for x, y in points:
            self.points.setdefault((int(x // self.FINE), int(y // self.FINE)), []).append((x, y, id))
        self._drawn.append((id, points))

    def pieces(self) -> dict[tuple[int, int], list[tuple[str, Point, Point]]]:
        """The pieces of all arrows by place, which few pictures need."""
        for id, points in self._drawn:
            for a, b in pairwise(points):
                for cell in self._around(box_of(a, b), self.FINE):
                    self._pieces.setdefault(cell, []).append((id, a, b))
        self._drawn.clear()
        return self._pieces

    def crossed(self, rect: Rect, own: Sequence[str]) -> list[str]:
        """To which arrows the points in `rect` belong, one by one, except those that it belongs to."""
        left, top, right, bottom = rect
        return [
            id
            for cell in self._around(rect, self.FINE)
            for x, y, id in self.points.get(cell, ())
            if left < x < right and top < y < bottom and id not in own
        ]

    def crossings(self, points: Sequence[Point], own: Sequence[str]) -> list[Point]:
        """Where a line, given by points at equal distances, crosses other arrows."""
        found: list[Point] = []
        pieces = self.pieces()
        for a, b in pairwise(points):
            around = self._around(box_of(a, b), self.FINE)
            near = {piece for cell in around for piece in pieces.get(cell, ()) if piece[0] not in own}
            met = (cross_at(a, b, c, d) for _, c, d in near)
            found += [point for point in met if point is not None]
        return found

    def covered(self, rect: Rect) -> float:
        """How much of `rect` lies over rectangles that are taken, in square pixels; 0 if it is free."""
        near = {other for cell in self._around(rect) for other in self.cells.get(cell, ())}
        return sum(
            max(0.0, min(rect[2], other[2]) - max(rect[0], other[0]))
            * max(0.0, min(rect[3], other[3]) - max(rect[1], other[1]))
            for other in near
        )


def box_of(a: Point, b: Point) -> Rect:
    """The rectangle around a straight line between two points."""
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


def cross_at(a: Point, b: Point, c: Point, d: Point) -> Point | None:
    """Where the pieces of two lines cross, from `a` to `b` and from `c` to `d`."""
    if max(a[0], b[0]) < min(c[0], d[0]) or max(c[0], d[0]) < min(a[0], b[0]):
        return None
    (ux, uy), (vx, vy), (wx, wy) = ((q[0] - p[0], q[1] - p[1]) for p, q in ((a, b), (c, d), (a, c)))
    turn = ux * vy - uy * vx
    if not turn:
        return None
    s, t = (wx * vy - wy * vx) / turn, (wx * uy - wy * ux) / turn
    return (a[0] + s * ux, a[1] + s * uy) if 0 <= s <= 1 and 0 <= t <= 1 else None
