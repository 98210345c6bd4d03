"""Groups as one station each, and long chains as groups.

Note [What is closed]
A picture shows the outermost groups, each closed to one station. Open are the groups that an explanation
points into, and a model that was called as a whole: what a reader wants to see are its modules. It stays
closed where its parts would be too many.

If that leaves a large graph, a run of stations, contiguous in program order, is one more group if of all of
them only the last is used further on. Nothing that a reader may look for disappears: leaves, roots, tensors
that a variable still stands for or whose gradient is kept stay, and so do the first two and the last two
stations of a run, which show what the others are like. What comes from nowhere (a leaf, a constant) does not
interrupt a run; a constant that only one run uses goes into its group. Every order of derivatives by itself.

Routes that lead into a closed group or out of it stay, with their gradients; those between its members go.
All uses of one tensor inside it become one route with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..trace.graph import CHAIN, LINE, MODULE, PARAMETER, ROOT, Card, Deck, Fold, Graph, Group, Route, Station

SMALL = 60  # stations; in a smaller graph no chain is folded
READABLE = 40  # stations that a model may be opened to
PANELS = 24  # boxes of a picture that can be opened
INSIDE = 150  # what they may cost together, see `cost_of`
ENDS = 2  # stations of a run that stay at either end


def fold(graph: Graph, *, at_least: int = 12, beyond: int = SMALL) -> Graph:
    """The graph that is shown of a whole one: its outermost groups are closed, and runs of at least
    `at_least` stations, if it still has more than `beyond`.

    Closed groups are stations with the id of the group, in `folds`; all other ids are those of `graph`."""
    return closed(gathered(graph, at_least=at_least, beyond=beyond))


def gathered(graph: Graph, *, at_least: int = 12, beyond: int = SMALL) -> Graph:
    """A whole graph with a group for each long chain as well."""
    shown = closed(graph)
    if graph.folds or len(shown.stations) <= beyond:
        return graph
    boxes = {fold.station for fold in shown.folds}
    free = {station.id for station in shown.stations if _hidden(station)} - _pointed_at(graph) - boxes
    runs = _with_constants(shown, list(_runs(shown, at_least, free)), free)
    groups = list(graph.groups)
    for run in runs:
        members = tuple(station.id for station in run)
        around = [group.id for group in graph.groups if set(members) <= set(group.members)]
        groups.append(Group(f"g{len(groups)}", CHAIN, "", members, around[-1] if around else ""))
    return replace(graph, groups=tuple(groups))


def closed(graph: Graph) -> Graph:
    """A whole graph with its outermost groups closed. See Note [What is closed]. A module that left a single
    result is called by its own name where it is open, too."""
    if graph.folds:
        return graph
    alone = {g.members[0]: g for g in graph.groups if g.kind == MODULE and len(g.members) == 1}
    stations = tuple(
        replace(s, cards=tuple(_renamed(card, alone[s.id], 0) for card in s.cards)) if s.id in alone else s
        for s in graph.stations
    )
    shut = {group.id: group for group in _outermost(graph)}
    groups = tuple(shut.get(group.id, group) for group in graph.groups)
    return _shut(replace(graph, stations=stations, groups=groups), list(shut.values()))


def inside(whole: Graph, group: Group) -> Graph:
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
    return _shut(part, [each for each in groups if each.parent == group.id])


def opened_in(shown: Graph, whole: Graph) -> list[tuple[Group, Graph]]:
    """The groups that a reader can open in a picture, then those in these, with what is inside each; as many
    as are soon drawn."""
    known = {group.id: group for group in whole.groups}
    todo = [known[fold.station] for fold in shown.folds if fold.station in known]
    opened: list[tuple[Group, Graph]] = []
    room: float = INSIDE
    for group in todo:  # grows while it is read
        part = inside(whole, group)
        cost = cost_of(part)
        if 1 < len(part.stations) <= READABLE and cost <= room and len(opened) < PANELS:
            opened.append((group, part))
            room -= cost
            todo += [known[fold.station] for fold in part.folds if fold.station in known]
    return opened


def cost_of(graph: Graph) -> float:
    """What it costs to draw a graph, in stations: what stands at an arrow avoids all other arrows."""
    return len(graph.stations) + len(graph.routes) ** 2 / 20


def _outermost(graph: Graph) -> list[Group]:
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
        shown = len(group.members) - sum(len(part.members) - 1 for part in parts)
        fits = len(graph.stations) - hidden + shown - 1 <= READABLE
        several = group.id in whole and parts and tracked.intersection(group.members) and fits
        if several or not pointed.isdisjoint(group.members):
            todo += parts
            hidden -= shown - 1
            whole += [part.id for part in parts if shown == 1 and part.kind == MODULE]
        else:
            shut.append(group)
    opened = {group.parent for group in shut if group.parent in whole}
    return [_with_path(group, graph) for group in shut] if len(opened) > 1 else shut


def _with_path(group: Group, graph: Graph) -> Group:
    """A module of one of several models that stand open, by its whole name."""
    around = next((each.path for each in graph.groups if each.id == group.parent), "")
    known = around and group.path.startswith(f"{around}.")
    return replace(group, title=f"{around}.{group.title}") if known else group


def _shut(graph: Graph, groups: Sequence[Group]) -> Graph:
    """A graph with some groups, of which none contains another, as one station each."""
    known = {station.id: station for station in graph.stations}
    runs = {group.id: [known[id] for id in group.members if id in known] for group in groups}
    into = {station.id: id for id, run in runs.items() for station in run}
    outer = [r for r in graph.routes if r.source not in into or into[r.source] != into.get(r.target)]
    used = {(route.source, route.card) for route in outer}
    cards = {group.id: _cards(group, runs[group.id], used) for group in groups}
    places = {(station, card): i for kept in cards.values() for i, (station, card, _) in enumerate(kept)}
    routes = _merged((_moved(route, into, places) for route in outer), runs)
    arriving: dict[str, list[str]] = {}
    for route in routes:
        if route.tracked:
            arriving.setdefault(route.target, []).append(route.id)
    folds = tuple(
        Fold(group.id, tuple(s.id for s in runs[group.id]), _counts(runs[group.id]), _inside(group, known))
        for group in groups
        if runs[group.id]
    )
    last = {
        runs[fold.station][-1].id: _folded(fold, runs[fold.station], cards[fold.station], arriving)
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
    return [(*where, _renamed(card, group, i)) for i, (*where, card) in enumerate(kept)]  # type: ignore[misc]


def _renamed(card: Card, group: Group, i: int) -> Card:
    """A card as it stands on a closed group: what made it is the group, or result `i` of it. Results of one
    line keep their own expressions, which are parts of the line."""
    if group.kind == LINE and card.expr:
        return card
    if group.kind == CHAIN:
        return replace(card, name=None, expr=None, letter="")
    name = card.name if card.held or card.role == ROOT or group.kind != MODULE else None
    title = group.title.removeprefix(f"{name} = ")
    return replace(card, name=name, expr=f"{title} [{i}]" if i else title, loop=group.loop)


def _pointed_at(graph: Graph) -> set[str]:
    """The stations that are marked, and those at the ends of routes that are."""
    marked = {mark.part.partition("-")[0] for mark in graph.marks}
    ends = (id for route in graph.routes if route.id in marked for id in (route.source, route.target))
    return marked.union(ends)


def _moved(route: Route, into: Mapping[str, str], places: Mapping[tuple[str, int], int]) -> Route:
    """A route with its ends at the closed groups that its stations are in."""
    card = places.get((route.source, route.card), 0) if route.source in into else route.card
    ends = into.get(route.source, route.source), into.get(route.target, route.target)
    return replace(route, source=ends[0], target=ends[1], card=card)


def _merged(routes: Iterable[Route], folds: Container[str]) -> tuple[Route, ...]:
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


def _folded(fold: Fold, run: list[Station], kept: list[Kept], arriving: dict[str, list[str]]) -> Station:
    """The station that stands for a group: the names of all nodes, below the cards that are kept."""
    deck = next((station.deck for station in reversed(run) if station.deck is not None), None)
    if deck is not None:
        names = ", ".join(f"{name} ×{count}" for name, count in fold.counts)
        hooks = sum(station.deck.hooks for station in run if station.deck is not None)
        deck = Deck(deck.id, names, (), tuple(arriving.get(fold.station, ())), hooks, deck.sequence)
    return Station(fold.station, tuple(card for _, _, card in kept), deck, run[-1].order)


def _inside(group: Group, known: Mapping[str, Station]) -> tuple[tuple[str, Card], ...]:
    """The parameters that stand inside a group, by their names there."""
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
        yield from ([graph.stations[i] for i in run] for run in _closed(stretch[ENDS:-ENDS], used, at_least))


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


def _hidden(station: Station) -> bool:
    """Whether nobody would miss a station."""
    card, *others = station.cards
    own = card.role == ROOT or card.held or (card.is_leaf and card.requires_grad)
    return not (others or own or card.grad_kept or card.retains_grad)


def _closed(stretch: list[int], used: list[int], at_least: int) -> Iterator[list[int]]:
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
