"""Where a cell stopped: a station for the operation that failed, beside the tensors that it was given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..trace.events import Failed, Trace
from ..trace.graph import GUILTY, Card, Graph, Mark, Route, Station
from ..words import clean, shorten, text
from .refused import starts_backward

STOPPED = "stopped"  # the id of its card, which stands for no tensor
LONGEST = 60  # columns of its source
PLAIN = re.compile(r"[\w.]+")  # a name or an attribute: nothing was computed there


def stopped(graph: Graph, trace: Trace, lang: str | None) -> Graph:
    """A picture with a station for the operation that ended the cell with an error; as it is where the cell
    did not fail, where a backward call or a mere attribute did, or where no tensor shown is guilty."""
    failed = next((event for event in reversed(trace.events) if isinstance(event, Failed)), None)
    guilty = dict.fromkeys(guilty_cards(graph))
    if failed is None or failed.span is None or starts_backward(failed.span) or not guilty:
        return graph
    source = shorten(clean(failed.span.flat), LONGEST)
    if PLAIN.fullmatch(source):
        return graph
    id = f"s{1 + max(int(station.id[1:]) for station in graph.stations)}"
    first = 1 + max((int(route.id[1:]) for route in graph.routes), default=-1)
    routes = tuple(
        Route(f"r{first + i}", station, id, card=card, input=i, tracked=False)
        for i, (station, card) in enumerate(guilty)
    )
    return replace(
        graph,
        stations=(*graph.stations, Station(id, (Card(STOPPED, expr=source, is_leaf=False),))),
        routes=(*graph.routes, *routes),
        marks=(*graph.marks, Mark(f"{id}-c0", GUILTY, text("stopped_here", lang))),
    )


def guilty_cards(graph: Graph) -> Iterator[tuple[str, int]]:
    """The station and the number of each guilty card; of one in a closed box the box."""
    shown = {station.id: len(station.cards) for station in graph.stations}
    inside = {member: fold.station for fold in graph.folds for member in fold.members}
    for mark in graph.marks:
        station, _, part = mark.part.partition("-c")
        station = inside.get(station, station)
        if mark.kind == GUILTY and part.isdecimal() and station in shown:
            yield station, min(int(part), shown[station] - 1)
