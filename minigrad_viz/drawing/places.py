"""Where everything stands, in pixels: boxes, frames, columns, and the curves between them; and how wide the
gaps between the columns are.

Note [Gaps]
~~~~~~~~~~~
Graphviz keeps the same distance between all columns, that which the widest pill needs. Afterwards each gap
gets the width that its own pills need, and if the picture is wider than there is room, all gaps give way as
far as they can. Columns move as they are; curves are stretched between them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from ..model.card_names import PARALLEL
from ..trace.graph import Route
from .boxes import Measured
from .dot import FRAME
from .look import HEAD, SMALL
from .plane import Axes, Cubic, Point, Rect, at

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


def halves(measured: Measured, id: str, axes: Axes) -> Point:
    """Half the size of a box, along u and across."""
    box = measured.boxes[id]
    return (box.height / 2, box.width / 2) if axes.upright else (box.width / 2, box.height / 2)


def tightened(places: Places, routes: Sequence[Route], room: float) -> Places:
    """The same with other gaps. See Note [Gaps]."""
    axes, columns = places.axes, places.columns
    gaps = [(a[1], b[0]) for a, b in pairwise(columns)]
    least: list[float] = gap_needs(places, routes)
    usual, more = (GAP_DOWN, 8.0) if axes.upright else (GAP, 14.0)
    sizes, crowds = [], meeting(places, routes)
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


def meeting(places: Places, routes: Sequence[Route]) -> list[int]:
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
