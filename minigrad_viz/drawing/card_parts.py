"""The parts of a card below its head: value, gradient, memory and the like. Each is one class, which says
how it is measured and drawn in the picture, and what the tooltip and the outline say about it.

Note [Parts of a card]
~~~~~~~~~~~~~~~~~~~~~~
`PARTS` lists them in the order from top to bottom. All that shows a card goes through this
list, so a new part is one class here, its label in `words`, and nothing else; `docs/extending.md` adds one.
A picture's layout is shared by all moments of a card: whether a part has a row may depend on what a tensor
is, but not on what its value and its gradient are at a moment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..number_text import gradient_text, one_line, rows, shape_text, value_range, written_out
from ..protocol import Value
from ..trace.graph import CONSTANT, Card, Deck, Graph
from ..words import clean, columns, shorten, text
from .heat_maps import GRADIENTS, VALUES, Heat, bins_of, heat_beyond, heat_map, histogram
from .look import LINE, MONO, MORE, ROLE_WORDS, Look
from .style import num, xml_with_spaces

WIDTH = 60  # columns of a value in a tooltip, and in the outline
LONG = 1000  # characters of one detail

# ─── The row of a part in the picture


AROUND = 9  # above and below a map
UP = 12  # pixels from the baseline of a row to the top of its maps
COLUMNS = 24  # of a value
BARS, TALL = 52.0, 13.0  # pixels of a histogram
WRITTEN = 4  # numbers of data that are written where boxes of many hide the tensors


@dataclass(frozen=True, slots=True)
class CardRow:
    """One row of a card. `tone` is "plain", "kept" (a stored gradient) or "gone" (None). The row of a shared
    memory has a `sign` instead of its label. `heats` are drawn where numbers are not written, and behind the
    last line the histogram of what has too many for a map, the value `spread`; `others` has the part at each
    moment of `Card.stood`, where it changes. It is at least `least` pixels wide."""

    name: str
    label: str
    lines: tuple[str, ...]
    tone: str = "plain"
    y: float = 0.0  # baseline of the first line
    sign: str = ""
    heats: tuple[Heat, ...] = ()
    spread: Value | None = None
    others: tuple[CardRow, ...] = ()
    least: float = 0.0
    part: CardPart | None = None

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
        lines = [columns(line) * MONO for line in self.lines]
        bars = [lines[-1] + 8 + BARS] if self.spread is not None else []
        return max([self.least, *lines, *bars, *maps, *(row.width for row in self.others)])

    def maps(self) -> list[Heat]:
        """Its maps, at all moments."""
        return [*self.heats, *(heat for row in self.others for heat in row.heats)]

    def content(self, x: float, scales: Mapping[str, float]) -> str:
        """What it says: its lines and its maps at `x`, without the label."""
        return self.part.draw(self, x, scales) if self.part else draw_lines(self, x, scales)


def draw_lines(row: CardRow, x: float, scales: Mapping[str, float]) -> str:
    """The lines of a row, and its maps or its histogram."""
    tone = "" if row.tone == "plain" else f' class="{row.tone}"'
    lines = "".join(
        f'<text{tone} x="{num(x)}" y="{num(row.y + MORE * n)}">{xml_with_spaces(line)}</text>'
        for n, line in enumerate(row.lines)
    )
    maps = (heat_map(heat, scales[heat.of], x + heat.x, row.y - UP) for heat in row.heats)
    if row.spread is not None:
        left, foot = x + columns(row.lines[-1]) * MONO + 8, row.y + MORE * (len(row.lines) - 1)
        lines += histogram(row.spread, left, foot, BARS, TALL)
    return lines + "".join(maps)


# ─── Which tensors use the same memory


LETTERS = 26


class SharedMemory(NamedTuple):
    """A memory that several tensors use: its `sign`, a letter of its own in the picture, and the name of the
    tensor to which it belongs ("" for that tensor itself, and where it is not in the picture)."""

    sign: str
    owner: str


def memories_of(graph: Graph, names: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], SharedMemory]:
    """The shared memory of each card that has one, by station id and position: those that use another
    tensor's, and those whose own is used."""
    shared = dict.fromkeys(card.shares for _, card in graph.cards() if card.shares)
    signs = {owner: chr(65 + i) if i < LETTERS else str(i + 1) for i, owner in enumerate(shared)}
    places = [(s.id, i, card) for s in graph.stations for i, card in enumerate(s.cards)]
    called = {card.id: names[id, i] for id, i, card in places}
    found = {}
    for id, i, card in places:
        owner = card.shares or card.id
        if owner in signs:
            found[id, i] = SharedMemory(signs[owner], called.get(card.shares, ""))
    return found


def memory_words(version: int, memory: SharedMemory, lang: str | None, width: int = 14) -> str:
    """Whose memory a tensor uses, and the version, if it is not 0."""
    name = shorten(clean(memory.owner), width)
    return text("memory_of" if name else "shared_memory", lang, name=name, version=version or "")


# ─── The parts


class CardView(NamedTuple):
    """A card with what its parts may say about its surroundings: the memory that it shares, the `deck`
    below it, the gradients that met at it; `sized` where its arrows tell its sizes."""

    card: Card
    look: Look
    memory: SharedMemory | None = None
    deck: Deck | None = None
    shares: Sequence[Value] = ()
    sized: bool = False

    @property
    def lang(self) -> str | None:
        """The language of all its texts."""
        return self.look.lang


class CardPart:
    """One part of a card, see Note [Parts of a card]. `words` is the key of its label; a part without is
    called as the attribute that it shows, in every language. Parts with `numbers` are in pictures that write
    values; those `in_full` only in pictures with full detail. Both are in the tooltip."""

    name = ""
    words = ""
    numbers = False
    in_full = False

    def label(self, lang: str | None) -> str:
        """What it is called."""
        return text(self.words, lang) if self.words else self.name

    def seen(self, look: Look) -> bool:
        """Whether pictures and outlines of this look have it."""
        return (look.values or not self.numbers) and (look.detail == "full" or not self.in_full)

    def measure(self, shown: CardView) -> CardRow | None:
        """Its row in the picture, not yet placed; None for a card that has none."""
        return None

    def draw(self, row: CardRow, x: float, scales: Mapping[str, float]) -> str:
        """Its row as SVG, without the label."""
        return draw_lines(row, x, scales)

    def describe(self, shown: CardView) -> str:
        """Its line in the tooltip, "" for none."""
        return ""

    def outline(self, shown: CardView) -> str:
        """What the outline says of it, "" for nothing."""
        return ""

    def row(self, lines: Sequence[str], lang: str | None, tone: str = "plain") -> CardRow:
        """A row of text under its label."""
        return CardRow(self.name, self.label(lang), tuple(lines), tone, part=self)

    def value_row(self, value: Value, of: str, shown: CardView, tone: str = "plain") -> CardRow:
        """The row of a value: its numbers, or a map with the shape behind it, unless an arrow shows that; of
        many numbers their root mean square with a histogram."""
        heat = heat_beyond(value, of, COLUMNS)
        if heat is None:
            told = self.row(rows(value, COLUMNS), shown.lang, tone)
            many = value.low != value.high and len(bins_of(value)) > 0 and not written_out(value, COLUMNS)
            return replace(told, spread=value) if many else told
        behind = " " * math.ceil((heat.width + 8) / MONO)
        lines = () if shown.sized else (behind + shape_text(value),)
        return CardRow(self.name, self.label(shown.lang), lines, tone, heats=(heat,), part=self)

    def said(self, value: object, lang: str | None) -> str:
        """A value behind its label."""
        return f"{self.label(lang)}: {value}"


class RolePart(CardPart):
    """What a tensor is in the graph. The head of its card has it, too."""

    name, words = "role", "row_role"

    def describe(self, shown: CardView) -> str:
        return self.said(text(ROLE_WORDS[shown.card.role], shown.lang), shown.lang)


class ValuePart(CardPart):
    """The numbers of a tensor. In the outline they are behind its name."""

    name, words, numbers = "value", "row_value", True

    def measure(self, shown: CardView) -> CardRow | None:
        card = shown.card
        if card.value is None:
            return self.row((text("unknown", shown.lang),), shown.lang)
        if shown.sized and card.role == CONSTANT and card.value.size > WRITTEN:
            return CardRow(self.name, "", (shape_text(card.value),), part=self)  # the tooltip has its numbers
        return self.value_row(card.value, VALUES, shown)

    def describe(self, shown: CardView) -> str:
        value = shown.card.value
        return self.said(one_line(value, WIDTH) if value else text("unknown", shown.lang), shown.lang)


class TangentPart(CardPart):
    """The tangent of a dual tensor."""

    name, words, numbers = "tangent", "tangent", True

    def measure(self, shown: CardView) -> CardRow | None:
        tangent = shown.card.tangent
        return None if tangent is None else self.row(rows(tangent, COLUMNS), shown.lang)

    def describe(self, shown: CardView) -> str:
        tangent = shown.card.tangent
        return "" if tangent is None else self.said(one_line(tangent, WIDTH), shown.lang)

    def outline(self, shown: CardView) -> str:
        tangent = shown.card.tangent
        value = None if tangent is None else one_line(tangent, WIDTH)
        return "" if value is None else text("outline_tangent", shown.lang, value=value)


class GradPart(CardPart):
    """The gradient of a tensor, whether `.grad` kept it or not."""

    name, numbers = "grad", True

    def measure(self, shown: CardView) -> CardRow | None:
        card = shown.card
        if not (wants_gradient(card) and (card.is_leaf or card.retains_grad or card.grad_kept)):
            return None  # the gradient of any other tensor stands at its arrow
        if card.grad is None or not card.grad_kept:
            return self.row(("None",), shown.lang, "gone")
        return self.value_row(card.grad, GRADIENTS, shown, "kept")

    def describe(self, shown: CardView) -> str:
        card = shown.card
        grad = one_line(card.grad, WIDTH) if card.grad else None
        lost = card.grad and not card.grad_kept
        return self.said(text("not_kept", shown.lang, value=grad) if lost else grad, shown.lang)

    def outline(self, shown: CardView) -> str:
        """The gradient, as the sum of those that met."""
        card, lang = shown.card, shown.lang
        if card.grad is not None:
            kept = "outline_kept" if card.grad_kept else "outline_not_kept"
            return text(kept, lang, value=gradient_text(card.grad, shown.shares, WIDTH, lang))
        return text("outline_no_grad", lang) if card.requires_grad and card.is_leaf else ""


class ReturnedPart(CardPart):
    """The gradient that `grad()` returned for a tensor."""

    name, words, numbers = "returned", "row_returned", True

    def measure(self, shown: CardView) -> CardRow | None:
        returned = shown.card.returned
        return None if returned is None else self.value_row(returned, GRADIENTS, shown, "kept")

    def describe(self, shown: CardView) -> str:
        returned = shown.card.returned
        return "" if returned is None else self.said(one_line(returned, WIDTH), shown.lang)

    def outline(self, shown: CardView) -> str:
        returned = shown.card.returned
        value = None if returned is None else one_line(returned, WIDTH)
        return "" if value is None else text("outline_returned", shown.lang, value=value)


class MemoryPart(CardPart):
    """Whose memory a tensor uses; the picture has a letter for each memory that several use."""

    name = "memory"

    def measure(self, shown: CardView) -> CardRow | None:
        memory = shown.memory
        if memory is None:
            return None
        said = memory_words(0, memory, shown.lang)
        return CardRow(self.name, "", (said,), sign=memory.sign, part=self)

    def describe(self, shown: CardView) -> str:
        memory = shown.memory
        return "" if memory is None else memory_words(shown.card.version, memory, shown.lang, LONG)

    def outline(self, shown: CardView) -> str:
        memory = shown.memory
        if memory is None:
            return ""
        return f"[{memory.sign}] {memory_words(shown.card.version, memory, shown.lang, WIDTH)}"


class Attribute(CardPart):
    """An attribute of a tensor, in the words of Python."""

    in_full = True

    def __init__(self, name: str) -> None:
        self.name = name

    def known(self, shown: CardView) -> object:
        """Its value; None where it is not known."""
        return str(getattr(shown.card, self.name))

    def measure(self, shown: CardView) -> CardRow | None:
        known = self.known(shown)
        return self.row((text("unknown", shown.lang) if known is None else str(known),), shown.lang)

    def describe(self, shown: CardView) -> str:
        known = self.known(shown)
        return "" if known is None else self.said(known, shown.lang)

    outline = describe


class Version(Attribute):
    """How often a tensor was written to in place."""

    def label(self, lang: str | None) -> str:
        return "_version"


class ValueAttribute(Attribute):
    """An attribute that is known with the value."""

    def known(self, shown: CardView) -> object:
        return None if shown.card.value is None else str(getattr(shown.card.value, self.name))


class RangePart(CardPart):
    """The least and the largest of the numbers of a tensor: one outlier decides them, so they are for those
    who ask."""

    name, words, numbers, in_full = "range", "row_range", True, True

    def measure(self, shown: CardView) -> CardRow | None:
        told = self.ends(shown)
        return self.row((told,), shown.lang) if told else None

    def describe(self, shown: CardView) -> str:
        told = self.ends(shown)
        return self.said(told, shown.lang) if told else ""

    outline = describe

    def ends(self, shown: CardView) -> str:
        """Both, of a tensor whose numbers are not written out."""
        value = shown.card.value
        return "" if value is None or written_out(value, WIDTH) else value_range(value)


class NodePart(CardPart):
    """The name of a tensor's node. The deck below the card has it, too."""

    name = "grad_fn"

    def describe(self, shown: CardView) -> str:
        node = clean(shown.deck.name) if shown.deck and not shown.card.is_leaf else None
        return self.said(node, shown.lang)


VALUE, GRAD = ValuePart(), GradPart()
PARTS: list[CardPart] = [
    RolePart(), VALUE, TangentPart(), GRAD, ReturnedPart(), MemoryPart(), Attribute("requires_grad"),
    Attribute("is_leaf"), Attribute("retains_grad"), NodePart(), Version("version"), ValueAttribute("shape"),
    ValueAttribute("dtype"), RangePart(),
]  # fmt: skip


def wants_gradient(card: Card) -> bool:
    """Whether a tensor requires a gradient, or has one at some moment."""
    return card.requires_grad or any(grad is not None for grad in (card.grad, *(g for _, g in card.stood)))


def part_rows(shown: CardView) -> list[CardRow]:
    """The rows of a card, not yet placed."""
    found = (part.measure(shown) for part in PARTS if part.seen(shown.look))
    return [row for row in found if row is not None]


def part_lines(shown: CardView) -> list[str]:
    """The lines of a card's tooltip."""
    return list(filter(None, (part.describe(shown) for part in PARTS)))


def part_outlines(shown: CardView) -> list[str]:
    """What the outline says about a card after its name, value and role."""
    return list(filter(None, (part.outline(shown) for part in PARTS if part.seen(shown.look))))
