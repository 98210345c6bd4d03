"""The state of one backward pass: which nodes wait for how many edges, and which gradients have arrived.

Note [Ownership]
    The engine adds in place only into memory that nobody else can see. That is its own sums, and the result
    of an op's vjp if it is neither the incoming gradient nor a view. A vjp is linear in the incoming
    gradient, so its result is that gradient, a view of it, or new memory. Hooks may keep what they receive,
    so nothing is owned after a hook has run.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .node import LAST, Node

Slot = tuple[Node, int]
AGE = operator.attrgetter("_seq")
NEVER = -(2**60)  # in `Task.waiting`: a node that never becomes ready
ZEROS = itertools.repeat(0)  # output numbers of the edges of a node whose `_nrs` is None


class Inputs:
    """What a backward pass is limited to: the nodes and output numbers where the wanted gradients arrive.

    With `accumulate` they are deposited in `.grad` (`backward(inputs=…)`); otherwise they are captured
    (`grad`).
    """

    __slots__ = ("accumulate", "slots")

    def __init__(self, slots: Sequence[Slot], accumulate: bool = False) -> None:
        self.slots = slots
        self.accumulate = accumulate


class Task:
    """One backward pass.

    With `create_graph`, gradients are tensors with a graph (in forward mode they are tensors in any case,
    without a graph); otherwise they are raw arrays. `waiting` counts for every node the edges that have not
    reported (see `count_edges`). `buffers` holds the gradients that have arrived, and `owned` the nodes whose
    buffer the engine may add to in place. `needed` is None if every node runs, else the set of nodes that do.
    `targets` are the nodes where wanted gradients arrive. `captures` maps (node, output number) to the
    gradient that arrived there. `notes` is for hooks that store something for this pass.
    """

    __slots__ = (
        "keep_graph",
        "create_graph",
        "waiting",
        "heap",
        "buffers",
        "owned",
        "needed",
        "targets",
        "captures",
        "notes",
    )

    needed: set[Node] | None
    targets: set[Node]
    captures: dict[Slot, Any]
    notes: dict[Any, Any]

    def __init__(self, keep_graph: bool, create_graph: bool, waiting: dict[Node, int]) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.waiting = waiting
        self.heap: list[tuple[int, Node]] = []
        self.buffers: dict[Node, Any] = {}
        self.owned: set[Node] = set()
        self.needed = None

    def limit(self, slots: Sequence[Slot], accumulate: bool = False) -> None:
        """Run only the nodes that lead to `slots`. Capture what arrives there, or with `accumulate` deposit
        it.

        The inputs of an op are older than the op, so one sweep by age finds the nodes from which a target can
        be reached over at least one edge.
        """
        self.captures = {} if accumulate else dict.fromkeys(slots)
        self.targets = targets = {node for node, _ in slots}
        self.needed = needed = set(targets) if accumulate else set()
        waiting = self.waiting
        for node in sorted(waiting, key=AGE):
            for n in node._next:
                if n in targets or n in needed:
                    needed.add(node)
                    break
            else:
                if node not in targets:
                    waiting[node] = NEVER  # what does not run must not change the order of ties


def count_edges(roots: Sequence[Node]) -> dict[Node, int]:
    """Return, for every reachable node, how many edges must report there: 1 for a single edge, a negative
    number for several, 0 for a root that no edge leads to.
    """
    waiting = dict.fromkeys(roots, 0)
    found = [*waiting]
    for node in found:
        for n in node._next:
            if n is None:
                continue
            if n in waiting:
                waiting[n] = waiting[n] - 1 if waiting[n] <= 0 else -2
            else:
                waiting[n] = 1
                found.append(n)
    return waiting


class Order(NamedTuple):
    """A graph in the order in which the plain loop runs it (see Note [Order] in `engine`).

    `nodes` are the nodes behind the root, newest first. `leaves` has, for every leaf, the number of edges
    that lead to it. `changes` is the value of `edge_changes` when the order was found. The root keeps the
    order for the next pass. The order does not contain the root, because that would be a reference cycle.
    """

    nodes: list[Node]
    leaves: dict[Node, int]
    changes: int


edge_changes = 0  # how often the edges of existing nodes were changed


def edges_changed() -> None:
    """Make sure that no order found before is used again."""
    global edge_changes
    edge_changes += 1


def order_of(root: Node, slots: tuple[Slot, ...] | None, keep: bool) -> Order | None:
    """Return the graph behind `root` in the order of the plain loop, limited to what leads to `slots`.

    The order of the last pass is used again if it was limited in the same way and is still plain. Return None
    if the plain loop cannot run this graph.
    """
    asked, order = getattr(root, "_order", (None, None))
    if order is not None and asked == slots and root._extra is None and is_plain(order, slots):
        return order
    order = by_age(root, slots)
    if order is not None and keep:
        root._order = slots, order
    return order


def is_plain(order: Order, slots: tuple[Slot, ...] | None) -> bool:
    """Return whether no node got hooks and no edge changed since the order was found. The nodes of `slots`
    are not in the order, but their hooks are called.
    """
    for node, _ in slots or ():
        if node._extra is not None:
            return False
    for node in order.nodes:
        if node._extra is not None:
            return False
    for node in order.leaves:
        if node._extra is not None:
            return False
    return order.changes == edge_changes


def by_age(root: Node, slots: tuple[Slot, ...] | None) -> Order | None:
    """Find the order of the graph behind `root`; with `slots`, only of the nodes that lead there. Return None
    if a node is not plain, or if a slot is not at a reachable leaf.
    """
    if not root._plain or root._extra is not None:
        return None
    nodes, seen = [root], {root}
    leaves: dict[Node, int] = {}
    for node in nodes:
        for n in node._next:
            if n is None or n in seen:
                continue
            if n in leaves:
                leaves[n] += 1
            elif n._seq == LAST:
                leaves[n] = 1
            elif n._plain and n._extra is None:
                seen.add(n)
                nodes.append(n)
            else:
                return None
    for leaf in leaves:
        if leaf._extra is not None:
            return None
    nodes.sort(key=AGE, reverse=True)
    if slots is None:
        return Order(nodes[1:], leaves, edge_changes)
    ends = {node for node, _ in slots if node in seen or node in leaves}
    needed = ends.copy()
    for node in reversed(nodes):
        if not needed.isdisjoint(node._next):
            if node in ends:
                return None
            needed.add(node)
    if root not in needed or root in ends or any(node._outputs != 1 for node in ends):
        return None
    needed -= ends
    return Order([node for node in nodes if node in needed and node is not root], leaves, edge_changes)


def add(task: Task, node: Node, nr: int, gradient: Any) -> None:
    """Add a gradient to the buffer of output `nr` of `node`; under `create_graph` this is recorded."""
    buffers = task.buffers
    if node._outputs > 1:
        slots = buffers.setdefault(node, [None] * node._outputs)
        slots[nr] = gradient if slots[nr] is None else slots[nr] + gradient
    elif node not in buffers:
        buffers[node] = gradient
    elif node in task.owned:
        np.add(buffers[node], gradient, buffers[node])
    else:
        total = buffers[node] = buffers[node] + gradient
        if total.__class__ is ndarray:
            task.owned.add(node)


def capture(task: Task, node: Node, gradient: Any) -> None:
    """Capture the gradient that arrived at `node`, for each output that was asked for."""
    if node._outputs == 1:
        if (node, 0) in task.captures:
            task.captures[node, 0] = gradient
    elif gradient is not None:
        for nr in range(node._outputs):
            if (node, nr) in task.captures:
                task.captures[node, nr] = gradient[nr]


def is_new(gradient: Any, sent: Any) -> bool:
    """Return whether an op made this gradient as new memory from the gradient that it was `sent`. See Note
    [Ownership].
    """
    return (
        gradient.__class__ is ndarray and sent is not None and gradient is not sent and gradient.base is None
    )


def will_run(task: Task, node: Node) -> bool:
    """Return whether `node` runs in this pass, or its gradient is captured."""
    if node not in task.waiting:
        return False
    return task.needed is None or node in task.needed or node in task.targets
