"""The backward pass: every node once, newest first, when all its edges have reported.

Note [Order]
    Nodes wait in a heap of (-sequence number, node), so the newest ready node runs first and an
    AccumulateGrad at once. Entries with equal numbers (AccumulateGrads) compare as equal: `Node.__lt__` is
    always False, and `heapq` then hands them out in the order of PyTorch's priority queue.

Note [Ownership]
    The engine adds in place only into what nobody else can see: its own sums, and the result of an op's vjp
    when it is neither the incoming gradient nor a view. A vjp is linear in the incoming gradient, so what it
    returns is that gradient, a view of it, or new memory. Hooks may keep what they see, so nothing is owned
    after one has run.

Note [Tracebacks]
    What stands between a user's `backward()` and the place of an error, or a user's hook, says nothing to the
    user. These functions set `__tracebackhide__`, which IPython and pytest heed.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy import ndarray

from . import modes
from .graph import AccumulateGrad, Node
from .hook_calls import Mode, after_deposit, after_node, before_node
from .modes import quiet
from .tensor_base import deposit, deposit_tensor

Slot = tuple[Node, int]
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

    `create_graph` makes gradients tensors that have a graph; else they are raw arrays. `waiting` counts for
    every node the edges that have not reported, `buffers` holds the gradients that have, `owned` the nodes
    whose buffer the engine may add to in place. `needed` is None when every node runs, else the set of nodes
    that do; `targets` are the nodes where wanted gradients arrive. `captures` maps (node, output number) to
    the gradient that arrived there.
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
    )

    needed: set[Node] | None
    targets: set[Node]
    captures: dict[Slot, Any]

    def __init__(self, keep_graph: bool, create_graph: bool, waiting: dict[Node, int]) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.waiting = waiting
        self.heap: list[tuple[int, Node]] = []
        self.buffers: dict[Node, Any] = {}
        self.owned: set[Node] = set()
        self.needed = None

    def limit(self, inputs: Inputs) -> None:
        """Run only what leads to `inputs`."""
        self.captures = {} if inputs.accumulate else dict.fromkeys(inputs.slots)
        self.targets = {node for node, _ in inputs.slots}
        self.needed = find_needed(self.waiting, self.targets)
        if inputs.accumulate:
            self.needed |= {node for node in self.targets if isinstance(node, AccumulateGrad)}
        for node in self.waiting.keys() - self.needed - self.targets:
            self.waiting[node] = (
                0  # it never becomes ready: what does not run must not reorder the heap's ties
            )


def run(
    roots: Sequence[Slot],
    gradients: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    inputs: Inputs | None = None,
) -> list[Any] | None:
    """Run backward from `roots` with their `gradients` (raw arrays, or tensors under `create_graph`).

    With `inputs`, only what leads to them runs and the list of gradients that arrived there is returned (None
    for one that was not reached); otherwise gradients go to the leaves.
    """
    __tracebackhide__ = True
    task = Task(keep_graph, create_graph, count_edges(roots))
    if inputs is not None:
        task.limit(inputs)
    for (node, nr), gradient in zip(roots, gradients):
        if gradient is not None:
            add(task, node, nr, gradient, False)
    if len(roots) == 1:
        task.heap.append((-node._seq, node))
    else:
        ready = dict.fromkeys(node for node, _ in roots)
        for node in ready:  # one by one, as PyTorch does: among leaves that decides the order
            runs = task.needed is None or node in task.needed or node in task.targets
            if runs and not task.waiting[node]:
                heappush(task.heap, (-node._seq, node))
    watchers = modes.observers() if modes.active else ()
    if create_graph:
        with Mode(True):
            drain_watched(task, watchers) if watchers else drain(task)
    elif watchers:
        drain_watched(task, watchers)
    else:
        drain(task)
    return None if inputs is None or inputs.accumulate else [task.captures[slot] for slot in inputs.slots]


def count_edges(roots: Sequence[Slot]) -> dict[Node, int]:
    """For every node that can be reached, how many edges lead to it."""
    waiting: dict[Node, int] = {node: 0 for node, _ in roots}
    stack = list(waiting)
    while stack:
        for node in stack.pop()._next:
            if node is None:
                continue
            if node in waiting:
                waiting[node] += 1
            else:
                waiting[node] = 1
                stack.append(node)
    return waiting


def find_needed(nodes: dict[Node, int], targets: set[Node]) -> set[Node]:
    """The nodes from which a node of `targets` can be reached over at least one edge.

    An op's inputs are older than the op, so one sweep by age suffices.
    """
    found = set(targets)
    needed: set[Node] = set()
    for node in sorted(nodes, key=operator.attrgetter("_seq")):
        for n in node._next:
            if n in found:
                found.add(node)
                needed.add(node)
                break
    return needed


def drain(task: Task) -> None:
    """Run nodes until none is ready: plain ones in sweeps with NumPy's warnings off, others one by one."""
    __tracebackhide__ = True
    node, gradients = None, ()
    while True:
        node = sweep(task, node, gradients) if task.create_graph else quiet(sweep, task, node, gradients)
        if node is None:
            return
        _, gradients = run_node(task, node, task.buffers.pop(node, None))


def drain_watched(task: Task, watchers: tuple[Any, ...]) -> None:
    """What `drain` does, node by node and in its plainest form; observers are told."""
    __tracebackhide__ = True
    plain = task.needed is None and not task.create_graph
    while task.heap:
        node = heappop(task.heap)[1]
        received = task.buffers.pop(node, None)
        leaf = node.__class__ is AccumulateGrad
        if leaf:
            for watcher in watchers:
                watcher.deposit_starts(node)
        if plain and received is not None and node._extra is None and not (leaf or node.speaks):
            sent = quiet(node.apply, received)
            if not task.keep_graph:
                node.release()
        else:
            received, sent = run_node(task, node, received)
        if task.needed is None or node in task.needed:
            for watcher in watchers:
                watcher.node_ran(node, received, sent)
        deliver(task, node, sent)


def deliver(task: Task, node: Node, gradients: tuple[Any, ...]) -> None:
    """Hand the gradients that `node` sends to the nodes behind it."""
    for target, g, nr in zip(node._next, gradients, node._nrs or ZEROS):
        if target is None:
            continue
        if g is not None:
            if target.outputs == 1 and target not in task.buffers:
                task.buffers[target] = g
            elif task.create_graph:
                add(task, target, nr, g, False)
            else:
                quiet(add, task, target, nr, g, False)
        left = task.waiting[target] = task.waiting[target] - 1
        if not left:
            heappush(task.heap, (-target._seq, target))


def sweep(task: Task, node: Node | None, gradients: tuple[Any, ...]) -> Node | None:
    """Deliver the `gradients` of `node`, then run plain nodes; the hot loop of the engine.

    Returns the first node that is not plain (it has hooks, is user code or is asked for), or None at the end.
    A node that is ready and newer than all in the heap runs without passing through it.
    """
    __tracebackhide__ = True
    heap, buffers, waiting, owned, needed = task.heap, task.buffers, task.waiting, task.owned, task.needed
    create_graph, keep = task.create_graph, task.keep_graph
    targets: Any = None if needed is None else task.targets
    own = ready = None
    while True:
        if node is not None:
            for target, g, nr in zip(node._next, gradients, node._nrs or ZEROS):
                if target is None:
                    continue
                if g is not None:
                    if nr or target in buffers or target.outputs != 1:
                        add(task, target, nr, g, own is not None and g is not own)
                    else:
                        buffers[target] = g
                        if g.__class__ is ndarray and own is not None and g is not own and g.base is None:
                            owned.add(target)
                left = waiting[target]
                if left != 1:
                    waiting[target] = left - 1
                else:
                    if ready is not None:
                        heappush(heap, (-ready._seq, ready))
                    ready = target
        if ready is None:
            if not heap:
                return None
            node = heappop(heap)[1]
        elif heap and heap[0][0] <= -ready._seq:
            heappush(heap, (-ready._seq, ready))
            node = heappop(heap)[1]
        else:
            node = ready
        ready = None
        if node._extra is not None or node.speaks:
            return node
        if needed is not None and node in targets:
            if node in needed or node.outputs != 1:
                return node
            if (node, 0) in task.captures:
                task.captures[node, 0] = buffers.pop(node, None)
            node = None
            continue
        own = buffers.pop(node, None)
        if needed is not None and node not in needed:
            gradients = (None,) * len(node._next)  # it does not run, but those behind it wait for it
            continue
        if own is None:
            gradients = (None,) * len(node._next)
        elif create_graph:
            gradients = node.apply_tensors(own)
        else:
            if node.__class__ is AccumulateGrad:
                deposit(node, own, node in owned)
                node = None
                continue
            gradients = node.apply(own)
        if not keep:
            node.release()


def add(task: Task, node: Node, nr: int, gradient: Any, fresh: bool) -> None:
    """Put a gradient into the buffer of output `nr` of `node`, adding to what is there (recorded under
    `create_graph`).
    """
    buffers = task.buffers
    if node.outputs > 1:
        slots = buffers.setdefault(node, [None] * node.outputs)
        slots[nr] = gradient if slots[nr] is None else slots[nr] + gradient
    elif node not in buffers:
        buffers[node] = gradient
        if fresh and gradient.__class__ is ndarray and gradient.base is None:
            task.owned.add(node)
    elif node in task.owned:
        np.add(buffers[node], gradient, buffers[node])
    else:
        total = buffers[node] = buffers[node] + gradient
        if total.__class__ is ndarray:
            task.owned.add(node)


def run_node(task: Task, node: Node, gradient: Any) -> tuple[Any, tuple[Any, ...]]:
    """Run one node that has hooks, speaks or is asked for: the gradient as hooks left it, and what it sends.
    See Note [Hook order] in `hook_calls`.
    """
    __tracebackhide__ = True
    create_graph, extra = task.create_graph, node._extra
    task.owned.discard(node)
    runs = task.needed is None or node in task.needed
    if not runs and node not in task.targets:
        return gradient, (None,) * len(node._next)
    if runs and task.needed is not None:
        capture(task, node, gradient)
    if extra is not None and not extra.silent:
        gradient = before_node(create_graph, node, gradient, runs)
    if not runs:
        capture(task, node, gradient)
        return gradient, (None,) * len(node._next)
    if isinstance(node, AccumulateGrad):
        gradients: tuple[Any, ...] = ()
        if gradient is not None:
            with Mode(create_graph):
                deposit_tensor(node, gradient) if create_graph else quiet(deposit, node, gradient, False)
                after_deposit(node)
    elif not node.speaks and (gradient is None or (node.outputs > 1 and all(g is None for g in gradient))):
        gradients = (None,) * len(node._next)
    elif create_graph:
        gradients = node.apply_tensors(gradient)
    elif node.speaks:
        with Mode(False):
            gradients = node.apply(gradient)
    else:
        gradients = quiet(node.apply, gradient)
    if extra is not None and extra.post:
        gradients = after_node(create_graph, node, gradients, gradient)
    if not task.keep_graph:
        node.release()
    return gradient, gradients


def capture(task: Task, node: Node, gradient: Any) -> None:
    """Note the gradient that arrived at `node` for those who asked for it."""
    if node.outputs == 1:
        if (node, 0) in task.captures:
            task.captures[node, 0] = gradient
    elif gradient is not None:
        for nr in range(node.outputs):
            if (node, nr) in task.captures:
                task.captures[node, nr] = gradient[nr]
