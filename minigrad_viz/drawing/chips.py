"""What stands on a lower deck: a slot for each gradient that comes over one of several arrows, and a chip for
each saved value; what is written on them, where they stand, and how they are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..kept import RECOMPUTED
from ..model.card_names import kept_words
from ..numbers import number, pill, shape_text, short
from ..protocol import Value
from ..trace.graph import Card, Deck, Graph, Route, Saved, Station
from ..words import clean, columns, shorten, text
from .details import describe_saved, stale
from .look import CHIP, NODE, PAD, SMALL, Look, even
from .marks import Ink, Tag, Tags
from .style import area, label, xml

SLOTS, SLOT = 4, 9  # of more slots the last are counted; columns of what is written in one
PLUS = 18.0  # pixels from a slot to the next


class GradSlot(NamedTuple):
    """A place for a gradient that comes over `route` ("": what `.grad` held before): what came, "" so far."""

    route: str
    text: str

    @property
    def width(self) -> float:
        """Pixels that it takes."""
        return max(columns(self.text) * NODE + 12, 26.0)


def count_text(count: str, right: float, top: float) -> str:
    """How many gradients have come, at the right of the node's name."""
    return label(count, right, top + 17, "met")


def gradient_routes(graph: Graph) -> dict[str, list[Route]]:
    """By station id, the routes over which its gradients come."""
    coming: dict[str, list[Route]] = {}
    for route in graph.routes:
        if route.tracked:
            coming.setdefault(route.source, []).append(route)
    return coming


def slots_of(graph: Graph) -> dict[str, tuple[GradSlot, ...]]:
    """By station id, the slots of its gradients where several meet, in the order in which they usually come:
    the newest node sends first."""
    folds = {fold.station for fold in graph.folds}
    coming, found = gradient_routes(graph), {}
    for s in graph.stations:
        routes = coming.get(s.id, [])
        if s.deck is None or s.deck.skipped or len(s.cards) > 1 or s.id in folds:
            continue
        old = s.cards[0].before
        before = () if old is None or not any(old.items or (1,)) else (GradSlot("", slot_text(old)),)
        if len(routes) > 1 or (routes and before):
            came = (
                GradSlot(r.id, slot_text(r.gradients[-1]) if r.gradients else "") for r in reversed(routes)
            )
            found[s.id] = (*before, *came)
    return found


def slot_text(value: Value) -> str:
    """A gradient in a slot: its number, with fewer digits where there is no room for all, or its sizes."""
    lines = pill(value)
    texts = [*lines] if len(lines) == 1 else []
    if not value.shape and value.items:
        texts += [number(value.items[0], value.dtype, digits) for digits in (4, 3, 2)]
    return next((one for one in texts if columns(one) <= SLOT), shape_text(value))


def total_of(card: Card) -> str:
    """The sum of the gradients that met, where the card does not tell it."""
    if card.grad is None or card.grad_kept or card.is_leaf or card.grad.size != 1:
        return ""
    said = short(card.grad)
    return said if columns(said) <= SLOT else ""


DECK, TOP, PITCH = 26.0, 23, 21  # a deck with its name alone; the first line below that, the next ones
CHIPS_WIDEST = 560  # where every saved value is to be read in full
CHIP_LINES = {"normal": 2, "full": 99}


@dataclass(frozen=True, slots=True)
class Chip:
    """One saved value on a lower deck; `saved` is None for the chip that counts those without room. `was` is
    its text without its mark, where that differs."""

    saved: Saved | None
    text: str
    x: float = 0.0
    y: float = 0.0
    tag: Tag | None = None
    was: str = ""

    @property
    def width(self) -> float:
        """Pixels that it takes."""
        return max(columns(self.text), columns(self.was)) * SMALL + 10


def chips_of(s: Station, deck: Deck, look: Look, tags: Tags) -> list[Chip]:
    """The chips that a deck should have, not yet placed."""
    if look.saved == "none":
        return []
    found = []
    for i, saved in enumerate(deck.saved):
        plain, tag = chip_text(saved, look), tags.get(f"{s.id}-k{i}")
        if tag is None or not tag.whole:
            found.append(Chip(saved, plain, tag=tag))
            continue
        name = shorten(clean(saved.name), 16)
        found.append(Chip(saved, f"{name} {tag.label}", tag=tag, was=plain))
    return found


def wanted(chips: Sequence[Chip], look: Look) -> float:
    """How wide a deck should be for its chips."""
    wanted = even(min(sum(chip.width + 5 for chip in chips) - 5 + 2 * PAD, look.widest))
    if look.saved == "all":  # the longest decides, the others stand below each other
        longest = max((chip.width for chip in chips), default=10.0) + 2 * PAD
        return max(wanted, even(min(longest, CHIPS_WIDEST)))
    marked = max((chip.width for chip in chips if chip.tag), default=0.0)
    return max(wanted, even(marked + 2 * PAD) if marked else 0.0)


def chip_text(saved: Saved, look: Look) -> str:
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
    if not isinstance(saved.value, Value):
        value = shorten(clean(saved.value), 60 if whole else 18)
    elif whole:
        value = short(saved.value, 60)
    else:  # the sizes tell enough of what is not written
        value = short(saved.value, 18) if columns(short(saved.value, 60)) <= 18 else shape_text(saved.value)
    said = f"{name} {value}"
    if stale(saved):
        said += f" v{saved.version}→{saved.now}"
    elif saved.version or (whole and saved.version is not None):
        said += f" v{saved.version}"
    if whole and saved.nbytes is not None:
        said += f", {saved.nbytes:,} B"
    return said


def side_by_side(chips: Sequence[Chip], width: float, most: int, below: bool) -> tuple[Chip, ...]:
    """Chips from left to right in at most `most` lines, `below` another line; what finds no room is counted
    in a last chip `+n`."""
    placed: list[Chip] = []
    x, line = 0.0, 0
    fit = int((width - 10) / SMALL)
    for i, whole in enumerate(chips):
        chip = Chip(whole.saved, shorten(whole.text, fit), tag=whole.tag, was=shorten(whole.was, fit))
        left = len(chips) - i - 1
        more = 36 if left and line == most - 1 else 0
        if x and x + chip.width > width - more:
            if line == most - 1:
                chip = Chip(None, f"+{left + 1}")
            else:
                x, line = 0.0, line + 1
        y = TOP + (line + below) * PITCH
        placed.append(Chip(chip.saved, chip.text, PAD + x, y, chip.tag, chip.was))
        if chip.saved is None:
            break
        x += chip.width + 5
    return tuple(placed)


def draw_chip(ink: Ink, deck: Deck, chip: Chip, n: int, left: float, top: float, id: str) -> str:
    """One saved value, the `n`th; or the count of those without room, told in its tooltip."""
    saved = chip.saved
    states = ["more"] if saved is None else []
    if saved is not None:
        states += ["packed"] * bool(saved.packed) + ["freed"] * saved.freed + ["stale"] * stale(saved)
        again = saved.packed == RECOMPUTED
        kinds = {"again" if state == "packed" and again else state for state in states}
        ink.kinds |= kinds or {"saved"}
    hidden = deck.saved[n:] if saved is None else (saved,)
    tip = "\n".join([*ink.marked(chip.tag), *(describe_saved(each, ink.lang) for each in hidden)])
    place = left + chip.x + 5, top + chip.y + 12.5
    words = label(chip.text, *place, "why" * bool(chip.was))
    if chip.was:  # the steps before the failure show the chip without its mark
        words += label(chip.was, *place, "was")
    kind = ink.kind(" ".join(["chip", *states]), chip.tag)
    around = area(left + chip.x, top + chip.y, chip.width, CHIP)
    return f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title><rect {around} rx="4"/>{words}</g>'
