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

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ..numbers import gradient_text, rows
from ..protocol import Value
from ..trace.graph import CONSTANT, LEAF, PARAMETER, Card, Fold, Station
from ..words import clean, columns, sans, shorten, shorten_name, text
from . import labels
from .decks import DeckBox, deck_box, ghost_box
from .look import MONO, NAME, NARROWEST, PAD, WIDEST, Look, even
from .marks import Tag, Tags
from .memories import SharedMemory, memory_words

HEAD, LINE, MORE = 26, 20, 16
ASKED = 20  # what the sign of a gradient that was asked for takes
ROLES = (LEAF, PARAMETER, CONSTANT)


@dataclass(frozen=True, slots=True)
class CardRow:
    """One row of a card. `tone` is "plain", "kept" (a stored gradient) or "gone" (not kept or None). The row
    of a shared memory has a `sign` in place of its label."""

    name: str
    label: str
    lines: tuple[str, ...]
    tone: str = "plain"
    y: float = 0.0  # baseline of the first line
    sign: str = ""


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
    """The rows of one card, not yet placed; `shares` are the gradients that met there, `memory` is given if
    it has that in common with others."""
    lang = look.lang
    unknown = (text("unknown", lang),)
    made = []
    if look.values:
        made.append(_row("value", rows(card.value, 24) if card.value else unknown, lang))
        if card.tangent is not None:
            made.append(_row("tangent", rows(card.tangent, 24), lang))
        if card.requires_grad or card.grad:
            made.append(_grad_row(card, shares, lang))
    if look.detail == "full":
        for flag in ("requires_grad", "is_leaf", "retains_grad"):
            made.append(_row(flag, (str(getattr(card, flag)),), lang))
        made.append(_row("version", (str(card.version),), lang))
        made.append(_row("shape", (str(card.value.shape),) if card.value else unknown, lang))
        made.append(_row("dtype", (card.value.dtype,) if card.value else unknown, lang))
    if memory is not None:
        made.append(CardRow("memory", "", (memory_words(card, memory, lang),), sign=memory.sign))
    return made


def heights_of(rows: Iterable[CardRow]) -> dict[str, int]:
    """How many lines the tallest row of each name has."""
    heights: dict[str, int] = {}
    for row in rows:
        heights[row.name] = max(heights.get(row.name, 0), len(row.lines))
    return heights


def _row(name: str, lines: Iterable[str], lang: str | None, tone: str = "plain") -> CardRow:
    return CardRow(name, labels.row_label(name, lang), tuple(lines), tone)


def _grad_row(card: Card, shares: Sequence[Value], lang: str | None) -> CardRow:
    if card.grad is None:
        return _row("grad", ("None",), lang, "gone")
    width = 26 if card.grad_kept else 18  # what is not kept says so behind the number
    lines = rows(card.grad, width)
    if len(lines) == 1:
        lines = (gradient_text(card.grad, shares, width, lang),)
    if card.grad_kept:
        return _row("grad", lines, lang, "kept")
    return _row("grad", text("not_kept", lang, value="\n ".join(lines)).split("\n"), lang, "gone")


def _card(
    card: Card, name: str, rows: list[CardRow], heights: dict[str, int], x: float, narrowest: float,
    tag: Tag | None, lang: str | None,
) -> CardBox:  # fmt: skip
    """One card at `x`, its rows placed below each other, `heights` lines each."""
    role = text(labels.ROLES[card.role], lang) if card.role not in ("result", CONSTANT) else ""
    values_x = PAD + max((22 if row.sign else sans(row.label) for row in rows), default=0) + 12
    fit = int((WIDEST - values_x - PAD) / MONO)
    y = HEAD + 20.0
    placed = []
    for row in rows:
        placed.append(replace(row, lines=tuple(shorten(line, fit) for line in row.lines), y=y))
        y += LINE + MORE * (heights[row.name] - 1)
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
    widest = max((values_x + columns(line) * MONO for row in placed for line in row.lines), default=0)
    width = max(narrowest, title + 2 * PAD + beside, widest + PAD)
    return CardBox(card, x, even(width), name, expr, role, tuple(placed), values_x, tag)


def station_box(
    s: Station, drafts: list[list[CardRow]], heights: dict[str, int], titles: Sequence[str], look: Look,
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
    rows = sum(LINE + MORE * (n - 1) for n in heights.values())
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
