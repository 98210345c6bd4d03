"""What the parts of a picture are drawn on: the graph with its places, the room taken, and what occurs."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ..trace.graph import Graph
from ..words import shorten
from .arrows import Places, Rect, Space
from .boxes import Measured
from .curves import Cubic, Point, along, at
from .look import CHIP
from .marks import Tag, told
from .style import area, num, path_data, xml

TIP = 9.0  # length of an arrow head
TAGGED = {"error": "guilty", "cause": "cause"}  # the legend's word for what a mark says
# Where along its arrow a sign may stand: the middle if that is free.
ALONG = (0.5, 0.44, 0.56, 0.37, 0.63, 0.3, 0.7, 0.23, 0.77, 0.16, 0.84)


class Canvas:
    """A picture on its way to becoming SVG: keeps note of the places that are taken and of what occurs."""

    def __init__(self, graph: Graph, places: Places, lang: str | None, prefix: str) -> None:
        self.graph, self.places, self.lang, self.prefix = graph, places, lang, prefix
        self.measured: Measured = places.measured
        self.tags = places.measured.tags
        self.routes = {route.id: route for route in graph.routes}
        self.stations = {station.id: station for station in graph.stations}
        self.folds = {fold.station: fold for fold in graph.folds}
        self.space = Space()
        self.bounds = [inf, inf, -inf, -inf]  # of what is drawn; Graphviz leaves room for more
        self.kinds: set[str] = set()  # what occurs, for the legend

    # -------------------------------------------------------------------------------------------------- marks

    def kind(self, plain: str, tag: Tag | None) -> str:
        """The class of a part, with that of its mark."""
        if tag is None:
            return plain
        self.kinds.add(TAGGED[tag.kind])
        return f"{plain} {tag.kind}"

    def marked(self, tag: Tag | None) -> list[str]:
        """What a tooltip says of a mark."""
        return [] if tag is None else [told(tag, self.lang)]

    def tag(self, tag: Tag | None, right: float, top: float) -> str:
        """The sign with the label of a mark, its right side at `right`."""
        if tag is None:
            return ""
        left = right - tag.width
        return (
            f'<g class="tag {tag.kind}"><title>{xml(told(tag, self.lang))}</title>'
            f'<rect {area(left, top, tag.width, CHIP)} rx="4"/>'
            f'<text x="{num(left + tag.width / 2)}" y="{num(top + 13)}">{xml(tag.label)}</text></g>'
        )

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
            f'<g class="edge {kind}" id="{id}"><title>{xml(shorten(tip, 500))}</title>'
            f'<path d="{path_data(line)}"/><path class="tip" d="{head}"/></g>'
        )

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

    def spot(self, path: list[Cubic], size: Rect, above: Sequence[float] = (0.0,)) -> Point:
        """The point of a path around which `size` covers least, as near to its middle as can be; or a point
        that much `above` it."""
        points = along(path)
        left, top, right, bottom = size
        spots = [(points[round(share * (len(points) - 1))], up) for up in above for share in ALONG]
        around = [(x, y - up) for (x, y), up in spots]
        # The first, that is nearest to the middle, of those that cover least.
        return min(
            around,
            key=lambda p: self.space.covered(
                (p[0] - left - 3, p[1] - top - 2, p[0] + right + 3, p[1] + bottom + 2)
            ),
        )
