"""How large everything in the picture is: stations with their rows and chips, reference chips, pills.

Pixels, with (0, 0) at a station's upper left corner. Widths are reckoned, because the picture is laid out
where no font is known: a column of the monospace stack is never wider than 0.602 em, and there is room to
spare.

    ┌ name = expression        role ┐ HEAD
    │ value  5.                     │ rows, LINE each (MORE for every further line)
    │ grad   1.6 = 0.6 + 1.         │                                   upper deck, `upper` high
    ├ PowBackward0                  ┤
    │ ▇self 5.▇ ▇exponent 3▇        │ chips                             lower deck, to `height`
    └───────────────────────────────┘

All stations with a lower deck share one height a row, so that rows and decks line up along a line of the
layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .graph import CONSTANT, LEAF, PARAMETER, Card, Graph, Route, Saved, Station
from .numbers import gradient_text, pill, rows, short
from .protocol import Value
from .words import clean, columns, sans, shorten, text

DETAILS = ("normal", "full")

PAD, HEAD, LINE, MORE = 10, 26, 20, 16
MONO, NAME, SMALL, BOLD = (
    7.6,
    8.5,
    6.7,
    7.3,
)  # pixels a column: rows 12.5px, names 14px, chips 11px, pills 12px
DECK, CHIP, CHIP_LINE, CHIP_TOP = (
    32,
    18,
    23,
    29,
)  # a deck without chips; a chip, the pitch of chips, the first one
NARROWEST, WIDEST, CHIPS_WIDE = 188, 296, 260
CHIP_LINES = {"normal": 2, "full": 99}
# A leaf with more uses than this stands apart, and each use gets a small reference chip.
USES = 8
# More arrows than this between the same two boxes are drawn as one.
PARALLEL = 4
ROLES = (LEAF, PARAMETER, CONSTANT)

Names = dict[tuple[str, int], str]  # what to call each card, by station id and position


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
    hooks: str = ""
    chips: tuple[Chip, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A small stand-in for a much used leaf beside one of its users: tail of all routes between the two."""

    id: str
    source: str
    target: str
    card: int
    text: str
    uses: int


@dataclass(frozen=True, slots=True)
class Pill:
    """The value that flowed over a route."""

    lines: tuple[str, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything about a picture's sizes: boxes by station or reference id, the others by route id.

    `bundles` are routes that run from one box to one other; where they are more than `PARALLEL` they are
    drawn as one line, with one pill, that of the first.
    """

    boxes: dict[str, Box]
    references: dict[str, Reference]
    bundles: dict[str, tuple[str, ...]]
    pills: dict[str, Pill]
    names: Names

    def tail(self, route: Route) -> str:
        """Id of the box a route begins at: its source station or the reference chip that stands for it."""
        reference = self.references.get(route.id)
        return reference.id if reference else route.source

    def line(self, route: Route) -> str:
        """Id of the route along which `route` is drawn: its own, or the first of a large bundle's."""
        bundle = self.bundles[route.id]
        return bundle[0] if len(bundle) > PARALLEL else route.id


def measure(graph: Graph, detail: str = "normal", lang: str | None = None) -> Measured:
    """Sizes of everything drawn of `graph`. Raises ValueError for an unknown `detail`."""
    if detail not in DETAILS:
        raise ValueError(f"unknown detail {detail!r}: choose one of {', '.join(DETAILS)}")
    names, shares, references = name_cards(graph, lang), gather(graph), refer(graph, lang)
    drafts = {
        s.id: [_rows(card, shares.get((s.id, i), ()), detail, lang) for i, card in enumerate(s.cards)]
        for s in graph.stations
    }
    common = _heights(row for s in graph.stations if s.deck for card in drafts[s.id] for row in card)
    boxes: dict[str, Box] = {}
    for s in graph.stations:
        heights = common if s.deck else _heights(row for card in drafts[s.id] for row in card)
        boxes[s.id] = _station(s, drafts[s.id], heights, names, detail, lang)
    boxes = _level(boxes)
    stations = {s.id: s for s in graph.stations}
    for reference in references.values():
        boxes[reference.id] = _reference(reference, stations[reference.source])
    bundles = _bundles(graph, references)
    routes = {route.id: route for route in graph.routes}
    pills: dict[str, Pill] = {}
    for id, bundle in bundles.items():
        drawn = bundle if len(bundle) > PARALLEL else (id,)
        values = [value for each in drawn if routes[each].tracked for value in routes[each].gradients]
        if id == drawn[0] and values:
            pills[id] = _pill(values, lang)
    return Measured(boxes, references, bundles, pills, names)


def name_cards(graph: Graph, lang: str | None = None) -> Names:
    """What to call each card, by station id and position: its variable, its expression, or `result n`."""
    names: Names = {}
    unnamed = 0
    for s in graph.stations:
        for i, card in enumerate(s.cards):
            name = clean(card.name or card.expr or "")
            if not name:
                unnamed += 1
                name = text("unnamed", lang, n=unnamed)
            names[s.id, i] = name
    return names


def gather(graph: Graph) -> dict[tuple[str, int], list[Value]]:
    """The gradients that met at each card, by station id and position, one per route they came over."""
    shares: dict[tuple[str, int], list[Value]] = {}
    for route in graph.routes:
        if route.tracked and route.gradients:
            shares.setdefault((route.source, route.card), []).append(route.gradients[-1])
    return shares


def refer(graph: Graph, lang: str | None = None) -> dict[str, Reference]:
    """Reference chips by route id, for every leaf or constant with more than `USES` users."""
    users: dict[tuple[str, int], set[str]] = {}
    for route in graph.routes:
        users.setdefault((route.source, route.card), set()).add(route.target)
    stations = {s.id: s for s in graph.stations}
    made = {route.target for route in graph.routes}
    names = name_cards(graph, lang)
    found: dict[tuple[str, int, str], Reference] = {}
    references: dict[str, Reference] = {}
    for r in graph.routes:
        uses = len(users[r.source, r.card])
        if uses > USES and r.source not in made and stations[r.source].cards[r.card].role in ROLES:
            where = (r.source, r.card, r.target)
            if where not in found:
                name = names[r.source, r.card]
                found[where] = Reference(f"{r.id}_from", r.source, r.target, r.card, name, uses)
            references[r.id] = found[where]
    return references


# ------------------------------------------------------------------------------------------------- upper deck


def _rows(card: Card, shares: Sequence[Value], detail: str, lang: str | None) -> list[Row]:
    """The rows of one card, not yet placed."""
    unknown = (text("unknown", lang),)
    made = [_row("value", rows(card.value, 24) if card.value else unknown, lang)]
    if card.requires_grad or card.grad:
        made.append(_grad_row(card, shares, lang))
    if detail == "full":
        for flag in ("requires_grad", "is_leaf", "retains_grad"):
            made.append(_row(flag, (str(getattr(card, flag)),), lang))
        made.append(_row("version", (str(card.version),), lang))
        made.append(_row("shape", (str(card.value.shape),) if card.value else unknown, lang))
        made.append(_row("dtype", (card.value.dtype,) if card.value else unknown, lang))
    return made


def _heights(rows: Iterable[Row]) -> dict[str, int]:
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
    values_x = PAD + max(sans(row.label) for row in rows) + 12
    fit = int((WIDEST - values_x - PAD) / MONO)
    y = HEAD + 20.0
    placed = []
    for row in rows:
        placed.append(replace(row, lines=tuple(shorten(line, fit) for line in row.lines), y=y))
        y += LINE + MORE * (heights[row.name] - 1)
    room = WIDEST - 2 * PAD - (sans(role) + 14 if role else 0)
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
    widest = max(values_x + columns(line) * MONO for row in placed for line in row.lines)
    width = max(narrowest, title + 2 * PAD + (sans(role) + 14 if role else 0), widest + PAD)
    return CardBox(card, x, _even(width), name, expr, role, tuple(placed), values_x)


def _even(width: float) -> float:
    """Widths come in steps of 4, so that nearly equal ones are equal."""
    return -(-width // 4) * 4.0


# ---------------------------------------------------------------------------------------------------- station


def _station(
    s: Station, drafts: list[list[Row]], heights: dict[str, int], names: Names, detail: str, lang: str | None
) -> Box:
    cards: list[CardBox] = []
    width = 0.0
    narrowest = 110 if s.deck is None or len(drafts) > 1 else NARROWEST
    for i, (card, draft) in enumerate(zip(s.cards, drafts, strict=True)):
        cards.append(_card(card, names[s.id, i], draft, heights, width, narrowest, lang))
        width += cards[-1].width
    upper = HEAD + 12.0 + sum(LINE + MORE * (n - 1) for n in heights.values())
    if s.deck is None:
        return Box(width, upper, upper, tuple(cards))
    hooks = text("hooks", lang, n=s.deck.hooks) if s.deck.hooks else ""
    beside = columns(hooks) * SMALL + 18 if hooks else 0
    node = shorten(clean(s.deck.name), int((WIDEST - 2 * PAD - beside) / MONO))
    labels = [(saved, _chip_text(saved, lang)) for saved in s.deck.saved]
    wanted = sum(columns(label) * SMALL + 16 for _, label in labels) - 6 + 2 * PAD
    width = max(width, _even(columns(node) * MONO + 2 * PAD + beside), _even(min(wanted, CHIPS_WIDE)))
    chips = _place(labels, width - 2 * PAD, CHIP_LINES[detail], lang)
    cards[-1] = replace(cards[-1], width=width - cards[-1].x)  # the last card fills what the deck needs
    return Box(width, upper + _deck_height(chips), upper, tuple(cards), node, hooks, chips)


def _level(boxes: dict[str, Box]) -> dict[str, Box]:
    """Give all lower decks the height of the tallest, and their upper decks too."""
    decked = [box for box in boxes.values() if box.node is not None]
    upper = max((box.upper for box in decked), default=0)
    lower = max((box.height - box.upper for box in decked), default=0)
    return {
        id: replace(box, upper=upper, height=upper + lower) if box.node is not None else box
        for id, box in boxes.items()
    }


def _deck_height(chips: Sequence[Chip]) -> float:
    return max(chip.y for chip in chips) + CHIP + 9 if chips else DECK


def _chip_text(saved: Saved, lang: str | None) -> str:
    name = shorten(clean(saved.name), 16)
    if saved.value is None:
        return text("chip_freed", lang, name=name) if saved.freed else name
    value = short(saved.value, 24) if isinstance(saved.value, Value) else shorten(clean(saved.value), 18)
    if saved.version:
        return text("chip_version", lang, name=name, value=value, version=saved.version)
    return f"{name} {value}"


def _place(labels: list[tuple[Saved, str]], width: float, most: int, lang: str | None) -> tuple[Chip, ...]:
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


# ------------------------------------------------------------------------------------------ references, pills


def _reference(reference: Reference, source: Station) -> Box:
    width = _even(max(44, columns(shorten(reference.text, 14)) * MONO + 26))
    return Box(width, 44 if source.deck else 24, 24)


def _bundles(graph: Graph, references: dict[str, Reference]) -> dict[str, tuple[str, ...]]:
    """By route id, the ids of all routes that run from the same box to the same box, in order."""
    bundles: dict[tuple[str, str], list[str]] = {}
    ends: dict[str, tuple[str, str]] = {}
    for r in graph.routes:
        ends[r.id] = references[r.id].id if r.id in references else r.source, r.target
        bundles.setdefault(ends[r.id], []).append(r.id)
    whole = {end: tuple(ids) for end, ids in bundles.items()}
    return {id: whole[end] for id, end in ends.items()}


def _pill(values: Sequence[Value], lang: str | None) -> Pill:
    """What flowed along a line: its value, and how often if more than once; different values are counted."""
    lines = pill(values[-1])
    if len(values) > 1:
        count = text("pill_count", lang, n=len(values))
        same = all(value == values[0] for value in values)
        lines = (*lines, count) if same else (text("pill_many", lang, n=len(values)),)
    return Pill(lines, max(map(columns, lines)) * BOLD + 14, 16 * len(lines) + 4)
