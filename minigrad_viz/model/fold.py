"""Long chains as one station each.

Note [What is folded]
~~~~~~~~~~~~~~~~~~~~~
In a large graph a run of stations, contiguous in program order, is drawn as one if of all of them only the
last is used further on. Nothing that a reader may look for disappears: leaves, roots, tensors that a
variable still stands for or whose gradient is kept stay, and so do the first two and the last two stations
of a run, which show what the others are like, and what is marked by an explanation. What comes from nowhere
(a leaf, a constant) does not interrupt a run; a constant that only one run uses goes into its fold. Every
order of derivatives folds by itself.

Routes that lead into a fold or out of it stay, with their gradients; those between its members go. All uses
of one tensor inside a fold become one route with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from ..trace.graph import ROOT, Deck, Fold, Graph, Route, Station

SMALL = 60  # stations; a smaller graph is shown as it is
ENDS = 2  # stations of a run that stay at either end


def fold(graph: Graph, *, at_least: int = 12, beyond: int = SMALL) -> Graph:
    """`graph` with each run of at least `at_least` stations folded, if it has more than `beyond` stations.

    Folds are stations `f0`, `f1`, … in `folds`; all other ids are those of `graph`. ValueError unless
    `at_least` is 2 or more.
    """
    if at_least < 2:
        raise ValueError(f"at_least must be 2 or more, not {at_least}")
    if graph.folds or len(graph.stations) <= beyond:
        return graph
    hidden = {station.id for station in graph.stations if _hidden(station)} - _pointed_at(graph)
    runs = _with_constants(graph, list(_runs(graph, at_least, hidden)), hidden)
    into = {station.id: f"f{i}" for i, run in enumerate(runs) for station in run}
    outer = (r for r in graph.routes if r.source not in into or into[r.source] != into.get(r.target))
    routes = _merged((_moved(route, into) for route in outer), set(into.values()))
    arriving: dict[str, list[str]] = {}
    for route in routes:
        if route.tracked:
            arriving.setdefault(route.target, []).append(route.id)
    folds = tuple(Fold(f"f{i}", tuple(s.id for s in run), _counts(run)) for i, run in enumerate(runs))
    last = {run[-1].id: _folded(fold, run, arriving) for fold, run in zip(folds, runs, strict=True)}
    stations = tuple(last.get(s.id, s) for s in graph.stations if s.id not in into or s.id in last)
    return replace(graph, stations=stations, routes=routes, folds=folds)


def _pointed_at(graph: Graph) -> set[str]:
    """The stations that are marked, and those at the ends of routes that are."""
    marked = {mark.part.partition("-")[0] for mark in graph.marks}
    ends = (id for route in graph.routes if route.id in marked for id in (route.source, route.target))
    return marked.union(ends)


def _moved(route: Route, into: Mapping[str, str]) -> Route:
    """A route with its ends at the folds that its stations are in."""
    card = 0 if route.source in into else route.card
    ends = into.get(route.source, route.source), into.get(route.target, route.target)
    return replace(route, source=ends[0], target=ends[1], card=card)


def _merged(routes: Iterable[Route], folds: Container[str]) -> tuple[Route, ...]:
    """The routes, those of one tensor into one fold as one."""
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


def _folded(fold: Fold, run: list[Station], arriving: dict[str, list[str]]) -> Station:
    """The station that stands for a run: the card of its last, the names of all nodes."""
    end = run[-1]
    deck = next((station.deck for station in reversed(run) if station.deck is not None), None)
    if deck is not None:
        names = ", ".join(f"{name} ×{count}" for name, count in fold.counts)
        hooks = sum(station.deck.hooks for station in run if station.deck is not None)
        inputs = tuple(arriving.get(fold.station, ()))
        deck = Deck(deck.id, names, inputs=inputs, hooks=hooks, sequence=deck.sequence)
    return Station(fold.station, (replace(end.cards[-1], name=None, expr=None),), deck, end.order)


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
        if not (station.id in hidden and i in fed):
            if i not in fed:
                continue  # it comes from nowhere, so the others can be drawn as if it stood before them
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
    return len(station.cards) == 1 and not any(
        card.role == ROOT
        or card.held
        or card.grad_kept
        or card.retains_grad
        or (card.is_leaf and card.requires_grad)
        for card in station.cards
    )


def _closed(stretch: list[int], used: list[int], at_least: int) -> Iterator[list[int]]:
    """The longest parts of a stretch out of which only their last station is used, in one pass.

    A part may end at a station if those before it are not used later. One that is used beyond the stretch
    can only be the last of its part.
    """
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
