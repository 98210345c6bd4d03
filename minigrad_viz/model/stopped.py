"""Why there is no graph, where a cell stopped (a station for the operation that failed, beside the tensors
that it was given), and whether that was a backward call which was refused before it began, of which no
event tells but the error.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..trace.events import Created, Failed, Statement, Trace
from ..trace.graph import GUILTY, Card, Graph, Mark, Route, Station
from ..trace.statements import expression
from ..trace.where import Span
from ..words import clean, shorten, text
from .place import Place

STARTS = ("backward", "grad")


def refused(trace: Trace) -> Failed | None:
    """The error that ended the cell, if it came up where the cell wrote a backward call."""
    last = trace.events[-2:]  # an event with the variables follows it
    failed = next((event for event in last if isinstance(event, Failed)), None)
    return failed if failed is not None and starts_backward(failed.span) else None


def starts_backward(span: Span | None) -> bool:
    """Whether an expression is a call of `backward` or `grad`."""
    match span and expression(span.text):
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name)):
            return name in STARTS
    return False


def given_there(trace: Trace, places: Iterable[Place]) -> set[str]:
    """The ids of the places of tensors that were made inside such a call, to be its gradients, and that
    nothing else has used: nothing leads to them or from them."""
    failed = refused(trace)
    if failed is None or failed.span is None:
        return set()
    places, span = list(places), failed.span
    used = {id for place in places for id in place.inputs or ()}
    made = {
        event.tensor.id
        for event in trace.events
        if isinstance(event, Created) and event.span is not None and span.holds(event.span)
    }
    return {p.id for p in places if p.name is None and p.states[0].id in made - used}


Note = tuple[str, dict[str, str]]
LEFT = "no_graph_left"
CHECKS = re.compile(r"\b(?:grad(?:grad)?check|check_gradients)\(")  # which run a function unseen
OF_CUT = {
    "inference": "no_graph_inference", "no_grad": "no_graph_no_grad", "detach": "no_graph_detached",
    "data": LEFT, "numpy": LEFT, "item": LEFT, "tensor": LEFT, "integer": "no_graph_integer",
}  # fmt: skip


def why_no_graph(trace: Trace, places: Sequence[Place], named: Mapping[str, str]) -> Note | None:
    """The sentence that says why a cell has no graph: no tensor required gradients, or those that did have no
    path to a result, or every such path was cut, or the first operation on them failed."""
    states = [s for p in places for s in p.states]
    if not states or any(s.requires_grad and s.node is not None for s in states):
        return None
    asked = [named[s.id] for s in states if s.requires_grad and s.id in named]
    if not any(s.requires_grad for s in states):
        return ("no_graph_forward" if any(s.tangent is not None for s in states) else "no_graph", {})
    ends = [p for p in places if p.fog or (p.cut and p.asking)]
    for cut, key in OF_CUT.items():
        found = [place for place in ends if OF_CUT[place.fog or place.cut] == key]
        names = [name for place in found for name in called(place, named)]
        if names:
            value = found[0].states[0].value
            dtype = {"dtype": value.dtype} if cut == "integer" and value is not None else {}
            return key, {"names": ", ".join(dict.fromkeys(names)), **dtype}
    if any(isinstance(e, Statement) and CHECKS.search(e.span.text) for e in trace.events):
        return ("no_graph_checked", {})
    failed = next((event for event in trace.events if isinstance(event, Failed) and event.named), None)
    if failed is not None and failed.span is not None:
        return "no_graph_failed", {"code": " ".join(failed.span.text.split())}
    return ("no_graph_unused", {"names": ", ".join(asked) or "…"})


def called(place: Place, named: Mapping[str, str]) -> list[str]:
    """What to call the tensors of a place: their variables, else what was written there."""
    names = [named[state.id] for state in place.states if state.id in named]
    return names or ([place.expr] if place.expr and not place.fog else [])


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
