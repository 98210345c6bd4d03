"""How large a station is, with the rows of its cards.

Pixels, with (0, 0) at a station's upper left corner.

    ┌ name = expression        role ┐ HEAD
    │ value  5.                     │ rows, LINE each (MORE for every further line)
    │ grad   1.6 = 0.6 + 1.         │                                   upper deck, `upper` high
    ├ PowBackward0                  ┤
    │ ▇self 5.▇ ▇exponent 3▇        │                                   lower deck (`decks`), to `height`
    └───────────────────────────────┘
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ..numbers import gradient_text, rows, shape_text, written_out
from ..protocol import Value
from ..trace.graph import CONSTANT, LEAF, PARAMETER, Card, Fold, Station
from ..words import clean, columns, sans, shorten, shorten_name, text
from . import labels
from .decks import DeckBox, deck_box, ghost_box
from .heat import GRADIENTS, VALUES, Heat, heat_beyond
from .look import MONO, NAME, NARROWEST, PAD, WIDEST, Look, even
from .marks import Tag, Tags
from .memories import SharedMemory, memory_words

HEAD, LINE, MORE = 26, 20, 16
AROUND = 8  # above and below a map
ASKED = 20  # what the sign of a gradient that was asked for takes
ROLES = (LEAF, PARAMETER, CONSTANT)


@dataclass(frozen=True, slots=True)
class CardRow:
    """One row of a card. `tone` is "plain", "kept" (a stored gradient) or "gone" (not kept or None). The row
    of a shared memory has a `sign` instead of its label. `heats` are drawn where numbers are not written;
    `others` is how it stands at each moment of `Card.stood`, where that changes."""

    name: str
    label: str
    lines: tuple[str, ...]
    tone: str = "plain"
    y: float = 0.0  # baseline of the first line
    sign: str = ""
    heats: tuple[Heat, ...] = ()
    others: tuple[CardRow, ...] = ()

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
        return max([*lines, *maps, *(row.width for row in self.others)], default=0)

    def maps(self) -> list[Heat]:
        """Its maps, at all moments."""
        return [*self.heats, *(heat for row in self.others for heat in row.heats)]


@dataclass(frozen=True, slots=True)
class CardBox:
    """One card: where it begins, how wide it is, and what is written on it (shortened to fit)."""

    card: Card
    x: float
    width: float
    name: str
    expr: str
    role: str
    rows: tuple[CardRow, ...]
    values_x: float  # where the rows' values begin
    tag: Tag | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """A station, or the reference chip of a leaf: its size, and its parts where it has any."""

    width: float
    height: float
    upper: float  # height of the upper deck; equal to `height` where there is no lower one
    cards: tuple[CardBox, ...] = ()
    deck: DeckBox | None = None  # what is written on the lower deck; None where there is none
    stack: bool = False  # whether it stands for many stations


def card_rows(card: Card, shares: Sequence[Value], memory: SharedMemory | None, look: Look) -> list[CardRow]:
    """The rows of one card, not yet placed, at all its moments. These are the same rows, for which ones there
    are depends on none of them alone."""
    stood = []
    for value, grad in card.stood:
        same = grad == card.grad
        then = replace(card, value=value, grad=grad, grad_kept=card.grad_kept if same else grad is not None)
        stood.append(rows_of(then, shares if same else (), memory, look))
    drawn = rows_of(card, shares, memory, look)
    return [with_others(row, others) for row, *others in zip(drawn, *stood, strict=True)]


def with_others(row: CardRow, others: Sequence[CardRow]) -> CardRow:
    """A row that knows how it stands at other moments, if it differs then."""
    return replace(row, others=tuple(others)) if any(other != row for other in others) else row


def rows_of(card: Card, shares: Sequence[Value], memory: SharedMemory | None, look: Look) -> list[CardRow]:
    """The rows of one card as it stands; `shares` are the gradients that met there, `memory` is given if
    it has that in common with others."""
    lang = look.lang
    unknown = (text("unknown", lang),)
    made = []
    if look.values:
        made.append(
            _numbers("value", card.value, VALUES, lang) if card.value else _row("value", unknown, lang)
        )
        if card.tangent is not None:
            made.append(_row("tangent", rows(card.tangent, 24), lang))
        if _asks(card) and (_keeps(card) or is_sum(card, shares)):
            made.append(_grad_row(card, shares, lang))
        if card.returned is not None:
            made.append(_numbers("returned", card.returned, GRADIENTS, lang, "kept"))
    if look.detail == "full":
        for flag in ("requires_grad", "is_leaf", "retains_grad"):
            made.append(_row(flag, (str(getattr(card, flag)),), lang))
        made.append(_row("version", (str(card.version),), lang))
        made.append(_row("shape", (str(card.value.shape),) if card.value else unknown, lang))
        made.append(_row("dtype", (card.value.dtype,) if card.value else unknown, lang))
    if memory is not None:
        made.append(CardRow("memory", "", (memory_words(card, memory, lang),), sign=memory.sign))
    return made


def heights_of(rows: Iterable[CardRow]) -> dict[str, float]:
    """How high the tallest row of each name is."""
    heights: dict[str, float] = {}
    for row in rows:
        heights[row.name] = max(heights.get(row.name, 0), row.height)
    return heights


def _numbers(name: str, value: Value, of: str, lang: str | None, tone: str = "plain") -> CardRow:
    """The row of a value: its numbers, or a map with the shape beside it."""
    heat = heat_beyond(value, of, 24)
    if heat is None:
        return _row(name, rows(value, 24), lang, tone)
    return CardRow(name, labels.row_label(name, lang), (shape_text(value),), tone, heats=(heat,))


def _row(name: str, lines: Iterable[str], lang: str | None, tone: str = "plain") -> CardRow:
    return CardRow(name, labels.row_label(name, lang), tuple(lines), tone)


def _asks(card: Card) -> bool:
    """Whether a tensor asks for a gradient, or has one at some moment."""
    return card.requires_grad or any(grad is not None for grad in (card.grad, *(g for _, g in card.stood)))


def _keeps(card: Card) -> bool:
    """Whether a tensor has a `.grad` to tell of. The gradient of another is told at its arrow."""
    return card.is_leaf or card.retains_grad or card.grad_kept


def is_sum(card: Card, shares: Sequence[Value]) -> bool:
    """Whether a gradient is the sum of several that can be read: that stands at no arrow."""
    return len(shares) > 1 and card.grad is not None and written_out(card.grad, 18)


def _grad_row(card: Card, shares: Sequence[Value], lang: str | None) -> CardRow:
    if card.grad is None:
        return _row("grad", ("None",), lang, "gone")
    width = 26 if card.grad_kept else 18  # what is not kept says so behind the number
    if card.grad_kept and heat_beyond(card.grad, GRADIENTS, width):
        return _numbers("grad", card.grad, GRADIENTS, lang, "kept")
    lines = rows(card.grad, width)
    if len(lines) == 1:
        lines = (gradient_text(card.grad, shares, width, lang),)
    if card.grad_kept:
        return _row("grad", lines, lang, "kept")
    return _row("grad", text("not_kept", lang, value="\n ".join(lines)).split("\n"), lang, "gone")


def _card(
    card: Card, name: str, rows: list[CardRow], heights: dict[str, float], x: float, narrowest: float,
    tag: Tag | None, lang: str | None,
) -> CardBox:  # fmt: skip
    """One card at `x`, its rows placed below each other, `heights` lines each."""
    role = text(labels.ROLES[card.role], lang) if card.role not in ("result", CONSTANT) else ""
    values_x = PAD + max((22 if row.sign else sans(row.label) for row in rows), default=0) + 12
    fit = int((WIDEST - values_x - PAD) / MONO)
    y = HEAD + 20.0
    placed = []
    for row in rows:
        placed.append(_placed(row, fit, y))
        y += heights.get(row.name, row.height)
    beside = (sans(role) + 14 if role else 0) + ASKED * card.asked + (tag.width + 8 if tag else 0)
    room = max(WIDEST - 2 * PAD - beside, 8 * NAME)
    expr = clean(card.expr or "")
    if card.name:
        name = shorten_name(name, min(22, int(room / NAME)))
        # What a leaf or a constant was made from is its value; the row below shows it.
        left = room - columns(name) * NAME - 3 * MONO
        expr = shorten(expr, int(left / MONO)) if expr and card.role not in ROLES and left > 4 * MONO else ""
        title = columns(name) * NAME + (columns(expr) + 3) * MONO * bool(expr)
    else:
        name, expr = "", shorten_name(name, int(room / MONO))
        title = columns(expr) * MONO
    widest = max((values_x + row.width for row in placed), default=0)
    width = max(narrowest, title + 2 * PAD + beside, widest + PAD)
    return CardBox(card, x, even(width), name, expr, role, tuple(placed), values_x, tag)


def _placed(row: CardRow, fit: int, y: float) -> CardRow:
    """A row with its first baseline at `y`, its lines cut to `fit` columns; behind a single map its shape."""
    lines = tuple(shorten(line, fit) for line in row.lines)
    if row.name in ("value", "grad", "returned") and row.heats:
        lines = (" " * math.ceil((row.heats[0].width + 8) / MONO) + lines[0],)
    return replace(row, lines=lines, y=y, others=tuple(_placed(other, fit, y) for other in row.others))


def station_box(
    s: Station, drafts: list[list[CardRow]], heights: dict[str, float], titles: Sequence[str], look: Look,
    tags: Tags, elsewhere: Collection[int] = (), fold: Fold | None = None,
) -> Box:  # fmt: skip
    """A station with the rows `drafts` of its cards, `heights` lines each, called `titles`, marked by `tags`.
    The hooks `elsewhere` are shown at an arrow. `fold` is given if it stands for many."""
    cards: list[CardBox] = []
    width = 0.0
    narrowest = 110 if s.deck is None or len(drafts) > 1 else NARROWEST
    for i, (card, title, draft) in enumerate(zip(s.cards, titles, drafts, strict=True)):
        tag = tags.get(f"{s.id}-c{i}")
        cards.append(_card(card, title, draft, heights, width, narrowest, tag, look.lang))
        width += cards[-1].width
    rows = max(sum(heights.get(row.name, row.height) for row in draft) for draft in drafts)
    upper = HEAD + (12.0 + rows if rows else 0.0)
    if s.deck is None:
        deck = ghost_box(s, look)
    else:
        deck = deck_box(s, s.deck, look, width, tags, elsewhere, fold)
    if deck is None:
        return Box(width, upper, upper, tuple(cards), stack=fold is not None)
    width = max(width, deck.width)
    cards[-1] = replace(cards[-1], width=width - cards[-1].x)  # the last card fills what the deck needs
    return Box(width, upper + deck.height, upper, tuple(cards), deck, fold is not None)
