"""Where the path of a gradient ends: scissors on the forward arrow, and a ghost of the arrow that would have
run back along it."""

from __future__ import annotations

from ..model.card_names import PARALLEL
from ..trace.graph import Route
from ..words import text
from . import labels
from .canvas import Canvas
from .curves import Cubic, Point
from .places import Places
from .signs import SCISSORS
from .style import num, path_data, xml

UP, DOWN, HALF = 10.0, 17.0, 10.0  # the room of scissors, from where they cut


class Scissors:
    """Draws the signs that stand on the arrows of a `canvas` where the path of a gradient ends."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas

    def cut(self, route: Route, path: list[Cubic]) -> str:
        """Scissors on the forward arrow of a route, and the ghost of its gradient arrow, which ends there."""
        self.canvas.kinds |= {"cut", "lost"}
        upright = self.canvas.places.axes.upright
        left, top, right, bottom = (UP, HALF, DOWN, HALF) if upright else (HALF, UP, HALF, DOWN)
        x, y = self.canvas.spot(path, (left, top, right, bottom), own=[route.id])
        self.canvas.space.take((x - left, y - top, x + right, y + bottom))
        ghost = ghost_arrow(self.canvas.places, route, (x, y))
        self.canvas.reach(*(point for piece in ghost for point in piece))
        id, tip = self.canvas.prefix + route.id, f"<title>{xml(self.why_cut(route))}</title>"
        place = f"translate({num(x)} {num(y)}){' rotate(-90)' * upright}"
        return (
            f'<g class="edge ghost" id="{id}-ghost">{tip}<path d="{path_data(ghost)}"/></g>'
            f'<g class="cut" id="{id}-cut" transform="{place}">{tip}{SCISSORS}</g>'
        )

    def cut_of(self, route: Route) -> str:
        """What cut the path along an arrow, or along one of those that are drawn as one with it."""
        bundle = self.canvas.measured.bundles[route.id]
        drawn = bundle if len(bundle) > PARALLEL else (route.id,)
        return next((self.canvas.routes[id].cut for id in drawn if self.canvas.routes[id].cut), "")

    def why_cut(self, route: Route) -> str:
        """A sentence that says what ended the path."""
        return text(labels.CUTS[self.cut_of(route)], self.canvas.lang)


def ghost_arrow(places: Places, route: Route, end: Point) -> list[Cubic]:
    """From where the gradient arrow of `route` would begin to the handles of scissors at `end`."""
    axes, level = places.axes, places.lower(route.target)
    start = places.extent(route.target)[0], level
    u, v = axes.into(end)
    handles = u, v + DOWN - 3
    middle = (start[0] + u) / 2
    dip = u, max(level, handles[1] + 12)
    back = axes.back
    return [(back(start), back((middle, level)), back(dip), back(handles))]
