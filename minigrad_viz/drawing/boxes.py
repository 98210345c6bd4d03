"""How large everything in a picture is: its stations, reference chips and pills.

All stations with a lower deck share one height a row, so that rows and decks line up along a line of the
layout. `cards` measures a single station.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..model.card_names import PARALLEL, Names, name_cards
from ..numbers import number, pill
from ..protocol import Value
from ..trace.graph import Graph, Route, Station
from ..words import columns, shorten_name, text
from .cards import ROLES, Box, card_rows, heights_of, station_box
from .decks import AFTER, HOOKS
from .heat import GRADIENTS, Heat, heat_beyond, norm, scales_of
from .inside import parameter_rows
from .lane import lane_heats
from .look import CHIP, MONO, Look, even, settled
from .marks import Tags, tags_of
from .memories import SharedMemory, memories_of

ALIGNED = ("value", "grad")  # rows that stand at one height in all stations
BOLD = 7.3  # pixels a column of a pill, 12px
# A leaf with more uses than this stands apart, and each use gets a small reference chip.
USES = 8


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
    """The value that flowed over a route, `width` by `height`; `hooks`, those of the node that it reaches by
    their places among all that ran, begin `beside` pixels left of it and reach a little into it. A `heat` map
    stands above the lines."""

    lines: tuple[str, ...]
    width: float
    height: float
    hooks: tuple[int, ...] = ()
    beside: float = 0.0
    heat: Heat | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything about a picture's sizes: boxes by station or reference id, the others by route id.

    The pill of a gradient that the call was given is `s0-c0-seed`. `bundles` are routes that run from one box
    to one other; where they are more than `PARALLEL` they are drawn as one line, with one pill, that of the
    first. `flowed` are the lines over which a gradient flowed. `tags` are by the id of what is marked,
    `memories` by station id and position. `scales` are those of the heat maps.
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

    def tail(self, route: Route) -> str:
        """Id of the box a route begins at: its source station or the reference chip that stands for it."""
        reference = self.references.get(route.id)
        return reference.id if reference else route.source

    def line(self, route: Route) -> str:
        """Id of the route along which `route` is drawn: its own, or the first of a large bundle's."""
        bundle = self.bundles[route.id]
        return bundle[0] if len(bundle) > PARALLEL else route.id


def measure(graph: Graph, look: Look | None = None) -> Measured:
    """Sizes of everything drawn of `graph`, in the way `look` says."""
    look = settled(look)
    names, shares, references = name_cards(graph, look.lang), gather(graph), refer(graph, look.lang)
    folds = {fold.station: fold for fold in graph.folds}
    tags, memories, hooked = tags_of(graph), memories_of(graph, names), arrow_hooks(graph, look)
    drafts = {}
    for s in graph.stations:
        drafts[s.id] = [
            card_rows(card, shares.get((s.id, i), ()), memories.get((s.id, i)), look)
            for i, card in enumerate(s.cards)
        ]
        if s.id in folds:
            drafts[s.id][-1] += parameter_rows(folds[s.id], look)
    common = heights_of(
        row for s in graph.stations if s.deck for card in drafts[s.id] for row in card if row.name in ALIGNED
    )
    boxes: dict[str, Box] = {}
    for s in graph.stations:
        heights = common if s.deck else heights_of(row for card in drafts[s.id] for row in card)
        titles = [names[s.id, i] for i in range(len(s.cards))]
        elsewhere = hooked.get(s.id, ("", ()))[1]
        boxes[s.id] = station_box(s, drafts[s.id], heights, titles, look, tags, elsewhere, folds.get(s.id))
    stations = {s.id: s for s in graph.stations}
    boxes = _level(boxes, {s.id for s in graph.stations if s.deck})
    for reference in references.values():
        boxes[reference.id] = _reference(reference, stations[reference.source])
    bundles = _bundles(graph, references)
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
                pills[id] = _pill(values, look.lang)
    if look.values:
        seeds = ((f"{s.id}-c{i}-seed", card.seed) for s in graph.stations for i, card in enumerate(s.cards))
        pills |= {id: _pill([seed], look.lang) for id, seed in seeds if seed is not None}
    for id, (route, which) in hooked.items():
        pills[route] = _hooked(pills[route], stations[id], which)
    heats = [heat for box in boxes.values() for card in box.cards for row in card.rows for heat in row.maps()]
    heats += [pill.heat for pill in pills.values() if pill.heat]
    heats += lane_heats(graph)
    scales = scales_of(heats)
    return Measured(boxes, references, bundles, pills, names, frozenset(flowed), tags, memories, scales)


def gather(graph: Graph) -> dict[tuple[str, int], list[Value]]:
    """The gradients that met at each card, by station id and position: what `.grad` held before, and one per
    route they came over."""
    shares = {(s.id, i): [c.before] for s in graph.stations for i, c in enumerate(s.cards) if c.before}
    for route in graph.routes:
        if route.tracked and route.gradients:
            shares.setdefault((route.source, route.card), []).extend(route.gradients)
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


def _level(boxes: dict[str, Box], decked: set[str]) -> dict[str, Box]:
    """Give all lower decks the height of the tallest, and their upper decks too."""
    upper = max((boxes[id].upper for id in decked), default=0)
    lower = max((boxes[id].height - boxes[id].upper for id in decked), default=0)
    return {
        id: replace(box, upper=upper, height=upper + lower) if id in decked else box
        for id, box in boxes.items()
    }


# ------------------------------------------------------------------------------------------ references, pills


def _reference(reference: Reference, source: Station) -> Box:
    width = even(max(44, columns(shorten_name(reference.text, 14)) * MONO + 26))
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
    heat = heat_beyond(values[-1], GRADIENTS, 16)
    lines = pill(values[-1]) if heat is None else (number(norm(values[-1]), digits=3),)
    if len(values) > 1:
        count = f"×{len(values)}"
        same = all(value == values[0] for value in values)
        lines = (*lines, count) if same else (text("pill_many", lang, n=len(values)),)
        heat = heat if same else None
    width, height = max(map(columns, lines)) * BOLD + 14, 16.0 * len(lines) + 4
    if heat is not None:
        width, height = max(width, heat.width + 12), height + heat.height + 5
    return Pill(lines, width, height, heat=heat)


# -------------------------------------------------------------------------------------------- hooks at arrows


def arrow_hooks(graph: Graph, look: Look) -> dict[str, tuple[str, tuple[int, ...]]]:
    """By station id, the arrow at which the hooks that run before its node are shown, and their places among
    all that ran: those of a tensor whose whole gradient came over one arrow. All others stand on the deck, at
    which a sum comes in."""
    arriving: dict[str, list[Route]] = {}
    for route in graph.routes:
        if route.tracked:
            arriving.setdefault(route.source, []).append(route)
    found = {}
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


def _hooked(plain: Pill, station: Station, which: tuple[int, ...]) -> Pill:
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
