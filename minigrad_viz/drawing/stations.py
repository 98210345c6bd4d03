"""The parts of the picture that stand: stations with their cards, decks and chips, reference chips, frames.

Ids and classes are those that `svg` tells of.
"""

from __future__ import annotations

from math import inf

from ..protocol import RECOMPUTED
from ..trace.graph import CONSTANT, Deck, Graph, Station
from ..words import sans, shorten, text
from .arrows import AXES, Places, Space
from .boxes import Measured, Reference
from .cards import ASKED, CHIP, HEAD, MORE, PAD, Box, CardBox, hook_width
from .curves import Point
from .outline import describe, describe_deck, describe_hooks, describe_saved
from .style import TARGET, area, num, rounded, spaced, xml

SHEET = 8  # pixels by which the pile behind a fold stands out


class Stations:
    """Draws what stands, keeps note of the places that are taken and of what occurs."""

    def __init__(self, graph: Graph, places: Places, lang: str | None, prefix: str) -> None:
        self.graph, self.places, self.lang, self.prefix = graph, places, lang, prefix
        self.measured: Measured = places.measured
        self.routes = {route.id: route for route in graph.routes}
        self.stations = {station.id: station for station in graph.stations}
        self.folds = {fold.station: fold for fold in graph.folds}
        self.space = Space()
        self.bounds = [inf, inf, -inf, -inf]  # of what is drawn; Graphviz leaves room for more
        self.kinds: set[str] = set()  # what occurs, for the legend

    def station(self, station: Station) -> str:
        """A station with its cards and its deck."""
        box, (x, y) = self.measured.boxes[station.id], self.places.corner(station.id)
        self.stand(x, y - SHEET * box.stack, x + box.width + SHEET * box.stack, y + box.height)
        roles = dict.fromkeys(card.role for card in station.cards)
        id = self.prefix + station.id
        cards = "".join(self.card(station, i, card, box, f"{id}-c{i}") for i, card in enumerate(box.cards))
        deck = self.deck(station, box, f"{id}-d") if station.deck else ""
        kind = " ".join([*roles, *["bare"] * (station.deck is None), *["fold"] * box.stack])
        return (
            f'<g class="station {kind}" id="{id}" transform="translate({num(x)} {num(y)})">'
            f"{self.stack(box)}{cards}{deck}</g>"
        )

    def stack(self, box: Box) -> str:
        """The edges of two more stations behind one that stands for many, on a side where no arrow ends."""
        if not box.stack:
            return ""
        self.kinds.add("fold")
        radius = 10 if box.node is not None else 8
        sheets = []
        for d in (SHEET, SHEET / 2):
            if self.places.axes.upright:
                sheets.append(rounded(d, 1.5 * d, box.width, box.height - 3 * d, 8, radius))
            else:
                sheets.append(rounded(1.5 * d, -d, box.width - 3 * d, box.height, 8, radius))
        return "".join(f'<path class="sheet" d="{sheet}"/>' for sheet in sheets)

    def card(self, station: Station, i: int, box: CardBox, whole: Box, id: str) -> str:
        """One card of a station."""
        card, x, width, upper = box.card, box.x, box.width, whole.upper
        bare = station.deck is None and (card.role == CONSTANT or not card.requires_grad)
        kind = f"{card.role} bare" if bare else card.role
        self.kinds.add("constant" if bare else card.role)
        fold = self.folds.get(station.id)
        foot = 8 if station.deck is None else 0
        tip = describe(station, i, self.measured.names, self.lang, fold)
        parts = [
            f'<g class="card {kind}" id="{id}"><title>{xml(tip)}</title>',
            f'<path class="box" d="{rounded(x, 0, width, upper, 8, foot)}"/>',
            f'<path class="head" d="{rounded(x, 0, width, HEAD, 8, 0)}"/>',
            f'<text x="{num(x + PAD)}" y="18">{_heading(box)}</text>',
        ]
        right = x + width - PAD
        if card.asked:
            self.kinds.add("asked")
            parts.append(f'<g class="asked" transform="translate({num(right - 6)} 13)">{TARGET}</g>')
            right -= ASKED
        if box.role:
            parts.append(f'<text class="role" x="{num(right)}" y="18">{xml(box.role)}</text>')
        for row in box.rows:
            tone = "" if row.tone == "plain" else f' class="{row.tone}"'
            self.kinds |= {"not_kept"} if row.tone == "gone" and card.grad else set()
            lines = "".join(
                f'<text{tone} x="{num(x + box.values_x)}" y="{num(row.y + MORE * n)}">{spaced(line)}</text>'
                for n, line in enumerate(row.lines)
            )
            parts.append(
                f'<g class="row" id="{id}-{row.name}"><text class="key" x="{num(x + PAD)}" y="{num(row.y)}">'
                f"{xml(row.label)}</text>{lines}</g>"
            )
        return "".join(parts) + "</g>"

    def deck(self, station: Station, box: Box, id: str) -> str:
        """The lower deck of a station: its backward node."""
        assert station.deck is not None
        kind = "deck skipped" if station.deck.skipped else "deck"
        self.kinds.add("skipped" if station.deck.skipped else "node")
        parts = [
            f'<g class="{kind}" id="{id}"><title>{xml(describe_deck(station.deck, self.lang))}</title>',
            f'<path class="box" d="{rounded(0, box.upper, box.width, box.height - box.upper, 0, 10)}"/>',
            f'<text class="fn" x="{PAD}" y="{num(box.upper + 20)}">{xml(box.node or "")}</text>',
        ]
        parts.append(self.hooks(station.deck, box))
        for n, chip in enumerate(box.chips):
            saved = chip.saved
            kind = "more" if saved is None else f"{'packed ' * bool(saved.packed)}{'freed' * saved.freed}"
            again = saved is not None and saved.packed == RECOMPUTED
            self.kinds |= set(kind.replace("packed", "again" if again else "packed").split()) or {"saved"}
            hidden = station.deck.saved[n:] if saved is None else (saved,)
            tip = "\n".join(describe_saved(each, self.lang) for each in hidden)
            named = f'class="{f"chip {kind}".strip()}" id="{id[:-2]}-k{n}"'
            parts.append(_label(named, chip.x, box.upper + chip.y, chip.width, chip.text, tip))
        return "".join(parts) + self.nones(station, box) + "</g>"

    def hooks(self, deck: Deck, box: Box) -> str:
        """The hooks of a node, where its gradient comes in: one number each in the order in which they
        ran."""
        tips = describe_hooks(deck, self.lang)
        parts: list[str] = []
        x = box.width - 8
        for i, sign in reversed(list(enumerate(box.hooks))):
            wide = hook_width(sign)
            x -= wide
            ran = len(box.hooks) == len(deck.ran)
            changed = ran and deck.ran[i].before != deck.ran[i].after
            kind = "hooks changed" if changed else "hooks"
            self.kinds.add("hook" if ran else "node")
            tip = tips[i] if ran else "\n".join(tips)
            label = f'<text x="{num(x + wide / 2)}" y="{num(box.upper + 19)}">{xml(sign)}</text>'
            around = area(x, box.upper + 6, wide, CHIP)
            parts.append(f'<g class="{kind}"><title>{xml(tip)}</title><rect {around} rx="9"/>{label}</g>')
            x -= 4
        return "".join(reversed(parts))

    def nones(self, station: Station, box: Box) -> str:
        """A ∅ on the border of a deck, where inputs come in, for every one without an edge, or one with their
        number."""
        assert station.deck is not None
        missing = [i for i, route in enumerate(station.deck.inputs) if route is None]
        if not missing:
            return ""
        self.kinds.add("none")
        x, y = self.places.corner(station.id)
        side = box.width if self.places.axes == AXES["RL"] else 0.0
        bottom, fits = box.height - 14, max(1, int((box.height - box.upper) / 2 // 18))
        marks = [("∅", text("tip_none", self.lang, i=i)) for i in missing]
        if len(missing) > fits:
            marks = [(f"∅{len(missing)}", text("tip_nones", self.lang, n=len(missing)))]
        parts = []
        for n, (sign, tip) in enumerate(reversed(marks)):
            middle, half = bottom - 18 * n, 4.6 + 3.4 * len(sign)
            around = area(side - half, middle - 8, 2 * half, 16)
            self.space.take((x + side - half, y + middle - 8, x + side + half, y + middle + 8))
            parts.append(
                f'<g class="none"><title>{xml(tip)}</title><rect {around} rx="8"/>'
                f'<text x="{num(side)}" y="{num(middle + 4)}">{xml(sign)}</text></g>'
            )
        return "".join(parts)

    def reference(self, chip: Reference) -> str:
        """The small stand-in for a much used leaf."""
        box, (x, y) = self.measured.boxes[chip.id], self.places.corner(chip.id)
        self.stand(x, y, x + box.width, y + box.height)
        source = self.stations[chip.source]
        role = source.cards[chip.card].role
        upper = rounded(0, 0, box.width, box.upper, 8, 0 if source.deck else 8)
        lower = rounded(0, box.upper, box.width, box.height - box.upper, 0, 8)
        deck = f'<g class="deck"><path class="box" d="{lower}"/></g>' if source.deck else ""
        tip = text("tip_reference", self.lang, name=chip.text, n=chip.uses)
        return (
            f'<g class="reference" id="{self.prefix}{chip.id}" transform="translate({num(x)} {num(y)})">'
            f'<title>{xml(tip)}</title><g class="card {role}{"" if source.deck else " bare"}">'
            f'<path class="{"head" if source.deck else "box"}" d="{upper}"/>'
            f'<text x="{PAD}" y="17">{xml(shorten(chip.text, 14))}</text></g>{deck}</g>'
        )

    def frame(self, order: int) -> str:
        """The frame around the stations of one order, with its title."""
        left, top, right, bottom = self.places.frames[order]
        whole = text("frame_2" if order == 2 else "frame_n", self.lang, n=order)
        brief = text("frame_2_short" if order == 2 else "frame_n_short", self.lang, n=order)
        room = right - left - 24
        title = whole if sans(whole) < room else shorten(brief, max(1, int(room / 7)))
        # On the side from which the fewest arrows come in.
        line = bottom - 10 if self.places.axes == AXES["TB"] else top + 17
        self.reach((left, top), (right, bottom))
        self.space.take((left + 8, line - 13, left + 16 + sans(title), line + 3))
        return (
            f'<g class="frame" id="{self.prefix}frame{order}"><title>{xml(whole)}</title>'
            f'<rect {area(left, top, right - left, bottom - top)} rx="12"/>'
            f'<text class="say" x="{num(left + 12)}" y="{num(line)}">{xml(title)}</text></g>'
        )

    def reach(self, *points: Point) -> None:
        """Make the picture large enough to hold some points."""
        for x, y in points:
            left, top, right, bottom = self.bounds
            self.bounds = [min(left, x), min(top, y), max(right, x), max(bottom, y)]

    def stand(self, left: float, top: float, right: float, bottom: float) -> None:
        """Take the place of a box, so that no pill covers it."""
        self.space.take((left, top, right, bottom))
        self.reach((left, top), (right, bottom))


def _heading(box: CardBox) -> str:
    """The title of a card: its name in bold, and the expression that made it."""
    name = f'<tspan class="name">{xml(box.name)}</tspan>' if box.name else ""
    if not box.expr:
        return name
    sign = " = " if box.name else ""
    return f"{name}<tspan>{spaced(sign)}</tspan><tspan>{xml(box.expr)}</tspan>"


def _label(attributes: str, x: float, y: float, width: float, label: str, tip: str = "") -> str:
    """A small rounded sign with text: a chip."""
    title = f"<title>{xml(tip)}</title>" if tip else ""
    return (
        f'<g {attributes}>{title}<rect {area(x, y, width, CHIP)} rx="4"/>'
        f'<text x="{num(x + 5)}" y="{num(y + 13)}">{xml(label)}</text></g>'
    )
