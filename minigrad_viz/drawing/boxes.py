"""How large everything in a picture is: its stations, reference chips and pills. Each is measured once; where
things go, how they are drawn and what changes in the course of the steps is all made of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..model.card_names import PARALLEL, Names, bundles_of, name_cards
from ..numbers import shape_text
from ..trace.graph import CHAIN, FUNCTION, MODULE, ROUND, Graph, Route, Station
from ..words import columns, shorten_name
from .cards import RADIUS, ROLES, CardBox, card_box
from .chips import count_text, slots_of
from .decks import DeckBox, Place, deck_box, ghost_box
from .details import SharedMemory, memories_of
from .heat import scales_of
from .lane import LaneBox, lane_of
from .look import HEAD, MONO, NARROWEST, PAD, Look, even, settled
from .marks import Tags, tags_of
from .pill_boxes import Pill, arrow_hooks, pills_of, with_hooks
from .rows import CardRow, card_rows, parameter_rows

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
    """A station of cards that stand beside each other, and its lower deck."""
    upper, across = max(card.height for card in cards), cards[-1].x + cards[-1].width
    if deck is None:
        return Box(across, upper, upper, across, tuple(cards), None, lying, fold, stack)
    if lying and abs(upper - deck.height) <= EMPTY:
        height = max(upper, deck.height)
        return Box(across + deck.width, height, height, across, tuple(cards), deck, lying, fold, stack)
    width = max(across, deck.width)
    last = replace(cards[-1], width=width - cards[-1].x)  # the last card fills what the deck needs
    return Box(width, upper + deck.height, upper, width, (*cards[:-1], last), deck, False, fold, stack)


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
class Measured:
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


def measure(graph: Graph, look: Look | None = None, upright: bool = False) -> Measured:
    """Sizes of everything drawn of `graph`, in the way `look` says; `upright`: it runs up or down."""
    look = settled(look)
    shapes = shapes_of(graph)
    names = name_cards(graph, look.lang)
    references = refer(graph, names)
    tags, memories, hooked = tags_of(graph), memories_of(graph, names), arrow_hooks(graph, look)
    folds, slots = {fold.station: fold for fold in graph.folds}, slots_of(graph) if look.values else {}
    many = {group.id for group in graph.groups if group.times > 1 or group.kind in (CHAIN, ROUND)}
    boxes: dict[str, Box] = {}
    for s in graph.stations:
        fold, cards, x = folds.get(s.id), list[CardBox](), 0.0
        for i, card in enumerate(s.cards):
            rows = card_rows(card, memories.get((s.id, i)), look, sized=bool(shapes))
            if fold is not None and i == len(s.cards) - 1:
                inner = parameter_rows(fold, look)
                rows = [row for row in rows if row.name != "value" or not inner or card.held] + inner
            least = 110 if len(s.cards) > 1 else NARROWEST if rows and rows[0].label else 44
            opens = fold is not None and i == len(s.cards) - 1
            tag = tags.get(f"{s.id}-c{i}")
            cards.append(card_box(card, names[s.id, i], rows, x, least, tag, opens, look))
            x += cards[-1].width
        elsewhere = hooked.get(s.id, ("", ()))[1]
        if s.deck is None:
            deck = ghost_box(s, look)
        else:
            room = 0.0 if upright else x
            deck = deck_box(s, s.deck, look, room, tags, slots.get(s.id, ()), elsewhere, fold)
        boxes[s.id] = box_of(cards, deck, upright, fold is not None, s.id in many)
    stations = {s.id: s for s in graph.stations}
    for reference in references.values():
        boxes[reference.id] = _reference(reference, stations[reference.source], upright)
    bundles, lane = bundles_of(graph), lane_of(graph, look.lang)
    pills, flowed = pills_of(graph, bundles, look)
    for id, (route, which) in hooked.items():
        pills[route] = with_hooks(pills[route], stations[id], which)
    measured = Measured(boxes, references, bundles, pills, names, flowed, tags, memories, {}, shapes, lane)
    heats = [heat for _, _, row in measured.rows() for heat in row.maps()]
    heats += [pill.heat for pill in pills.values() if pill.heat]
    return replace(measured, scales=scales_of([*heats, *lane.heats()]))


def shapes_of(graph: Graph) -> dict[str, str]:
    """The sizes of what flows forward, by route; told where modules hide the tensors. A scalar has none."""
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
    width = even(max(40, columns(shorten_name(reference.text, 14)) * MONO + 2 * PAD))
    if lying:
        return Box(width + deck, HEAD, HEAD, width, lying=True)
    return Box(width, HEAD + deck, HEAD, width)
