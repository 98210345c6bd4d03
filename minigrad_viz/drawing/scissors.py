"""Where the path of a gradient ends: scissors on the forward arrow, and a ghost of the arrow that would have
run back along it."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.card_names import PARALLEL
from ..trace.graph import Route
from ..words import text
from . import labels
from .arrows import Places, Rect
from .curves import Cubic, Point, along
from .signs import SCISSORS
from .stations import Stations
from .style import num, path_data, xml

UP, DOWN, HALF = 10.0, 17.0, 10.0  # the room of scissors, from where they cut
# Where along its arrow a sign may stand: the middle if that is free.
ALONG = (0.5, 0.44, 0.56, 0.37, 0.63, 0.3, 0.7, 0.23, 0.77, 0.16, 0.84)


class Cuts(Stations):
    """Draws the signs that stand on arrows where the path of a gradient ends."""

    def cut(self, route: Route, path: list[Cubic]) -> str:
        """Scissors on the forward arrow of a route, and the ghost of its gradient arrow, which ends there."""
        self.kinds |= {"cut", "lost"}
        upright = self.places.axes.upright
        left, top, right, bottom = (UP, HALF, DOWN, HALF) if upright else (HALF, UP, HALF, DOWN)
        x, y = self.spot(path, (left, top, right, bottom))
        self.space.take((x - left, y - top, x + right, y + bottom))
        ghost = ghost_arrow(self.places, route, (x, y))
        self.reach(*(point for piece in ghost for point in piece))
        id, tip = self.prefix + route.id, f"<title>{xml(self.why_cut(route))}</title>"
        place = f"translate({num(x)} {num(y)}){' rotate(-90)' * upright}"
        return (
            f'<g class="edge ghost" id="{id}-ghost">{tip}<path d="{path_data(ghost)}"/></g>'
            f'<g class="cut" id="{id}-cut" transform="{place}">{tip}{SCISSORS}</g>'
        )

    def cut_of(self, route: Route) -> str:
        """What cut the path along an arrow, or along one of those that are drawn as one with it."""
        bundle = self.measured.bundles[route.id]
        drawn = bundle if len(bundle) > PARALLEL else (route.id,)
        return next((self.routes[id].cut for id in drawn if self.routes[id].cut), "")

    def why_cut(self, route: Route) -> str:
        """A sentence that says what ended the path."""
        return text(labels.CUTS[self.cut_of(route)], self.lang)

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


def ghost_arrow(places: Places, route: Route, end: Point) -> list[Cubic]:
    """From where the gradient arrow of `route` would begin to the handles of scissors at `end`."""
    axes, box = places.axes, places.measured.boxes[route.target]
    level = places.lower(route.target)
    if box.deck is None and not axes.upright:
        level = places.corner(route.target)[1] + 0.8 * box.height
    start = places.extent(route.target)[0], level
    u, v = axes.into(end)
    handles = u, v + DOWN - 3
    middle = (start[0] + u) / 2
    dip = u, max(level, handles[1] + 12)
    back = axes.back
    return [(back(start), back((middle, level)), back(dip), back(handles))]
