"""Where everything stands, in pixels: boxes, frames, columns, and the curves between them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .boxes import Measured
from .look import HEAD
from .plane import Axes, Cubic, Point, Rect, at

EDGE = 7.0  # how near to its end a straight arrow may meet a deck
JOG = 24.0  # arrows between neighbors run straight where their decks' middles are no farther apart than this


@dataclass(frozen=True)
class Places:
    """The positions that Graphviz computed, in pixels with y downwards: the centers of boxes by id, and the
    frames by order. Curves by route id are cubic Béziers in (u, v).

    A frame is (left, top, right, bottom). `columns` are the borders of the columns of boxes, in u; `column`
    maps a box to its column.
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
        """Minimum u, minimum v, maximum u and maximum v of a box."""
        u, v = self.axes.into(self.centres[id])
        half, across = halves(self.measured, id, self.axes)
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

    def span(self, id: str, card: int, lower: bool) -> Point:
        """Between which v forward arrows meet a box, or gradient arrows (`lower`)."""
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
        halves = {id: self.measured.boxes[id].width / 2 for id in self.centres}
        lefts = [x - halves[id] for id, (x, _) in self.centres.items()] + [f[0] for f in self.frames.values()]
        rights = [x + halves[id] for id, (x, _) in self.centres.items()] + [
            f[2] for f in self.frames.values()
        ]
        curves = [
            x for curve in self.curves.values() for piece in curve for x, _ in map(self.axes.back, piece)
        ]
        return max([*rights, *curves], default=0) - min([*lefts, *curves], default=0) + self.beside

    @property
    def beside(self) -> float:
        """Pixels that gradients from outside take."""
        seeds = [pill.width for id, pill in self.measured.pills.items() if id.endswith("-seed")]
        return 0.0 if self.axes.upright or not seeds else max(seeds) + 24


def halves(measured: Measured, id: str, axes: Axes) -> Point:
    """Half the size of a box, along u and across."""
    box = measured.boxes[id]
    return (box.height / 2, box.width / 2) if axes.upright else (box.width / 2, box.height / 2)
