"""In which order the nodes of a backward call run, and what each still waits for; where the engine or the
cell stopped.

Note [Two sources for one order]
    The engine counts the edges that lead to each node, then always runs the newest node all of whose edges
    have reported, an AccumulateGrad before all others. That needs nothing but the graph and the ages of its
    nodes, so the queue can be shown although nobody recorded it. What did run is known from the record, and
    `Schedule.agrees` holds the two against each other: where they differ, no queue is shown rather than a
    wrong one.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple

from ..protocol import Value
from ..trace.events import CellFailed, NodeState, Statement, TensorCreated, Trace, of_kinds
from ..trace.graph import GUILTY, Card, Graph, Mark, Route, Station
from ..trace.graph_walk import reachable
from ..trace.source_positions import Span
from ..trace.statements import parse_expression
from ..words import clean, shorten, text
from .stations import BackwardCall, Lookup, Place

# ─── In which order the nodes of a backward call run, and what each still waits for


SMALL = 60  # nodes of a graph in which also those wait to which nothing has come yet


class Moment(NamedTuple):
    """One moment of the queue: the nodes that are `ready`, in the order in which they will run, and those
    `waiting`, each with the number of edges that have not reported.

    A large graph lists only those as waiting to which at least one edge has reported.
    """

    ready: tuple[str, ...]
    waiting: tuple[tuple[str, int], ...]


class _Entry:
    """A node in the heap. Entries of equal age count as equal, so that `heapq` hands AccumulateGrads out as
    the engine does."""

    __slots__ = ("age", "node")

    def __init__(self, node: NodeState) -> None:
        self.age = -node.sequence
        self.node = node

    def __lt__(self, other: _Entry) -> bool:
        return self.age < other.age


def edges_into(nodes: Iterable[NodeState]) -> dict[str, int]:
    """Per node, how many edges lead to it."""
    count: dict[str, int] = {}
    for node in nodes:
        count.setdefault(node.id, 0)
        for edge in node.edges:
            if edge is not None:
                count[edge[0]] = count.get(edge[0], 0) + 1
    return count


def reach(nodes: Iterable[NodeState], roots: Sequence[str]) -> dict[str, NodeState]:
    """The nodes that can be reached from `roots`."""
    known = {node.id: node for node in nodes}

    def behind(id: str) -> Iterable[str]:
        return (edge[0] for edge in known[id].edges if edge is not None and edge[0] in known)

    return {id: known[id] for id in reachable((id for id in roots if id in known), behind)}


def needed_nodes(nodes: Iterable[NodeState], targets: Collection[str]) -> set[str]:
    """The nodes that run when only the gradients that arrive at the nodes `targets` are asked for: those from
    which one of them can be reached.

    An op's inputs are older than the op, so one sweep by age suffices.
    """
    found, result = set(targets), set()
    for node in sorted(nodes, key=lambda node: node.sequence):
        if any(edge is not None and edge[0] in found for edge in node.edges):
            found.add(node.id)
            result.add(node.id)
    return result


def queue(
    nodes: Mapping[str, NodeState], roots: Sequence[str], limited: Collection[str] | None = None
) -> Iterator[tuple[str, dict[str, int]]]:
    """The nodes that leave the queue of a call from `roots`, or those of them in `limited`, in their order,
    each with the nodes that its edges lead to and how many edges have not reported to these then."""
    missing = edges_into(nodes.values())
    heap: list[_Entry] = []
    for id in dict.fromkeys(roots):
        if id in nodes and not missing[id] and (limited is None or id in limited):
            heappush(heap, _Entry(nodes[id]))
    while heap:
        node = heappop(heap).node
        reports: dict[str, int] = {}
        for edge in node.edges:
            if edge is not None and edge[0] in nodes:
                missing[edge[0]] -= 1
                reports[edge[0]] = missing[edge[0]]
                if not missing[edge[0]] and (limited is None or edge[0] in limited):
                    heappush(heap, _Entry(nodes[edge[0]]))
        yield node.id, reports


class Schedule:
    """The queue of one backward call over `nodes`, from `roots`; `limited` are the nodes that run, if not all
    do.

    `order` are the nodes that run, in their order, `at` gives the place of each in it. `missing` says how
    many edges lead to each node, `reports` how many of them are left at the nodes that a node reports to.
    """

    def __init__(
        self, nodes: Iterable[NodeState], roots: Sequence[str], limited: Collection[str] | None = None
    ) -> None:
        self._nodes = reach(nodes, roots)
        self._roots = list(dict.fromkeys(roots))
        self.reports = dict(queue(self._nodes, roots, limited))
        self.order = list(self.reports)
        self.at = {id: i for i, id in enumerate(self.order)}
        self.missing = edges_into(self._nodes.values())

    def agrees(self, ran: Sequence[str], failed: bool = False) -> bool:
        """Whether the nodes `ran` are those that run, in their order; a call that `failed` may have stopped
        early."""
        return list(ran) == self.order[: len(ran)] and (failed or len(ran) == len(self.order))

    def moments(self, wanted: Collection[int] | None = None) -> dict[int, Moment]:
        """The queue after so many nodes have run, for each number in `wanted` (from 0; default: all)."""
        running, missing = self.order, dict(self.missing)
        ready = sorted(self.at[id] for id in self._roots if id in self.at and not missing[id])
        waiting = [i for i, id in enumerate(running) if missing[id]] if len(running) <= SMALL else []
        listed = set(waiting)
        found: dict[int, Moment] = {}

        def note(count: int) -> None:
            if wanted is None or count in wanted:
                left = tuple((running[i], missing[running[i]]) for i in waiting)
                found[count] = Moment(tuple(running[i] for i in ready), left)

        note(0)
        for count, id in enumerate(running, 1):
            del ready[0]
            for target, left in self.reports[id].items():
                missing[target] = left
                place = self.at.get(target)
                if place is None:
                    continue
                if left:
                    if place not in listed:
                        listed.add(place)
                        insort(waiting, place)
                else:
                    insort(ready, place)
                    if place in listed:
                        del waiting[bisect_left(waiting, place)]
            note(count)
        return found


TWICE, CHANGED = "backward through the graph a second time", "modified by an inplace operation"
NOT_A_NUMBER = re.compile(r"Function '(\w+)' returned nan values in its")  # says anomaly detection


def schedule_of(trace: Trace, call: BackwardCall, found: Lookup) -> Schedule | None:
    """The queue of a call, unless it contradicts what was recorded; that of a finished graph."""
    started, ended = call.started, call.ended
    if trace.roots is not None:  # of a finished graph, which nobody saw run
        return Schedule(trace.nodes, [found.node_at(root) or "" for root in trace.roots])
    if started is None:
        return None
    failed = ended is None or ended.error is not None
    limited: set[str] | None = None
    if started.kind == "grad" or (failed and started.wanted is not None):
        asked = [tensor for tensor, _ in ended.captured] if ended is not None else []
        asked = asked or list(started.wanted or ())
        if not asked:
            return None  # it failed, and nobody knows what it was asked for
        limited = needed_nodes(started.nodes, {found.node_at(tensor) or "" for tensor in asked})
        if started.kind != "grad":
            limited |= {node.id for node in started.nodes if node.variable in asked}
    elif not failed:
        limited = set(call.ran)  # `backward(inputs=…)` leaves some out
    schedule = Schedule(started.nodes, [found.node_at(root) or "" for root in started.roots], limited)
    return schedule if schedule.agrees(list(call.ran), failed) else None


def guilty_in(trace: Trace, call: BackwardCall, found: Lookup, schedule: Schedule | None) -> str | None:
    """The node that would have run when a call failed; None if the failure came before any."""
    started = call.started
    if not trace.recorded:
        return node_without_values(call, found, schedule)
    ran, named = list(call.ran), NOT_A_NUMBER.search(call.error or "")
    if named is not None and ran and found.nodes[ran[-1]].name == named[1]:
        return ran[-1]  # it ran, and what it gave was looked at then
    if started is None or schedule is None or len(ran) >= len(schedule.order):
        return None
    for root, gradient in zip(started.roots, started.gradients, strict=True):
        state = found.state(root)
        value = None if state is None else state.value
        if gradient is None or (value is not None and value.shape != gradient.shape):
            return None
    return schedule.order[len(ran)]


def node_without_values(call: BackwardCall, found: Lookup, schedule: Schedule | None) -> str | None:
    """Where nobody saw what ran: the node of which the traceback tells; else the only one whose saved values
    are gone or were written to, if the error is about that. Nodes that ran in the call have let go of theirs
    too; behind one that still has them none did."""
    ended = call.ended
    if ended is None or ended.stopped is not None or schedule is None:
        return None if ended is None else ended.stopped
    changed, freed = list[str](), list[str]()
    for node in schedule.order:
        saved = found.nodes[node].saved
        if any(s.now is not None for s in saved):
            changed.append(node)
        if any(s.freed for s in saved):
            freed.append(node)
        elif any(isinstance(s.value, Value) or s.packed for s in saved):
            break
    error = ended.error or ""
    ends = freed if TWICE in error else changed[:1] if CHANGED in error else []
    return ends[0] if len(ends) == 1 else None


# ─── Why there is no graph


STARTS = ("backward", "grad")


def refused_backward(trace: Trace) -> CellFailed | None:
    """The error that ended the cell, if it occurred at a backward call of the cell."""
    last = trace.events[-2:]  # an event with the variables follows it
    failed = next(iter(of_kinds(last, CellFailed)), None)
    return failed if failed is not None and starts_backward(failed.span) else None


def starts_backward(span: Span | None) -> bool:
    """Whether an expression is a call of `backward` or `grad`."""
    match span and parse_expression(span.text):
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name)):
            return name in STARTS
    return False


def given_there(trace: Trace, places: Iterable[Place]) -> set[str]:
    """The ids of the places of tensors that were made inside such a call, to be its gradients, and that
    nothing else has used: nothing leads to them or from them."""
    failed = refused_backward(trace)
    if failed is None or failed.span is None:
        return set()
    places, span = list(places), failed.span
    used = {id for place in places for id in place.inputs or ()}
    made = {
        event.tensor.id
        for event in trace.of(TensorCreated)
        if event.span is not None and span.holds(event.span)
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
        names = [name for place in found for name in place_names(place, named)]
        if names:
            value = found[0].states[0].value
            dtype = {"dtype": value.dtype} if cut == "integer" and value is not None else {}
            return key, {"names": ", ".join(dict.fromkeys(names)), **dtype}
    if any(CHECKS.search(e.span.text) for e in trace.of(Statement)):
        return ("no_graph_checked", {})
    failed = next((event for event in trace.of(CellFailed) if event.named), None)
    if failed is not None and failed.span is not None:
        return "no_graph_failed", {"code": " ".join(failed.span.text.split())}
    return ("no_graph_unused", {"names": ", ".join(asked) or "…"})


def place_names(place: Place, named: Mapping[str, str]) -> list[str]:
    """What to call the tensors of a place: their variables, else what was written there."""
    names = [named[state.id] for state in place.states if state.id in named]
    return names or ([place.expr] if place.expr and not place.fog else [])


STOPPED = "stopped"  # the id of its card, which stands for no tensor
LONGEST = 60  # columns of its source
PLAIN = re.compile(r"[\w.]+")  # a name or an attribute: nothing was computed there


def with_failed_operation(graph: Graph, whole: Graph, trace: Trace, lang: str | None) -> Graph:
    """A picture with a station for the operation that ended the cell with an error; as it is where the cell
    did not fail, where a backward call or a mere attribute did, or where no tensor shown is guilty. Its id is
    new in the `whole` graph as well."""
    failed = next(reversed(trace.of(CellFailed)), None)
    guilty = dict.fromkeys(guilty_cards(graph))
    if failed is None or failed.span is None or starts_backward(failed.span) or not guilty:
        return graph
    source = shorten(clean(failed.span.flat), LONGEST)
    if PLAIN.fullmatch(source):
        return graph
    id = f"s{1 + max(int(station.id[1:]) for station in (*graph.stations, *whole.stations))}"
    first = 1 + max((int(route.id[1:]) for route in (*graph.routes, *whole.routes)), default=-1)
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
