"""What is drawn on the canvas of a picture: stations, reference chips, frames, fog, scissors, and pills at
arrows.

`svg` describes ids and classes.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import islice
from math import inf

from ..number_text import one_line
from ..trace.graph import CONSTANT, Graph, Route, Station
from ..words import columns, shorten, shorten_name, text
from ..words.display_text import text_pixels
from .boxes import Box, Measurements, Pill, Reference
from .decks import Sign, draw_hook
from .details import describe
from .geometry import Cubic, Point, Rect, at, points_along
from .heat_maps import heat_map
from .look import CHIP, CUT_WORDS, PAD, SMALL, Ink
from .positions import Places, seed_arrow
from .style import SCISSORS, area, haze, num, path_data, rounded_rectangle, text_label, xml, xml_with_spaces

# ─── What the parts of a picture are drawn on


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
        self.measured: Measurements = places.measured
        self.tags = places.measured.tags
        self.routes = {route.id: route for route in graph.routes}
        self.stations = {station.id: station for station in graph.stations}
        self.folds = {fold.station: fold for fold in graph.folds}
        self.lined = False  # whether the arrows are known
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

    def lines(self) -> None:
        """Take note of all arrows, so that no sign is on one that is not its own. Among very many arrows
        no sign avoids all of them, and to look for a place takes minutes.
        """
        arrows, self.lined = self.places.arrows, True
        for id, path in arrows.items() if len(arrows) <= CROWD else ():
            self.space.draw(id, points_along(path))

    def spot(
        self, path: list[Cubic], size: Rect, above: Sequence[float] = (0.0,), own: Sequence[str] = (),
        *, touching: bool = False,
    ) -> Point:  # fmt: skip
        """The point of a path around which `size` covers least of boxes, other signs and the arrows that are
        not its `own`, as near to its middle as can be; or a point that much `above` it. If each of them would
        hide a crossing, it may be a point from which `size` is `touching` the path from one side. Another
        picture of this layout may have found it before."""
        sign = (*own, size, *above)
        if sign not in self.places.spots:
            self.places.spots[sign] = self.free_spot(path, size, above, own, touching)
        return self.places.spots[sign]

    def free_spot(
        self, path: list[Cubic], size: Rect, above: Sequence[float], own: Sequence[str], touching: bool
    ) -> Point:
        """The same, found among what is drawn."""
        if not self.lined:
            self.lines()
        points = points_along(path)
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


# ─── The parts of the picture that stand


SHEET = 8  # pixels by which the pile behind a fold stands out
FOG = 9.0  # pixels that the haze reaches beyond its station
UP, DOWN, HALF = 10.0, 17.0, 10.0  # the room of scissors, from where they cut


def draw_station(canvas: Canvas, station: Station) -> str:
    """A station with its cards and its deck."""
    box, (x, y) = canvas.measured.boxes[station.id], canvas.places.corner(station.id)
    canvas.stand(x, y - SHEET * box.stack, x + box.width + SHEET * box.stack, y + box.height)
    roles = dict.fromkeys(card.role for card in station.cards)
    id = canvas.prefix + station.id
    parts = [stack(canvas, box)]
    for i, card in enumerate(box.cards):
        bare = station.deck is None and (card.card.role == CONSTANT or not card.card.requires_grad)
        memory = canvas.measured.memories.get((station.id, i))
        tip = describe(station, i, canvas.measured.names, canvas.lang, canvas.folds.get(station.id), memory)
        told = "\n".join([*canvas.marked(card.tag), tip])
        parts.append(card.draw(canvas, f"{id}-c{i}", told, box.upper, bare, box.corners(i)))
    if box.deck is not None:
        kind = "-d" if station.deck else "-ghost"
        parts.append(box.deck.draw(canvas, station, box.place, (x, y), id + kind))
    kind = " ".join([*roles, *["bare"] * (station.deck is None), *["fold"] * box.fold]) + canvas.light(id)
    return (
        f'<g class="station {kind}" id="{id}" transform="translate({num(x)} {num(y)})">{"".join(parts)}</g>'
    )


def stack(canvas: Canvas, box: Box) -> str:
    """The edges of two more stations behind one that stands for many, on a side where no arrow ends."""
    if not box.stack:
        return ""
    canvas.kinds.add("fold")
    sheets = []
    for d in (SHEET, SHEET / 2):
        if canvas.places.axes.upright:
            sheets.append(rounded_rectangle(d, 1.5 * d, box.width, box.height - 3 * d, (8, 8, 8, 8)))
        else:
            sheets.append(rounded_rectangle(1.5 * d, -d, box.width - 3 * d, box.height, (8, 8, 8, 8)))
    return "".join(f'<path class="sheet" d="{sheet}"/>' for sheet in sheets)


def draw_fog(canvas: Canvas, station: Station) -> str:
    """The haze around a station whose op was not recorded."""
    if not any(card.fog for card in station.cards):
        return ""
    canvas.kinds.add("fog")
    box, (x, y) = canvas.measured.boxes[station.id], canvas.places.corner(station.id)
    left, top, right, bottom = x - FOG, y - FOG, x + box.width + FOG, y + box.height + FOG
    canvas.reach((left, top), (right, bottom))
    return f'<g class="fog" id="{canvas.prefix}{station.id}-fog">{haze(left, top, right, bottom)}</g>'


def draw_reference(canvas: Canvas, chip: Reference) -> str:
    """The small stand-in for a much used leaf."""
    box, (x, y) = canvas.measured.boxes[chip.id], canvas.places.corner(chip.id)
    canvas.stand(x, y, x + box.width, y + box.height)
    source = canvas.stations[chip.source]
    role = source.cards[chip.card].role
    upper = rounded_rectangle(0, 0, box.across, box.upper, box.corners(0) if source.deck else (7, 7, 7, 7))
    deck = (
        f'<g class="deck"><path class="box" d="{rounded_rectangle(*box.place)}"/></g>' if source.deck else ""
    )
    tip = text("tip_reference", canvas.lang, name=chip.text, n=chip.uses)
    return (
        f'<g class="reference" id="{canvas.prefix}{chip.id}" transform="translate({num(x)} {num(y)})">'
        f'<title>{xml(tip)}</title><g class="card {role}{"" if source.deck else " bare"}">'
        f'<path class="{"head" if source.deck else "box"}" d="{upper}"/>'
        f'<text x="{PAD}" y="16.5">{xml(shorten_name(chip.text, 14))}</text></g>{deck}</g>'
    )


def draw_frame(canvas: Canvas, order: int) -> str:
    """The frame around the stations of one order, with its title."""
    left, top, right, bottom = canvas.places.frames[order]
    whole = text("frame_2" if order == 2 else "frame_n", canvas.lang, n=order)
    brief = text("frame_2_short" if order == 2 else "frame_n_short", canvas.lang, n=order)
    room = right - left - 24
    title = whole if text_pixels(whole) < room else shorten(brief, max(1, int(room / 7)))
    # On the side from which the fewest arrows come in.
    axes = canvas.places.axes
    line = bottom - 10 if axes.upright else top + 17
    canvas.reach((left, top), (right, bottom))
    canvas.space.take((left + 8, line - 13, left + 16 + text_pixels(title), line + 3))
    return (
        f'<g class="frame" id="{canvas.prefix}frame{order}"><title>{xml(whole)}</title>'
        f'<rect {area(left, top, right - left, bottom - top)} rx="12"/>'
        f"{text_label(title, left + 12, line, 'say')}</g>"
    )


# ── where the path of a gradient ends ───────────────────────────────────────────────────────────────────────


def draw_cut(canvas: Canvas, route: Route, path: list[Cubic]) -> str:
    """Scissors on the forward arrow of a route, and the ghost of its gradient arrow, which ends there."""
    canvas.kinds |= {"cut", "lost"}
    upright = canvas.places.axes.upright
    left, top, right, bottom = (UP, HALF, DOWN, HALF) if upright else (HALF, UP, HALF, DOWN)
    x, y = canvas.spot(path, (left, top, right, bottom), own=[route.id])
    canvas.space.take((x - left, y - top, x + right, y + bottom))
    ghost = ghost_arrow(canvas.places, route, (x, y))
    canvas.reach(*(point for piece in ghost for point in piece))
    id, tip = canvas.prefix + route.id, f"<title>{xml(why_cut(canvas, route))}</title>"
    place = f"translate({num(x)} {num(y)}){' rotate(-90)' * upright}"
    return (
        f'<g class="edge ghost" id="{id}-ghost">{tip}<path d="{path_data(ghost)}"/></g>'
        f'<g class="cut" id="{id}-cut" transform="{place}">{tip}{SCISSORS}</g>'
    )


def why_cut(canvas: Canvas, route: Route) -> str:
    """What ended the path along an arrow, or along one of those that are drawn as one with it; "" if nothing
    did."""
    cuts = (canvas.routes[id].cut for id in canvas.measured.drawn(route))
    return next((text(CUT_WORDS[cut], canvas.lang) for cut in cuts if cut), "")


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


# ─── What stands at arrows


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
    kind = pill_class(pill) + canvas.light(id)
    said = pill_content(canvas, pill, left + pill.beside, top)
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
    said = f'<g class="{pill_class(pill)}">{pill_content(canvas, pill, left, top)}</g>'
    return f"{arrow.removesuffix('</g>')}{said}</g>"


def pill_content(canvas: Canvas, pill: Pill, left: float, top: float) -> str:
    """The content of a pill, around which the pill is drawn."""
    first, right = top + 14, left + pill.width
    heat = ""
    if pill.heat is not None:
        first += pill.heat.height + 1
        scale = canvas.measured.scales[pill.heat.of]
        heat = heat_map(pill.heat, scale, (left + right - pill.heat.width) / 2, top + 2)
    lines = "".join(
        f'<text x="{num((left + right) / 2)}" y="{num(first + 16 * i)}">{xml_with_spaces(line)}</text>'
        for i, line in enumerate(pill.lines)
    )
    return f'<rect {area(left, top, pill.width, pill.height)} rx="10"/>{lines}{heat}'


def draw_shape(canvas: Canvas, route: Route, path: list[Cubic]) -> str:
    """The sizes of what flows forward, above the arrow or left of one that runs down; shown where boxes of
    many hide the tensors."""
    said = canvas.measured.shapes[route.id]
    half = columns(said) * SMALL / 2
    if canvas.places.axes.upright:
        x, y = canvas.spot(path, (2 * half + 6, 6, -6, 6), (0.0,), [route.id])
        x -= half + 6
    else:
        x, y = canvas.spot(path, (half, 6, half, 6), (11.0, -11.0, 22.0), [route.id])
    canvas.stand(x - half, y - 6, x + half, y + 6)
    return text_label(said, x, y + 4, "shape")


def flow(canvas: Canvas, route: Route) -> str:
    """What flowed over a route, or over the bundle that is drawn along it, as a sentence."""
    drawn = canvas.measured.drawn(route)
    flowed = (value for id in drawn for value in canvas.routes[id].gradients)
    values = [one_line(value, 60) for value in islice(flowed, TOLD)]
    if not values:
        key = "tip_gradient_unseen" if canvas.graph.unseen else "tip_gradient_none"
        return text(key, canvas.lang, **ends(canvas, route))
    return text("tip_gradient", canvas.lang, value=", ".join(values), **ends(canvas, route))


def ends(canvas: Canvas, route: Route) -> dict[str, str]:
    """Names of the tensors that a route runs between."""
    names = canvas.measured.names
    return {"source": names[route.source, route.card], "target": names[route.target, 0]}


def pill_class(pill: Pill) -> str:
    """The class of a pill."""
    return "pill map" if pill.heat is not None else "pill"
