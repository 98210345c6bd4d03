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
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .node import LAST, AccumulateGrad, Node

Slot = tuple[Node, int]
AGE = operator.attrgetter("_seq")
NEVER = -(2**60)  # in `Task.waiting`: a node that never becomes ready
ZEROS = itertools.repeat(0)  # output numbers of the edges of a node whose `_nrs` is None


class Task:
    """One backward pass.

    With `create_graph`, gradients are tensors with a graph (in forward mode they are tensors in any case,
    without a graph); otherwise they are raw arrays. `waiting` counts for every node the edges that have not
    reported (see `count_edges`). `buffers` holds the gradients that have arrived, and `owned` the nodes whose
    buffer the engine may add to in place. `needed` is None if every node runs, else the set of nodes that do.
    `targets` are the nodes where wanted gradients arrive. `captures` maps (node, output number) to the
    gradient that arrived there. `notes` is for hooks that store something for this pass. `root` is the only
    root, None if there are several or no hook can ask for it.
    """

    needed: set[Node] | None
    targets: set[Node]
    captures: dict[Slot, Any]
    notes: dict[Any, Any]

    def __init__(
        self,
        keep_graph: bool,
        create_graph: bool,
        waiting: dict[Node, int],
        buffers: dict[Node, Any] | None = None,
        owned: set[Node] | None = None,
    ) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.waiting = waiting
        self.heap: list[tuple[int, Node]] = []
        self.buffers = {} if buffers is None else buffers
        self.owned = set() if owned is None else owned
        self.needed = None
        self.root: Node | None = None

    def limit(self, slots: Sequence[Slot], accumulate: bool = False) -> None:
        """Run only the nodes that lead to `slots`. Capture what arrives there, or with `accumulate` deposit
        it.
        """
        self.captures = {} if accumulate else dict.fromkeys(slots)
        self.targets = targets = {node for node, _ in slots}
        self.needed = needed = leading_to(targets, self.waiting)
        for node in self.waiting:
            if node not in needed and node not in targets:
                self.waiting[node] = NEVER  # what does not run must not change the order of ties
        if accumulate:
            needed |= targets


def leading_to(targets: Collection[Node], nodes: Iterable[Node]) -> set[Node]:
    """Return those of the nodes from which a target can be reached over at least one edge.

    The inputs of an op are older than the op, so one sweep by age finds them.
    """
    needed: set[Node] = set()
    for node in sorted(nodes, key=AGE):
        for n in node._next:
            if n in needed or n in targets:
                needed.add(node)
                break
    return needed


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


class Limit(NamedTuple):
    """What a pass in the plain loop is limited to (see Note [Order] in `engine`).

    `slots` are where the wanted gradients arrive. `needed` are the nodes that lead there, and with `is_whole`
    these are all nodes. `inner` are the nodes of `slots` that are no leaves. `changes` is the value of
    `edge_changes` when they were found. A node keeps the limit for the next pass, so it is not in `needed`:
    that would be a reference cycle. It is the root of the pass, or the node to which the root's only edge
    leads: the roots `y[0]`, `y[1]`, … of a user's loop over `grad` share the limit of the node of y.
    """

    slots: tuple[Slot, ...]
    needed: set[Node]
    is_whole: bool
    inner: set[Node]
    changes: int


edge_changes = 0  # how often the edges of existing nodes were changed


def edges_changed() -> None:
    """Make sure that no limit found before is used again."""
    global edge_changes
    edge_changes += 1


def limit_of(root: Node, slots: tuple[Slot, ...], keep: bool) -> Limit | None:
    """Return what leads from `root` to `slots`, from the last pass over the graph if that kept it. Return
    None if the plain loop cannot capture these gradients: one of the nodes has several outputs, leads to
    another one, or cannot be reached.
    """
    ends, keeper = dict(slots), root
    if keep:
        behind = only_edge(root)
        if behind is not None and behind._seq != LAST and behind not in ends and root not in ends:
            keeper = behind
    limit: Limit | None = getattr(keeper, "_limit", None)
    if limit is None or limit.slots != slots or limit.changes != edge_changes:
        limit = find_limit(keeper, slots)
        if limit is not None and keep:
            keeper._limit = limit
    return limit


def only_edge(node: Node) -> Node | None:
    """Return the node to which the only edge of a node leads; None if it has several."""
    return node._next[0] if len(node._next) == 1 else None


def find_limit(root: Node, slots: tuple[Slot, ...]) -> Limit | None:
    """Do what `limit_of` does, without a kept limit."""
    targets = dict(slots)
    seen, nodes, is_whole = {root}, [root], root.__class__ is not AccumulateGrad
    for node in nodes:
        leads = False
        for n in node._next:
            if n is not None:
                leads = True
                if n in seen:
                    continue
                seen.add(n)
                if n.__class__ is not AccumulateGrad:
                    nodes.append(n)
                elif n not in targets:
                    is_whole = False
        if not leads or node in targets:
            is_whole = False
    if is_whole:
        seen.discard(root)
        return Limit(slots, seen, True, set(), edge_changes)
    needed, inner = leading_to(targets, nodes), {n for n in targets if n.__class__ is not AccumulateGrad}
    if root not in needed or not needed.isdisjoint(targets) or any(n._outputs != 1 for n in inner & seen):
        return None
    needed |= targets.keys() & seen
    needed.discard(root)
    return Limit(slots, needed, False, inner, edge_changes)


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


def will_run(task: Task, node: Node) -> bool:
    """Return whether `node` runs in this pass, or its gradient is captured."""
    if node not in task.waiting:
        return False
    return task.needed is None or node in task.needed or node in task.targets
