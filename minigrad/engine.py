"""The backward pass: every node once, newest first, when all its edges have reported.

`sweep` is the fast loop, for nodes at which nobody looks; `node_by_node` has the others.

Note [Order]
    Nodes wait in a heap of (-sequence number, node), so the newest ready node runs first and an
    AccumulateGrad at once. Entries with equal numbers (AccumulateGrads) compare as equal: `Node.__lt__` is
    always False, and `heapq` then hands them out in the order of PyTorch's priority queue.

Note [Tracebacks]
    What stands between a user's `backward()` and the place of an error, or a user's hook, says nothing to the
    user. These functions set `__tracebackhide__`, which IPython and pytest heed.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

from numpy import ndarray

from . import modes
from .graph import AccumulateGrad, Node
from .modes import quiet
from .node_by_node import drain_watched, run_node
from .running import inside
from .tasks import ZEROS, Inputs, Slot, Task, add, count_edges
from .tensor_base import deposit


def run(
    roots: Sequence[Slot],
    gradients: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    inputs: Inputs | None = None,
) -> list[Any] | None:
    """Run backward from `roots` with their `gradients` (raw arrays, or tensors under `create_graph` and in
    forward mode, in which gradients have tangents).

    With `inputs`, only what leads to them runs and the list of gradients that arrived there is returned (None
    for one that was not reached); otherwise gradients go to the leaves.
    """
    __tracebackhide__ = True
    tensors = create_graph or (modes.active != 0 and modes.is_forward())
    task = Task(keep_graph, tensors, count_edges(roots))
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
    if tensors:
        before = modes.set_grad_mode(create_graph)
        try:
            drain(task)
        finally:
            modes.set_grad_mode(before)
    elif modes.active:
        drain(task)
    else:
        node = quiet(sweep, task, None, ())
        if node is not None:
            inside(task, drain_from, task, node)
    return None if inputs is None or inputs.accumulate else [task.captures[slot] for slot in inputs.slots]


def drain(task: Task) -> None:
    """Run nodes until none is ready, in the way that the modes ask for."""
    __tracebackhide__ = True
    if modes.active and (modes.anomaly.enabled or modes.observers() or modes.state.saved_hooks):
        inside(task, drain_watched, task, modes.observers())
        return
    node = sweep(task, None, ()) if task.create_graph else quiet(sweep, task, None, ())
    if node is not None:
        inside(task, drain_from, task, node)


def drain_from(task: Task, node: Node | None) -> None:
    """Run `node`, then others until none is ready: plain ones in sweeps with NumPy's warnings off."""
    __tracebackhide__ = True
    while node is not None:
        _, gradients = run_node(task, node, task.buffers.pop(node, None))
        node = sweep(task, node, gradients) if task.create_graph else quiet(sweep, task, node, gradients)


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
                    if nr or target in buffers or target._outputs != 1:
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
        if node._extra is not None or node._speaks:
            return node
        if needed is not None and node in targets:
            if node in needed or node._outputs != 1:
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
            gradients = node.apply_nothing()
        elif create_graph:
            gradients = node._apply_tensors(own)
        else:
            if node.__class__ is AccumulateGrad:
                deposit(node, own, node in owned)
                node = None
                continue
            gradients = node.apply(own)
        if not keep:
            node._release()
