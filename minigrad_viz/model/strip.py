"""View → strip: the whole model as one row of cards, in the order of computation.

Note [What is a card]
    The strip shows the view's picture: what is one box there is one card here, and so is data that goes into
    the first box. At most `MOST` cards are side by side, so that all of them can be read in a window of 900
    pixels. Where there are more, functions in a row become one card, then functions without parameters join
    the card before them, then neighbors join that together have the fewest parameters. What repeats is one
    card with a bar for each repetition; few rounds of a loop in the forward pass are cards themselves.

    A strip is a picture of the same scene as any other: its cards are the stations of its graph, so steps
    mark them, and what is inside a card is the inside of a box.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import hypot, inf, isfinite, prod, sqrt
from typing import NamedTuple

from ..protocol import Value, rms_of
from ..trace.graph import (
    JOINED,
    MODULE,
    PARAMETER,
    ROOT,
    ROUND,
    Card,
    Change,
    Graph,
    Group,
    Mark,
    Station,
    Update,
)
from ..words import clean
from .card_titles import (
    DATA,
    FUNCTION,
    LAYER,
    LOSS,
    joined_modules,
    repetition,
    title_of_card,
    with_joined_titles,
)
from .detail import is_view, only_views
from .film import (
    film_of,
    is_first_state,
    last_state,
    unrolled_graph,
    with_long_films,
    with_states,
)
from .fold import close_groups, close_some
from .schedule import STOPPED
from .stations import LIBRARY
from .tokens import tokens_of
from .views import View

MOST = 9  # cards of a strip
LEAST = 3  # cards; fewer are no strip


class Ratio(NamedTuple):
    """The size of an update relative to what it changed, both as root mean squares; `sampled`: estimated from
    a sample of the numbers."""

    value: float
    sampled: bool


class Bar(NamedTuple):
    """One repetition of what a card stands for."""

    name: str
    value: Value | None
    grad: Value | None
    update: Ratio | None


class StripCard(NamedTuple):
    """One card: the station `id` of the strip's graph, what it is called and what it is, its output with the
    gradient with respect to it, and of its parameters the first and how far an update moved all of them.
    `learns`: it has parameters that an update changes."""

    id: str
    role: str
    name: str
    kind: str
    value: Value | None
    grad: Value | None
    weight: Value | None = None
    update: Ratio | None = None
    learns: bool = False
    bars: tuple[Bar, ...] = ()


class Strip(NamedTuple):
    """The cards of a view, left to right. `graph` has them as its stations, `whole` all groups, those that
    join several boxes included. `arcs` lead over at least one card: their ends among the cards. `update` is
    the id of the update that its ratios are about, `most` the parameter that moved most beside what it was,
    and how far; `tokens` the text that the model works on. The rounds of a loop are a film: `film` has their
    positions among the cards."""

    cards: tuple[StripCard, ...]
    arcs: tuple[tuple[int, int], ...]
    graph: Graph
    whole: Graph
    update: str = ""
    most: tuple[str, Ratio] | None = None
    tokens: tuple[str, ...] = ()
    film: tuple[int, ...] = ()


class Unit(NamedTuple):
    """What may become a card: a box or a single station with its members. `sort`: DATA, LAYER or FUNCTION."""

    id: str
    sort: str
    members: tuple[str, ...]
    weights: int = 0


def strip_of(view: View) -> Strip | None:
    """The strip of a view; None for a cell without modules and loops, for derivatives of derivatives, and
    where it would have fewer cards than a strip needs."""
    whole = view.whole
    if view.graph.omitted or any(station.order > 1 for station in whole.stations):
        return None
    whole = with_stopped(whole, view.graph)
    # What is marked stands open in the usual picture; a card says so, and shows it inside.
    shown = close_groups(replace(whole, marks=())) if whole.marks else view.graph
    whole = replace(whole, groups=shown.groups or whole.groups)  # with their whole names
    film = film_of(view, whole, shown)
    whole, film = with_long_films(with_states(whole, film), film)
    whole = with_joined_titles(whole)
    modules = any(group.kind == MODULE for group in whole.groups)
    rooted = any(card.role == ROOT for _, card in view.graph.cards())
    if not modules and (
        view.whole.marks or not (film.loops and rooted)
    ):  # what is marked is best seen as stations
        return None
    graph = unrolled_graph(shown, whole, film)
    units = units_of(graph, whole)
    joined = joined_units(units, whole, bool(film.rounds))
    if any(not unit.id for unit in joined):
        whole, graph = with_joined(whole, graph, joined)
    order = {unit.id: i for i, unit in enumerate(joined)}
    names = CardNames()
    cards = tuple(
        card_of(graph.station(unit.id), unit, graph, whole, names, view.scene.index.module_calls.parameters)
        for unit in joined
    )
    if len([card for card in cards if card.role != DATA]) < LEAST:
        return None
    graph = replace(graph, marks=shown_marks(graph, whole))
    ends = {
        (order[route.source], order[route.target])
        for route in graph.routes
        if route.source in order and route.target in order
    }
    arcs = tuple(sorted((a, b) for a, b in ends if b > a + 1))
    updates = [u for u in graph.updates if not u.of_gradients]
    tokens = tokens_of(view.scene.trace.source, whole)
    film_cards = tuple(i for i, unit in enumerate(joined) if unit.id in film.rounds)
    last = updates[-1].id if updates else ""
    return Strip(cards, arcs, graph, whole, last, moved_most(updates), tokens, film_cards)


def with_stopped(whole: Graph, shown: Graph) -> Graph:
    """A whole graph with the operation that failed, which has no result and is in the picture alone."""
    stopped = [s for s in shown.stations if s.cards[0].id == STOPPED]
    if not stopped:
        return whole
    there = {station.id for station in whole.stations}
    routes = [r for r in shown.routes if r.target == stopped[0].id and r.source in there]
    marks = (mark for mark in shown.marks if mark.part.partition("-")[0] == stopped[0].id)
    return replace(
        whole,
        stations=(*whole.stations, *stopped),
        routes=(*whole.routes, *routes),
        marks=(*whole.marks, *marks),
    )


def shown_marks(graph: Graph, whole: Graph) -> tuple[Mark, ...]:
    """The marks of a strip: what is marked inside of a card is marked at the card."""
    around = {member: fold.station for fold in graph.folds for member in fold.members}
    ends = {route.id: route.target for route in whole.routes}
    there = {route.id for route in graph.routes} | {station.id for station in graph.stations}
    found = []
    for mark in whole.marks:
        base, dash, rest = mark.part.partition("-")
        if base not in there:
            base = ends.get(base, base)
            rest = "d" if rest[:1] in ("d", "k", "g") else "c0"
            dash = "-"
        base = around.get(base, base)
        if base in there:
            found.append(replace(mark, part=f"{base}{dash}{rest}"))
    return tuple(found)


def units_of(graph: Graph, whole: Graph) -> list[Unit]:
    """What the picture shows in a row: the data that the first result is made of, and all results."""
    groups = {group.id: group for group in whole.groups}
    known = {station.id: station for station in whole.stations}
    folds = {fold.station: fold for fold in graph.folds}
    results = [s for s in graph.stations if s.id in folds or any(r.target == s.id for r in graph.routes)]
    made = {station.id for station in results}
    tracked = [s for s in results if s.deck is not None or s.cards[0].id == STOPPED]
    first = tracked[0].id if tracked else ""
    fed = {route.source for route in graph.routes if route.target == first} - made
    data = sorted((s for s in graph.stations if is_data(s, fed)), key=lambda s: not is_first_state(s))
    units = [Unit(station.id, DATA, (station.id,)) for station in data[:1]]
    for station in tracked:
        fold, group = folds.get(station.id), groups.get(station.id)
        members = fold.members if fold else (station.id,)
        weights = sum(
            prod(card.value.shape) if card.value else 1
            for id in members if id in known for card in known[id].cards if card.role == PARAMETER
        )  # fmt: skip
        module = group is not None and (group.kind == MODULE or group.kind == ROUND or group.times > 1)
        units.append(Unit(station.id, LAYER if module else FUNCTION, members, weights))
    return units


def is_data(station: Station, fed: set[str]) -> bool:
    """Whether a station is data that goes into the model, and nothing that learns."""
    return station.id in fed and not any(card.requires_grad for card in station.cards)


# ─── Cards that join


def joined_units(units: list[Unit], whole: Graph, film: bool) -> list[Unit]:
    """At most `MOST` units; see Note [What is a card]. Beside a film, and where there are too many, what the
    expression of the root contains is part of the card of the loss."""
    roots = {station.id for station, card in whole.cards() if card.role == ROOT}
    units = list(units)
    known = {station.id: station for station in whole.stations}

    def join(i: int) -> None:
        a, b = units[i], units[i + 1]
        sort = LAYER if LAYER in (a.sort, b.sort) else FUNCTION
        units[i : i + 2] = [Unit("", sort, (*a.members, *b.members), a.weights + b.weights)]

    def ends(unit: Unit) -> bool:
        return not roots.isdisjoint(unit.members)

    def pairs(*sorts: tuple[str, str]) -> list[int]:
        return [
            i for i in range(len(units) - 1)
            if (units[i].sort, units[i + 1].sort) in sorts and not units[i + 1].weights
        ]  # fmt: skip

    while (i := next((i for i, u in enumerate(units) if only_views(u.members, known)), -1)) >= 0:
        if sum(unit.sort != DATA for unit in units) <= LEAST or ends(units[i]):
            break
        join(i - 1 if i and units[i - 1].sort != DATA else i)
    written = {s.id: LIBRARY.sub("", s.cards[0].expr or "") for s in whole.stations}
    while len(units) > 1 and (film or len(units) > MOST) and FUNCTION == units[-1].sort == units[-2].sort:
        part, root = written[units[-2].members[-1]], written[units[-1].members[-1]]
        if not part or part not in root:
            break
        join(len(units) - 2)
    while len(units) > MOST:
        free = [i for i in pairs((FUNCTION, FUNCTION)) if not ends(units[i + 1])]
        free = free or pairs((FUNCTION, FUNCTION))
        free = free or [i for i in pairs((LAYER, FUNCTION)) if not ends(units[i + 1])]
        if free:
            join(free[0])
            continue
        inner = [i for i in range(len(units) - 1) if units[i].sort != DATA and not ends(units[i + 1])]
        if not inner:
            break
        join(min(inner, key=lambda i: (units[i].weights + units[i + 1].weights, i)))
    return units


def with_joined(whole: Graph, graph: Graph, units: list[Unit]) -> tuple[Graph, Graph]:
    """The whole graph with a group for each joined unit, which gets its id, and the graph in which these and
    all other boxes of the strip are closed."""
    boxes = {fold.station: fold.members for fold in graph.folds}
    order = {station.id: i for i, station in enumerate(whole.stations)}
    users: dict[str, set[str]] = {}
    for route in whole.routes:
        users.setdefault(route.source, set()).add(route.target)
    fed = {route.target for route in whole.routes}
    data = {unit.id for unit in units if unit.sort == DATA}
    groups = list(whole.groups)
    new: list[Group] = []
    for i, unit in enumerate(units):
        if unit.id:
            continue
        members = set(unit.members)
        alone = {
            s.id for s in whole.stations
            if s.id not in fed | data and users.get(s.id) and users[s.id] <= members and not s.cards[0].held
        }  # fmt: skip
        inside = [id for id, own in boxes.items() if members.issuperset(own)]
        made = Group(
            f"g{len(groups) + len(new)}", JOINED, "", tuple(sorted(members | alone, key=order.__getitem__)),
            parameters=tuple(p for g in groups if g.id in inside for p in with_way(g)),
        )  # fmt: skip
        new.append(made)
        units[i] = unit._replace(id=made.id, members=made.members)
        groups = [replace(g, parent=made.id) if g.id in inside else g for g in groups]
    # Outer groups stand before inner ones.
    whole = with_joined_titles(replace(whole, groups=tuple(new) + tuple(groups)))
    taken = {member for made in new for member in made.members}
    shut = [g for g in whole.groups if g.id in boxes and taken.isdisjoint(g.members)]
    ids = {made.id for made in new}
    return whole, close_some(whole, [*shut, *(g for g in whole.groups if g.id in ids)])


def with_way(group: Group) -> Iterator[tuple[str, str]]:
    """The parameters of a group, by their names in the model."""
    own = group.path.rpartition(".")[2]
    yield from ((f"{own}.{name}" if own else name, id) for name, id in group.parameters)


# ─── What stands on a card


class CardNames:
    """Gives each card a name that no other has."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def unique(self, name: str) -> str:
        """The name; where it is taken with a number, as of a module that is called twice."""
        choices = (name, *(f"{name} ({i})" for i in range(2, len(self.used) + 3)))
        found = next(choice for choice in choices if choice not in self.used)
        self.used.add(found)
        return found


def card_of(
    station: Station, unit: Unit, graph: Graph, whole: Graph, names: CardNames,
    known: Mapping[str, tuple[str, str]],
) -> StripCard:  # fmt: skip
    """The card of a station of the strip's graph; `known` are the places of parameters in their modules."""
    card = station.cards[0]
    group = next((g for g in whole.groups if g.id == unit.id), None)
    repeated = repetition(group, whole) if group is not None else None
    if (
        group is not None and group.kind == JOINED and repeated is None
    ):  # a repeated box joined with functions is still that
        parts = joined_modules(group, whole)
        repeated = repetition(parts[0], whole) if len(parts) == 1 else None
    ends = any(each.role == ROOT for each in station.cards)
    role = LOSS if ends else unit.sort
    name, kind = title_of_card(station, group, repeated, whole, role)
    parameters = [
        (label, each) for fold in graph.folds if fold.station == station.id for label, each in fold.parameters
    ]
    changes = {c.tensor: c for u in graph.updates if not u.of_gradients for c in u.changes}
    # A module that is called twice has its parameters outside of both boxes.
    path = group.path if group is not None and group.kind == MODULE else ""
    called = {id for id, (at, _) in known.items() if path and (at == path or at.startswith(f"{path}."))}
    parameters += (
        [("weight", each) for _, each in whole.cards() if each.id in called] if not parameters else []
    )
    if group is not None and group.kind == ROUND and not parameters:  # rounds share theirs
        parameters = [("weight", each) for each in leaves_into(group, whole)]
    ids = dict.fromkeys([each.id for _, each in parameters] + [id for id in known if id in called])
    mine = [changes[id] for id in ids if id in changes]
    weight = next((each.value for label, each in parameters if label.endswith("weight")), None)
    weight = weight or next((each.value for _, each in parameters), None)
    if group is not None and last_state(group, whole):
        weight = None  # the state is what is looked at
    bars = tuple(bars_of(repeated, whole, changes)) if repeated is not None else ()
    return StripCard(
        station.id, role, names.unique(name), kind, card.value,
        None if role == DATA else card.grad, weight, ratio_of(mine), bool(mine), bars,
    )  # fmt: skip


def leaves_into(group: Group, whole: Graph) -> Iterator[Card]:
    """The leaves that learn and are used in a group, through a view at most, and are outside of it."""
    known = {station.id: station for station in whole.stations}
    members = set(group.members)
    used = {route.source for route in whole.routes if route.target in members}
    views = {id for id in used if known[id].deck is not None and is_view(known[id])}
    used |= {route.source for route in whole.routes if route.target in views}
    yield from (
        s.cards[0] for s in whole.stations
        if s.id in used - members and s.cards[0].is_leaf and s.cards[0].requires_grad
    )  # fmt: skip


def bars_of(repeated: Group, whole: Graph, changes: Mapping[str, Change]) -> Iterator[Bar]:
    """A bar for each repetition."""
    known = {station.id: station for station in whole.stations}
    for part in (each for each in whole.groups if each.parent == repeated.id):
        tracked = [
            known[id] for id in part.members if known[id].deck is not None and not known[id].cards[0].is_leaf
        ]
        last = tracked[-1].cards[0] if tracked else known[part.members[-1]].cards[0]
        tensors = [known[id].cards[0].id for _, id in part.parameters if id in known]
        inner = [each for each in whole.groups if each.parent == part.id and each.kind == MODULE]
        name = last_state(part, whole) or part.title.partition(" ")[0]
        if part.kind == ROUND and not last_state(part, whole):
            name = inner[0].title.partition(" ")[0] if inner else name.partition("/")[0]
        yield Bar(name, last.value, last.grad, ratio_of([changes[t] for t in tensors if t in changes]))


def ratio_of(changes: Sequence[Change]) -> Ratio | None:
    """How far updates moved tensors together, beside what those were; None where that is not known."""
    moved, were, sampled = 0.0, 0.0, False
    for change in changes:
        before, after = numbers_of(change.before), numbers_of(change.after)
        if before is None or after is None or len(before) != len(after) or change.before is None:
            continue
        size = change.before.size
        step = rms_of([b - a for a, b in zip(before, after)]) or 0.0
        moved, were = hypot(moved, step * sqrt(size)), hypot(were, (change.before.rms or 0.0) * sqrt(size))
        sampled = sampled or change.before.items is None
    return Ratio(moved / were, sampled) if were else None


def moved_most(updates: Sequence[Update]) -> tuple[str, Ratio] | None:
    """The parameter that updates moved most beside what it was; one that is not finite stands out of all."""
    found = [(clean(c.name), ratio_of([c])) for update in updates for c in update.changes]
    known = [(name, ratio) for name, ratio in found if ratio is not None and ratio.value != 0]
    return max(known, key=lambda each: each[1].value if isfinite(each[1].value) else inf, default=None)


def numbers_of(value: Value | None) -> Sequence[float] | None:
    """The numbers of a value, or a sample of them; None where they are not known or not real."""
    numbers = None if value is None else value.items if value.summary is None else value.summary.sample
    return numbers if numbers and rms_of(numbers) is not None else None
