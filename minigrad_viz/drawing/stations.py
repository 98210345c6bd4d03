"""The parts of the picture that stand: stations with their cards, reference chips, frames, fog.

Ids and classes are those that `svg` tells of.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..trace.graph import CONSTANT, Station
from ..words import sans, shorten, shorten_name, text
from .arrows import AXES
from .boxes import Measured, Reference
from .canvas import Canvas
from .cards import ASKED, HEAD, MORE, Box, CardBox, CardRow
from .details import describe
from .heat import heat_map
from .look import PAD
from .lower import Decks
from .signs import SHEETS, TARGET, haze
from .style import area, num, rounded, spaced, xml

SHEET = 8  # pixels by which the pile behind a fold stands out
FOG = 9.0  # pixels that the haze reaches beyond its station


class Stations:
    """Draws what stands on a `canvas`."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas, self.decks = canvas, Decks(canvas)

    def station(self, station: Station) -> str:
        """A station with its cards and its deck."""
        box, (x, y) = self.canvas.measured.boxes[station.id], self.canvas.places.corner(station.id)
        self.canvas.stand(x, y - SHEET * box.stack, x + box.width + SHEET * box.stack, y + box.height)
        roles = dict.fromkeys(card.role for card in station.cards)
        id = self.canvas.prefix + station.id
        cards = "".join(self.card(station, i, card, box, f"{id}-c{i}") for i, card in enumerate(box.cards))
        deck = self.decks.deck(station, box, f"{id}-d") if station.deck else ""
        deck = self.decks.ghost(station, box, f"{id}-ghost") if box.deck and not station.deck else deck
        kind = " ".join([*roles, *["bare"] * (station.deck is None), *["fold"] * box.stack])
        return (
            f'<g class="station {kind}" id="{id}" transform="translate({num(x)} {num(y)})">'
            f"{self.stack(box)}{cards}{deck}</g>"
        )

    def stack(self, box: Box) -> str:
        """The edges of two more stations behind one that stands for many, on a side where no arrow ends."""
        if not box.stack:
            return ""
        self.canvas.kinds.add("fold")
        radius = 10 if box.deck is not None else 8
        sheets = []
        for d in (SHEET, SHEET / 2):
            if self.canvas.places.axes.upright:
                sheets.append(rounded(d, 1.5 * d, box.width, box.height - 3 * d, 8, radius))
            else:
                sheets.append(rounded(1.5 * d, -d, box.width - 3 * d, box.height, 8, radius))
        return "".join(f'<path class="sheet" d="{sheet}"/>' for sheet in sheets)

    def card(self, station: Station, i: int, box: CardBox, whole: Box, id: str) -> str:
        """One card of a station."""
        card, x, width, upper = box.card, box.x, box.width, whole.upper
        bare = station.deck is None and (card.role == CONSTANT or not card.requires_grad)
        kind = self.canvas.kind(f"card {card.role} bare" if bare else f"card {card.role}", box.tag)
        self.canvas.kinds.add("constant" if bare else card.role)
        fold = self.canvas.folds.get(station.id)
        foot = 8 if whole.deck is None else 0
        memory = self.canvas.measured.memories.get((station.id, i))
        told = describe(station, i, self.canvas.measured.names, self.canvas.lang, fold, memory)
        tip = "\n".join([*self.canvas.marked(box.tag), told])
        parts = [
            f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title>',
            f'<path class="box" d="{rounded(x, 0, width, upper, 8, foot)}"/>',
            f'<path class="head" d="{rounded(x, 0, width, HEAD, 8, 0)}"/>',
            f'<text x="{num(x + PAD)}" y="18">{_heading(box)}</text>',
        ]
        right = x + width - PAD
        if card.asked:
            self.canvas.kinds.add("asked")
            parts.append(f'<g class="asked" transform="translate({num(right - 6)} 13)">{TARGET}</g>')
            right -= ASKED
        if box.role:
            parts.append(f'<text class="role" x="{num(right)}" y="18">{xml(box.role)}</text>')
            right -= sans(box.role) + 6
        parts.append(self.canvas.tag(box.tag, right, 4))
        for row in box.rows:
            if row.name == "grad" and row.tone == "gone" and card.grad:
                self.canvas.kinds.add("not_kept")
            content = row_content(row, x + box.values_x, self.canvas.measured.scales)
            label = f'<text class="key" x="{num(x + PAD)}" y="{num(row.y)}">{xml(row.label)}</text>'
            label = self.memory(row.sign, x + PAD, row.y) if row.sign else label
            parts.append(f'<g class="row" id="{id}-{row.name}">{label}{content}</g>')
        return "".join(parts) + "</g>"

    def memory(self, sign: str, x: float, y: float) -> str:
        """The sign of a memory that several tensors use: two sheets, the front one with its letter."""
        self.canvas.kinds.add("memory")
        letter = f'<text x="13" y="11">{xml(sign)}</text>'
        return f'<g class="memory" transform="translate({num(x)} {num(y - 11)})">{SHEETS}{letter}</g>'

    def fog(self, station: Station) -> str:
        """The haze around a station whose op was not recorded."""
        if not any(card.fog for card in station.cards):
            return ""
        self.canvas.kinds.add("fog")
        box, (x, y) = self.canvas.measured.boxes[station.id], self.canvas.places.corner(station.id)
        left, top, right, bottom = x - FOG, y - FOG, x + box.width + FOG, y + box.height + FOG
        self.canvas.reach((left, top), (right, bottom))
        return (
            f'<g class="fog" id="{self.canvas.prefix}{station.id}-fog">{haze(left, top, right, bottom)}</g>'
        )

    def reference(self, chip: Reference) -> str:
        """The small stand-in for a much used leaf."""
        box, (x, y) = self.canvas.measured.boxes[chip.id], self.canvas.places.corner(chip.id)
        self.canvas.stand(x, y, x + box.width, y + box.height)
        source = self.canvas.stations[chip.source]
        role = source.cards[chip.card].role
        upper = rounded(0, 0, box.width, box.upper, 8, 0 if source.deck else 8)
        lower = rounded(0, box.upper, box.width, box.height - box.upper, 0, 8)
        deck = f'<g class="deck"><path class="box" d="{lower}"/></g>' if source.deck else ""
        tip = text("tip_reference", self.canvas.lang, name=chip.text, n=chip.uses)
        return (
            f'<g class="reference" id="{self.canvas.prefix}{chip.id}"'
            f' transform="translate({num(x)} {num(y)})">'
            f'<title>{xml(tip)}</title><g class="card {role}{"" if source.deck else " bare"}">'
            f'<path class="{"head" if source.deck else "box"}" d="{upper}"/>'
            f'<text x="{PAD}" y="17">{xml(shorten_name(chip.text, 14))}</text></g>{deck}</g>'
        )

    def frame(self, order: int) -> str:
        """The frame around the stations of one order, with its title."""
        left, top, right, bottom = self.canvas.places.frames[order]
        whole = text("frame_2" if order == 2 else "frame_n", self.canvas.lang, n=order)
        brief = text("frame_2_short" if order == 2 else "frame_n_short", self.canvas.lang, n=order)
        room = right - left - 24
        title = whole if sans(whole) < room else shorten(brief, max(1, int(room / 7)))
        # On the side from which the fewest arrows come in.
        line = bottom - 10 if self.canvas.places.axes == AXES["TB"] else top + 17
        self.canvas.reach((left, top), (right, bottom))
        self.canvas.space.take((left + 8, line - 13, left + 16 + sans(title), line + 3))
        return (
            f'<g class="frame" id="{self.canvas.prefix}frame{order}"><title>{xml(whole)}</title>'
            f'<rect {area(left, top, right - left, bottom - top)} rx="12"/>'
            f'<text class="say" x="{num(left + 12)}" y="{num(line)}">{xml(title)}</text></g>'
        )


def row_content(row: CardRow, x: float, scales: Mapping[str, float]) -> str:
    """What a row says: its lines and its maps, without the label."""
    tone = "" if row.tone == "plain" else f' class="{row.tone}"'
    lines = "".join(
        f'<text{tone} x="{num(x)}" y="{num(row.y + MORE * n)}">{spaced(line)}</text>'
        for n, line in enumerate(row.lines)
    )
    maps = (heat_map(heat, scales[heat.of], x + heat.x, row.y - 12) for heat in row.heats)
    return lines + "".join(maps)


def stood_rows(measured: Measured) -> dict[str, list[str]]:
    """By the id of a row, what it says at each moment of its card, where that changes."""
    return {
        f"{id}-c{i}-{row.name}": [
            row_content(other, card.x + card.values_x, measured.scales) for other in row.others
        ]
        for id, box in measured.boxes.items()
        for i, card in enumerate(box.cards)
        for row in card.rows
        if row.others
    }


def _heading(box: CardBox) -> str:
    """The title of a card: its name in bold, and the expression that made it."""
    name = f'<tspan class="name">{xml(box.name)}</tspan>' if box.name else ""
    if not box.expr:
        return name
    sign = " = " if box.name else ""
    return f"{name}<tspan>{spaced(sign)}</tspan><tspan>{xml(box.expr)}</tspan>"
