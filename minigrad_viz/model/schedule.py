"""In which order the nodes of a backward call run, and what each still waits for: recomputed from the graph.

Note [Two sources for one order]
    The engine counts the edges that lead to each node, then always runs the newest node all of whose edges
    have reported, an AccumulateGrad before all others. That needs nothing but the graph and the ages of its
    nodes, so the queue can be shown although nobody recorded it. What did run is known from the record, and
    `Schedule.agrees` holds the two against each other: where they differ, no queue is shown rather than a
    wrong one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from ..trace.events import NodeState

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
    found = {id: known[id] for id in roots if id in known}
    stack = list(found)
    while stack:
        for edge in found[stack.pop()].edges:
            if edge is not None and edge[0] in known and edge[0] not in found:
                found[edge[0]] = known[edge[0]]
                stack.append(edge[0])
    return found


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
