"""The plane that a picture is drawn on: how it is turned, and which parts of it are taken.

Note [Four directions]
~~~~~~~~~~~~~~~~~~~~~~
The arrows are computed for a graph that runs from left to right, and `Axes` turns the plane for the others:
`u` grows the way the forward pass runs, `v` across it. Where it runs up or down, columns and stations lie on
their side: the tensor is at the left, the node at the right, so forward arrows run left of gradient ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from .curves import Point

Rect = tuple[float, float, float, float]  # left, top, right, bottom


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


class Space:
    """Rectangles (left, top, right, bottom) that are taken, found quickly by place."""

    CELL = 160.0

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], list[Rect]] = {}
        self.points: dict[tuple[int, int], list[tuple[float, float, str]]] = {}  # of arrows
        self.pieces: dict[tuple[int, int], list[tuple[str, Point, Point]]] = {}  # of them, between points

    def _around(self, rect: Rect) -> Iterator[tuple[int, int]]:
        left, top, right, bottom = (int(side // self.CELL) for side in rect)
        return ((i, j) for i in range(left, right + 1) for j in range(top, bottom + 1))

    def take(self, rect: Rect) -> None:
        """Mark `rect` as taken."""
        for cell in self._around(rect):
            self.cells.setdefault(cell, []).append(rect)

    def draw(self, id: str, points: Sequence[Point]) -> None:
        """Take note of an arrow by points at equal distances."""
        for x, y in points:
            self.points.setdefault((int(x // self.CELL), int(y // self.CELL)), []).append((x, y, id))
        for a, b in pairwise(points):
            for cell in self._around((min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))):
                self.pieces.setdefault(cell, []).append((id, a, b))

    def crossed(self, rect: Rect, own: Sequence[str]) -> list[str]:
        """To which arrows the points in `rect` belong, one by one, but for those that it belongs to."""
        left, top, right, bottom = rect
        return [
            id
            for cell in self._around(rect)
            for x, y, id in self.points.get(cell, ())
            if left < x < right and top < y < bottom and id not in own
        ]

    def crossings(self, points: Sequence[Point], own: Sequence[str]) -> list[Point]:
        """Where a line, given by points at equal distances, crosses other arrows."""
        if len(points) < 2:
            return []
        xs, ys = [x for x, _ in points], [y for _, y in points]
        near: set[tuple[str, Point, Point]] = set()
        for cell in self._around((min(xs), min(ys), max(xs), max(ys))):
            near.update(piece for piece in self.pieces.get(cell, ()) if piece[0] not in own)
        met = (cross_at(a, b, c, d) for _, c, d in near for a, b in pairwise(points))
        return [point for point in met if point is not None]

    def covered(self, rect: Rect) -> float:
        """How much of `rect` lies over rectangles that are taken, in square pixels; 0 if it is free."""
        near = {other for cell in self._around(rect) for other in self.cells.get(cell, ())}
        return sum(
            max(0.0, min(rect[2], other[2]) - max(rect[0], other[0]))
            * max(0.0, min(rect[3], other[3]) - max(rect[1], other[1]))
            for other in near
        )


def cross_at(a: Point, b: Point, c: Point, d: Point) -> Point | None:
    """Where the pieces of two lines cross, from `a` to `b` and from `c` to `d`."""
    if max(a[0], b[0]) < min(c[0], d[0]) or max(c[0], d[0]) < min(a[0], b[0]):
        return None
    (ux, uy), (vx, vy), (wx, wy) = (
        (b[0] - a[0], b[1] - a[1]),
        (d[0] - c[0], d[1] - c[1]),
        (c[0] - a[0], c[1] - a[1]),
    )
    turn = ux * vy - uy * vx
    if not turn:
        return None
    s, t = (wx * vy - wy * vx) / turn, (wx * uy - wy * ux) / turn
    return (a[0] + s * ux, a[1] + s * uy) if 0 <= s <= 1 and 0 <= t <= 1 else None
