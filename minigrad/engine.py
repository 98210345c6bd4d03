"""The backward pass: every node once, newest first, when all its edges have reported.

`sweep` and `sweep_by_age` are the fast loops, for nodes at which nobody looks; `node_by_node` has the others.

Note [Order]
    Nodes wait in a heap of (-sequence number, node), so the newest ready node runs first and an
    AccumulateGrad at once. Entries with equal numbers (AccumulateGrads) compare as equal: `Node.__lt__` is
    always False, and `heapq` then hands them out in the order of PyTorch's priority queue.

    What an op uses is older than the op. So the heap hands out the nodes of ops by age, and they may as well
    be sorted once, which saves a fifth of the time on a DAG and a tenth on a network of scalars (chains take
    2 % longer). Only the order among AccumulateGrads would be lost; so it is done where no hook and no code
    of the user's can tell: all nodes are of ops with one output, without `Extra`, and no graph is made.

Note [Tracebacks]
    What stands between a user's `backward()` and the place of an error, or a user's hook, says nothing to the
    user. These functions set `__tracebackhide__`, which IPython and pytest heed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any

from numpy import ndarray

from . import modes
from .graph import AccumulateGrad, Node
from .modes import quiet
from .node_by_node import drain_watched, run_node
from .running import inside
from .tasks import Inputs, Slot, Task, add, by_age, count_edges
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
    task = Task(keep_graph, tensors, count_edges([node for node, _ in roots]))
    if inputs is not None:
        task.limit(inputs.slots, inputs.accumulate)
    for (node, nr), gradient in zip(roots, gradients):
        if gradient is not None:
            add(task, node, nr, gradient)
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
        sweep_on(task, quiet(sweep, task, None, ()))
    return None if inputs is None or inputs.accumulate else [task.captures[slot] for slot in inputs.slots]


def drain(task: Task) -> None:
    """Run nodes until none is ready, in the way that the modes ask for."""
    __tracebackhide__ = True
    if modes.active and (modes.anomaly.enabled or modes.observers() or modes.state.saved_hooks):
        inside(task, drain_watched, task, modes.observers())
        return
    sweep_on(task, sweep(task, None, ()) if task.create_graph else quiet(sweep, task, None, ()))


def run_plain(
    root: Node, one: Any, keep_graph: bool, create_graph: bool = False, slots: Sequence[Slot] | None = None
) -> list[Any] | None:
    """`run` from one node that has one output, in the normal modes, for leaves or what arrives at `slots`."""
    __tracebackhide__ = True
    order = None if create_graph else by_age(root, slots)
    if order is not None:
        return run_by_age(order, one, keep_graph, slots)
    task = Task(keep_graph, create_graph, count_edges((root,)))
    if slots is not None:
        task.limit(slots)
    run_task(task, root, one)
    return None if slots is None else [task.captures[slot] for slot in slots]


def run_rows(
    root: Node, gradients: Iterable[Any], create_graph: bool, slots: Sequence[Slot]
) -> Iterator[list[Any]]:
    """`run_plain` for each of the gradients, as for the rows of a Jacobian; the graph stays."""
    __tracebackhide__ = True
    order = None if create_graph else by_age(root, slots)
    if order is not None:
        for gradient in gradients:
            yield run_by_age(order, gradient, True, slots)
        return
    whole = Task(True, create_graph, count_edges((root,)))
    whole.limit(slots)
    for gradient in gradients:
        task = whole.again()
        run_task(task, root, gradient)
        yield [task.captures[slot] for slot in slots]


def run_by_age(
    order: tuple[list[Node], dict[Node, int]], one: Any, keep_graph: bool, slots: Sequence[Slot] | None
) -> Any:
    """`run_plain` with what `by_age` has found."""
    __tracebackhide__ = True
    nodes, edges = order
    task = Task(keep_graph, False, edges)
    quiet(sweep_by_age, task, nodes, one, slots is None)
    return None if slots is None else [task.buffers.get(node) for node, _ in slots]


def run_task(task: Task, root: Node, gradient: Any) -> None:
    """Run what a task is about, from one node, in the normal modes."""
    __tracebackhide__ = True
    if task.create_graph:
        sweep_on(task, sweep(task, None, (), root, gradient))
    else:
        sweep_on(task, quiet(sweep, task, None, (), root, gradient))


def sweep_on(task: Task, node: Node | None) -> None:
    """Go on with the node that a sweep has returned."""
    __tracebackhide__ = True
    if node is not None:
        inside(task, drain_from, task, node)


def drain_from(task: Task, node: Node | None) -> None:
    """Run `node`, then others until none is ready: plain ones in sweeps with NumPy's warnings off."""
    __tracebackhide__ = True
    while node is not None:
        _, gradients = run_node(task, node, task.buffers.pop(node, None))
        node = sweep(task, node, gradients) if task.create_graph else quiet(sweep, task, node, gradients)


def sweep(
    task: Task, node: Node | None, gradients: tuple[Any, ...], ready: Node | None = None, arrived: Any = None
) -> Node | None:
    """Deliver the `gradients` of `node`, then run plain nodes; or start with the node that is `ready`, at
    which the gradient `arrived`. The hot loop of the engine.

    Returns the first node that is not plain (it has hooks, is user code or is asked for), or None at the end.
    A node that is ready and newer than all in the heap runs without passing through it, and what came over
    the only edge that leads there does not pass through the buffers.
    """
    __tracebackhide__ = True
    heap, buffers, waiting, owned, needed = task.heap, task.buffers, task.waiting, task.owned, task.needed
    create_graph, keep = task.create_graph, task.keep_graph
    own = sender = None  # the gradient of the node that runs, and of the one that sent it
    while True:
        if node is not None:
            i = -1
            for target in node._next:  # `zip` with the gradients takes twice as long
                i += 1
                if target is None:
                    continue
                left, g = waiting[target], gradients[i]
                if left != 1 or target._outputs != 1:
                    if g is not None:
                        before = buffers.get(target)
                        if target._outputs != 1 or before.__class__ is ndarray:
                            add(task, target, node._nrs[i] if node._nrs else 0, g)
                        elif before is not None:
                            buffers[target] = before + g
                        else:
                            buffers[target] = g
                            if g.__class__ is ndarray and is_new(g, own):
                                owned.add(target)
                        g = None
                    if left != 1 and left != -1:
                        waiting[target] = left + 1
                        continue
                if ready is not None:
                    put_by(task, ready, arrived, own)
                ready, arrived = target, g
        if ready is None:
            if not heap:
                return None
            node = heappop(heap)[1]
        elif heap and heap[0][0] <= -ready._seq:
            put_by(task, ready, arrived, own)
            arrived = None
            node = heappop(heap)[1]
        else:
            node = ready
        ready = None
        if arrived is None:
            own, sender = buffers.pop(node, None), None
        else:
            own, sender, arrived = arrived, own, None
        if node._extra is not None or node._speaks:
            break
        if needed is not None:
            if node in task.targets:
                if node in needed or node._outputs != 1:
                    break
                if (node, 0) in task.captures:
                    task.captures[node, 0] = own
                node = None
                continue
            if node not in needed:
                gradients = (None,) * len(node._next)  # it does not run, but those behind it wait for it
                continue
        if own is None:
            gradients = node.apply_nothing()
        elif create_graph:
            gradients = node._apply_tensors(own)
        elif node.__class__ is AccumulateGrad:
            deposit(node, own, node in owned or is_new(own, sender))
            node = None
            continue
        elif keep:
            gradients = node.apply(own)
            continue
        else:
            gradients = node.apply_once(own)
            continue
        if not keep:
            node._release()
    if own is not None:
        buffers[node] = own
    return node


def sweep_by_age(task: Task, nodes: list[Node], one: Any, deposits: bool) -> None:
    """Run plain `nodes`, newest first; `one` arrives at the first. `task.waiting` counts the edges to
    AccumulateGrads alone. Without `deposits` gradients for these stay in the buffers. See Note [Order].
    """
    __tracebackhide__ = True
    leaf = AccumulateGrad if deposits else None
    buffers, waiting, owned, keep = task.buffers, task.waiting, task.owned, task.keep_graph
    buffers[nodes[0]] = one
    for node in nodes:
        own = buffers.pop(node, None)
        if own is None:
            gradients = node.apply_nothing()
            if not keep:
                node._release()
        elif keep:
            gradients = node.apply(own)
        else:
            gradients = node.apply_once(own)
        i = -1
        for target in node._next:
            i += 1
            if target is None:
                continue
            g = gradients[i]
            if g is not None:
                before = buffers.get(target)
                if before is None:
                    buffers[target] = g
                    if g.__class__ is ndarray and is_new(g, own):
                        owned.add(target)
                elif before.__class__ is ndarray:
                    add(task, target, 0, g)
                else:
                    buffers[target] = before + g
            if target.__class__ is leaf:
                left = waiting[target] = waiting[target] - 1
                if not left and target in buffers:
                    deposit(target, buffers.pop(target), target in owned)


def put_by(task: Task, node: Node, gradient: Any, sent: Any) -> None:
    """Put a node that is ready into the heap, and the gradient that has arrived there, if that has not been
    done, into its buffer; the node that sent it received the gradient `sent`.
    """
    heappush(task.heap, (-node._seq, node))
    if gradient is not None:
        task.buffers[node] = gradient
        if is_new(gradient, sent):
            task.owned.add(node)


def is_new(gradient: Any, sent: Any) -> bool:
    """Whether an op has just made this gradient from the one that it was `sent`. See Note [Ownership]."""
    return (
        gradient.__class__ is ndarray and sent is not None and gradient is not sent and gradient.base is None
    )
