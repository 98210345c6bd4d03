"""What one backward pass knows: which nodes wait for how many edges, which gradients have arrived.

Note [Ownership]
    The engine adds in place only into what nobody else can see: its own sums, and the result of an op's vjp
    when it is neither the incoming gradient nor a view. A vjp is linear in the incoming gradient, so what it
    returns is that gradient, a view of it, or new memory. Hooks may keep what they see, so nothing is owned
    after one has run.
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
NEVER = -(2**60)  # in `Task.waiting`: what does not become ready
ZEROS = itertools.repeat(0)  # output numbers of the edges of a node that notes none


class Inputs:
    """What a backward pass is limited to: the nodes and output numbers where the wanted gradients arrive.

    `accumulate` deposits them (`backward(inputs=…)`); otherwise they are captured (`grad`).
    """

    __slots__ = ("accumulate", "slots")

    def __init__(self, slots: Sequence[Slot], accumulate: bool = False) -> None:
        self.slots = slots
        self.accumulate = accumulate


class Task:
    """One backward pass.

    `create_graph` makes gradients tensors, which have a graph (but not in forward mode, where they are
    tensors in any case); else they are raw arrays. `waiting` counts for every node the edges that have not
    reported (see `count_edges`), `buffers` holds the gradients that have, `owned` the nodes
    whose buffer the engine may add to in place. `needed` is None when every node runs, else the set of nodes
    that do; `targets` are the nodes where wanted gradients arrive. `captures` maps (node, output number) to
    the gradient that arrived there. `notes` is for hooks that want to remember something for this pass.
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
        """Run only what leads to `slots`, and note what arrives there or (`accumulate`) let it be deposited.

        An op's inputs are older than the op, so one sweep by age finds the nodes from which a target can be
        reached over at least one edge.
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
                    waiting[node] = NEVER  # what does not run must not reorder the heap's ties


def count_edges(roots: Sequence[Node]) -> dict[Node, int]:
    """For every node that can be reached, how many edges have to report there: 1 where there is a single
    one, else below zero; 0 for a root to which none leads.
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
    """A graph in the order in which the plain loop runs it (see Note [Order] in `engine`): the nodes that are
    behind the root, newest first, and for every leaf how many edges lead there; `changes` is `edge_changes`
    as it was. The root keeps the order for the next pass over its graph; it is not part of it, which would be
    a cycle.
    """

    nodes: list[Node]
    leaves: dict[Node, int]
    changes: int


edge_changes = 0  # how often edges of nodes that were there already were led elsewhere


def edges_changed() -> None:
    """Let no order that was found before be used again."""
    global edge_changes
    edge_changes += 1


def order_of(root: Node, slots: tuple[Slot, ...] | None, keep: bool) -> Order | None:
    """The graph behind `root` in the order of the plain loop, limited to what leads to `slots`: that of the
    last pass, if it was limited in the same way and is still plain. None where the plain loop will not do.
    """
    asked, order = getattr(root, "_order", (None, None))
    if order is not None and asked == slots and root._extra is None and is_plain(order):
        return order
    order = by_age(root, slots)
    if order is not None and keep:
        root._order = slots, order
    return order


def is_plain(order: Order) -> bool:
    """Whether no node has got hooks, and no edge was changed, since the order was found."""
    for node in order.nodes:
        if node._extra is not None:
            return False
    for node in order.leaves:
        if node._extra is not None:
            return False
    return order.changes == edge_changes


def by_age(root: Node, slots: tuple[Slot, ...] | None) -> Order | None:
    """The order of the graph behind `root`; with `slots`, of those nodes that lead there. None if a node is
    not plain, no slot can be reached, or one leads to another or is one of several outputs.
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
    """Put a gradient into the buffer of output `nr` of `node`, adding to what is there (recorded under
    `create_graph`).
    """
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
    """Note the gradient that arrived at `node` for those who asked for it."""
    if node._outputs == 1:
        if (node, 0) in task.captures:
            task.captures[node, 0] = gradient
    elif gradient is not None:
        for nr in range(node._outputs):
            if (node, nr) in task.captures:
                task.captures[node, nr] = gradient[nr]


def is_new(gradient: Any, sent: Any) -> bool:
    """Whether an op has just made this gradient from the one that it was `sent`. See Note [Ownership]."""
    return (
        gradient.__class__ is ndarray and sent is not None and gradient is not sent and gradient.base is None
    )


def will_run(task: Task, node: Node) -> bool:
    """Whether `node` runs in this pass, or its gradient is asked for."""
    if node not in task.waiting:
        return False
    return task.needed is None or node in task.needed or node in task.targets
