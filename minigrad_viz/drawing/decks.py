"""How large a lower deck is, and what is written on it: the node's name, its chips, hooks and marks; or the
ghost of a deck, where nothing was recorded.

    ├ ① PowBackward0   stopped here ② ┤   hooks: after the node on the left, before it on the right
    │ ▇self 5.▇ ▇exponent 3▇          │   chips
    └─────────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..model.card_names import kept_words
from ..numbers import short
from ..protocol import Value
from ..trace.graph import Deck, Fold, Saved, Station
from ..words import clean, columns, sans, shorten, text
from . import labels
from .look import CHIP, MONO, PAD, SMALL, WIDEST, Look, even
from .marks import Tag, Tags, merged

DECK, CHIP_LINE, CHIP_TOP = 32.0, 23, 29  # a deck without chips; the pitch of chips, the first one
CHIPS_WIDE = 260
CHIPS_WIDEST = 560  # where every saved value is to be read in full
CHIP_LINES = {"normal": 2, "full": 99}
HOOKS = 4  # of more hooks at one node only their number is shown
AFTER = ("post", "post_accumulate")  # the kinds of hooks that run after their node


class Sign(NamedTuple):
    """The sign of a hook: its number, and which of the hooks that ran it is (-1: the sign counts all)."""

    text: str
    hook: int

    @property
    def width(self) -> float:
        """Pixels that it takes."""
        return max(columns(self.text) * 7.4 + 8, CHIP)


@dataclass(frozen=True, slots=True)
class Chip:
    """One saved value on a lower deck; `saved` is None for the chip that counts those without room. `was` is
    its text without its mark, where that differs."""

    saved: Saved | None
    text: str
    x: float
    y: float
    width: float
    tag: Tag | None = None
    was: str = ""


@dataclass(frozen=True, slots=True)
class DeckBox:
    """A lower deck: how much room it wants, and what is written on it (shortened to fit).

    Hooks that run before the node are `before`, the others `after`. A `ghost` stands where there is no node;
    it has its lines instead of all else.
    """

    name: str
    width: float
    height: float
    chips: tuple[Chip, ...] = ()
    before: tuple[Sign, ...] = ()
    after: tuple[Sign, ...] = ()
    tag: Tag | None = None
    ghost: tuple[str, ...] = ()


def deck_box(
    s: Station, deck: Deck, look: Look, room: float, tags: Tags, elsewhere: Collection[int] = (),
    fold: Fold | None = None,
) -> DeckBox:  # fmt: skip
    """The lower deck of a station whose cards are `room` wide; the hooks `elsewhere` stand at an arrow."""
    before, after = _signs(deck, look, elsewhere)
    hooks = sum(sign.width + 4 for sign in (*before, *after)) + 8
    labels = _labels(s, deck, look, tags, fold)
    width = max(room, _wanted(labels, look))
    lines = 99 if look.saved == "all" or fold else CHIP_LINES[look.detail]
    several = fold is not None and len(fold.counts) > 1
    name = text("fold_nodes", look.lang, n=fold.operations) if fold and several else clean(deck.name)
    tag = tags.get(f"{s.id}-d")
    for _ in range(2):  # a mark without a chip to show it needs room beside the name
        beside = hooks + (tag.width + 8 if tag else 0)
        node = shorten(name, max(8, int((WIDEST - 2 * PAD - beside) / MONO)))
        width = max(width, even(columns(node) * MONO + 2 * PAD + beside))
        chips = _place(labels, width - 2 * PAD, lines)
        shown = {id(chip.saved) for chip in chips}
        marks = {f"{s.id}-k{i}": saved for i, saved in enumerate(deck.saved)}
        hidden = [tags[k] for k, saved in marks.items() if k in tags and id(saved) not in shown]
        tag = merged(tag, hidden)
        if not hidden:
            break
    height = max(chip.y for chip in chips) + CHIP + 9 if chips else DECK
    return DeckBox(node, width, height, chips, before, after, tag)


def ghost_box(s: Station, look: Look) -> DeckBox | None:
    """Where a deck would be, had the op been recorded; None where nothing was in the way of it."""
    card = next((card for card in s.cards if card.fog), None)
    if card is None or s.deck is not None:
        return None
    said = text(labels.FOGS[card.fog], look.lang)
    fit = int((WIDEST - 2 * PAD) / MONO) - 2
    lines = [f"({shorten(clean(card.ghost), fit)})"] if card.ghost else []
    widest = max([sans(said), *(columns(line) * MONO for line in lines)])
    return DeckBox("", even(widest + 2 * PAD), DECK + 17 * len(lines), ghost=(*lines, said))


def _signs(deck: Deck, look: Look, elsewhere: Collection[int]) -> tuple[tuple[Sign, ...], tuple[Sign, ...]]:
    """The signs of the hooks that run before the node and after it."""
    if len(deck.ran) > HOOKS or (deck.hooks and not deck.ran):
        return (Sign(text("hooks", look.lang, n=max(deck.hooks, len(deck.ran))), -1),), ()
    signs = [Sign(str(i + 1), i) for i in range(len(deck.ran)) if i not in elsewhere]
    late = [sign for sign in signs if deck.ran[sign.hook].kind in AFTER]
    return tuple(sign for sign in signs if sign not in late), tuple(late)


# ------------------------------------------------------------------------------------------------------ chips


class ChipLabel(NamedTuple):
    """What is to be written on a chip."""

    saved: Saved | None
    text: str
    tag: Tag | None = None
    was: str = ""


def _labels(s: Station, deck: Deck, look: Look, tags: Tags, fold: Fold | None) -> list[ChipLabel]:
    """The chips that a deck should have; a fold has its kinds of nodes."""
    if fold is not None:
        counts = fold.counts if len(fold.counts) > 1 else ()
        return [ChipLabel(None, f"{shorten(clean(name), 30)} ×{n}") for name, n in counts]
    if look.saved == "none":
        return []
    labels = []
    for i, saved in enumerate(deck.saved):
        plain, tag = _chip_text(saved, look), tags.get(f"{s.id}-k{i}")
        if tag is None or not tag.whole:
            labels.append(ChipLabel(saved, plain, tag))
            continue
        name = shorten(clean(saved.name), 16)
        labels.append(ChipLabel(saved, f"{name} {tag.label}", tag, plain))
    return labels


def _wide(label: ChipLabel) -> float:
    return max(columns(label.text), columns(label.was)) * SMALL + 10


def _wanted(labels: Sequence[ChipLabel], look: Look) -> float:
    """How wide a deck should be for its chips."""
    wanted = even(min(sum(_wide(label) + 6 for label in labels) - 6 + 2 * PAD, CHIPS_WIDE))
    if look.saved == "all":  # the longest decides, the others stand below each other
        longest = max(map(_wide, labels), default=10.0) + 2 * PAD
        return max(wanted, even(min(longest, CHIPS_WIDEST)))
    marked = max((_wide(label) for label in labels if label.tag), default=0.0)
    return max(wanted, even(marked + 2 * PAD) if marked else 0.0)


def _chip_text(saved: Saved, look: Look) -> str:
    name = shorten(clean(saved.name), 16)
    if not look.values:
        return name
    whole = look.saved == "all"
    if saved.packed:
        kept = shorten(kept_words(saved, look.lang), 60 if whole else 26)
        return f"{name} → {kept}"
    if saved.value is None and stale(saved):
        return f"{name} v{saved.version}→{saved.now}"
    if saved.value is None:
        return text("chip_freed", look.lang, name=name) if saved.freed else name
    if isinstance(saved.value, Value):
        value = short(saved.value, 60 if whole else 24)
    else:
        value = shorten(clean(saved.value), 60 if whole else 18)
    said = f"{name} {value}"
    if stale(saved):
        said += f" v{saved.version}→{saved.now}"
    elif saved.version or (whole and saved.version is not None):
        said += f" v{saved.version}"
    if whole and saved.nbytes is not None:
        said += f", {saved.nbytes:,} B"
    return said


def stale(saved: Saved) -> bool:
    """Whether the memory of a saved value was written to since, so that backward cannot use it."""
    return saved.now is not None and saved.now != saved.version


def _place(labels: Sequence[ChipLabel], width: float, most: int) -> tuple[Chip, ...]:
    """Chips from left to right in at most `most` lines; what finds no room is counted in a last chip `+n`."""
    chips: list[Chip] = []
    x, line = 0.0, 0
    fit = int((width - 10) / SMALL)
    for i, label in enumerate(labels):
        label = label._replace(text=shorten(label.text, fit), was=shorten(label.was, fit))
        wide = _wide(label)
        left = len(labels) - i - 1
        more = 40 if left and line == most - 1 else 0
        if x and x + wide > width - more:
            if line == most - 1:
                rest = f"+{left + 1}"
                width = columns(rest) * SMALL + 10
                chips.append(Chip(None, rest, PAD + x, CHIP_TOP + line * CHIP_LINE, width))
                break
            x, line = 0.0, line + 1
        place = PAD + x, CHIP_TOP + line * CHIP_LINE
        chips.append(Chip(label.saved, label.text, *place, wide, label.tag, label.was))
        x += wide + 6
    return tuple(chips)
