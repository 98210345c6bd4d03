"""Two graphs on one layout: the same stations have the same place in both pictures.

Both graphs get the ids of one that has the stations and routes of both. Graphviz lays out the union once,
with boxes as large as the larger of the two; then each graph is drawn at its own boxes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..drawing.boxes import Box, Measurements, measure
from ..drawing.dot import dot_text
from ..drawing.geometry import Rect
from ..drawing.layout import layout
from ..drawing.look import CLOSE, CLOSEST, Look, with_language
from ..drawing.positions import Places, read_positions
from ..drawing.stations import Canvas
from ..drawing.structure import ROOM
from ..drawing.svg import Drawing
from ..trace.graph import Graph, Route, Station
from ..words import language

MOST = 40  # stations of one run; of a larger graph those nearest to the difference are drawn
WIDE = 1045.0  # pixels of one picture
ON_A_PAGE = 960 / WIDE  # it may shrink so far: its letters have 11 pixels instead of 12
TRIM, BELOW = 20.0, 29.0  # pixels of the margin, and below, that two beside each other do without
# What the runs have in common is pale; other pictures of the same page are not.
PALE = (
    ".pale .station,.pale .edge,.pale .pill,.pale .shape,.pale .reference,.pale .update{opacity:.45}"
    ".pale .lit,.pale .edge.ghost{opacity:1}.pale .station.lit>.card>.box,.pale .station.lit>.card>.head,"
    ".pale .station.lit>.deck>.box,.pale .pill.lit>rect{stroke:#D55E00;stroke-width:2.5}"
    ".pale .update.lit>.box{stroke:#D55E00;stroke-width:2.5}"
)


class TwoGraphs(NamedTuple):
    """Two graphs with the ids of the third, which has the parts of both; `ids` are the new ids by the old
    ones of the two."""

    a: Graph
    b: Graph
    union: Graph
    ids: tuple[Mapping[str, str], Mapping[str, str]]


def near_to(graph: Graph, parts: Iterable[str], most: int = MOST) -> Graph:
    """The part of a large graph that is nearest to some stations."""
    if len(graph.stations) <= most:
        return graph
    beside: dict[str, list[str]] = {}
    for route in graph.routes:
        beside.setdefault(route.source, []).append(route.target)
        beside.setdefault(route.target, []).append(route.source)
    there = {station.id for station in graph.stations}
    found = [part for part in parts if part in there] or [graph.stations[-1].id]
    for id in found:
        found += [other for other in dict.fromkeys(beside.get(id, ())) if other not in found]
        if len(found) > most:
            break
    keep = set(found[:most])
    return replace(
        graph,
        stations=tuple(station for station in graph.stations if station.id in keep),
        routes=tuple(r for r in graph.routes if r.source in keep and r.target in keep),
        omitted=graph.omitted + len(graph.stations) - len(keep),
    )


def union_graph(a: Graph, b: Graph, pairs: Mapping[str, str]) -> TwoGraphs:
    """Two graphs with common ids, where `pairs` has the tensors of the second by those of the first."""
    at = {card.id: station.id for station, card in b.cards()}
    twin = {s.id: at[t] for s in a.stations for c in s.cards if (t := pairs.get(c.id)) in at}
    twin = {mine: other for mine, other in twin.items() if [*twin.values()].count(other) == 1}
    order = merge_stations([s.id for s in a.stations], [s.id for s in b.stations], twin)
    mine = {id: f"s{n}" for n, (id, _) in enumerate(order) if id}
    other = {id: f"s{n}" for n, (_, id) in enumerate(order) if id}
    numbers: dict[tuple[object, ...], str] = {}
    first, second = (with_new_ids(graph, ids, numbers) for graph, ids in ((a, mine), (b, other)))
    stations = {station.id: station for station in (*second.stations, *first.stations)}
    routes = {route.id: route for route in (*second.routes, *first.routes)}
    union = replace(
        first,
        stations=tuple(stations[f"s{n}"] for n in range(len(order))),
        routes=tuple(sorted(routes.values(), key=lambda route: int(route.id[1:]))),
    )
    return TwoGraphs(first, second, union, (mine, other))


def merge_stations(a: list[str], b: list[str], twin: Mapping[str, str]) -> list[tuple[str, str]]:
    """The stations of both runs in one order, those that are the same together."""
    found: list[tuple[str, str]] = []
    rest, twins = list(b), set(twin.values())
    for id in a:
        if id in twin and twin[id] in rest:
            while rest[0] != twin[id] and rest[0] not in twins:
                found.append(("", rest.pop(0)))
            rest.remove(twin[id])
        found.append((id, twin.get(id, "")))
    return found + [("", id) for id in rest]


def with_new_ids(graph: Graph, ids: Mapping[str, str], numbers: dict[tuple[object, ...], str]) -> Graph:
    """A graph with other ids. Routes between the same stations get the same `numbers` in both runs."""
    new: dict[str, str] = {}
    for route in graph.routes:
        ends = ids[route.source], route.card, ids[route.target], route.input
        new[route.id] = numbers.setdefault(ends, f"r{len(numbers)}")
    routes = tuple(
        replace(route, id=new[route.id], source=ids[route.source], target=ids[route.target])
        for route in graph.routes
    )
    return replace(
        graph,
        stations=tuple(with_ids(station, ids, new) for station in graph.stations),
        routes=tuple({route.id: route for route in routes}.values()),
        marks=(),
        folds=(),
        groups=(),
    )


def with_ids(station: Station, ids: Mapping[str, str], routes: Mapping[str, str]) -> Station:
    """A station with another id, and the new ids of its routes."""
    deck = station.deck
    if deck is not None:
        deck = replace(deck, inputs=tuple(routes.get(id or "") for id in deck.inputs))
    return replace(station, id=ids[station.id], deck=deck)


def draw_pair(
    pair: TwoGraphs, lit: Sequence[set[str] | None], *, lang: str | None, theme: str
) -> tuple[str, str]:
    """Both pictures as SVG, of one size; all but what is `lit` is pale (None: nothing is). LayoutError if
    there can be none."""
    sizes, places = fit_pair(pair, with_language(Look("normal", True, "some", lang)))
    key = hashlib.sha256(repr((pair.union, lang)).encode()).hexdigest()[:6]  # many pictures share a page
    a, b = (
        Drawing(
            Canvas(
                graph,
                positions_of_one(places, measured, graph.routes),
                lang or language(),
                f"{run}{key}-",
                parts or (),
            ),
            False,
        )
        for graph, measured, run, parts in zip((pair.a, pair.b), sizes, "ab", lit, strict=True)
    )
    frame = frame_of_both(a.frame, b.frame)
    one, other = (
        drawing.svg(theme, frame, "" if parts is None else PALE)
        for drawing, parts in zip((a, b), lit, strict=True)
    )
    return one, other


def frame_of_both(a: Rect, b: Rect) -> Rect:
    """The frame of both, with less margin, and below without room for a legend, which both would have."""
    return min(a[0], b[0]) + TRIM, min(a[1], b[1]) + TRIM, max(a[2], b[2]) - TRIM, max(a[3], b[3]) - BELOW


def fit_pair(pair: TwoGraphs, look: Look) -> tuple[tuple[Measurements, Measurements], Places]:
    """The sizes and places from left to right, as a picture alone has them, if need be with shorter texts;
    where that does not fit, from top to bottom."""
    for each in (look, *(replace(look, widest=widest) for widest in (CLOSE, CLOSEST))):
        across = lay_out_pair(pair, each, "LR")
        if across[1].width <= WIDE:
            return across
    upright = lay_out_pair(pair, look, "TB")
    return upright if upright[1].width < across[1].width else across


def lay_out_pair(
    pair: TwoGraphs, look: Look, direction: str
) -> tuple[tuple[Measurements, Measurements], Places]:
    """The sizes in both graphs, and the places in the union of them."""
    upright = direction == "TB"
    a, b, union = (measure(graph, look, upright) for graph in (pair.a, pair.b, pair.union))
    boxes = {id: largest_box(box, a.boxes.get(id), b.boxes.get(id)) for id, box in union.boxes.items()}
    pills = {id: max((m.pills[id] for m in (union, a, b) if id in m.pills), key=lambda p: p.width)
             for id in {*union.pills, *a.pills, *b.pills}}  # fmt: skip
    union = replace(union, boxes=boxes, pills={id: pills[id] for id in sorted(pills)})
    positions = layout(dot_text(pair.union, union, direction))
    return (a, b), read_positions(positions, union, direction, routes=pair.union.routes, room=ROOM)


def largest_box(box: Box, *others: Box | None) -> Box:
    """A box with the size of the largest."""
    there = [box, *(other for other in others if other is not None)]
    return replace(box, width=max(b.width for b in there), height=max(b.height for b in there))


def positions_of_one(places: Places, measured: Measurements, routes: Iterable[Route]) -> Places:
    """The places of one graph in the layout of both. A route that there is part of a bundle takes the curve
    of the bundle."""
    union = places.measured
    curves = {route.id: places.curves[union.bundles[route.id][0]] for route in routes
              if union.bundles[route.id][0] in places.curves}  # fmt: skip
    return replace(
        places,
        measured=measured,
        centres={id: centre for id, centre in places.centres.items() if id in measured.boxes},
        column={id: column for id, column in places.column.items() if id in measured.boxes},
        curves=curves | places.curves,
        arrows={},
        spots={},
    )
