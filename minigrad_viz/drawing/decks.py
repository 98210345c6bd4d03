"""The lower deck of a station: its node's name, slots, chips, hooks and marks; how large they are, and how
they are drawn.

├ ① AccumulateGrad   2 / 2    ② ┤   hooks: after the node on the left, before it on the right
│ (1.) + (0.6)                  │   slots: the gradients that met here
│ ▇self 5.▇ ▇exponent 3▇        │   chips: what the node saved
└───────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..model.naming import kept_words
from ..number_text import number, one_line, pill, shape_text
from ..protocol import Value
from ..saved_values import RECOMPUTED
from ..trace.graph import ROOT, Card, Deck, Fold, Graph, Route, SavedChip, Station
from ..words import clean, columns, shorten, text
from ..words.display_text import text_pixels
from .details import describe_deck, describe_ghost, describe_hooks, describe_saved, is_stale
from .geometry import Point
from .look import CHIP, FOG_WORDS, MONO, NODE, PAD, SMALL, Ink, Look, Tag, Tags, merge_tags, round_width
from .style import area, rounded_rectangle, text_label, xml

# ─── What stands on a lower deck


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
    return text_label(count, right, top + 17, "met")


def gradient_routes(graph: Graph) -> dict[str, list[Route]]:
    """By station id, the routes over which its gradients come."""
    coming: dict[str, list[Route]] = {}
    for route in graph.routes:
        if route.tracked:
            coming.setdefault(route.source, []).append(route)
    return coming


def sending_tensors(graph: Graph) -> set[str]:
    """The stations whose nodes take part in the backward call: those that gradients of its roots come to. All
    of them where no root is drawn."""
    skipped = {s.id for s in graph.stations if s.deck is not None and s.deck.skipped}
    found = {s.id for s in graph.stations if any(card.role == ROOT for card in s.cards)} - skipped
    if not found:
        return {s.id for s in graph.stations} - skipped
    back: dict[str, list[str]] = {}
    for route in graph.routes:
        if route.tracked:
            back.setdefault(route.target, []).append(route.source)
    waiting = [*found]
    while waiting:
        new = set(back.get(waiting.pop(), ())) - skipped - found
        found |= new
        waiting += new
    return found


def slots_of(graph: Graph) -> dict[str, tuple[GradSlot, ...]]:
    """By station id, the slots of its gradients where several meet, in the order in which they usually come:
    the newest node sends first. From a node that the call does not reach, none comes."""
    folds = {fold.station for fold in graph.folds}
    coming, found, sending = gradient_routes(graph), {}, sending_tensors(graph)
    for s in graph.stations:
        routes = [route for route in coming.get(s.id, []) if route.target in sending]
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
    """The sum of the gradients that met, where the card does not show it."""
    if card.grad is None or card.grad_kept or card.is_leaf or card.grad.size != 1:
        return ""
    said = one_line(card.grad)
    return said if columns(said) <= SLOT else ""


DECK, TOP, PITCH = 26.0, 23, 21  # a deck with its name alone; the first line below that, the next ones
CHIPS_WIDEST = 560  # where every saved value is to be read in full
CHIP_LINES = {"normal": 2, "full": 99}


@dataclass(frozen=True, slots=True)
class Chip:
    """One saved value on a lower deck; `saved` is None for the chip that counts those without room. `was` is
    its text without its mark, where that differs."""

    saved: SavedChip | None
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


def chips_width(chips: Sequence[Chip], look: Look) -> float:
    """How wide a deck should be for its chips."""
    wanted = round_width(min(sum(chip.width + 5 for chip in chips) - 5 + 2 * PAD, look.widest))
    if look.saved == "all":  # the longest decides, the others stand below each other
        longest = max((chip.width for chip in chips), default=10.0) + 2 * PAD
        return max(wanted, round_width(min(longest, CHIPS_WIDEST)))
    marked = max((chip.width for chip in chips if chip.tag), default=0.0)
    return max(wanted, round_width(marked + 2 * PAD) if marked else 0.0)


def chip_text(saved: SavedChip, look: Look) -> str:
    name = shorten(clean(saved.name), 16)
    if not look.values:
        return name
    whole = look.saved == "all"
    if saved.packed:
        kept = shorten(kept_words(saved, look.lang), 60 if whole else 26)
        return f"{name} → {kept}"
    if saved.value is None and is_stale(saved):
        return f"{name} v{saved.version}→{saved.now}"
    if saved.value is None:
        return text("chip_freed", look.lang, name=name) if saved.freed else name
    if not isinstance(saved.value, Value):
        value = shorten(clean(saved.value), 60 if whole else 18)
    elif whole:
        value = one_line(saved.value, 60)
    else:  # the sizes tell enough of what is not written
        value = (
            one_line(saved.value, 18) if columns(one_line(saved.value, 60)) <= 18 else shape_text(saved.value)
        )
    said = f"{name} {value}"
    if is_stale(saved):
        said += f" v{saved.version}→{saved.now}"
    elif whole and saved.version is not None:
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
    """One saved value, the `n`th; or the count of those without room, given in its tooltip."""
    saved = chip.saved
    states = ["more"] if saved is None else []
    if saved is not None:
        states += ["packed"] * bool(saved.packed) + ["freed"] * saved.freed + ["stale"] * is_stale(saved)
        again = saved.packed == RECOMPUTED
        kinds = {"again" if state == "packed" and again else state for state in states}
        ink.kinds |= kinds or {"saved"}
    hidden = deck.saved[n:] if saved is None else (saved,)
    tip = "\n".join([*ink.marked(chip.tag), *(describe_saved(each, ink.lang) for each in hidden)])
    place = left + chip.x + 5, top + chip.y + 12.5
    words = text_label(chip.text, *place, "why" * bool(chip.was))
    if chip.was:  # the steps before the failure show the chip without its mark
        words += text_label(chip.was, *place, "was")
    kind = ink.kind(" ".join(["chip", *states]), chip.tag)
    around = area(left + chip.x, top + chip.y, chip.width, CHIP)
    return f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title><rect {around} rx="4"/>{words}</g>'


# ─── The lower deck of a station


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
    row shows it. A `ghost` is drawn where there is no node; it has its lines instead of all else.
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
        x, right, hooks = left + PAD, left + width - PAD, []
        for sign in late:
            hooks.append(draw_hook(ink, deck, sign, x, top + 5))
            x += sign.width + 4
        at = right = right - sum(sign.width + 4 for sign in early)
        for sign in early:
            hooks.append(draw_hook(ink, deck, sign, at + 4, top + 5))
            at += sign.width + 4
        name = text_label(self.name, x, top + 17, "fn")
        base = f"{ink.prefix}{s.id}"
        parts = [
            f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title>',
            f'<path class="box" d="{rounded_rectangle(*place)}"/>{name}',
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
                parts.append(text_label(sign, x + PLUS / 2, y + 12.5, "sum"))
                x += PLUS
            if i == SLOTS:
                break
            kind = "slot" + " old" * (not slot.route) + " miss" * (not slot.text)
            named = f' id="{ink.prefix}{slot.route}-s"' if slot.route else ""
            said, around = text_label(slot.text, x + slot.width / 2, y + 12.5), area(x, y, slot.width, CHIP)
            parts.append(f'<g class="{kind}"{named}><rect {around} rx="8.5"/>{said}</g>')
            x += slot.width
        if self.total:
            parts.append(text_label(f"= {self.total}", x + 6, y + 12.5, "total"))
        return "".join(parts)

    def draw_ghost(self, ink: Ink, s: Station, place: Place, id: str) -> str:
        """The place of a node that was not made, and why."""
        ink.kinds |= {"ghost", "fog"}
        *node, said = self.ghost
        left, top = place[0] + PAD, place[1] + 17
        lines = "".join(text_label(line, left, top) for line in node)
        lines += text_label(said, left, top + 17 * len(node), "say")
        tip = xml(describe_ghost(s, ink.lang))
        box = f'<path class="box" d="{rounded_rectangle(*place)}"/>'
        return f'<g class="ghost" id="{id}"><title>{tip}</title>{box}{lines}</g>'


Place = tuple[float, float, float, float, Sequence[float]]  # left, top, width, height and corners of a deck


# ------------------------------------------------------------------------------------------------ how large


def deck_box(
    s: Station, deck: Deck, look: Look, room: float, tags: Tags, slots: tuple[GradSlot, ...] = (),
    elsewhere: Collection[int] = (), fold: Fold | None = None,
) -> DeckBox:  # fmt: skip
    """The lower deck of a station, for which there are `room` pixels; the hooks `elsewhere` are at an
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
    width, tag = max(room, chips_width(chips, look), round_width(met + 2 * PAD)), tags.get(f"{s.id}-d")
    lines = 99 if look.saved == "all" else CHIP_LINES[look.detail]
    counted = columns("9 / 9") * SMALL + 8 if slots else 0
    for _ in range(2):  # a mark without a chip to show it needs room beside the name
        beside = hooks + (tag.width + 8 if tag else counted)
        node = shorten(name, max(8, int((look.widest - 2 * PAD - beside) / NODE)))
        width = max(width, round_width(columns(node) * NODE + 2 * PAD + beside))
        placed = side_by_side(chips, width - 2 * PAD, lines, bool(slots))
        shown = {id(chip.saved) for chip in placed}
        marks = {f"{s.id}-k{i}": saved for i, saved in enumerate(deck.saved)}
        hidden = [tags[k] for k, saved in marks.items() if k in tags and id(saved) not in shown]
        tag = merge_tags(tag, hidden)
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
    widest = max([text_pixels(said), *(columns(line) * MONO for line in lines)])
    return DeckBox("", round_width(widest + 2 * PAD), DECK + 17 * len(lines), ghost=(*lines, said))


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
    number = text_label(sign.text, x + sign.width / 2, y + 12.5)
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
            across, down = left + width - 16 - 20 * n, top
        else:
            across, down = left, top + height - 11 - 18 * n
        ink.space.take((x + across - half, y + down - 8, x + across + half, y + down + 8))
        parts.append(
            f'<g class="none"><title>{xml(tip)}</title><rect {area(across - half, down - 8, 2 * half, 16)}'
            f' rx="8"/>{text_label(sign, across, down + 4)}</g>'
        )
    return "".join(parts)
