"""The backward pass: every node once, newest first, when all its edges have reported.

Note [Order]
    Nodes wait in a heap of (-sequence number, node), so the newest ready node runs first and an AccumulateGrad at once.
    Entries with equal numbers (AccumulateGrads) compare as equal: `Node.__lt__` is always False, and `heapq` then hands
    them out in the order of PyTorch's priority queue.

Note [Hook order]
    For a node: hooks of its output tensors in order of registration, then gradients kept by `retain_grad()`, then the
    node's pre-hooks, the node, its post-hooks. A leaf's hooks are the tensor hooks of its AccumulateGrad, so they see the
    sum of all paths once; `register_post_accumulate_grad_hook` runs before the post-hooks. A node that is asked for in
    `grad(inputs=…)` and does not run itself has its tensor hooks called before the capture; if it runs as well, because
    something behind it is asked for too, the capture comes before all hooks, as in PyTorch.

Note [Ownership]
    The engine adds in place only into what nobody else can see: its own sums, and the result of an op's vjp when it is
    neither the incoming gradient nor a view. A vjp is linear in the incoming gradient, so what it returns is that
    gradient, a view of it, or new memory. Hooks may keep what they see, so nothing is owned after one has run.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy import ndarray

from . import modes
from .graph import AccumulateGrad, Node
from .modes import quiet
from .tensor_base import TensorBase, deposit, deposit_tensor, wrap

Slot = tuple[Node, int]


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

    `create_graph` makes gradients tensors that have a graph; else they are raw arrays. `needed` is None when every node
    runs, else the set of nodes that do; `targets` are the nodes where wanted gradients arrive. `captures` maps (node,
    output number) to the gradient that arrived there.
    """

    __slots__ = (
        "buffers",
        "captures",
        "create_graph",
        "heap",
        "keep_graph",
        "needed",
        "owned",
        "targets",
        "waiting",
    )

    def __init__(self, keep_graph: bool, create_graph: bool) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.needed: set[Node] | None = None
        self.targets: set[Node] = set()
        self.captures: dict[Slot, Any] = {}
        self.buffers: dict[Node, Any] = {}
        self.owned: set[Node] = set()
        self.waiting: dict[Node, int] = {}
        self.heap: list[tuple[int, Node]] = []


def run(
    roots: Sequence[Slot],
    gradients: Sequence[Any],
    *,
    keep_graph: bool,
    create_graph: bool,
    inputs: Inputs | None = None,
) -> list[Any] | None:
    """Run backward from `roots` with their `gradients` (raw arrays, or tensors under `create_graph`).

    With `inputs`, only what leads to them runs and the list of gradients that arrived there is returned (None for one
    that was not reached); otherwise gradients go to the leaves.
    """
    task = Task(keep_graph, create_graph)
    waiting = task.waiting = count_edges(roots)
    if inputs is not None:
        task.captures = {} if inputs.accumulate else dict.fromkeys(inputs.slots)
        task.targets = {node for node, _ in inputs.slots}
        task.needed = find_needed(waiting, task.targets)
        if inputs.accumulate:
            task.needed |= {node for node in task.targets if isinstance(node, AccumulateGrad)}
    for (node, nr), gradient in zip(roots, gradients, strict=True):
        if gradient is not None:
            add(task, node, nr, gradient, False)
    task.heap = [(-node._seq, node) for node in dict.fromkeys(node for node, _ in roots) if not waiting[node]]
    heapify(task.heap)
    drain(task)
    return None if inputs is None or inputs.accumulate else [task.captures[slot] for slot in inputs.slots]


def count_edges(roots: Sequence[Slot]) -> dict[Node, int]:
    """For every node that can be reached, how many edges lead to it."""
    waiting: dict[Node, int] = {node: 0 for node, _ in roots}
    stack = list(waiting)
    while stack:
        for node in stack.pop()._next:
            if node in waiting:
                waiting[node] += 1  # type: ignore[index]
            elif node is not None:
                waiting[node] = 1
                stack.append(node)
    return waiting


def find_needed(nodes: dict[Node, int], targets: set[Node]) -> set[Node]:
    """The nodes from which a node of `targets` can be reached over at least one edge.

    An op's inputs are older than the op, so one sweep by age suffices.
    """
    needed: set[Node] = set()
    for node in sorted(nodes, key=operator.attrgetter("_seq")):
        if any(n in needed or n in targets for n in node._next):
            needed.add(node)
    return needed


def drain(task: Task) -> None:
    """Run nodes until none is ready: plain ones in sweeps with NumPy's warnings off, the others one by one."""
    node, gradients = None, ()
    while True:
        node = sweep(task, node, gradients) if task.create_graph else quiet(sweep, task, node, gradients)
        if node is None:
            return
        gradients = run_node(task, node, task.buffers.pop(node, None))


def sweep(task: Task, node: Node | None, gradients: tuple[Any, ...]) -> Node | None:
    """Deliver the `gradients` of `node`, then run plain nodes; the hot loop of the engine.

    Returns the first node that is not plain (it has hooks, is user code, is captured or builds a graph), or None at the
    end.
    """
    heap, buffers, waiting, owned, needed = task.heap, task.buffers, task.waiting, task.owned, task.needed
    special, keep, targets = task.create_graph, task.keep_graph, task.targets
    own = None
    while True:
        if node is not None:
            nrs = node._nrs
            for i, target in enumerate(node._next):
                if target is None:
                    continue
                g = gradients[i]
                if g is not None:
                    if nrs is None and target not in buffers and target.outputs == 1:
                        buffers[target] = g
                        if g.__class__ is ndarray and own is not None and g is not own and g.base is None:
                            owned.add(target)
                    else:
                        add(task, target, nrs[i] if nrs else 0, g, own is not None and g is not own)
                left = waiting[target] - 1
                if left:
                    waiting[target] = left
                else:
                    heappush(heap, (-target._seq, target))
        if not heap:
            return None
        node = heappop(heap)[1]
        if (
            special
            or node._extra is not None
            or node.speaks
            or (needed is not None and (node in targets or node not in needed))
        ):
            return node
        own = buffers.pop(node, None)
        if own is None:
            gradients = (None,) * len(node._next)
        elif node.__class__ is AccumulateGrad:
            deposit(node, own, node in owned)
            node = None
            continue
        else:
            gradients = node.apply(own)
        if not keep:
            node.release()


def add(task: Task, node: Node, nr: int, gradient: Any, fresh: bool) -> None:
    """Put a gradient into the buffer of output `nr` of `node`, adding to what is there (recorded under `create_graph`)."""
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


def run_node(task: Task, node: Node, gradient: Any) -> tuple[Any, ...]:
    """Run one node that has hooks, speaks, is captured or builds a graph. See Note [Hook order]."""
    task.owned.discard(node)
    runs = task.needed is None or node in task.needed
    if not runs and node not in task.targets:
        return (None,) * len(node._next)
    extra = node._extra
    if runs:
        capture(task, node, gradient)
    if extra is not None and not extra.silent:
        gradient = before_node(task, node, gradient, runs)
    if not runs:
        capture(task, node, gradient)
        return (None,) * len(node._next)
    if isinstance(node, AccumulateGrad):
        if gradient is not None:
            (deposit_tensor(node, gradient) if task.create_graph else deposit(node, gradient, False))
        gradients: tuple[Any, ...] = ()
    elif not node.speaks and (gradient is None or (node.outputs > 1 and all(g is None for g in gradient))):
        gradients = (None,) * len(node._next)
    elif task.create_graph:
        with Mode(task):
            gradients = node.apply_tensors(gradient)
    elif node.speaks:
        with Mode(task):
            gradients = node.apply(gradient)
    else:
        gradients = quiet(node.apply, gradient)
    if extra is not None and extra.post:
        gradients = after_node(task, extra.post, gradients, gradient)
    if not task.keep_graph:
        node.release()
    return gradients


def capture(task: Task, node: Node, gradient: Any) -> None:
    """Note the gradient that arrived at `node` for those who asked for it."""
    if not task.captures:
        return
    for nr in range(node.outputs):
        if (node, nr) in task.captures:
            task.captures[node, nr] = gradient if node.outputs == 1 or gradient is None else gradient[nr]


def as_tensor(task: Task, gradient: Any) -> Any:
    """What a hook sees."""
    return gradient if gradient is None or task.create_graph else wrap(gradient)


def as_gradient(task: Task, value: Any) -> Any:
    """What a hook returned, for the engine."""
    return value if value is None or task.create_graph else value._data


def before_node(task: Task, node: Node, gradient: Any, runs: bool) -> Any:
    """Tensor hooks, kept gradients and, if the node `runs`, its pre-hooks."""
    extra = node._extra
    assert extra is not None
    grads = [
        as_tensor(task, g) for g in (gradient if isinstance(gradient, list) else [gradient] * node.outputs)
    ]
    if node.outputs > 1 and gradient is None:
        grads = [None] * node.outputs
    with Mode(task):
        for nr, hooks in extra.tensor_hooks.items():
            if grads[nr] is not None:
                for hook in tuple(hooks.values()):
                    grads[nr] = replaced(hook, hook(grads[nr]), grads[nr])
        for nr, reference in extra.retain.items():
            tensor = reference()
            if tensor is not None and grads[nr] is not None:
                retain(task, tensor, grads[nr])
        if extra.pre and runs:
            for hook in tuple(extra.pre.values()):
                result = hook(tuple(grads))
                if result is not None:
                    result = result if isinstance(result, tuple) else (result,)
                    grads = [replaced(hook, new, old) for new, old in zip(result, grads, strict=True)]
    out = [as_gradient(task, g) for g in grads]
    return out if node.outputs > 1 else out[0]


def after_node(task: Task, hooks: Any, gradients: tuple[Any, ...], gradient: Any) -> tuple[Any, ...]:
    """Post-hooks of a node."""
    grads = tuple(as_tensor(task, g) for g in gradients)
    outs = tuple(as_tensor(task, g) for g in (gradient if isinstance(gradient, list) else [gradient]))
    with Mode(task):
        for hook in tuple(hooks.values()):
            result = hook(grads, outs)
            if result is not None:
                result = result if isinstance(result, tuple) else (result,)
                grads = tuple(replaced(hook, new, old) for new, old in zip(result, grads, strict=True))
    return tuple(as_gradient(task, g) for g in grads)


class Mode:
    """The grad mode for user code inside backward: on only under `create_graph`."""

    __slots__ = ("before", "enabled")

    def __init__(self, task: Task) -> None:
        self.enabled = task.create_graph

    def __enter__(self) -> None:
        self.before = modes.set_grad_mode(self.enabled)

    def __exit__(self, *exc: object) -> None:
        modes.set_grad_mode(self.before)


def replaced(hook: Any, new: Any, old: Any) -> Any:
    """What a hook returned in place of `old`, checked as PyTorch does; None keeps `old`."""
    if new is None:
        return old
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(new, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    if old is not None:
        if new._data.dtype != old._data.dtype:
            raise RuntimeError(
                f"hook '{name}' has changed the type of value (was {type_name(old)} got {type_name(new)})"
            )
        if new._data.shape != old._data.shape:
            raise RuntimeError(f"hook '{name}' has changed the size of value")
    return new


def type_name(t: TensorBase) -> str:
    """PyTorch's old name of a tensor's type, as its errors use it."""
    from .dtypes import of

    return f"torch.{of(t._data).title}Tensor"


def retain(task: Task, tensor: TensorBase, gradient: Any) -> None:
    """Keep a gradient in the `.grad` of a tensor that is not a leaf."""
    if tensor._grad is None:
        tensor._grad = gradient.clone()
    else:
        tensor._grad = tensor._grad + gradient  # type: ignore[operator]
