"""What stands at arrows: the gradients that flowed, those that a call was given, and the sizes of what flows
forward. Ids and classes are those that `svg` tells of."""

from __future__ import annotations

from itertools import islice

from ..numbers import short
from ..trace.graph import Route
from ..words import columns, shorten, text
from .arrows import seed_arrow
from .canvas import ASIDE, Canvas
from .decks import Sign, draw_hook
from .heat import heat_map
from .look import CHIP, SMALL
from .pill_boxes import Pill
from .plane import Cubic
from .style import area, num, spaced, xml

SEED = "-seed"  # how the id of a gradient ends that a call was given
TOLD = 250  # gradients of a bundle that its tooltip tells, before it is cut short


class Pills:
    """Draws pills on a `canvas`."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas

    def pill(self, route: Route, path: list[Cubic]) -> str:
        """The value that flowed, where it covers nothing, as near to the middle of its arrow as can be."""
        pill = self.canvas.measured.pills[route.id]
        across = (pill.width + pill.beside) / 2
        up = pill.height / 2 if self.canvas.places.axes.upright else pill.above
        size = across, up, across, pill.height - up
        x, y = self.canvas.spot(path, size, ASIDE, [f"{route.id}-g"], touching=True)
        left, top, right, bottom = x - across, y - up, x + across, y - up + pill.height
        self.canvas.stand(left, top, right, bottom)
        deck = self.canvas.stations[route.source].deck
        hooks = ""
        for i, hook in enumerate(pill.hooks):
            assert deck is not None
            sign = Sign(str(hook + 1), hook)
            hooks += draw_hook(self.canvas, deck, sign, left + i * (CHIP + 2), (top + bottom - CHIP) / 2)
        tip = shorten(self.flow(route), 500)
        id = f'id="{self.canvas.prefix}{route.id}-p"'
        inner = self.inner(pill, left + pill.beside, top)
        return f'<g class="{kind_of(pill)}" {id}><title>{xml(tip)}</title>{inner}{hooks}</g>'

    def seed(self, id: str) -> str:
        """The gradient that the call was given for a root, at an arrow that comes from outside."""
        station, card = id.removesuffix(SEED).split("-c")
        pill, upright = self.canvas.measured.pills[id], self.canvas.places.axes.upright
        length = 24 + (pill.height if upright else pill.width)
        path = seed_arrow(self.canvas.places, station, int(card), length)
        (x, y), (right, bottom) = path[0][0], path[-1][3]
        away = (x > right) - (x < right), (y > bottom) - (y < bottom)
        x, y = x - away[0] * pill.width / 2, y - away[1] * pill.height / 2
        name, value = self.canvas.measured.names[station, int(card)], "".join(pill.lines)
        tip = text("tip_seed", self.canvas.lang, value=value, name=name)
        self.canvas.kinds.add("gradient")
        arrow = self.canvas.edge("grad", self.canvas.prefix + id, path, tip)
        left, top = x - pill.width / 2, y - pill.height / 2
        self.canvas.stand(left, top, left + pill.width, top + pill.height)
        return (
            arrow.removesuffix("</g>")
            + f'<g class="pill{" map" * (pill.heat is not None)}">{self.inner(pill, left, top)}</g></g>'
        )

    def inner(self, pill: Pill, left: float, top: float) -> str:
        """What stands in a pill, around which it is drawn."""
        first, right = top + 14, left + pill.width
        heat = ""
        if pill.heat is not None:
            first += pill.heat.height + 1
            scale = self.canvas.measured.scales[pill.heat.of]
            heat = heat_map(pill.heat, scale, (left + right - pill.heat.width) / 2, top + 2)
        lines = "".join(
            f'<text x="{num((left + right) / 2)}" y="{num(first + 16 * i)}">{spaced(line)}</text>'
            for i, line in enumerate(pill.lines)
        )
        return f'<rect {area(left, top, pill.width, pill.height)} rx="10"/>{lines}{heat}'

    def shape(self, route: Route, path: list[Cubic]) -> str:
        """The sizes of what flows forward, above the arrow or left of one that runs down; told where boxes of
        many hide the tensors."""
        said = self.canvas.measured.shapes[route.id]
        half = columns(said) * SMALL / 2
        if self.canvas.places.axes.upright:
            x, y = self.canvas.spot(path, (2 * half + 6, 6, -6, 6), (0.0,), [route.id])
            x -= half + 6
        else:
            x, y = self.canvas.spot(path, (half, 6, half, 6), (11.0, -11.0, 22.0), [route.id])
        self.canvas.stand(x - half, y - 6, x + half, y + 6)
        return f'<text class="shape" x="{num(x)}" y="{num(y + 4)}">{xml(said)}</text>'

    def flow(self, route: Route) -> str:
        """What flowed over a route, or over the bundle that is drawn along it, as a sentence."""
        drawn = self.canvas.measured.drawn(route)
        flowed = (value for id in drawn for value in self.canvas.routes[id].gradients)
        values = [short(value, 60) for value in islice(flowed, TOLD)]
        if not values:
            key = "tip_gradient_unseen" if self.canvas.graph.unseen else "tip_gradient_none"
            return text(key, self.canvas.lang, **self.ends(route))
        return text("tip_gradient", self.canvas.lang, value=", ".join(values), **self.ends(route))

    def ends(self, route: Route) -> dict[str, str]:
        """Names of the tensors that a route runs between."""
        names = self.canvas.measured.names
        return {"source": names[route.source, route.card], "target": names[route.target, 0]}


def kind_of(pill: Pill) -> str:
    """The class of a pill."""
    return "pill map" if pill.heat is not None else "pill"
