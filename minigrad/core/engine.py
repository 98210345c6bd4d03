"""The backward pass: every node runs once, newest first, when all its edges have reported.

There are two loops. `sweep` runs graphs in which the order of the nodes cannot be observed.
`node_by_node.drain` runs the others: hooks, observers, custom Functions, anomaly detection, and gradients
that are captured on the way.

Note [Order]
    PyTorch keeps the nodes that are ready in a heap, so that the newest runs first, and an AccumulateGrad at
    once. The inputs of an op are older than the op, so the heap returns the nodes of ops by age. The plain
    loop sorts them once instead, which on a DAG takes a fifth less time than a heap. An AccumulateGrad runs
    when all of its edges have reported. Only the order among those that become ready together differs from
    PyTorch's, and it cannot be observed without a hook. The order is kept for the next pass over the same
    graph (see `backward_pass.order_of`), because finding it takes half of the time of a row of a Jacobian.

    The other loop has PyTorch's heap, of (-sequence number, node). Entries with equal numbers
    (AccumulateGrads) compare as equal: `Node.__lt__` is always False, and `heapq` then returns them in the
    order of PyTorch's priority queue.

Note [Tracebacks]
    The frames between a user's `backward()` and the place of an error, or a user's hook, do not help the
    user. These functions set `__tracebackhide__`, so IPython and pytest hide them.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush
from itertools import chain
from typing import Any

from numpy import ndarray

from . import modes
from .backward_pass import Inputs, Order, Slot, Task, add, count_edges, is_new, order_of
from .modes import quiet
from .nested_passes import inside
from .node import AccumulateGrad, Node
from .node_by_node import drain
from .tensor_state import deposit, deposit_tensor

__all__ = ["Inputs", "run", "run_plain", "run_rows"]


def run(
    roots: Sequence[Slot],
    gradients: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    inputs: Inputs | None = None,
) -> list[Any] | None:
    """Run backward from `roots` with their `gradients`. These are raw arrays, or tensors under `create_graph`
    and in forward mode, in which gradients have tangents.

    With `inputs`, only what leads to them runs, and the list of gradients that arrived there is returned
    (None for an input that was not reached). Otherwise gradients go to the leaves.
    """
    __tracebackhide__ = True
    tensors = create_graph or (modes.active != 0 and modes.is_forward())
    if not tensors:
        return run_in_mode(roots, gradients, keep_graph, False, inputs)
    before = modes.set_grad_mode(create_graph)
    try:
        return run_in_mode(roots, gradients, keep_graph, True, inputs)
    finally:
        modes.set_grad_mode(before)


def run_in_mode(
    roots: Sequence[Slot], gradients: Sequence[Any], keep_graph: bool, tensors: bool, inputs: Inputs | None
) -> list[Any] | None:
    """`run` on `tensors` or raw arrays, in the grad mode that is in force."""
    __tracebackhide__ = True
    captured = inputs is not None and not inputs.accumulate
    alone = len(roots) == 1 and (inputs is None or captured) and gradients[0] is not None
    if alone and not modes.is_watched(tensors):
        slots = None if inputs is None else inputs.slots
        return run_plain(roots[0], gradients[0], keep_graph, tensors, slots)
    task = start(roots, gradients, keep_graph, tensors, inputs)
    inside(task, drain, task)
    return [task.captures[slot] for slot in inputs.slots] if inputs is not None and captured else None


def start(
    roots: Sequence[Slot], gradients: Sequence[Any], keep_graph: bool, tensors: bool, inputs: Inputs | None
) -> Task:
    """Return the task of a pass node by node, with the roots in its heap."""
    task = Task(keep_graph, tensors, count_edges([node for node, _ in roots]))
    if inputs is not None:
        task.limit(inputs.slots, inputs.accumulate)
    for (node, nr), gradient in zip(roots, gradients):
        if gradient is not None:
            add(task, node, nr, gradient)
    if len(roots) == 1:
        task.heap.append((-roots[0][0]._seq, roots[0][0]))
    else:
        for node in dict.fromkeys(node for node, _ in roots):
            # one by one, as PyTorch does: among leaves that decides the order
            runs = task.needed is None or node in task.needed or node in task.targets
            if runs and not task.waiting[node]:
                heappush(task.heap, (-node._seq, node))
    return task


def run_plain(
    root: Slot, one: Any, keep_graph: bool, create_graph: bool = False, slots: Sequence[Slot] | None = None
) -> list[Any] | None:
    """Do what `run` does, from one root, in the normal modes, for leaves or `slots`."""
    __tracebackhide__ = True
    node, nr = root
    order = order_of(node, None if slots is None else tuple(slots), keep_graph)
    if order is None:
        task = start((root,), (one,), keep_graph, create_graph, None if slots is None else Inputs(slots))
        inside(task, drain, task)
        return None if slots is None else [task.captures[slot] for slot in slots]
    if node._outputs != 1:
        one = [one if i == nr else None for i in range(node._outputs)]
    if create_graph:
        buffers = sweep(node, order, one, keep_graph, recorded, slots is None)
    else:
        buffers = quiet(sweep, node, order, one, keep_graph, None, slots is None)
    return None if slots is None else [buffers.get(leaf) for leaf, _ in slots]


def run_rows(root: Slot, gradients: ndarray, slots: Sequence[Slot]) -> list[Any] | None:
    """Run backward from `root` with many gradients at once, the rows of a raw array. Return what arrives at
    `slots`, with the same rows, or None where the plain loop will not do: then nothing has run. The graph
    stays.
    """
    node, nr = root
    order = order_of(node, tuple(slots), True)
    if order is None:
        return None
    start: Any = gradients
    if node._outputs != 1:
        start = [None] * node._outputs
        start[nr] = gradients
    buffers = quiet(sweep, node, order, start, True, in_rows, False)
    return [buffers.get(node) for node, _ in slots]


def recorded(node: Node, gradient: Any) -> tuple[Any, ...]:
    """Apply a node to tensors, which leaves a graph."""
    return node._apply_tensors(gradient)


def in_rows(node: Node, gradient: Any) -> tuple[Any, ...]:
    """Apply a node to gradients with rows."""
    return node.apply_rows(gradient)


def sweep(root: Node, order: Order, one: Any, keep: bool, apply: Any, deposits: bool) -> dict[Node, Any]:
    """Run `root`, where the gradient `one` arrives, and the nodes behind it. Gradients are raw, or with
    `tensors` they are tensors with a graph. Gradients of leaves are deposited, or else returned. See Note
    [Order].
    """
    __tracebackhide__ = True
    left = order.leaves.copy() if deposits else order.leaves
    leaf = AccumulateGrad if deposits else None
    buffers: dict[Node, Any] = {root: one}
    owned: set[Node] = set()
    ready: tuple[Any, ...]
    for node in chain((root,), order.nodes):
        own = buffers.pop(node, None)
        if own is None:
            gradients = node.apply_nothing()
            if not keep:
                node._release()
        elif apply is not None:
            gradients = apply(node, own)
            if not keep:
                node._release()
        else:
            gradients = node.apply(own, keep)
        i, ready = -1, ()
        for target in node._next:  # `zip` with the gradients takes twice as long
            i += 1
            if target is None:
                continue
            g = gradients[i]
            if g is not None:
                before = buffers.get(target)
                if target._outputs != 1:
                    nr = node._nrs[i] if node._nrs else 0
                    slots = buffers.setdefault(target, [None] * target._outputs)
                    slots[nr] = g if slots[nr] is None else slots[nr] + g
                elif before is None:
                    buffers[target] = g
                    if g.__class__ is ndarray and is_new(g, own):
                        owned.add(target)
                elif before.__class__ is not ndarray:
                    buffers[target] = before + g
                elif target in owned:
                    before += g
                else:
                    buffers[target] = before + g
                    owned.add(target)
            if target.__class__ is leaf:
                left[target] -= 1
                if not left[target] and target in buffers:
                    ready = (*ready, target)
        for target in ready:  # once all that the node sends has been added up, as in PyTorch
            arrived = buffers.pop(target)
            if apply is recorded:
                deposit_tensor(target, arrived)
            else:
                deposit(target, arrived, target in owned)
    return buffers
