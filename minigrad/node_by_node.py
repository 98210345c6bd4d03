"""The backward pass node by node: what runs wherever somebody could notice.

`run_node` runs a node that has hooks, is user code or is asked for. `drain_watched` runs all nodes in the
plainest form, for observers and anomaly detection.
"""

from __future__ import annotations

from heapq import heappop, heappush
from operator import add as plus
from typing import Any

from numpy import ndarray

from . import anomaly, modes
from .graph import AccumulateGrad, Node
from .hook_calls import Mode, after_deposit, after_node, before_node
from .modes import quiet
from .running import here
from .tasks import ZEROS, Task, add, capture, will_run
from .tensor_base import deposit, deposit_tensor


def drain_watched(task: Task, watchers: tuple[Any, ...]) -> None:
    """What `engine.drain` does, node by node and in its plainest form; observers are told, and anomaly
    detection looks at what is sent.
    """
    __tracebackhide__ = True
    before, heap, usual = here.node, task.heap, not (task.create_graph or task.needed is not None)
    try:
        while heap:
            node = heappop(heap)[1]
            if usual and node._extra is None and not (modes.anomaly.enabled or node._speaks):
                drain_plain(task, watchers, node)
                continue
            if modes.anomaly.enabled:
                here.node = node
            try:
                sent = run_watched(task, node, watchers)
            except BaseException:
                if modes.anomaly.enabled:
                    anomaly.report(node)
                raise
            deliver(task, node, sent)
    finally:
        here.node = before


def drain_plain(task: Task, watchers: tuple[Any, ...], node: Any) -> None:
    """Run `node`, and one after the other the nodes that get ready next, while they are plain; observers are
    told. What `drain_watched` does with such nodes in its loop, in half the time: a node that is newer than
    all in the heap does not pass through it, and sums are made here.
    """
    __tracebackhide__ = True
    heap, buffers, waiting = task.heap, task.buffers, task.waiting
    while True:
        received = buffers.pop(node, None)
        if node.__class__ is AccumulateGrad:
            for watcher in watchers:
                watcher.deposit_starts(node)
            if received is not None:
                quiet(deposit, node, received, False)
            sent: tuple[Any, ...] = ()
        elif received is None:
            received, sent = run_node(task, node, None)
        else:
            sent = quiet(node.apply if task.keep_graph else node.apply_once, received)
        for watcher in watchers:
            watcher.node_ran(node, received, sent)
        ready = None
        i = -1
        for target in node._next:
            i += 1
            if target is None:
                continue
            g = sent[i]
            if g is not None:
                if target._outputs != 1:
                    quiet(add, task, target, node._nrs[i] if node._nrs else 0, g)
                elif target not in buffers:
                    buffers[target] = g
                elif buffers[target].__class__ is ndarray:
                    quiet(add, task, target, 0, g)
                else:
                    buffers[target] = quiet(plus, buffers[target], g)
            left = waiting[target]
            waiting[target] = left + 1 if left < 0 else 0
            if left == 1 or left == -1:
                if ready is not None:
                    heappush(heap, (-ready._seq, ready))
                ready = target
        if ready is None:
            return
        plain = ready._extra is None and not (ready._speaks or modes.anomaly.enabled)
        if not plain or (heap and heap[0][0] <= -ready._seq):
            heappush(heap, (-ready._seq, ready))
            return
        node = ready


def run_watched(task: Task, node: Node, watchers: tuple[Any, ...]) -> tuple[Any, ...]:
    """Run one node, tell the observers, and say what it sends."""
    __tracebackhide__ = True
    received = task.buffers.pop(node, None)
    leaf = node.__class__ is AccumulateGrad
    if leaf:
        for watcher in watchers:
            watcher.deposit_starts(node)
    plain = task.needed is None and not task.create_graph and received is not None
    if plain and node._extra is None and not (leaf or node._speaks):
        sent = quiet(node.apply, received)
        if not task.keep_graph:
            node._release()
    else:
        received, sent = run_node(task, node, received)
    if task.needed is not None and not (leaf or node._speaks):
        sent = asked_for(task, node, sent)
    if task.needed is None or node in task.needed:
        for watcher in watchers:
            watcher.node_ran(node, received, sent)
    if modes.anomaly.enabled and modes.anomaly.check_nan:
        anomaly.check_nan(node, sent)
    return sent


def deliver(task: Task, node: Node, gradients: tuple[Any, ...]) -> None:
    """Hand the gradients that `node` sends to the nodes behind it."""
    for target, g, nr in zip(node._next, gradients, node._nrs or ZEROS):
        if target is None:
            continue
        if g is not None:
            if target._outputs == 1 and target not in task.buffers:
                task.buffers[target] = g
            elif task.create_graph:
                add(task, target, nr, g)
            else:
                quiet(add, task, target, nr, g)
        left = task.waiting[target]
        task.waiting[target] = left + 1 if left < 0 else 0
        if left in (1, -1):
            heappush(task.heap, (-target._seq, target))


def run_node(task: Task, node: Node, gradient: Any) -> tuple[Any, tuple[Any, ...]]:
    """Run one node that has hooks, speaks or is asked for: the gradient as hooks left it, and what it sends.
    Modes that user code has switched on or off and left so are as before, as in PyTorch.
    """
    __tracebackhide__ = True
    plain = node._speaks and node._extra is None and not (modes.active or task.create_graph)
    if plain and (task.needed is None or (node in task.needed and node not in task.targets)):
        return gradient, run_function(task, node, gradient)
    before = modes.now()
    try:
        return run_aloud(task, node, gradient)
    finally:
        modes.restore(before)


def run_function(task: Task, node: Node, gradient: Any) -> tuple[Any, ...]:
    """What `run_node` does with a custom Function that nobody watches, in the normal modes: it takes a third
    of the time.
    """
    __tracebackhide__ = True
    task.owned.discard(node)
    modes.set_grad_mode(False)
    try:
        sent = node.apply(gradient)
    finally:
        modes.set_grad_mode(True)
        if modes.active:
            modes.restore({})
    if not task.keep_graph:
        node._release()
    return sent


def run_aloud(task: Task, node: Node, gradient: Any) -> tuple[Any, tuple[Any, ...]]:
    """What `run_node` does. See Note [Hook order] in `hook_calls`."""
    __tracebackhide__ = True
    create_graph, extra = task.create_graph, node._extra
    speaks = node._speaks or (extra is not None and extra.unpacks)
    task.owned.discard(node)
    runs = task.needed is None or node in task.needed
    if runs and task.needed is not None:
        capture(task, node, gradient)
    if extra is not None and not extra.silent:
        gradient = before_node(create_graph, node, gradient, runs)
    if not runs:
        capture(task, node, gradient)
        return gradient, (None,) * len(node._next)
    if isinstance(node, AccumulateGrad):
        gradients: tuple[Any, ...] = ()
        with Mode(create_graph and modes.is_grad_enabled()):
            if gradient is not None:
                deposit_tensor(node, gradient) if create_graph else quiet(deposit, node, gradient, False)
            after_deposit(node)
    elif not node._speaks and (gradient is None or (node._outputs > 1 and all(g is None for g in gradient))):
        with Mode(create_graph):  # to look at what was saved may call user code
            gradients = node.apply_nothing()
    elif create_graph and task.needed is not None and type(node).op is not None:
        gradients = node.apply_limited(gradient, lambda target: will_run(task, target))
    elif create_graph:
        gradients = node._apply_tensors(gradient)
    elif speaks:
        with Mode(False):
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
    """What hooks see of `gradients`: None for a node behind `node` that does not run in this pass."""
    return tuple(
        g if target is not None and will_run(task, target) else None
        for target, g in zip(node._next, gradients, strict=True)
    )
