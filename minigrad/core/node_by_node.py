"""The backward pass node by node, for everything that could observe the order. See Note
[Order] in `engine`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from numpy import ndarray

from . import anomaly, modes
from .backward_pass import ZEROS, Task, add, capture, will_run
from .deposit import deposit, deposit_tensor
from .hook_calls import after_deposit, after_node, before_node
from .modes import quiet
from .nested_passes import here
from .node import AccumulateGrad, Node


def drain(task: Task) -> None:
    """Run nodes until none is ready. Observers are notified, and anomaly detection checks the gradients."""
    __tracebackhide__ = True
    before, heap, watchers = here.node, task.heap, modes.observers()
    try:
        while heap:
            node = heappop(heap)[1]
            if modes.anomaly.enabled:
                here.node = node
            try:
                received, sent = run_one(task, node, watchers)
            except BaseException:
                if modes.anomaly.enabled:
                    anomaly.report(node)
                raise
            kept = watchers or node._extra is not None or node._speaks
            deliver(task, node, sent, None if kept else received)
    finally:
        here.node = before


def run_one(task: Task, node: Node, watchers: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Run one node and notify observers. Return the gradient after the hooks, and what the node sends."""
    __tracebackhide__ = True
    received = task.buffers.pop(node, None)
    needed, leaf = task.needed, node.__class__ is AccumulateGrad
    if leaf:
        for watcher in watchers:
            watcher.deposit_starts(node)
    captured = needed is not None and (node in task.targets or node not in needed)
    speaks = node._speaks
    if node._extra is not None or captured or task.create_graph or (received is None and not speaks):
        received, sent = undisturbed(run_aloud, task, node, received)
    elif speaks:
        sent = undisturbed(node.apply, received)
        if not task.keep_graph:
            node._release()
    elif leaf:
        sent = quiet(deposit, node, received, not watchers and node in task.owned) or ()
    else:
        sent = quiet(node.apply, received, task.keep_graph)
    if watchers or modes.anomaly.enabled:
        if needed is not None and not (leaf or speaks):
            sent = asked_for(task, node, sent)
        for watcher in watchers if needed is None or node in needed else ():
            watcher.node_ran(node, received, sent)
    if modes.anomaly.enabled and modes.anomaly.check_nan:
        anomaly.check_nan(node, sent)
    return received, sent


def deliver(task: Task, node: Node, gradients: tuple[Any, ...], own: Any) -> None:
    """Pass the gradients that `node` sends to the nodes behind it. `own` is the gradient on which it ran, if
    nobody else can refer to what it sends.
    """
    buffers, waiting = task.buffers, task.waiting
    for target, g, nr in zip(node._next, gradients, node._nrs or ZEROS):
        if target is None:
            continue
        if g is not None:
            if target._outputs == 1 and target not in buffers:
                buffers[target] = g
                # see Note [Ownership]
                if g.__class__ is ndarray and own is not None and g is not own and g.base is None:
                    task.owned.add(target)
            elif task.create_graph:
                add(task, target, nr, g)
            else:
                quiet(add, task, target, nr, g)
        left = waiting[target]
        waiting[target] = left + 1 if left < 0 else 0
        if left in (1, -1):
            heappush(task.heap, (-target._seq, target))


def undisturbed(function: Any, *args: Any) -> Any:
    """Call a function that runs user code. Modes that it has changed are restored, as in PyTorch."""
    __tracebackhide__ = True
    before = modes.now()
    try:
        return function(*args)
    finally:
        modes.restore(before)


def run_aloud(task: Task, node: Node, gradient: Any) -> tuple[Any, tuple[Any, ...]]:
    """Run one node that has hooks, calls user code, or is captured. Return the gradient after the hooks, and
    what the node sends. See Note [Hook order] in `hook_calls`.
    """
    __tracebackhide__ = True
    create_graph, extra = task.create_graph, node._extra
    speaks = node._speaks or (extra is not None and extra.unpacks)
    task.owned.discard(node)
    runs = task.needed is None or node in task.needed
    if runs and task.needed is not None:
        capture(task, node, gradient)
    if extra is not None:
        gradient = before_node(create_graph, node, gradient, runs)
    if not runs:
        capture(task, node, gradient)
        return gradient, (None,) * len(node._next)
    if isinstance(node, AccumulateGrad):
        gradients: tuple[Any, ...] = ()
        if gradient is not None:
            deposit_tensor(node, gradient) if create_graph else quiet(deposit, node, gradient, False)
        after_deposit(node)
    elif not node._speaks and (gradient is None or (node._outputs > 1 and all(g is None for g in gradient))):
        gradients = node.apply_nothing()
    elif create_graph and task.needed is not None and type(node).op is not None:
        op_node: Any = node
        gradients = op_node._apply_tensors(gradient, lambda target: will_run(task, target))
    elif create_graph:
        gradients = node._apply_tensors(gradient)
    elif speaks:
        gradients = node.apply(gradient)
    else:
        gradients = quiet(node.apply, gradient)
    if extra is not None and extra.post:
        if task.needed is not None and not node._speaks:
            gradients = asked_for(task, node, gradients)
        gradients = after_node(create_graph, node, gradients, gradient)
    if not task.keep_graph:
        node._release()
    return gradient, gradients


def asked_for(task: Task, node: Node, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return `gradients` as hooks see them: None for a node behind `node` that does not run in this pass."""
    return tuple(
        g if target is not None and will_run(task, target) else None
        for target, g in zip(node._next, gradients, strict=True)
    )
