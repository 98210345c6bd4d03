"""One card of a station, the upper deck of one tensor: how large it is, and how it is drawn.

Pixels, with (0, 0) at a station's upper left corner.

    ┌ name = expression        role ┐ HEAD
    │ value  5.                     │ rows, LINE each (MORE for every further line)
    │ grad   1.6                    │
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..trace.graph import CONSTANT, LEAF, PARAMETER, Card
from ..words import clean, columns, sans, shorten, shorten_name, text
from .look import HEAD, MONO, NAME, PAD, ROLE_WORDS, Look, even, whole_label
from .marks import Ink, Tag
from .rows import CardRow
from .signs import SHEETS, TARGET
from .style import label, num, rounded, spaced, xml

ASKED = 20  # what the sign of a gradient that was asked for takes
SHOWN = 16  # columns of a name that are never cut, as `policy.0.weight`
PLUS = 22  # what the sign takes that opens a box
BASE, BELOW = 17, 5  # from the top of a row to its first baseline; below the last row
VALUES_X = 48  # where values start, unless a label is longer
ROLES = (LEAF, PARAMETER, CONSTANT)
RADIUS = 7


@dataclass(frozen=True, slots=True)
class CardBox:
    """One card: where it begins, how wide it is, and what is written on it (shortened to fit)."""

    card: Card
    x: float
    width: float
    height: float
    name: str
    expr: str
    letter: bool  # whether that is its name
    role: str
    rows: tuple[CardRow, ...]
    values_x: float  # where the rows' values begin
    tag: Tag | None = None
    opens: bool = False  # whether a sign in its head opens a box

    def draw(self, ink: Ink, id: str, tip: str, height: float, bare: bool, corners: Sequence[float]) -> str:
        """The card, `height` high, with these `corners`; `bare` where it stands on no node."""
        card, x, width = self.card, self.x, self.width
        kind = ink.kind(f"card {card.role} bare" if bare else f"card {card.role}", self.tag)
        ink.kinds.add("constant" if bare else card.role)
        head = corners if height <= HEAD else (*corners[:2], 0, 0)
        parts = [
            f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title>',
            f'<path class="box" d="{rounded(x, 0, width, height, corners)}"/>',
            f'<path class="head" d="{rounded(x, 0, width, HEAD, head)}"/>',
            f'<text x="{num(x + PAD)}" y="16.5">{self.heading()}</text>',
        ]
        right = x + width - PAD - PLUS * self.opens
        if card.asked:
            ink.kinds.add("asked")
            parts.append(f'<g class="asked" transform="translate({num(right - 6)} 12)">{TARGET}</g>')
            right -= ASKED
        if self.role:
            parts.append(label(self.role, right, 16.5, "role"))
            right -= sans(self.role) + 6
        parts.append(ink.tag(self.tag, right, 4))
        for row in self.rows:
            content = row.content(x + self.values_x, ink.scales)
            key = label(row.label, x + PAD, row.y, "key")
            if row.sign:
                ink.kinds.add("memory")
                place = f"translate({num(x + PAD)} {num(row.y - 11)})"
                key = f'<g class="memory" transform="{place}">{SHEETS}{label(row.sign, 13, 11)}</g>'
            parts.append(f'<g class="row" id="{id}-{row.name}">{key}{content}</g>')
        return "".join(parts) + "</g>"

    def heading(self) -> str:
        """The title: the name in bold, and the expression that made it."""
        kind = "name letter" if self.letter else "name"
        name = f'<tspan class="{kind}">{xml(self.name)}</tspan>' if self.name else ""
        if not self.expr:
            return name
        sign = "" if not self.name else "  " if self.card.loop else " = "
        return f"{name}<tspan>{spaced(sign)}</tspan><tspan>{xml(self.expr)}</tspan>"


def card_box(
    card: Card, title: str, rows: Sequence[CardRow], x: float, least: float, tag: Tag | None, opens: bool,
    look: Look,
) -> CardBox:  # fmt: skip
    """A card called `title` that begins at `x` and is at least so wide; `opens`: it has a sign for that."""
    own = text(ROLE_WORDS[card.role], look.lang) if card.role not in ("result", CONSTANT) else ""
    role = " · ".join(filter(None, (own, whole_label(card, look.lang))))
    labelled = [22 if row.sign else sans(row.label, 11) for row in rows if row.sign or row.label]
    values_x = max(VALUES_X, PAD + max(labelled) + 8) if labelled else float(PAD)
    fit = int((look.widest - values_x - PAD) / MONO)
    y, placed = float(HEAD), []
    for row in rows:
        placed.append(_placed(row, fit, y + BASE))
        y += row.height
    height = y + BELOW if rows else y
    beside = (
        (sans(role) + 10 if role else 0) + ASKED * card.asked + (tag.width + 8 if tag else 0) + PLUS * opens
    )
    room = max(look.widest - 2 * PAD - beside, SHOWN * NAME)
    expr = clean(card.expr or "")
    letter = not card.name and bool(card.letter and card.expr)
    if card.name or letter:
        name = card.letter if letter else shorten_name(title, min(22, int(room / NAME)))
        # What a leaf or a constant was made from is its value; the row below shows it.
        left = room - columns(name) * NAME - 3 * MONO
        expr = shorten(expr, int(left / MONO)) if expr and card.role not in ROLES and left > 4 * MONO else ""
        head = columns(name) * NAME + (columns(expr) + 3) * MONO * bool(expr)
    else:
        name, expr = "", shorten_name(title, int(room / MONO))
        head = columns(expr) * MONO
    widest = max((values_x + row.width for row in placed), default=0)
    width = even(max(least, head + 2 * PAD + beside, widest + PAD))
    return CardBox(card, x, width, height, name, expr, letter, role, tuple(placed), values_x, tag, opens)


def _placed(row: CardRow, fit: int, y: float) -> CardRow:
    """A row with its first baseline at `y`, its lines cut to `fit` columns."""
    lines = row.lines if row.name == "inside" else tuple(shorten(line, fit) for line in row.lines)
    return replace(row, lines=lines, y=y, others=tuple(_placed(other, fit, y) for other in row.others))
