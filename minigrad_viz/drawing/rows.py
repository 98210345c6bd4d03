"""The rows of a card: what they say of a tensor, at all moments of the call, how large they are, and how they
are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..model.stopped import STOPPED
from ..numbers import number, rows, shape_text, short
from ..protocol import Value
from ..trace.graph import CONSTANT, Card, Fold
from ..words import columns, sans, shorten_name, text
from .details import SharedMemory, memory_words
from .heat import GRADIENTS, MOST, VALUES, Heat, across, heat_beyond, heat_map, heat_of, in_short
from .look import LINE, MONO, MORE, Look, row_label
from .style import num, spaced

AROUND = 9  # above and below a map
UP = 12  # pixels from the baseline of a row to the top of its maps
COLUMNS = 24  # of a value
WRITTEN = 4  # numbers of data that are written where boxes of many hide the tensors
INSIDE = 6  # parameters of a closed box that are shown
TWO = 102.0  # pixels of two numbers
CELL, BESIDE = 14, 90.0  # columns of a value beside another, pixels of its map


@dataclass(frozen=True, slots=True)
class CardRow:
    """One row of a card. `tone` is "plain", "kept" (a stored gradient) or "gone" (None). The row of a shared
    memory has a `sign` instead of its label. `heats` are drawn where numbers are not written; `others` is how
    it stands at each moment of `Card.stood`, where that changes. It is at least `least` pixels wide."""

    name: str
    label: str
    lines: tuple[str, ...]
    tone: str = "plain"
    y: float = 0.0  # baseline of the first line
    sign: str = ""
    heats: tuple[Heat, ...] = ()
    others: tuple[CardRow, ...] = ()
    least: float = 0.0

    @property
    def height(self) -> float:
        """Pixels that it takes."""
        text = LINE + MORE * max(0, len(self.lines) - 1)
        maps = (heat.height + AROUND for heat in self.heats)
        return max([text, *maps, *(row.height for row in self.others)])

    @property
    def width(self) -> float:
        """Pixels that its values take."""
        maps = (heat.x + heat.width for heat in self.heats)
        lines = (columns(line) * MONO for line in self.lines)
        return max([self.least, *lines, *maps, *(row.width for row in self.others)])

    def maps(self) -> list[Heat]:
        """Its maps, at all moments."""
        return [*self.heats, *(heat for row in self.others for heat in row.heats)]

    def content(self, x: float, scales: Mapping[str, float]) -> str:
        """What it says: its lines and its maps at `x`, without the label."""
        tone = "" if self.tone == "plain" else f' class="{self.tone}"'
        lines = "".join(
            f'<text{tone} x="{num(x)}" y="{num(self.y + MORE * n)}">{spaced(line)}</text>'
            for n, line in enumerate(self.lines)
        )
        maps = (heat_map(heat, scales[heat.of], x + heat.x, self.y - UP) for heat in self.heats)
        return lines + "".join(maps)


def card_rows(card: Card, memory: SharedMemory | None, look: Look, *, sized: bool = False) -> list[CardRow]:
    """The rows of one card, not yet placed, at all its moments. These are the same rows, for which ones there
    are depends on none of them alone. `sized`: its arrows tell its sizes."""
    if card.id == STOPPED:  # an operation that failed has no value
        return []
    stood = []
    for value, grad in card.stood:
        kept = card.grad_kept if grad == card.grad else grad is not None
        stood.append(rows_of(replace(card, value=value, grad=grad, grad_kept=kept), memory, look, sized))
    drawn = rows_of(card, memory, look, sized)
    return [with_others(row, others) for row, *others in zip(drawn, *stood, strict=True)]


def with_others(row: CardRow, others: Sequence[CardRow]) -> CardRow:
    """A row that knows how it stands at other moments, if it differs then."""
    return replace(row, others=tuple(others)) if any(other != row for other in others) else row


def rows_of(card: Card, memory: SharedMemory | None, look: Look, sized: bool) -> list[CardRow]:
    """The rows of one card as it stands; `memory` is given if it has that in common with others."""
    lang = look.lang
    unknown = (text("unknown", lang),)
    made = []
    if look.values:
        if card.value is None:
            made.append(row_of("value", unknown, lang))
        elif sized and card.role == CONSTANT and card.value.size > WRITTEN:
            made.append(CardRow("value", "", (shape_text(card.value),)))  # data: the details have its map
        else:
            made.append(numbers_of("value", card.value, VALUES, lang, sized=sized))
        if card.tangent is not None:
            made.append(row_of("tangent", rows(card.tangent, COLUMNS), lang))
        if asks(card) and (card.is_leaf or card.retains_grad or card.grad_kept):
            # The gradient of any other tensor stands at its arrow.
            if card.grad is None or not card.grad_kept:
                made.append(row_of("grad", ("None",), lang, "gone"))
            else:
                made.append(numbers_of("grad", card.grad, GRADIENTS, lang, "kept", sized))
        if card.returned is not None:
            made.append(numbers_of("returned", card.returned, GRADIENTS, lang, "kept", sized))
    if look.detail == "full":
        for flag in ("requires_grad", "is_leaf", "retains_grad"):
            made.append(row_of(flag, (str(getattr(card, flag)),), lang))
        made.append(row_of("version", (str(card.version),), lang))
        made.append(row_of("shape", (str(card.value.shape),) if card.value else unknown, lang))
        made.append(row_of("dtype", (card.value.dtype,) if card.value else unknown, lang))
    if memory is not None:
        made.append(CardRow("memory", "", (memory_words(card, memory, lang),), sign=memory.sign))
    return with_slider(made, card, look) if look.sliders and made else made


def with_slider(made: list[CardRow], card: Card, look: Look) -> list[CardRow]:
    """Rows with room for a second number, and for a slider below the value that it changes."""
    made = [replace(row, least=TWO) if row.name in ("value", "grad") else row for row in made]
    return [made[0], CardRow("slider", "", ()), *made[1:]] if card.id in look.sliders else made


def row_of(name: str, lines: Sequence[str], lang: str | None, tone: str = "plain") -> CardRow:
    """A row under its label."""
    return CardRow(name, row_label(name, lang), tuple(lines), tone)


def numbers_of(
    name: str, value: Value, of: str, lang: str | None, tone: str = "plain", sized: bool = False
) -> CardRow:
    """The row of a value: its numbers, or a map with the shape behind it, unless an arrow tells that."""
    heat = heat_beyond(value, of, COLUMNS)
    if heat is None:
        return row_of(name, rows(value, COLUMNS), lang, tone)
    behind = " " * math.ceil((heat.width + 8) / MONO)
    lines = () if sized else (behind + shape_text(value),)
    return CardRow(name, row_label(name, lang), lines, tone, heats=(heat,))


def asks(card: Card) -> bool:
    """Whether a tensor asks for a gradient, or has one at some moment."""
    return card.requires_grad or any(grad is not None for grad in (card.grad, *(g for _, g in card.stood)))


# ----------------------------------------------------------------------------- the parameters in a closed box


def parameter_rows(fold: Fold, look: Look) -> list[CardRow]:
    """The parameters inside a closed box, each with its gradient beside it."""
    if not fold.parameters or not look.values:
        return []
    shown = fold.parameters[:INSIDE]
    values = [value for _, card in shown for value, _ in ((card.value, card.grad), *card.stood)]
    head = sans(row_label("value", look.lang), 12)
    beside = max([head, *(across(_cell(value, VALUES, look.lang)) for value in values)]) + 10
    named = row_label("value", look.lang), row_label("grad", look.lang)
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
    return in_short(value, lang) if heat is not None or value.size > MOST else short(value, CELL)
