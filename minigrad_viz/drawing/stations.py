"""The parts of the picture that stand: stations with their cards, reference chips, frames, fog; and scissors
where the path of a gradient ends, with the ghost of the arrow that would have run back.

Ids and classes are those that `svg` tells of.
"""

from __future__ import annotations

from ..trace.graph import CONSTANT, Route, Station
from ..words import sans, shorten, shorten_name, text
from .boxes import Box, Reference
from .canvas import Canvas
from .details import describe
from .look import CUT_WORDS, PAD
from .places import Places
from .plane import Cubic, Point
from .signs import SCISSORS, haze
from .style import area, label, num, path_data, rounded, xml

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
            sheets.append(rounded(d, 1.5 * d, box.width, box.height - 3 * d, (8, 8, 8, 8)))
        else:
            sheets.append(rounded(1.5 * d, -d, box.width - 3 * d, box.height, (8, 8, 8, 8)))
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
    upper = rounded(0, 0, box.across, box.upper, box.corners(0) if source.deck else (7, 7, 7, 7))
    deck = f'<g class="deck"><path class="box" d="{rounded(*box.place)}"/></g>' if source.deck else ""
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
    title = whole if sans(whole) < room else shorten(brief, max(1, int(room / 7)))
    # On the side from which the fewest arrows come in.
    axes = canvas.places.axes
    line = bottom - 10 if axes.upright and axes.sign > 0 else top + 17
    canvas.reach((left, top), (right, bottom))
    canvas.space.take((left + 8, line - 13, left + 16 + sans(title), line + 3))
    return (
        f'<g class="frame" id="{canvas.prefix}frame{order}"><title>{xml(whole)}</title>'
        f'<rect {area(left, top, right - left, bottom - top)} rx="12"/>'
        f"{label(title, left + 12, line, 'say')}</g>"
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
