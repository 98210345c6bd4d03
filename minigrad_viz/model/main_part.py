"""The main thing first: of a backward call the picture shows its root and what leads to it.

Note [What stands aside]
    What the root does not depend on (plots, predictions after training, other graphs) is left out of the
    picture and counted, and so is how data was prepared: of it only the tensors that go into the graph are
    shown. In a small picture all that stays: there it is what the cell is about, as the copy beside a
    `detach()`. In a program that updates something it goes however small it is. What belongs to an update
    stands in the lane of updates, never in the graph: what its statement computes, and `.grad`, unless
    something else that is shown is made of it. What an explanation points at stays, with all that leads to
    it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..trace.events import Failed
from ..trace.graph import ASIDE, Graph, Group, Mark, Route, Station
from ..trace.source_text import SourceText
from ..trace.statements import nodes_of
from ..trace.walk import reached
from .fold import inside
from .place import Place
from .scene import Scene

SMALL = 14  # stations; in a picture of so many nothing is left out but what belongs to updates


def main_part(scene: Scene, graph: Graph, *, whole: bool = False) -> tuple[Graph, Graph]:
    """`graph` without what has no part in the backward call of its scene, and what stands aside as a graph of
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
    if not whole and (len(main) + len(rest) > SMALL or scene.index.updates):
        data = preparation(part_of(graph, main)) - seeds(scene, graph)
        left = [*rest, *sorted(data)]
        counts = Counter(kind_of(places[id], main) for id in left)
        shown = replace(part_of(graph, main - data), aside=tuple(counts.items()))
        return shown, inside(graph, Group("aside", ASIDE, "", tuple(left))) if left else nothing
    return part_of(graph, leading_to_them(graph, main.union(rest))), nothing


def preparation(graph: Graph) -> set[str]:
    """The stations that prepare data: neither they nor the results computed from them require gradients. Nor
    do those count whose values a leaf was made of: `w = torch.randn(4) * 0.1`, then `w.requires_grad_()`."""
    asking = {station.id for station in graph.stations if any(card.requires_grad for card in station.cards)}
    leaves = {s.id for s in graph.stations if all(card.requires_grad and card.is_leaf for card in s.cards)}
    for route in graph.routes:  # sources come first
        asking |= {route.target} if route.source in asking else set()
    results = asking - leaves
    used = {route.source for route in graph.routes if route.target in results}
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
    for event in scene.trace.events[-3:]:
        if isinstance(event, Failed):
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


def kind_of(place: Place, main: set[str]) -> str:
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
    return set(reached(there.intersection(keep), lambda id: sources.get(id, ())))


def part_of(graph: Graph, keep: set[str]) -> Graph:
    """The part of a picture with the stations `keep`."""
    if len(keep) == len(graph.stations):
        return graph
    stations = tuple(station for station in graph.stations if station.id in keep)
    routes = tuple(route for route in graph.routes if route.target in keep and route.source in keep)
    return replace(graph, stations=stations, routes=routes, marks=standing(graph.marks, stations, routes))


def standing(marks: Sequence[Mark], stations: Sequence[Station], routes: Sequence[Route]) -> tuple[Mark, ...]:
    """The marks whose stations and routes are there."""
    there = {station.id for station in stations} | {route.id for route in routes}
    return tuple(mark for mark in marks if mark.part.partition("-")[0] in there)
