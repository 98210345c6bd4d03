"""How large everything in a picture is: its stations, reference chips and pills. Each is measured once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..model.naming import PARALLEL, Names, bundles_of, name_cards
from ..number_text import pill, shape_text
from ..protocol import Value
from ..trace.graph import CHAIN, FUNCTION, MODULE, ROUND, Graph, Route, Station
from ..words import columns, shorten_name, text
from .card_parts import CardRow, SharedMemory, memories_of
from .cards import RADIUS, ROLES, CardBox, card_box, card_rows, parameter_rows
from .decks import (
    AFTER,
    HOOKS,
    DeckBox,
    GradSlot,
    Place,
    count_text,
    deck_box,
    ghost_box,
    gradient_routes,
    slots_of,
)
from .heat_maps import GRADIENTS, MOST, Heat, heat_beyond, in_short, rms_text, scales_of
from .lane import LaneBox, lane_of
from .look import CHIP, HEAD, MONO, NARROWEST, PAD, SMALL, Look, Tags, round_width, tags_of, with_language

# ─── How large the pills at gradient arrows are, and what is written in them


BOLD = 7.4  # pixels a column of a pill, 12px
CELL = 6.0  # pixels of a cell of a map in a pill, at most


@dataclass(frozen=True, slots=True)
class Pill:
    """The value that flowed over a route, `width` by `height`; `hooks`, those of the node that it reaches by
    their places among all that ran, begin `beside` pixels left of it and reach a little into it. A `heat` map
    is above the lines."""

    lines: tuple[str, ...]
    width: float
    height: float
    hooks: tuple[int, ...] = ()
    beside: float = 0.0
    heat: Heat | None = None

    @property
    def above(self) -> float:
        """How much of it is above its arrow, where that is level: half of it, or of its map."""
        return self.height / 2 if self.heat is None else self.heat.height / 2 + 2


def pills_of(
    graph: Graph, bundles: dict[str, tuple[str, ...]], look: Look
) -> tuple[dict[str, Pill], frozenset[str]]:
    """What is at gradient arrows, and the lines over which something flowed."""
    routes = {route.id: route for route in graph.routes}
    pills: dict[str, Pill] = {}
    flowed: set[str] = set()
    for id, bundle in bundles.items():
        drawn = bundle if len(bundle) > PARALLEL else (id,)
        if id != drawn[0]:
            continue
        values = [value for each in drawn if routes[each].tracked for value in routes[each].gradients]
        if values:
            flowed.add(id)
            if look.values:
                pills[id] = pill_of(values, look.lang)
    if look.values:
        seeds = ((f"{s.id}-c{i}-seed", card.seed) for s in graph.stations for i, card in enumerate(s.cards))
        pills |= {id: pill_of([seed], look.lang) for id, seed in seeds if seed is not None}
    return pills, frozenset(flowed)


def pill_of(values: Sequence[Value], lang: str | None) -> Pill:
    """What flowed along a line: its value, and how often if more than once; different values are counted."""
    heat = heat_beyond(values[-1], GRADIENTS, 16)
    if heat is not None:
        heat = replace(heat, cell=(min(CELL, heat.cell[0]), min(CELL, heat.cell[1])))
    if heat is not None:
        lines: tuple[str, ...] = (rms_text(values[-1]),)
    elif values[-1].size > MOST:
        lines = (in_short(values[-1]),)
    else:
        lines = pill(values[-1])
    if len(values) > 1:
        count = f"×{len(values)}"
        same = all(value == values[0] for value in values)
        lines = (*lines, count) if same else (text("pill_many", lang, n=len(values)),)
        heat = heat if same else None
    if heat is not None:
        width = max(max(map(columns, lines)) * SMALL, heat.width) + 4
        return Pill(lines, width, 16.0 * len(lines) + heat.height + 4, heat=heat)
    width, height = max(map(columns, lines)) * BOLD + 13, 16.0 * len(lines) + 4
    return Pill(lines, width, height, heat=heat)


def arrow_hooks(graph: Graph, look: Look) -> dict[str, tuple[str, tuple[int, ...]]]:
    """By station id, the arrow at which the hooks that run before its node are shown, and their places among
    all that ran: those of a tensor whose whole gradient came over one arrow. All others are on the deck that
    receives a sum."""
    arriving, found = gradient_routes(graph), {}
    for s in graph.stations:
        routes = arriving.get(s.id, [])
        alone = look.values and len(s.cards) == len(routes) == 1
        if not alone or s.deck is None or len(s.deck.ran) > HOOKS:
            continue
        which = tuple(i for i, hook in enumerate(s.deck.ran) if hook.kind not in AFTER)
        saw = [hook for i, hook in enumerate(s.deck.ran) if i in which and not hook.removed]
        first = saw[0].before if saw else routes[0].gradients
        if which and len(routes[0].gradients) == 1 and first == routes[0].gradients:
            found[s.id] = routes[0].id, which
    return found


def with_hooks(plain: Pill, station: Station, which: tuple[int, ...]) -> Pill:
    """A pill with the hooks that saw its value on the way, and what they made of it."""
    assert station.deck is not None
    ran = [station.deck.ran[i] for i in which if not station.deck.ran[i].removed]
    lines = plain.lines
    if ran and ran[0].before != ran[-1].after:
        made = pill(ran[-1].after[0]) if ran[-1].after[0] is not None else ("None",)
        lines = (*lines, f"→ {made[0]}", *(f"  {line}" for line in made[1:]))
    width = max(plain.width, max(map(columns, lines)) * BOLD + 14)
    height = plain.height + 16 * (len(lines) - len(plain.lines))
    return Pill(lines, width, height, which, len(which) * (CHIP + 2) - 4, plain.heat)


# ─── How large everything in a picture is


EMPTY = 36.0  # a station does not lie on its side if one of its decks would be so many pixels higher
# A leaf with more uses than this stands apart, and each use gets a small reference chip.
USES = 8


@dataclass(frozen=True, slots=True)
class Box:
    """A station, or the reference chip of a leaf: its size, and its parts where it has any.

    `upper` is how high its cards are, `across` how wide they are together. A lower deck is below them, or
    to their right where a station is `lying`.
    """

    width: float
    height: float
    upper: float
    across: float
    cards: tuple[CardBox, ...] = ()
    deck: DeckBox | None = None
    lying: bool = False
    fold: bool = False  # whether it stands for many stations
    stack: bool = False  # and for many that are alike

    @property
    def place(self) -> Place:
        """Left, top, width, height and corners of the lower deck."""
        if self.lying:
            return self.across, 0.0, self.width - self.across, self.height, (0, 8, 8, 0)
        return 0.0, self.upper, self.width, self.height - self.upper, (0, 0, 8, 8)

    def corners(self, i: int) -> tuple[float, float, float, float]:
        """The corners of its `i`th card."""
        deck = self.width > self.across or self.height > self.upper
        if not self.lying:
            foot = 0 if deck else RADIUS
            return RADIUS, RADIUS, foot, foot
        first, last = RADIUS * (i == 0), RADIUS * (i == len(self.cards) - 1 and not deck)
        return first, last, last, first


def box_of(
    cards: Sequence[CardBox], deck: DeckBox | None, lying: bool, fold: bool = False, stack: bool = False
) -> Box:
    """A station with cards beside each other, and its lower deck."""
    upper, across = max(card.height for card in cards), cards[-1].x + cards[-1].width
    if deck is None:
        return Box(across, upper, upper, across, tuple(cards), None, lying, fold, stack)
    if lying and abs(upper - deck.height) <= EMPTY:
        height = max(upper, deck.height)
        return Box(across + deck.width, height, height, across, tuple(cards), deck, lying, fold, stack)
    width = max(across, deck.width)
    *others, last = cards
    if width > across:
        last = replace(last, width=width - last.x)  # the last card fills what the deck needs
    return Box(width, upper + deck.height, upper, width, (*others, last), deck, False, fold, stack)


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
class Measurements:
    """Everything about a picture's sizes: boxes by station or reference id, the others by route id.

    The pill of a gradient that the call was given is `s0-c0-seed`. `bundles` are routes that run from one box
    to one other; where they are more than `PARALLEL` they are drawn as one line, with one pill, that of the
    first. `flowed` are the lines over which a gradient flowed. `tags` are by the id of what is marked,
    `memories` by station id and position. `scales` are those of the heat maps, `shapes` the sizes
    that are written at forward arrows.
    """

    boxes: dict[str, Box]
    references: dict[str, Reference]
    bundles: dict[str, tuple[str, ...]]
    pills: dict[str, Pill]
    names: Names
    flowed: frozenset[str]
    tags: Tags
    memories: dict[tuple[str, int], SharedMemory]
    scales: dict[str, float]
    shapes: dict[str, str]
    lane: LaneBox

    def tail(self, route: Route) -> str:
        """Id of the box a route begins at: its source station or the reference chip that stands for it."""
        reference = self.references.get(route.id)
        return reference.id if reference else route.source

    def line(self, route: Route) -> str:
        """Id of the route along which `route` is drawn: its own, or the first of a large bundle's."""
        return self.drawn(route)[0]

    def drawn(self, route: Route) -> tuple[str, ...]:
        """Ids of all routes that are drawn along the line of `route`: a large bundle, or it alone."""
        bundle = self.bundles[route.id]
        return bundle if len(bundle) > PARALLEL else (route.id,)

    def rows(self) -> Iterator[tuple[str, CardBox, CardRow]]:
        """The rows of all cards, by their ids."""
        for id, box in self.boxes.items():
            for i, card in enumerate(box.cards):
                for row in card.rows:
                    yield f"{id}-c{i}-{row.name}", card, row

    def counts(self) -> dict[str, list[str]]:
        """By station, the routes over which gradients come to its slots."""
        decks = {id: box.deck for id, box in self.boxes.items() if box.deck is not None}
        return {id: deck.arrivals for id, deck in decks.items() if deck.slots and deck.tag is None}

    def stood(self) -> dict[str, list[str]]:
        """By the id of a row, what it says at each moment of its card, and by that of the count at slots what
        it says after each gradient; where that changes."""
        rows = {
            id: [other.content(card.x + card.values_x, self.scales) for other in row.others]
            for id, card, row in self.rows()
            if row.others
        }
        for id, routes in self.counts().items():
            box = self.boxes[id]
            assert box.deck is not None
            left, top, width = box.place[:3]
            hooks = sum(sign.width + 4 for sign in box.deck.before)
            right = left + width - PAD - hooks
            rows[f"{id}-n"] = [count_text(box.deck.count(n), right, top) for n in range(len(routes) + 1)]
        return rows


@dataclass(frozen=True, slots=True)
class Contents:
    """What a picture says, before it is known how large that is: it is the same for every width and in both
    directions. `hooked` are the arrows at which hooks are shown, see `arrow_hooks`; all else is what
    `Measurements` has, or the rows and the slots in it."""

    rows: dict[tuple[str, int], list[CardRow]]
    slots: dict[str, tuple[GradSlot, ...]]
    hooked: dict[str, tuple[str, tuple[int, ...]]]
    references: dict[str, Reference]
    bundles: dict[str, tuple[str, ...]]
    pills: dict[str, Pill]
    names: Names
    flowed: frozenset[str]
    tags: Tags
    memories: dict[tuple[str, int], SharedMemory]
    shapes: dict[str, str]
    lane: LaneBox


def contents_of(graph: Graph, look: Look) -> Contents:
    """What the picture of a graph says, in the way `look` says."""
    shapes, names = shapes_of(graph), name_cards(graph, look.lang)
    memories, hooked, bundles = memories_of(graph, names), arrow_hooks(graph, look), bundles_of(graph)
    folds = {fold.station: fold for fold in graph.folds}
    rows = {}
    for s in graph.stations:
        for i, card in enumerate(s.cards):
            rows[s.id, i] = card_rows(card, memories.get((s.id, i)), look, sized=bool(shapes))
        inner = parameter_rows(folds[s.id], look) if s.id in folds else []
        if inner:
            rows[s.id, i] = [row for row in rows[s.id, i] if row.name != "value" or card.held] + inner
    pills, flowed = pills_of(graph, bundles, look)
    stations = {s.id: s for s in graph.stations}
    for id, (route, which) in hooked.items():
        pills[route] = with_hooks(pills[route], stations[id], which)
    return Contents(
        rows, slots_of(graph) if look.values else {}, hooked, refer(graph, names), bundles, pills, names,
        flowed, tags_of(graph), memories, shapes, lane_of(graph, look.lang),
    )  # fmt: skip


def measure(
    graph: Graph, look: Look | None = None, upright: bool = False, said: Contents | None = None
) -> Measurements:
    """Sizes of everything drawn of `graph`, in the way `look` says; `upright`: it runs down. What is `said`
    may be known already."""
    look = with_language(look)
    said = said or contents_of(graph, look)
    folds = {fold.station: fold for fold in graph.folds}
    many = {group.id for group in graph.groups if group.times > 1 or group.kind in (CHAIN, ROUND)}
    boxes: dict[str, Box] = {}
    for s in graph.stations:
        fold, cards, x = folds.get(s.id), list[CardBox](), 0.0
        for i, card in enumerate(s.cards):
            rows = said.rows[s.id, i]
            least = 110 if len(s.cards) > 1 else NARROWEST if rows and rows[0].label else 44
            opens = fold is not None and i == len(s.cards) - 1
            tag = said.tags.get(f"{s.id}-c{i}")
            cards.append(card_box(card, said.names[s.id, i], rows, x, least, tag, opens, look))
            x += cards[-1].width
        elsewhere = said.hooked.get(s.id, ("", ()))[1]
        if s.deck is None:
            deck = ghost_box(s, look)
        else:
            room = 0.0 if upright else x
            deck = deck_box(s, s.deck, look, room, said.tags, said.slots.get(s.id, ()), elsewhere, fold)
        boxes[s.id] = box_of(cards, deck, upright, fold is not None, s.id in many)
    stations = {s.id: s for s in graph.stations}
    for reference in said.references.values():
        boxes[reference.id] = _reference(reference, stations[reference.source], upright)
    measured = Measurements(
        boxes, said.references, said.bundles, said.pills, said.names, said.flowed, said.tags, said.memories,
        {}, said.shapes, said.lane,
    )  # fmt: skip
    heats = [heat for _, _, row in measured.rows() for heat in row.maps()]
    heats += [pill.heat for pill in said.pills.values() if pill.heat]
    return replace(measured, scales=scales_of([*heats, *said.lane.heats()]))


def shapes_of(graph: Graph) -> dict[str, str]:
    """The sizes of what flows forward, by route; known where modules hide the tensors. A scalar has none."""
    stations = {s.id: s for s in graph.stations}
    many = {fold.station for fold in graph.folds}
    hidden = any(group.id in many and group.kind in (MODULE, FUNCTION) for group in graph.groups)
    values = ((r.id, stations[r.source].cards[r.card].value) for r in graph.routes if hidden)
    return {id: shape_text(value) for id, value in values if value is not None and value.shape}


def refer(graph: Graph, names: Names) -> dict[str, Reference]:
    """Reference chips by route id, for every leaf or constant with more than `USES` users."""
    users: dict[tuple[str, int], set[str]] = {}
    for route in graph.routes:
        users.setdefault((route.source, route.card), set()).add(route.target)
    stations = {s.id: s for s in graph.stations}
    made = {route.target for route in graph.routes}
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


# ------------------------------------------------------------------------------------------------- references


def _reference(reference: Reference, source: Station, lying: bool) -> Box:
    deck = 20 * bool(source.deck)
    width = round_width(max(40, columns(shorten_name(reference.text, 14)) * MONO + 2 * PAD))
    if lying:
        return Box(width + deck, HEAD, HEAD, width, lying=True)
    return Box(width, HEAD + deck, HEAD, width)
