"""How large a station is, with its rows and chips.

Pixels, with (0, 0) at a station's upper left corner. Widths are reckoned, because the picture is laid out
where no font is known: a column of the monospace stack is never wider than 0.602 em, and there is room to
spare.

    ┌ name = expression        role ┐ HEAD
    │ value  5.                     │ rows, LINE each (MORE for every further line)
    │ grad   1.6 = 0.6 + 1.         │                                   upper deck, `upper` high
    ├ PowBackward0                  ┤
    │ ▇self 5.▇ ▇exponent 3▇        │ chips                             lower deck, to `height`
    └───────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..numbers import gradient_text, rows, short
from ..protocol import RECOMPUTED, Value
from ..trace.graph import CONSTANT, LEAF, PARAMETER, Card, Fold, Saved, Station
from ..words import clean, columns, sans, shorten, text

DETAILS, SAVED = ("normal", "full"), ("some", "all", "none")

PAD, HEAD, LINE, MORE = 10, 26, 20, 16
MONO, NAME, SMALL = 7.6, 8.5, 6.7  # pixels a column: rows 12.5px, names 14px, chips 11px
DECK, CHIP, CHIP_LINE, CHIP_TOP = 32, 18, 23, 29  # a deck without chips; a chip, their pitch, the first one
NARROWEST, WIDEST, CHIPS_WIDE = 188, 296, 260
CHIPS_WIDEST = 560  # where every saved value is to be read in full
CHIP_LINES = {"normal": 2, "full": 99}
ASKED = 20  # what the sign of a gradient that was asked for takes
HOOKS = 4  # of more hooks at one node only their number is shown
ROLES = (LEAF, PARAMETER, CONSTANT)


@dataclass(frozen=True, slots=True)
class Look:
    """What is shown of each station. `detail` is "normal" or "full"; `values` tells whether values and
    gradients are written; of `saved` values "some" are shown (as many as fit well), "all" (in full, with
    their versions) or "none". ValueError for any other."""

    detail: str = "normal"
    values: bool = True
    saved: str = "some"
    lang: str | None = None

    def __post_init__(self) -> None:
        for name, value, known in (("detail", self.detail, DETAILS), ("saved", self.saved, SAVED)):
            if value not in known:
                raise ValueError(f"unknown {name} {value!r}: choose one of {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a card. `tone` is "plain", "kept" (a stored gradient) or "gone" (not kept or None)."""

    name: str
    label: str
    lines: tuple[str, ...]
    tone: str = "plain"
    y: float = 0.0  # baseline of the first line


@dataclass(frozen=True, slots=True)
class Chip:
    """One saved value on a lower deck; `saved` is None for the chip that counts those without room."""

    saved: Saved | None
    text: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class CardBox:
    """One card: where it begins, how wide it is, and what is written on it (shortened to fit)."""

    card: Card
    x: float
    width: float
    name: str
    expr: str
    role: str
    rows: tuple[Row, ...]
    values_x: float  # where the rows' values begin


@dataclass(frozen=True, slots=True)
class Box:
    """A station, or the reference chip of a leaf: its size, and its parts where it has any."""

    width: float
    height: float
    upper: float  # height of the upper deck; equal to `height` where there is no lower one
    cards: tuple[CardBox, ...] = ()
    node: str | None = None  # the backward node's name; None where there is no lower deck
    hooks: tuple[str, ...] = ()  # their number, or one sign for each that ran
    chips: tuple[Chip, ...] = ()
    stack: bool = False  # whether it stands for many stations


def card_rows(card: Card, shares: Sequence[Value], look: Look) -> list[Row]:
    """The rows of one card, not yet placed; `shares` are the gradients that met there."""
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
    return made


def heights_of(rows: Iterable[Row]) -> dict[str, int]:
    """How many lines the tallest row of each name has."""
    heights: dict[str, int] = {}
    for row in rows:
        heights[row.name] = max(heights.get(row.name, 0), len(row.lines))
    return heights


def _row(name: str, lines: Iterable[str], lang: str | None, tone: str = "plain") -> Row:
    return Row(name, text(f"row_{name}", lang), tuple(lines), tone)


def _grad_row(card: Card, shares: Sequence[Value], lang: str | None) -> Row:
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
    card: Card, name: str, rows: list[Row], heights: dict[str, int], x: float, narrowest: float,
    lang: str | None,
) -> CardBox:  # fmt: skip
    """One card at `x`, its rows placed below each other, `heights` lines each."""
    role = text(f"role_{card.role}", lang) if card.role not in ("result", CONSTANT) else ""
    values_x = PAD + max((sans(row.label) for row in rows), default=0) + 12
    fit = int((WIDEST - values_x - PAD) / MONO)
    y = HEAD + 20.0
    placed = []
    for row in rows:
        placed.append(replace(row, lines=tuple(shorten(line, fit) for line in row.lines), y=y))
        y += LINE + MORE * (heights[row.name] - 1)
    beside = (sans(role) + 14 if role else 0) + ASKED * card.asked
    room = WIDEST - 2 * PAD - beside
    expr = clean(card.expr or "")
    if card.name:
        name = shorten(name, min(22, int(room / NAME)))
        # What a leaf or a constant was made from is its value; the row below shows it.
        left = room - columns(name) * NAME - 3 * MONO
        expr = shorten(expr, int(left / MONO)) if expr and card.role not in ROLES and left > 4 * MONO else ""
        title = columns(name) * NAME + (columns(expr) + 3) * MONO * bool(expr)
    else:
        name, expr = "", shorten(name, int(room / MONO))
        title = columns(expr) * MONO
    widest = max((values_x + columns(line) * MONO for row in placed for line in row.lines), default=0)
    width = max(narrowest, title + 2 * PAD + beside, widest + PAD)
    return CardBox(card, x, even(width), name, expr, role, tuple(placed), values_x)


def even(width: float) -> float:
    """Widths come in steps of 4, so that nearly equal ones are equal."""
    return -(-width // 4) * 4.0


def station_box(
    s: Station, drafts: list[list[Row]], heights: dict[str, int], titles: Sequence[str], look: Look,
    fold: Fold | None = None,
) -> Box:  # fmt: skip
    """A station with the rows `drafts` of its cards, `heights` lines each, called `titles`. `fold` is given
    if it stands for many."""
    cards: list[CardBox] = []
    width = 0.0
    narrowest = 110 if s.deck is None or len(drafts) > 1 else NARROWEST
    for card, title, draft in zip(s.cards, titles, drafts, strict=True):
        cards.append(_card(card, title, draft, heights, width, narrowest, look.lang))
        width += cards[-1].width
    rows = sum(LINE + MORE * (n - 1) for n in heights.values())
    upper = HEAD + (12.0 + rows if rows else 0.0)
    if s.deck is None:
        return Box(width, upper, upper, tuple(cards), stack=fold is not None)
    hooks = tuple(str(i + 1) for i in range(len(s.deck.ran)))
    if s.deck.hooks and (not hooks or len(hooks) > HOOKS):
        hooks = (text("hooks", look.lang, n=s.deck.hooks),)
    beside = sum(hook_width(hook) + 4 for hook in hooks) + 8
    several = fold is not None and len(fold.counts) > 1
    name = text("fold_nodes", look.lang, n=fold.operations) if fold and several else clean(s.deck.name)
    node = shorten(name, int((WIDEST - 2 * PAD - beside) / MONO))
    labels: list[tuple[Saved | None, str]] = [(saved, _chip_text(saved, look)) for saved in s.deck.saved]
    if fold is not None:
        labels = [(None, f"{shorten(clean(name), 30)} ×{n}") for name, n in fold.counts] if several else []
    labels = [] if look.saved == "none" and fold is None else labels
    wanted = sum(columns(label) * SMALL + 16 for _, label in labels) - 6 + 2 * PAD
    if look.saved == "all":  # the longest decides, the others stand below each other
        longest = max((columns(label) for _, label in labels), default=0) * SMALL + 10 + 2 * PAD
        width = max(width, even(min(longest, CHIPS_WIDEST)))
    width = max(width, even(columns(node) * MONO + 2 * PAD + beside), even(min(wanted, CHIPS_WIDE)))
    lines = 99 if look.saved == "all" or fold else CHIP_LINES[look.detail]
    chips = _place(labels, width - 2 * PAD, lines, look.lang)
    cards[-1] = replace(cards[-1], width=width - cards[-1].x)  # the last card fills what the deck needs
    return Box(width, upper + _deck_height(chips), upper, tuple(cards), node, hooks, chips, fold is not None)


def hook_width(sign: str) -> float:
    """How wide the sign of a hook is, or that of several."""
    return max(columns(sign) * 7.4 + 8, CHIP)


def _deck_height(chips: Sequence[Chip]) -> float:
    return max(chip.y for chip in chips) + CHIP + 9 if chips else DECK


def _chip_text(saved: Saved, look: Look) -> str:
    name = shorten(clean(saved.name), 16)
    if not look.values:
        return name
    if saved.packed:
        kept = shorten(kept_words(saved, look.lang), 60 if look.saved == "all" else 26)
        return text("chip_packed", look.lang, name=name, kept=kept)
    if saved.value is None:
        return text("chip_freed", look.lang, name=name) if saved.freed else name
    whole = look.saved == "all"
    if isinstance(saved.value, Value):
        value = short(saved.value, 60 if whole else 24)
    else:
        value = shorten(clean(saved.value), 60 if whole else 18)
    if saved.version or (whole and saved.version is not None):
        return text("chip_version", look.lang, name=name, value=value, version=saved.version)
    return f"{name} {value}"


def kept_words(saved: Saved, lang: str | None) -> str:
    """What a saved-tensor hook made of a saved value."""
    return text("kept_recomputed", lang) if saved.packed == RECOMPUTED else clean(saved.packed)


def _place(
    labels: list[tuple[Saved | None, str]], width: float, most: int, lang: str | None
) -> tuple[Chip, ...]:
    """Chips from left to right in at most `most` lines; what finds no room is counted in a last chip `+n`."""
    chips: list[Chip] = []
    x, line = 0.0, 0
    for i, (saved, label) in enumerate(labels):
        label = shorten(label, int((width - 10) / SMALL))
        wide = columns(label) * SMALL + 10
        left = len(labels) - i - 1
        more = 40 if left and line == most - 1 else 0
        if x and x + wide > width - more:
            if line == most - 1:
                rest = text("chips_more", lang, n=left + 1)
                width = columns(rest) * SMALL + 10
                chips.append(Chip(None, rest, PAD + x, CHIP_TOP + line * CHIP_LINE, width))
                break
            x, line = 0.0, line + 1
        chips.append(Chip(saved, label, PAD + x, CHIP_TOP + line * CHIP_LINE, wide))
        x += wide + 6
    return tuple(chips)
