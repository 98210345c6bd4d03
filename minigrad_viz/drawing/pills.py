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
from .style import area, label, num, spaced, xml

SEED = "-seed"  # how the id of a gradient ends that a call was given
TOLD = 250  # gradients of a bundle that its tooltip tells, before it is cut short


def draw_pill(canvas: Canvas, route: Route, path: list[Cubic]) -> str:
    """The value that flowed, where it covers nothing, as near to the middle of its arrow as can be."""
    pill = canvas.measured.pills[route.id]
    across = (pill.width + pill.beside) / 2
    up = pill.height / 2 if canvas.places.axes.upright else pill.above
    size = across, up, across, pill.height - up
    x, y = canvas.spot(path, size, ASIDE, [f"{route.id}-g"], touching=True)
    left, top, right, bottom = x - across, y - up, x + across, y - up + pill.height
    canvas.stand(left, top, right, bottom)
    deck = canvas.stations[route.source].deck
    hooks = ""
    for i, hook in enumerate(pill.hooks):
        assert deck is not None
        sign = Sign(str(hook + 1), hook)
        hooks += draw_hook(canvas, deck, sign, left + i * (CHIP + 2), (top + bottom - CHIP) / 2)
    tip = shorten(flow(canvas, route), 500)
    id = f"{canvas.prefix}{route.id}-p"
    kind = kind_of(pill) + canvas.light(id)
    said = inner(canvas, pill, left + pill.beside, top)
    return f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title>{said}{hooks}</g>'


def draw_seed(canvas: Canvas, id: str) -> str:
    """The gradient that the call was given for a root, at an arrow that comes from outside."""
    station, card = id.removesuffix(SEED).split("-c")
    pill, upright = canvas.measured.pills[id], canvas.places.axes.upright
    length = 24 + (pill.height if upright else pill.width)
    path = seed_arrow(canvas.places, station, int(card), length)
    (x, y), (right, bottom) = path[0][0], path[-1][3]
    away = (x > right) - (x < right), (y > bottom) - (y < bottom)
    x, y = x - away[0] * pill.width / 2, y - away[1] * pill.height / 2
    name, value = canvas.measured.names[station, int(card)], "".join(pill.lines)
    tip = text("tip_seed", canvas.lang, value=value, name=name)
    canvas.kinds.add("gradient")
    arrow = canvas.edge("grad", canvas.prefix + id, path, tip)
    left, top = x - pill.width / 2, y - pill.height / 2
    canvas.stand(left, top, left + pill.width, top + pill.height)
    said = f'<g class="{kind_of(pill)}">{inner(canvas, pill, left, top)}</g>'
    return f"{arrow.removesuffix('</g>')}{said}</g>"


def inner(canvas: Canvas, pill: Pill, left: float, top: float) -> str:
    """What stands in a pill, around which it is drawn."""
    first, right = top + 14, left + pill.width
    heat = ""
    if pill.heat is not None:
        first += pill.heat.height + 1
        scale = canvas.measured.scales[pill.heat.of]
        heat = heat_map(pill.heat, scale, (left + right - pill.heat.width) / 2, top + 2)
    lines = "".join(
        f'<text x="{num((left + right) / 2)}" y="{num(first + 16 * i)}">{spaced(line)}</text>'
        for i, line in enumerate(pill.lines)
    )
    return f'<rect {area(left, top, pill.width, pill.height)} rx="10"/>{lines}{heat}'


def draw_shape(canvas: Canvas, route: Route, path: list[Cubic]) -> str:
    """The sizes of what flows forward, above the arrow or left of one that runs down; told where boxes of
    many hide the tensors."""
    said = canvas.measured.shapes[route.id]
    half = columns(said) * SMALL / 2
    if canvas.places.axes.upright:
        x, y = canvas.spot(path, (2 * half + 6, 6, -6, 6), (0.0,), [route.id])
        x -= half + 6
    else:
        x, y = canvas.spot(path, (half, 6, half, 6), (11.0, -11.0, 22.0), [route.id])
    canvas.stand(x - half, y - 6, x + half, y + 6)
    return label(said, x, y + 4, "shape")


def flow(canvas: Canvas, route: Route) -> str:
    """What flowed over a route, or over the bundle that is drawn along it, as a sentence."""
    drawn = canvas.measured.drawn(route)
    flowed = (value for id in drawn for value in canvas.routes[id].gradients)
    values = [short(value, 60) for value in islice(flowed, TOLD)]
    if not values:
        key = "tip_gradient_unseen" if canvas.graph.unseen else "tip_gradient_none"
        return text(key, canvas.lang, **ends(canvas, route))
    return text("tip_gradient", canvas.lang, value=", ".join(values), **ends(canvas, route))


def ends(canvas: Canvas, route: Route) -> dict[str, str]:
    """Names of the tensors that a route runs between."""
    names = canvas.measured.names
    return {"source": names[route.source, route.card], "target": names[route.target, 0]}


def kind_of(pill: Pill) -> str:
    """The class of a pill."""
    return "pill map" if pill.heat is not None else "pill"
