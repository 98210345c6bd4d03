"""The part of a graph that is shown at first: its main part, with groups and long chains as one station each.

Note [What is closed]
A picture shows the outermost groups, each closed to one station. Open are the groups that an explanation
points into, and a model that was called as a whole: what a reader wants to see are its modules. It stays
closed where its parts would be too many, and where a library alone has rounds in it.

If that leaves a large graph, a run of stations, contiguous in program order, is one more group if of all of
them only the last is used further on. Nothing that a reader may look for disappears: leaves, roots, tensors
that a variable still stands for or whose gradient is kept stay, and so do the first two and the last two
stations of a run, which show what the others are like. What comes from nowhere (a leaf, a constant) does not
interrupt a run; a constant that only one run uses goes into its group. Every order of derivatives by itself.

Routes that lead into a closed group or out of it stay, with their gradients; those between its members go.
All uses of one tensor inside it become one route with their number.

Note [What is aside]
    What the root does not depend on (plots, predictions after training, other graphs) is left out of the
    picture and counted, and so is how data was prepared: of it only the tensors that go into the graph are
    shown. In a small picture all that stays: there it is what the cell is about, as the copy beside a
    `detach()`. In a program that updates something it goes however small it is. What belongs to an update
    is in the lane of updates, never in the graph: what its statement computes, and `.grad`, unless
    something else that is shown is made of it. What an explanation points at stays, with all that leads to
    it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..trace.events import CellFailed, of_kinds
from ..trace.graph import (
    ASIDE,
    CHAIN,
    JOINED,
    LINE,
    MODULE,
    PARAMETER,
    ROOT,
    Card,
    Deck,
    Fold,
    Graph,
    Group,
    Mark,
    Route,
    Station,
)
from ..trace.graph_walk import reachable
from ..trace.source_positions import SourceText
from ..trace.statements import nodes_of
from .scene import Scene
from .stations import Place

# ─── Groups as one station each, and long chains as groups


SMALL = 60  # stations; in a smaller graph no chain is folded
READABLE = 40  # stations that a model may be opened to
PANELS = 24  # boxes of a picture that can be opened
INSIDE = 150  # what they may cost together, see `cost_of`
ENDS = 2  # stations of a run that stay at either end


def fold(graph: Graph, *, at_least: int = 12, beyond: int = SMALL) -> Graph:
    """The graph that is shown of a whole one: its outermost groups are closed, and runs of at least
    `at_least` stations, if it still has more than `beyond`.

    Closed groups are stations with the id of the group, in `folds`; all other ids are those of `graph`."""
    return close_groups(with_chain_groups(graph, at_least=at_least, beyond=beyond))


def with_chain_groups(graph: Graph, *, at_least: int = 12, beyond: int = SMALL) -> Graph:
    """A whole graph with a group for each long chain as well."""
    shown = close_groups(graph)
    if graph.folds or len(shown.stations) <= beyond:
        return graph
    boxes = {fold.station for fold in shown.folds}
    free = {station.id for station in shown.stations if _may_hide(station)} - _pointed_at(graph) - boxes
    runs = _with_constants(shown, list(_runs(shown, at_least, free)), free)
    groups = list(graph.groups)
    for run in runs:
        members = tuple(station.id for station in run)
        around = [group.id for group in graph.groups if set(members) <= set(group.members)]
        groups.append(Group(f"g{len(groups)}", CHAIN, "", members, around[-1] if around else ""))
    return replace(graph, groups=tuple(groups))


def close_groups(graph: Graph) -> Graph:
    """A whole graph with its outermost groups closed. See Note [What is closed]. A module that left a single
    result is called by its own name where it is open, too."""
    if graph.folds:
        return graph
    alone = {g.members[0]: g for g in graph.groups if g.kind == MODULE and len(g.members) == 1}
    stations = tuple(
        replace(s, cards=tuple(_card_of_group(card, alone[s.id], 0) for card in s.cards))
        if s.id in alone
        else s
        for s in graph.stations
    )
    shut = {group.id: group for group in _groups_closed_first(graph)}
    groups = tuple(shut.get(group.id, group) for group in graph.groups)
    return close_some(replace(graph, stations=stations, groups=groups), list(shut.values()))


def inside_of_group(whole: Graph, group: Group) -> Graph:
    """The part of a whole graph that one group holds, the groups in it closed; with the stations of outside
    that it uses and that use it, without nodes."""
    members = set(group.members)
    routes = tuple(r for r in whole.routes if r.source in members or r.target in members)
    ends = {end for route in routes for end in (route.source, route.target)}
    there = [station for station in whole.stations if station.id in members or station.id in ends]
    stations = tuple(s if s.id in members else replace(s, deck=None) for s in there)
    below = {group.id}
    for each in whole.groups:  # outer ones come first
        below |= {each.id} if each.parent in below else set()
    groups = tuple(each for each in whole.groups if each.id in below and each.id != group.id)
    marks = tuple(mark for mark in whole.marks if mark.part.partition("-")[0] in members)
    part = Graph(stations, routes, marks=marks, unseen=whole.unseen, groups=groups)
    return close_some(part, [each for each in groups if each.parent == group.id])


def opened_in(shown: Graph, whole: Graph) -> list[tuple[Group, Graph]]:
    """The groups that a reader can open in a picture, then those in these, with what is inside each; as many
    as are soon drawn."""
    known = {group.id: group for group in whole.groups}
    todo = [known[fold.station] for fold in shown.folds if fold.station in known]
    opened: list[tuple[Group, Graph]] = []
    room: float = INSIDE
    for group in todo:  # grows while it is read
        part = inside_of_group(whole, group)
        cost = cost_of(part)
        if 1 < len(part.stations) <= READABLE and cost <= room and len(opened) < PANELS:
            opened.append((group, part))
            room -= cost
            todo += [known[fold.station] for fold in part.folds if fold.station in known]
    return opened


def cost_of(graph: Graph) -> float:
    """What it costs to draw a graph, in stations: what is at an arrow avoids all other arrows."""
    return len(graph.stations) + len(graph.routes) ** 2 / 20


def _groups_closed_first(graph: Graph) -> list[Group]:
    """The groups that are closed at first."""
    inner: dict[str, list[Group]] = {}
    for group in graph.groups:
        inner.setdefault(group.parent, []).append(group)
    pointed = _pointed_at(graph)
    tracked = {station.id for station in graph.stations if station.deck is not None}
    todo, shut = list(inner.get("", ())), []
    hidden = sum(len(group.members) - 1 for group in todo)
    whole = [group.id for group in todo if group.kind == MODULE and group.times == 1]
    for group in todo:  # grows while it is read
        parts = inner.get(group.id, [])
        own = group.id in whole and has_parts(group, graph)
        shown = len(group.members) - sum(len(part.members) - 1 for part in parts)
        fits = len(graph.stations) - hidden + shown - 1 <= READABLE
        several = own and tracked.intersection(group.members) and fits
        if several or not pointed.isdisjoint(group.members):
            todo += parts
            hidden -= shown - 1
            whole += [part.id for part in parts if shown == 1 and part.kind == MODULE]
        else:
            shut.append(group)
    opened = {group.parent for group in shut if group.parent in whole}
    return [_with_path(group, graph) for group in shut] if len(opened) > 1 else shut


def has_parts(module: Group, graph: Graph) -> bool:
    """Whether a module has parts that a reader knows: modules, or rounds of a loop in its source. The rounds
    of a library, which are called as the module is, are none: PyTorch's RNN has none that can be seen."""
    members = set(module.members)
    inside = [group for group in graph.groups if group.id != module.id and members.issuperset(group.members)]
    name = module.title.partition(" ")[0]
    return any(
        group.kind == MODULE or (group.parent == module.id and group.title != name) for group in inside
    )


def _with_path(group: Group, graph: Graph) -> Group:
    """A module of one of several models that are open, by its whole name."""
    around = next((each.path for each in graph.groups if each.id == group.parent), "")
    known = around and group.path.startswith(f"{around}.")
    return replace(group, title=f"{around}.{group.title}") if known else group


def close_some(graph: Graph, groups: Sequence[Group]) -> Graph:
    """A graph with some groups, of which none contains another, as one station each."""
    known = {station.id: station for station in graph.stations}
    runs = {group.id: [known[id] for id in group.members if id in known] for group in groups}
    into = {station.id: id for id, run in runs.items() for station in run}
    outer = [r for r in graph.routes if r.source not in into or into[r.source] != into.get(r.target)]
    used = {(route.source, route.card) for route in outer}
    cards = {group.id: _cards(group, runs[group.id], used) for group in groups}
    places = {(station, card): i for kept in cards.values() for i, (station, card, _) in enumerate(kept)}
    routes = _merge_routes((_move_route(route, into, places) for route in outer), runs)
    arriving: dict[str, list[str]] = {}
    for route in routes:
        if route.tracked:
            arriving.setdefault(route.target, []).append(route.id)
    folds = tuple(
        Fold(
            group.id,
            tuple(s.id for s in runs[group.id]),
            _counts(runs[group.id]),
            _parameters_inside(group, known),
        )
        for group in groups
        if runs[group.id]
    )
    last = {
        runs[fold.station][-1].id: _fold_station(fold, runs[fold.station], cards[fold.station], arriving)
        for fold in folds
    }
    stations = tuple(last.get(s.id, s) for s in graph.stations if s.id not in into or s.id in last)
    return replace(graph, stations=stations, routes=routes, folds=folds)


Kept = tuple[str, int, Card]  # station, number there, the card


def _cards(group: Group, run: list[Station], used: Container[tuple[str, int]]) -> list[Kept]:
    """The cards of a closed group: the tensors that are `used` outside, roots, else the last."""
    all_ = [(station.id, i, card) for station in run for i, card in enumerate(station.cards)]
    made = [kept for kept in all_ if kept[:2] in used or kept[2].role == ROOT]
    kept = made or all_[-1:]
    return [(*where, _card_of_group(card, group, i)) for i, (*where, card) in enumerate(kept)]  # type: ignore[misc]


def _card_of_group(card: Card, group: Group, i: int) -> Card:
    """A card as a closed group shows it: what made it is the group, or result `i` of it. Results of one
    line keep their own expressions, which are parts of the line."""
    if group.kind == LINE and card.expr:
        return card
    if group.kind == CHAIN:
        return replace(card, name=None, expr=None, letter="")
    name = card.name if card.held or card.role == ROOT or group.kind not in (MODULE, JOINED) else None
    title = group.title.removeprefix(f"{name} = ")
    return replace(card, name=name, expr=f"{title} [{i}]" if i else title, loop=group.loop)


def _pointed_at(graph: Graph) -> set[str]:
    """The stations that are marked, and those at the ends of routes that are."""
    marked = {mark.part.partition("-")[0] for mark in graph.marks}
    ends = (id for route in graph.routes if route.id in marked for id in (route.source, route.target))
    return marked.union(ends)


def _move_route(route: Route, into: Mapping[str, str], places: Mapping[tuple[str, int], int]) -> Route:
    """A route with its ends at the closed groups that its stations are in."""
    if route.source not in into and route.target not in into:
        return route
    card = places.get((route.source, route.card), 0) if route.source in into else route.card
    ends = into.get(route.source, route.source), into.get(route.target, route.target)
    return replace(route, source=ends[0], target=ends[1], card=card)


def _merge_routes(routes: Iterable[Route], folds: Container[str]) -> tuple[Route, ...]:
    """The routes, those of one tensor into one closed group as one."""
    found: dict[Hashable, list[Route]] = {}
    for route in routes:
        many = route.target in folds
        key = (route.source, route.card, route.target, route.tracked) if many else route.id
        found.setdefault(key, []).append(route)
    return tuple(
        same[0] if len(same) == 1 else
        replace(same[0], gradients=tuple(g for r in same for g in r.gradients), times=len(same))
        for same in found.values()
    )  # fmt: skip


def _fold_station(
    fold: Fold, run: list[Station], kept: list[Kept], arriving: dict[str, list[str]]
) -> Station:
    """The station that stands for a group: the names of all nodes, below the cards that are kept."""
    deck = next((station.deck for station in reversed(run) if station.deck is not None), None)
    if deck is not None:
        names = ", ".join(f"{name} ×{count}" for name, count in fold.counts)
        hooks = sum(station.deck.hooks for station in run if station.deck is not None)
        deck = Deck(deck.id, names, (), tuple(arriving.get(fold.station, ())), hooks, deck.sequence)
    return Station(fold.station, tuple(card for _, _, card in kept), deck, run[-1].order)


def _parameters_inside(group: Group, known: Mapping[str, Station]) -> tuple[tuple[str, Card], ...]:
    """The parameters that are inside a group, by their names there."""
    inside = [(name, known[id].cards[0]) for name, id in group.parameters if id in known]
    return tuple((name, card) for name, card in inside if card.role == PARAMETER)


def _counts(run: list[Station]) -> tuple[tuple[str, int], ...]:
    """The names of the nodes of a run, most frequent first."""
    names = Counter(station.deck.name for station in run if station.deck is not None)
    return tuple(sorted(names.items(), key=lambda item: (-item[1], item[0])))


def _runs(graph: Graph, at_least: int, hidden: set[str]) -> Iterator[list[Station]]:
    """The stations of each fold, in program order."""
    rank = {station.id: i for i, station in enumerate(graph.stations)}
    used = list(range(len(rank)))  # the last station that uses each one
    fed = set()
    for route in graph.routes:
        source, target = rank[route.source], rank[route.target]
        used[source] = max(used[source], target)
        fed.add(target)
    for stretch in _stretches(graph.stations, fed, hidden):
        yield from (
            [graph.stations[i] for i in run] for run in _hidden_parts(stretch[ENDS:-ENDS], used, at_least)
        )


def _with_constants(graph: Graph, runs: list[list[Station]], hidden: set[str]) -> list[list[Station]]:
    """The runs with the constants that only they use."""
    run_of = {station.id: i for i, run in enumerate(runs) for station in run}
    fed = {route.target for route in graph.routes}
    users: dict[str, set[int]] = {}
    for route in graph.routes:
        users.setdefault(route.source, set()).add(run_of.get(route.target, -1))
    given: list[list[Station]] = [[] for _ in runs]
    for station in graph.stations:
        run, *others = users.get(station.id, {-1})
        if station.id not in fed and not others and run >= 0 and station.id in hidden:
            given[run].append(station)
    return [constants + run for constants, run in zip(given, runs, strict=True)]


def _stretches(stations: tuple[Station, ...], fed: set[int], hidden: set[str]) -> Iterator[list[int]]:
    """The positions of stations that may be hidden, one order at a time, cut where another has to stay."""
    stretch: list[int] = []
    for i, station in enumerate(stations):
        if i not in fed:
            continue  # it comes from nowhere, so the others can be drawn as if it stood before them
        if station.id not in hidden:
            yield stretch
            stretch = []
        elif stretch and stations[stretch[-1]].order != station.order:
            yield stretch
            stretch = [i]
        else:
            stretch.append(i)
    yield stretch


def _may_hide(station: Station) -> bool:
    """Whether nobody would miss a station."""
    card, *others = station.cards
    own = card.role == ROOT or card.held or (card.is_leaf and card.requires_grad)
    return not (others or own or card.grad_kept or card.retains_grad)


def _hidden_parts(stretch: list[int], used: list[int], at_least: int) -> Iterator[list[int]]:
    """The longest parts of a stretch out of which only their last station is used, in one pass.

    A part may end at a station if those before it are not used later. One that is used beyond the stretch
    can only be the last of its part."""
    if not stretch:
        return
    end, start, close, reach = stretch[-1], 0, -1, -1
    for k, i in enumerate(stretch):
        if reach <= i:
            close = k  # those from `start` on are used up to here, and only this one beyond
        reach = max(reach, used[i])
        if reach > end or k == len(stretch) - 1:
            if close - start + 1 >= at_least:
                yield stretch[start : close + 1]
            start, close, reach = k + 1, -1, -1


# ─── The main thing first


SMALL_PICTURE = 14  # stations; in a picture of so many nothing is left out but what belongs to updates


def main_part(scene: Scene, graph: Graph, *, whole: bool = False) -> tuple[Graph, Graph]:
    """`graph` without what has no part in the backward call of its scene, and what is aside as a graph of
    its own; `whole`: all but what belongs to updates, and nothing aside. A picture without a call, or of a
    graph that nobody recorded, stays as it is."""
    nothing = Graph((), ())
    if not scene.call or not scene.trace.recorded:
        return graph, nothing
    main = leading_to_them(graph, seeds(scene, graph))
    places = {place.id: place for place in scene.shown}
    tools = parts_of_updates(scene, places.values()) - main
    rest = [s.id for s in graph.stations if s.id not in main and s.id not in tools]
    given = given_alone(scene, graph) | made_parameters(scene)
    rest = [id for id in rest if id not in given and (id not in places or not is_gradient(places[id]))]
    if not whole and (len(main) + len(rest) > SMALL_PICTURE or scene.index.updates):
        data = preparation(part_of(graph, main), places) - seeds(scene, graph)
        left = [*rest, *sorted(data)]
        counts = Counter(aside_kind(places[id], main) for id in left)
        shown = replace(part_of(graph, main - data), aside=tuple(counts.items()))
        return shown, inside_of_group(graph, Group("aside", ASIDE, "", tuple(left))) if left else nothing
    return part_of(graph, leading_to_them(graph, main.union(rest))), nothing


def preparation(graph: Graph, places: Mapping[str, Place]) -> set[str]:
    """The stations that prepare data: neither they nor the results computed from them require gradients. Nor
    do those count whose values a leaf was made of: `w = torch.randn(4) * 0.1`, then `w.requires_grad_()`.
    What a call that belongs to the graph did to its own data is no preparation: `h @ W` makes a vector h a
    row."""
    asking = {station.id for station in graph.stations if any(card.requires_grad for card in station.cards)}
    leaves = {s.id for s in graph.stations if all(card.requires_grad and card.is_leaf for card in s.cards)}
    for route in graph.routes:  # sources come first
        asking |= {route.target} if route.source in asking else set()
    results = asking - leaves
    calls = {places[id].span for id in results if id in places} - {None}
    used: set[str] = set()
    for route in reversed(graph.routes):
        own = route.target in used and route.target in places and places[route.target].span in calls
        used |= {route.source} if own or route.target in results else set()
    return {station.id for station in graph.stations} - asking - used


def seeds(scene: Scene, graph: Graph) -> set[str]:
    """The stations for whose sake the others are shown: roots, what the calls built, what is marked, and
    what the expression names in which the cell failed."""
    groups = scene.index.scopes.groups
    calls = next(group for group in groups if any(call.number == scene.call for call in group))
    numbers = {call.number for call in calls}
    found = {scene.at[root][0].id for call in calls for root in call.roots if root in scene.at}
    found |= {place.id for place in scene.shown if place.built in numbers}
    found |= {mark.part.partition("-")[0] for mark in graph.marks}
    for event in of_kinds(scene.trace.events[-3:], CellFailed):
        found |= {scene.at[state.id][0].id for _, state in event.named if state.id in scene.at}
    ends = {route.id: (route.source, route.target) for route in graph.routes}
    return found.union(*(ends[id] for id in found if id in ends))


def parts_of_updates(scene: Scene, places: Iterable[Place]) -> set[str]:
    """The places that the statements of updates made, and the gradients that they used."""
    times = {time for found in scene.index.updates for time in found.times}
    lines = {(u.span.origin, u.span.line, u.span.end_line) for u in scene.index.updates if u.span is not None}
    inside = {(origin, line) for origin, first, last in lines for line in range(first, last + 1)}
    found = set()
    for place in places:
        span = place.span
        if place.time in times or (span is not None and (span.origin, span.line) in inside):
            found.add(place.id)
    return found


def given_alone(scene: Scene, graph: Graph) -> set[str]:
    """The stations of vectors that the call was given and nothing else uses: they hang at its roots."""
    used, seeds = {route.source for route in graph.routes}, set(scene.now.seeds.values())
    alone = (s for s in graph.stations if s.deck is None and len(s.cards) == 1 and s.id not in used)
    return {station.id for station in alone if station.cards[0].value in seeds}


def made_parameters(scene: Scene) -> set[str]:
    """The stations of tensors without a name that a `Parameter(…)` was made of: it shows the same numbers."""
    tree = SourceText(scene.trace.source).tree if "Parameter(" in scene.trace.source else None
    calls = [n for n in nodes_of(tree) if isinstance(n, ast.Call)] if tree is not None else []
    found = set()
    for call in (c for c in calls if ast.unparse(c.func).endswith("Parameter")):
        begin, end = (call.lineno, call.col_offset), (call.end_lineno or 0, call.end_col_offset or 0)
        for place in scene.shown:
            at, named = place.span, any(state.id in scene.named for state in place.states)
            if at is not None and not (at.origin or named or place.cut or place.fog):
                found |= {place.id} if begin < (at.line, at.column) < end else set()
    return found


def is_gradient(place: Place) -> bool:
    """Whether a place is the `.grad` of a leaf, that nobody has given a name of its own."""
    return bool(place.gradient_of) and place.event is None and place.name is None


def aside_kind(place: Place, main: set[str]) -> str:
    """What a place that is left out is: a key of the catalogue."""
    if place.node is not None:
        return "aside_graph"
    return "aside_result" if place.fog or place.cut else "aside_data"


def leading_to_them(graph: Graph, keep: Iterable[str]) -> set[str]:
    """The stations `keep` and all that lead to them."""
    sources: dict[str, list[str]] = {}
    for route in graph.routes:
        sources.setdefault(route.target, []).append(route.source)
    there = {station.id for station in graph.stations}
    return set(reachable(there.intersection(keep), lambda id: sources.get(id, ())))


def part_of(graph: Graph, keep: set[str]) -> Graph:
    """The part of a picture with the stations `keep`."""
    if len(keep) == len(graph.stations):
        return graph
    stations = tuple(station for station in graph.stations if station.id in keep)
    routes = tuple(route for route in graph.routes if route.target in keep and route.source in keep)
    return replace(
        graph, stations=stations, routes=routes, marks=marks_in_view(graph.marks, stations, routes)
    )


def marks_in_view(
    marks: Sequence[Mark], stations: Sequence[Station], routes: Sequence[Route]
) -> tuple[Mark, ...]:
    """The marks whose stations and routes are there."""
    there = {station.id for station in stations} | {route.id for route in routes}
    return tuple(mark for mark in marks if mark.part.partition("-")[0] in there)
