"""In which order the nodes of a backward call run, and what each still waits for: recomputed from the graph;
and where the engine stopped, as far as graph and record tell.

Note [Two sources for one order]
    The engine counts the edges that lead to each node, then always runs the newest node all of whose edges
    have reported, an AccumulateGrad before all others. That needs nothing but the graph and the ages of its
    nodes, so the queue can be shown although nobody recorded it. What did run is known from the record, and
    `Schedule.agrees` holds the two against each other: where they differ, no queue is shown rather than a
    wrong one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from ..protocol import Value
from ..trace.events import NodeState, Trace
from ..trace.walk import reached
from .place import BackwardCall, Lookup

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

    return {id: known[id] for id in reached((id for id in roots if id in known), behind)}


def needed(nodes: Iterable[NodeState], targets: Collection[str]) -> set[str]:
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


def order(
    nodes: Iterable[NodeState], roots: Sequence[str], limited: Collection[str] | None = None
) -> list[str]:
    """The nodes that can be reached from `roots`, or those of them in `limited`, in the order in which they
    leave the queue."""
    known = reach(nodes, roots)
    missing = edges_into(known.values())
    heap: list[_Entry] = []
    for id in dict.fromkeys(roots):
        if id in known and not missing[id] and (limited is None or id in limited):
            heappush(heap, _Entry(known[id]))
    done = []
    while heap:
        node = heappop(heap).node
        done.append(node.id)
        for edge in node.edges:
            if edge is not None and edge[0] in known:
                missing[edge[0]] -= 1
                if not missing[edge[0]] and (limited is None or edge[0] in limited):
                    heappush(heap, _Entry(known[edge[0]]))
    return done


class Schedule:
    """The queue of one backward call over `nodes`, from `roots`; `limited` are the nodes that run, if not all
    do.

    `order` are the nodes that run, in their order, `at` gives the place of each in it; `missing` says how
    many edges lead to each node.
    """

    def __init__(
        self, nodes: Iterable[NodeState], roots: Sequence[str], limited: Collection[str] | None = None
    ) -> None:
        self._nodes = reach(nodes, roots)
        self._roots = list(dict.fromkeys(roots))
        self.order = order(self._nodes.values(), roots, limited)
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
            for edge in self._nodes[id].edges:
                if edge is None or edge[0] not in self._nodes:
                    continue
                missing[edge[0]] -= 1
                place = self.at.get(edge[0])
                if place is None:
                    continue
                if missing[edge[0]]:
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
        limited = needed(started.nodes, {found.node_at(tensor) or "" for tensor in asked})
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
        return unusable(call, found, schedule)
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


def unusable(call: BackwardCall, found: Lookup, schedule: Schedule | None) -> str | None:
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
