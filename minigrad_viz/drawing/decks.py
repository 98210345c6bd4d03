"""The lower deck of a station: its node's name, its slots, chips, hooks and marks; or the ghost of a deck,
where nothing was recorded. How large it is, and how it is drawn.

    ├ ① AccumulateGrad   2 / 2    ② ┤   hooks: after the node on the left, before it on the right
    │ (1.) + (0.6)                  │   slots: the gradients that met here
    │ ▇self 5.▇ ▇exponent 3▇        │   chips: what the node saved
    └───────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..trace.graph import Deck, Fold, Station
from ..words import clean, columns, sans, shorten, text
from .chips import (
    CHIP_LINES,
    DECK,
    PLUS,
    SLOTS,
    TOP,
    Chip,
    GradSlot,
    chips_of,
    count_text,
    draw_chip,
    side_by_side,
    total_of,
    wanted,
)
from .details import describe_deck, describe_ghost, describe_hooks
from .look import CHIP, FOG_WORDS, MONO, NODE, PAD, SMALL, Look, even
from .marks import Ink, Tag, Tags, merged
from .plane import AXES, Point
from .style import area, label, rounded, xml

FOOT = 3.0  # below the last line
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
class DeckBox:
    """A lower deck: how much room it wants, and what is written on it (shortened to fit).

    Hooks that run before the node are `before`, the others `after`; `total` is the sum of the slots where no
    row tells it. A `ghost` stands where there is no node; it has its lines instead of all else.
    """

    name: str
    width: float
    height: float
    chips: tuple[Chip, ...] = ()
    before: tuple[Sign, ...] = ()
    after: tuple[Sign, ...] = ()
    tag: Tag | None = None
    ghost: tuple[str, ...] = ()
    slots: tuple[GradSlot, ...] = ()
    total: str = ""

    @property
    def arrivals(self) -> list[str]:
        """The routes over which gradients come to its slots."""
        return [slot.route for slot in self.slots if slot.route]

    def count(self, n: int | None = None) -> str:
        """How many of these gradients have come: `n`, or all that are known."""
        came = sum(bool(slot.text) for slot in self.slots if slot.route) if n is None else n
        return f"{came} / {len(self.arrivals)}"

    def draw(self, ink: Ink, s: Station, place: Place, corner: Point, id: str) -> str:
        """The lower deck of a station whose corner is there, at a place of it."""
        deck, (left, top, width, _) = s.deck, place[:4]
        if deck is None:
            return self.draw_ghost(ink, s, place, id)
        ink.kinds.add("skipped" if deck.skipped else "node")
        tip = "\n".join([*ink.marked(self.tag), describe_deck(deck, ink.lang)])
        kind = ink.kind(" ".join(["deck", *["skipped"] * deck.skipped]), self.tag)
        early, late = self.before, self.after
        if ink.axes == AXES["RL"]:  # the gradient comes in on the left
            early, late = late, early
        x, right, hooks = left + PAD, left + width - PAD, []
        for sign in late:
            hooks.append(draw_hook(ink, deck, sign, x, top + 5))
            x += sign.width + 4
        at = right = right - sum(sign.width + 4 for sign in early)
        for sign in early:
            hooks.append(draw_hook(ink, deck, sign, at + 4, top + 5))
            at += sign.width + 4
        name = label(self.name, x, top + 17, "fn")
        base = f"{ink.prefix}{s.id}"
        parts = [
            f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title>',
            f'<path class="box" d="{rounded(*place)}"/>{name}',
            *hooks,
            ink.tag(self.tag, right, top + 5),
            self.draw_slots(ink, base, left + PAD, right, top),
            *(draw_chip(ink, deck, chip, n, left, top, f"{base}-k{n}") for n, chip in enumerate(self.chips)),
        ]
        return "".join(parts) + draw_nones(ink, deck, place, corner) + "</g>"

    def draw_slots(self, ink: Ink, base: str, x: float, right: float, top: float) -> str:
        """The gradients that met here, and how many have come."""
        if not self.slots:
            return ""
        said = f'<g class="count" id="{base}-n">{count_text(self.count(), right, top)}</g>'
        if self.tag is not None:
            said = ""
        parts, y = [said], top + TOP
        for i, slot in enumerate(self.slots):
            sign = "…" if i == SLOTS else "+"
            if i:
                parts.append(label(sign, x + PLUS / 2, y + 12.5, "sum"))
                x += PLUS
            if i == SLOTS:
                break
            kind = "slot" + " old" * (not slot.route) + " miss" * (not slot.text)
            named = f' id="{ink.prefix}{slot.route}-s"' if slot.route else ""
            said, around = label(slot.text, x + slot.width / 2, y + 12.5), area(x, y, slot.width, CHIP)
            parts.append(f'<g class="{kind}"{named}><rect {around} rx="8.5"/>{said}</g>')
            x += slot.width
        if self.total:
            parts.append(label(f"= {self.total}", x + 6, y + 12.5, "total"))
        return "".join(parts)

    def draw_ghost(self, ink: Ink, s: Station, place: Place, id: str) -> str:
        """The place of a node that was not made, and why."""
        ink.kinds |= {"ghost", "fog"}
        *node, said = self.ghost
        left, top = place[0] + PAD, place[1] + 17
        lines = "".join(label(line, left, top) for line in node)
        lines += label(said, left, top + 17 * len(node), "say")
        tip = xml(describe_ghost(s, ink.lang))
        box = f'<path class="box" d="{rounded(*place)}"/>'
        return f'<g class="ghost" id="{id}"><title>{tip}</title>{box}{lines}</g>'


Place = tuple[float, float, float, float, Sequence[float]]  # left, top, width, height and corners of a deck


# ------------------------------------------------------------------------------------------------ how large


def deck_box(
    s: Station, deck: Deck, look: Look, room: float, tags: Tags, slots: tuple[GradSlot, ...] = (),
    elsewhere: Collection[int] = (), fold: Fold | None = None,
) -> DeckBox:  # fmt: skip
    """The lower deck of a station, for which there are `room` pixels; the hooks `elsewhere` stand at an
    arrow."""
    before, after = _signs(deck, look, elsewhere)
    hooks = sum(sign.width + 4 for sign in (*before, *after))
    chips = [] if fold is not None else chips_of(s, deck, look, tags)
    several = fold is not None and fold.operations > 1
    name = text("fold_nodes", look.lang, n=fold.operations) if fold and several else clean(deck.name)
    name = name.removesuffix(" ×1") if fold else name
    total = total_of(s.cards[0]) if slots else ""
    met = sum(slot.width for slot in slots[:SLOTS]) + PLUS * len(slots[: SLOTS + 1]) if slots else 0.0
    met += columns(total) * MONO + 24 if total else 0.0
    width, tag = max(room, wanted(chips, look), even(met + 2 * PAD)), tags.get(f"{s.id}-d")
    lines = 99 if look.saved == "all" else CHIP_LINES[look.detail]
    counted = columns("9 / 9") * SMALL + 8 if slots else 0
    for _ in range(2):  # a mark without a chip to show it needs room beside the name
        beside = hooks + (tag.width + 8 if tag else counted)
        node = shorten(name, max(8, int((look.widest - 2 * PAD - beside) / NODE)))
        width = max(width, even(columns(node) * NODE + 2 * PAD + beside))
        placed = side_by_side(chips, width - 2 * PAD, lines, bool(slots))
        shown = {id(chip.saved) for chip in placed}
        marks = {f"{s.id}-k{i}": saved for i, saved in enumerate(deck.saved)}
        hidden = [tags[k] for k, saved in marks.items() if k in tags and id(saved) not in shown]
        tag = merged(tag, hidden)
        if not hidden:
            break
    last = max([chip.y for chip in placed], default=float(TOP) if slots else None)
    height = DECK if last is None else last + CHIP + FOOT + 1
    return DeckBox(node, width, height, placed, before, after, tag, (), slots, total)


def ghost_box(s: Station, look: Look) -> DeckBox | None:
    """Where a deck would be, had the op been recorded; None where nothing was in the way of it."""
    card = next((card for card in s.cards if card.fog), None)
    if card is None or s.deck is not None:
        return None
    said = text(FOG_WORDS[card.fog], look.lang)
    fit = int((look.widest - 2 * PAD) / MONO) - 2
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


# ------------------------------------------------------------------------------------------------ its parts


def draw_hook(ink: Ink, deck: Deck, sign: Sign, x: float, y: float) -> str:
    """The sign of one hook that ran, or was removed before it could; or of all hooks of a node."""
    tips = describe_hooks(deck, ink.lang)
    ran = deck.ran[sign.hook] if sign.hook >= 0 else None
    removed = ran is not None and ran.removed
    changed = ran is not None and not removed and ran.before != ran.after
    ink.kinds.add("node" if ran is None else "removed" if removed else "hook")
    kind = "hooks" + " changed" * changed + " removed" * removed
    tip = "\n".join(tips) if ran is None else tips[sign.hook]
    number = label(sign.text, x + sign.width / 2, y + 12.5)
    around = area(x, y, sign.width, CHIP)
    return f'<g class="{kind}"><title>{xml(tip)}</title><rect {around} rx="8.5"/>{number}</g>'


def draw_nones(ink: Ink, deck: Deck, place: Place, corner: Point) -> str:
    """A ∅ on the border of a deck, where inputs come in, for every one without an edge, or one with their
    number."""
    missing = [i for i, route in enumerate(deck.inputs) if route is None]
    if not missing:
        return ""
    ink.kinds.add("none")
    left, top, width, height = place[:4]
    axes, (x, y) = ink.axes, corner
    fits = max(1, int((width if axes.upright else height) / 2 // 18))
    marks = [("∅", text("tip_none", ink.lang, i=i)) for i in missing]
    if len(missing) > fits:
        marks = [(f"∅{len(missing)}", text("tip_nones", ink.lang, n=len(missing)))]
    parts = []
    for n, (sign, tip) in enumerate(reversed(marks)):
        half = 4.6 + 3.4 * len(sign)
        if axes.upright:
            across, down = left + width - 16 - 20 * n, top if axes.sign > 0 else top + height
        else:
            across, down = left if axes.sign > 0 else left + width, top + height - 11 - 18 * n
        ink.space.take((x + across - half, y + down - 8, x + across + half, y + down + 8))
        parts.append(
            f'<g class="none"><title>{xml(tip)}</title><rect {area(across - half, down - 8, 2 * half, 16)}'
            f' rx="8"/>{label(sign, across, down + 4)}</g>'
        )
    return "".join(parts)
