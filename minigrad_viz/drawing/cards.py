"""The upper decks of a station, one card per tensor: their rows, how large they are, and how they are drawn.

Pixels, with (0, 0) at a station's upper left corner.

    ┌ name = expression        role ┐ HEAD
    │ value  5.                     │ rows, LINE each (MORE for every further line)
    │ grad   1.6                    │
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..model.schedule import STOPPED
from ..number_text import number, one_line
from ..protocol import Value
from ..trace.graph import CONSTANT, LEAF, PARAMETER, Card, Fold
from ..words import clean, columns, shorten, shorten_name, text
from ..words.display_text import text_pixels
from .card_parts import GRAD, VALUE, CardRow, CardView, SharedMemory, part_rows
from .heat_maps import GRADIENTS, MOST, VALUES, Heat, heat_of, in_short, map_width
from .look import (
    HEAD,
    MONO,
    NAME,
    PAD,
    ROLE_WORDS,
    Ink,
    Look,
    Tag,
    round_width,
    whole_label,
)
from .style import SHEETS, TARGET, num, rounded_rectangle, text_label, xml, xml_with_spaces

# ─── The rows of a card


INSIDE = 6  # parameters of a closed box that are shown
TWO = 102.0  # pixels of two numbers
CELL, BESIDE = 14, 90.0  # columns of a value beside another, pixels of its map


def card_rows(card: Card, memory: SharedMemory | None, look: Look, *, sized: bool = False) -> list[CardRow]:
    """The rows of one card, not yet placed, at all its moments. These are the same rows, for which ones there
    are depends on none of them alone. `sized`: its arrows tell its sizes."""
    if card.id == STOPPED:  # an operation that failed has no value
        return []
    stood = []
    for value, grad in card.stood:
        kept = card.grad_kept if grad == card.grad else grad is not None
        stood.append(
            rows_at_moment(replace(card, value=value, grad=grad, grad_kept=kept), memory, look, sized)
        )
    drawn = rows_at_moment(card, memory, look, sized)
    for other in stood:
        check_same_rows(drawn, other)
    return [with_others(row, others) for row, *others in zip(drawn, *stood, strict=True)]


def check_same_rows(rows: Sequence[CardRow], others: Sequence[CardRow]) -> None:
    """Raise where a part of a card has a row at one moment and none at another."""
    names, there = [row.name for row in rows], [row.name for row in others]
    for name in [*names, *there]:
        if names.count(name) != there.count(name):
            raise ValueError(
                f"the part {name!r} of a card has a row at some moments and none at others: whether its"
                " `measure` returns None may depend on shape and dtype, not on numbers"
            )


def with_others(row: CardRow, others: Sequence[CardRow]) -> CardRow:
    """A row with what it shows at other moments, if that differs."""
    return replace(row, others=tuple(others)) if any(other != row for other in others) else row


def rows_at_moment(card: Card, memory: SharedMemory | None, look: Look, sized: bool) -> list[CardRow]:
    """The rows of one card at this moment; `memory` is given if it has that in common with others."""
    made = part_rows(CardView(card, look, memory, sized=sized))
    return with_slider(made, card, look) if look.sliders and made else made


def with_slider(made: list[CardRow], card: Card, look: Look) -> list[CardRow]:
    """Rows with room for a second number, and for a slider below the value that it changes."""
    made = [replace(row, least=TWO) if row.name in ("value", "grad") else row for row in made]
    return [made[0], CardRow("slider", "", ()), *made[1:]] if card.id in look.sliders else made


# ----------------------------------------------------------------------------- the parameters in a closed box


def parameter_rows(fold: Fold, look: Look) -> list[CardRow]:
    """The parameters inside a closed box, each with its gradient beside it."""
    if not fold.parameters or not look.values:
        return []
    shown = fold.parameters[:INSIDE]
    values = [value for _, card in shown for value, _ in ((card.value, card.grad), *card.stood)]
    head = text_pixels(VALUE.label(look.lang), 12)
    beside = max([head, *(map_width(_cell(value, VALUES, look.lang)) for value in values)]) + 10
    named = VALUE.label(look.lang), GRAD.label(look.lang)
    made = [CardRow("inside", "", (_columns(*named, beside),), "gone")]
    for i, (name, card) in enumerate(shown):
        moments = (_parameter(i, name, value, grad, beside, look.lang) for value, grad in card.stood)
        made.append(with_others(_parameter(i, name, card.value, card.grad, beside, look.lang), list(moments)))
    more = len(fold.parameters) - INSIDE
    if more > 0:
        made.append(CardRow("more", "", (text("update_more", look.lang, n=more),), "gone"))
    return made


def _parameter(
    i: int, name: str, value: Value | None, grad: Value | None, beside: float, lang: str | None
) -> CardRow:
    """The row of the `i`th parameter at one moment."""
    cells = _cell(value, VALUES, lang), _cell(grad, GRADIENTS, lang)
    heats = [
        replace(cell, x=x) for cell, x in zip(cells, (0.0, beside), strict=True) if isinstance(cell, Heat)
    ]
    first, second = ("" if isinstance(cell, Heat) else cell for cell in cells)
    line = _columns(first, second, beside)
    return CardRow(f"p{i}", shorten_name(name, 16), (line,) if line.strip() else (), heats=tuple(heats))


def _columns(first: str, second: str, beside: float) -> str:
    """Two texts in a line, the second so many pixels behind the beginning of the first."""
    return first + " " * max(0, math.ceil(beside / MONO) - columns(first)) + second


def _cell(value: Value | None, of: str, lang: str | None) -> Heat | str:
    """A value beside others: its map, or a few words."""
    if value is not None and value.size == 1 and value.items:
        return number(value.items[0], value.dtype, digits=4)
    heat = heat_of(value, of)
    if heat is not None and heat.width <= BESIDE:
        return heat
    if value is None:
        return "None"
    return in_short(value) if heat is not None or value.size > MOST else one_line(value, CELL)


# ─── One card of a station, the upper deck of one tensor


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
        """The card, `height` high, with these `corners`; `bare` where it is on no node."""
        card, x, width = self.card, self.x, self.width
        kind = ink.kind(f"card {card.role} bare" if bare else f"card {card.role}", self.tag)
        ink.kinds.add("constant" if bare else card.role)
        head = corners if height <= HEAD else (*corners[:2], 0, 0)
        parts = [
            f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title>',
            f'<path class="box" d="{rounded_rectangle(x, 0, width, height, corners)}"/>',
            f'<path class="head" d="{rounded_rectangle(x, 0, width, HEAD, head)}"/>',
            f'<text x="{num(x + PAD)}" y="16.5">{self.heading()}</text>',
        ]
        right = x + width - PAD - PLUS * self.opens
        if card.asked:
            ink.kinds.add("asked")
            parts.append(f'<g class="asked" transform="translate({num(right - 6)} 12)">{TARGET}</g>')
            right -= ASKED
        if self.role:
            parts.append(text_label(self.role, right, 16.5, "role"))
            right -= text_pixels(self.role) + 6
        parts.append(ink.tag(self.tag, right, 4))
        for row in self.rows:
            content = row.content(x + self.values_x, ink.scales)
            key = text_label(row.label, x + PAD, row.y, "key")
            if row.sign:
                ink.kinds.add("memory")
                place = f"translate({num(x + PAD)} {num(row.y - 11)})"
                key = f'<g class="memory" transform="{place}">{SHEETS}{text_label(row.sign, 13, 11)}</g>'
            parts.append(f'<g class="row" id="{id}-{row.name}">{key}{content}</g>')
        return "".join(parts) + "</g>"

    def heading(self) -> str:
        """The title: the name in bold, and the expression that made it."""
        kind = "name letter" if self.letter else "name"
        name = f'<tspan class="{kind}">{xml(self.name)}</tspan>' if self.name else ""
        if not self.expr:
            return name
        sign = "" if not self.name else "  " if self.card.loop else " = "
        return f"{name}<tspan>{xml_with_spaces(sign)}</tspan><tspan>{xml(self.expr)}</tspan>"


def card_box(
    card: Card, title: str, rows: Sequence[CardRow], x: float, least: float, tag: Tag | None, opens: bool,
    look: Look,
) -> CardBox:  # fmt: skip
    """A card called `title` that begins at `x` and is at least so wide; `opens`: it has a sign for that."""
    own = text(ROLE_WORDS[card.role], look.lang) if card.role not in ("result", CONSTANT) else ""
    role = " · ".join(filter(None, (own, whole_label(card, look.lang))))
    labelled = [22 if row.sign else text_pixels(row.label, 11) for row in rows if row.sign or row.label]
    values_x = max(VALUES_X, PAD + max(labelled) + 8) if labelled else float(PAD)
    fit = int((look.widest - values_x - PAD) / MONO)
    y, placed = float(HEAD), []
    for row in rows:
        placed.append(_place_row(row, fit, y + BASE))
        y += row.height
    height = y + BELOW if rows else y
    beside = (
        (text_pixels(role) + 10 if role else 0)
        + ASKED * card.asked
        + (tag.width + 8 if tag else 0)
        + PLUS * opens
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
    width = round_width(max(least, head + 2 * PAD + beside, widest + PAD))
    return CardBox(card, x, width, height, name, expr, letter, role, tuple(placed), values_x, tag, opens)


def _place_row(row: CardRow, fit: int, y: float) -> CardRow:
    """A row with its first baseline at `y`, its lines cut to `fit` columns."""
    lines = row.lines if row.name == "inside" else tuple(shorten(line, fit) for line in row.lines)
    return replace(row, lines=lines, y=y, others=tuple(_place_row(other, fit, y) for other in row.others))
