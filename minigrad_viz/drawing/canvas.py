"""What the parts of a picture are drawn on: the graph with its places, the room taken, and what occurs."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import inf

from ..trace.graph import Graph
from ..words import shorten
from .boxes import Measured
from .marks import Ink
from .places import Places
from .plane import Cubic, Point, Rect, along, at
from .style import num, path_data, xml

TIP = 9.0  # length of an arrow head
# Where along its arrow a sign may stand, and how far above it: in the middle if that is free.
ALONG = tuple(sorted((i / 40 for i in range(2, 39)), key=lambda share: abs(share - 0.5)))
ASIDE = (0.0, 7.0, -7.0, 11.0, -11.0)
CROWD = 400  # arrows
OVER, CROSSING = 2000.0, 400.0  # what a square pixel of a box costs, and to hide where two arrows cross
FOREIGN = 60.0  # what a point of another gradient arrow costs a pill that only touches its own
TOUCH = 3.0  # pixels between such a pill and its arrow


class Canvas(Ink):
    """A picture on its way to becoming SVG. Its parts that are `lit` have that class, too."""

    def __init__(
        self, graph: Graph, places: Places, lang: str | None, prefix: str, lit: Container[str] = ()
    ) -> None:
        super().__init__(lang, prefix, places.measured.scales, places.axes)
        self.graph, self.places, self.lit = graph, places, lit
        self.measured: Measured = places.measured
        self.tags = places.measured.tags
        self.routes = {route.id: route for route in graph.routes}
        self.stations = {station.id: station for station in graph.stations}
        self.folds = {fold.station: fold for fold in graph.folds}
        self.bounds = [inf, inf, -inf, -inf]  # of what is drawn; Graphviz leaves room for more

    def edge(self, kind: str, id: str, path: list[Cubic], tip: str) -> str:
        """An arrow along `path`, which ends straight: its head points along one of the axes."""
        for piece in path:
            self.reach(*(at(piece, t) for t in (0.25, 0.5, 0.75, 1.0)))
        (x, y), before = path[-1][3], path[-1][0]
        level = abs(x - before[0]) > abs(y - before[1])
        back = -TIP if x + y > before[0] + before[1] else TIP
        end = (x + back, y) if level else (x, y + back)
        line = [*path[:-1], (before, before, end, end)]
        head = f"M{num(x)} {num(y)}l" + (f"{num(back)} -4v8z" if level else f"-4 {num(back)}h8z")
        return (
            f'<g class="edge {kind}{self.light(id)}" id="{id}"><title>{xml(shorten(tip, 500))}</title>'
            f'<path d="{path_data(line)}"/><path class="tip" d="{head}"/></g>'
        )

    def light(self, id: str) -> str:
        """What follows the class of a part if it is lit."""
        return " lit" * (id.removeprefix(self.prefix) in self.lit)

    # -------------------------------------------------------------------------------------------------- space

    def reach(self, *points: Point) -> None:
        """Make the picture large enough to hold some points."""
        for x, y in points:
            left, top, right, bottom = self.bounds
            self.bounds = [min(left, x), min(top, y), max(right, x), max(bottom, y)]

    def stand(self, left: float, top: float, right: float, bottom: float) -> None:
        """Take the place of a box, so that no pill covers it."""
        self.space.take((left, top, right, bottom))
        self.reach((left, top), (right, bottom))

    def lines(self, paths: Mapping[str, list[Cubic]]) -> None:
        """Take note of all arrows, so that no sign stands on one that is not its own. Among very many arrows
        no sign avoids all of them, and to look for a place takes minutes.
        """
        if len(paths) > CROWD:
            return
        for id, path in paths.items():
            self.space.draw(id, along(path))

    def spot(
        self, path: list[Cubic], size: Rect, above: Sequence[float] = (0.0,), own: Sequence[str] = (),
        *, touching: bool = False,
    ) -> Point:  # fmt: skip
        """The point of a path around which `size` covers least of boxes, other signs and the arrows that are
        not its `own`, as near to its middle as can be; or a point that much `above` it. If each of them would
        hide a crossing, it may be a point from which `size` is `touching` the path from one side."""
        points = along(path)
        best = self.best(points, [(0.0, -up) for up in above], size, own)
        if touching and best[0] >= CROSSING:
            left, top, right, bottom = (side + TOUCH for side in size)
            sides = [(0.0, -bottom), (0.0, top), (left, 0.0), (-right, 0.0)]
            best = min(best, self.best(points, sides, size, own, FOREIGN))
        return best[1]

    def best(
        self, points: Sequence[Point], shifts: Sequence[Point], size: Rect, own: Sequence[str],
        foreign: float = 0.0,
    ) -> tuple[float, Point]:  # fmt: skip
        """What the best of some places costs, and where it is: the `points` of a path, moved by the `shifts`.
        To lie on the gradient arrow of others costs `foreign` more."""
        left, top, right, bottom = size
        found: list[tuple[float, Point, Rect]] = []
        for dx, dy in shifts:
            for share in ALONG:
                x, y = points[round(share * (len(points) - 1))]
                x, y = x + dx, y + dy
                box = x - left - 3, y - top - 2, x + right + 3, y + bottom + 2
                under = self.space.crossed(box, own)
                cost = OVER * self.space.covered(box) + len(under)
                if not cost:
                    return 0.0, (x, y)
                cost += foreign * sum(id.endswith("-g") for id in under)
                found.append((cost, (x, y), box))
        crossings = self.space.crossings(points, own)
        costs = [
            cost + CROSSING * sum(1 for x, y in crossings if box[0] < x < box[2] and box[1] < y < box[3])
            for cost, _, box in found
        ]
        least = min(range(len(found)), key=costs.__getitem__)
        return costs[least], found[least][1]
