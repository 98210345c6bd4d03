"""The backward pass: every node runs once, newest first, when all its edges have reported.

There are two loops. `sweep` runs graphs in which the order of the nodes cannot be observed.
`node_by_node.drain` runs the others: hooks, observers, custom Functions, anomaly detection, and gradients
that are captured on the way.

Note [Order]
    PyTorch counts the edges that have reported to a node. It keeps the nodes that are ready in a heap, so
    that the newest runs first, and an AccumulateGrad at once. The inputs of an op are older than the op. So
    the newest node at which a gradient has arrived has all of its gradients, and the plain loop need not
    count: it runs that node. Its heap contains only numbers, and a chain passes it by, which is a fifth of
    its backward pass. The gradients of leaves are deposited at the end. Nobody can see that without a hook,
    but for an error: then the leaves that were ready get their gradients (`deposit_ready`).

    The plain loop stops where it meets a node that has hooks or calls user code, before that node could be
    ready. `go_on` then counts the rest of the graph, deposits what is ready, and passes the rest to the other
    loop. That has PyTorch's heap, of (-sequence number, node). Entries with equal numbers (AccumulateGrads)
    compare as equal: `Node.__lt__` is always False, and `heapq` then returns them in the order of PyTorch's
    priority queue.

Note [Tracebacks]
    The frames between a user's `backward()` and the place of an error, or a user's hook, do not help the
    user. These functions set `__tracebackhide__`, so IPython and pytest hide them.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush, heapreplace
from typing import Any

from numpy import ndarray

from . import modes
from .backward_pass import Limit, Slot, Task, add, count_edges, limit_of, only_edge
from .deposit import deposit, keep_gradient
from .modes import Within, quiet
from .nested_passes import inside
from .node import AccumulateGrad, Node
from .node_by_node import drain


def run(
    roots: Sequence[Slot],
    gradients: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    slots: Sequence[Slot] | None = None,
    accumulate: bool = False,
) -> list[Any] | None:
    """Run backward from `roots` with their `gradients`. These are raw arrays, or tensors under `create_graph`
    and in forward mode, in which gradients have tangents.

    With `slots`, the nodes and output numbers where wanted gradients arrive, only what leads to them runs.
    The list of gradients that arrived there is returned (None for a slot that was not reached), or with
    `accumulate` they are deposited in `.grad`. Without `slots` gradients go to the leaves.
    """
    __tracebackhide__ = True
    alone = len(roots) == 1 and gradients[0] is not None and not (accumulate and slots is not None)
    if not alone or modes.is_watched(create_graph):
        return run_watched(roots, gradients, keep_graph, create_graph, slots, accumulate)
    ends = None if slots is None else tuple(slots)
    with Within(grad_enabled=create_graph or modes.is_grad_enabled()):
        return run_plain(roots[0], gradients[0], keep_graph, create_graph, ends)


def run_watched(
    roots: Sequence[Slot],
    gradients: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    slots: Sequence[Slot] | None,
    accumulate: bool = False,
) -> list[Any] | None:
    """Do what `run` does node by node. In forward mode gradients are tensors, which have tangents."""
    __tracebackhide__ = True
    tensors = create_graph or modes.is_forward()
    task = Task(keep_graph, tensors, count_edges([node for node, _ in roots]))
    if slots is not None:
        task.limit(slots, accumulate)
    with Within(grad_enabled=create_graph):
        for (node, nr), gradient in zip(roots, gradients):
            if gradient is not None:
                add(task, node, nr, gradient)
        if len(roots) == 1:
            task.root = roots[0][0]
            task.heap.append((-roots[0][0]._seq, roots[0][0]))
        else:
            for node in dict.fromkeys(node for node, _ in roots):
                # one by one, as PyTorch does: among leaves that decides the order
                runs = task.needed is None or node in task.needed or node in task.targets
                if runs and not task.waiting[node]:
                    heappush(task.heap, (-node._seq, node))
        inside(task, drain, task)
    return None if slots is None or accumulate else [task.captures[slot] for slot in slots]


def run_plain(
    root: Slot, one: Any, keep_graph: bool, create_graph: bool = False, slots: tuple[Slot, ...] | None = None
) -> list[Any] | None:
    """Do what `run` does, from one root, for leaves or `slots`: in the normal modes, with `create_graph` in
    grad mode.
    """
    __tracebackhide__ = True
    node, nr = root
    limit = None
    extra, plain = node._extra, not node._speaks and node.__class__ is not AccumulateGrad
    if slots is None:  # a deposit with a graph makes nodes, whose age shows
        plain = plain and not create_graph and (extra is None or extra.is_plain)
    elif plain and extra is None:
        limit = limit_of(node, slots, keep_graph)
    if not plain or (limit is None and slots is not None):
        return run_watched((root,), (one,), keep_graph, create_graph, slots)
    if node._outputs != 1:
        one = [one if i == nr else None for i in range(node._outputs)]
    if create_graph:
        buffers, owned, last = sweep(node, one, keep_graph, RECORDED, limit)
    else:
        buffers, owned, last = quiet(sweep, node, one, keep_graph, RAW, limit)
    if last is not None:
        return go_on(Task(keep_graph, create_graph, {}, buffers, owned), last, slots)
    return None if slots is None else [buffers.get(end) for end, _ in slots]


def run_rows(root: Slot, gradients: ndarray, slots: Sequence[Slot]) -> list[Any] | None:
    """Run backward from `root` with many gradients at once, the rows of a raw array. Return what arrives at
    `slots`, with the same rows, or None where the plain loop will not do: then nothing has run. The graph
    stays.
    """
    node, nr = root
    limit = limit_of(node, tuple(slots), True)
    nodes = () if limit is None else (node, only_edge(node) or node, *limit.needed)
    if limit is None or any(n._extra is not None or n._speaks for n in nodes):
        return None
    one: Any = gradients
    if node._outputs != 1:
        one = [None] * node._outputs
        one[nr] = gradients
    buffers, _, _ = quiet(sweep, node, one, True, IN_ROWS, limit)
    return [buffers.get(node) for node, _ in slots]


RAW, RECORDED, IN_ROWS = "raw", "recorded", "in rows"  # what the gradients of a pass are
MISSING: Any = object()  # instead of a gradient, which may be None


def sweep(
    root: Node, one: Any, keep: bool, kind: str, limit: Limit | None
) -> tuple[dict[Node, Any], set[Node], Node | None]:
    """Run `root`, where the gradient `one` arrives, and the nodes behind it that `limit` needs. Gradients are
    raw data, tensors (`RECORDED`, which leaves a graph) or raw data with rows. See Note [Order].

    Return the gradients that have arrived at nodes which did not run, and which of these nodes own them.
    Gradients of leaves are deposited, unless there is a `limit`. The third result is None at the end, else
    the node at which the loop has stopped, because one of the next nodes is not for it.
    """
    __tracebackhide__ = True
    needed = inner = behind = None
    if limit is not None and not limit.is_whole:
        needed, inner, behind = limit.needed, limit.inner, only_edge(root)
    buffers: dict[Node, Any] = {root: one}
    gradients: Any
    owned: set[Node] = set()
    leaves: list[Any] = []
    heap: list[int] = []  # negative sequence numbers
    later: dict[int, Node] = {}  # and their nodes
    node, stop, keeps = root, False, root._extra is not None
    try:
        while True:
            own = buffers.pop(node)
            if keeps and node._extra is not None:
                keep_gradient(node, own)
            if own is None:
                gradients = node.apply_nothing()
                if not keep:
                    node._release()
            elif kind is RAW:
                gradients = node.apply(own, keep)
            elif kind is IN_ROWS:
                gradients = node.apply_rows(own)
            else:
                gradients = node._apply_tensors(own)
                if not keep:
                    node._release()
            ready: Node | None = None
            i = -1
            for target in node._next:  # `zip` with the gradients takes twice as long
                i += 1
                if target is None or (needed is not None and target not in needed and target is not behind):
                    continue
                g = gradients[i]
                before = buffers.get(target, MISSING)
                if before is MISSING:
                    buffers[target] = g
                    if g.__class__ is ndarray and g is not own and g.base is None:  # see Note [Ownership]
                        owned.add(target)
                    extra = target._extra
                    if extra is not None:
                        keeps = True
                        leaf = target.__class__ is AccumulateGrad
                        stop = stop or leaf or limit is not None or not extra.is_plain
                    if inner is not None and target in inner:
                        continue
                    if not target._plain:
                        if target.__class__ is AccumulateGrad:
                            leaves.append(target)
                            continue
                        stop = stop or target._speaks
                        if target._outputs != 1:
                            buffers[target] = [None] * target._outputs
                            buffers[target][node._nrs[i] if node._nrs else 0] = g
                            owned.discard(target)
                    if ready is None:
                        ready = target
                    else:
                        heappush(heap, -target._seq)
                        later[-target._seq] = target
                elif g is None:
                    pass
                elif before.__class__ is ndarray:
                    if target in owned:
                        before += g
                    else:
                        buffers[target] = before + g
                        owned.add(target)
                elif before.__class__ is list:
                    nr = node._nrs[i] if node._nrs else 0
                    before[nr] = g if before[nr] is None else before[nr] + g
                else:
                    buffers[target] = g if before is None else before + g
            if stop:
                return buffers, owned, node
            if ready is None:
                if not heap:
                    break
                node = later.pop(heappop(heap))
            elif heap and heap[0] < -ready._seq:
                later[-ready._seq] = ready
                node = later.pop(heapreplace(heap, -ready._seq))
            else:
                node = ready
    except BaseException:
        if limit is None:
            deposit_ready(node, buffers, owned)
        raise
    if limit is None:
        for leaf in leaves:
            if buffers[leaf] is not None:
                deposit(leaf, buffers[leaf], leaf in owned)
    return buffers, owned, None


def deposit_ready(failed: Node, buffers: dict[Node, Any], owned: set[Node]) -> None:
    """Deposit the gradients of the leaves to which no edge leads from `failed`, or from a node that has not
    run.
    """
    behind = count_edges([failed, *(node for node in buffers if node.__class__ is not AccumulateGrad)])
    for leaf, gradient in buffers.items():
        if leaf.__class__ is AccumulateGrad and leaf not in behind and gradient is not None:
            deposit(leaf, gradient, leaf in owned)


def go_on(task: Task, last: Node, slots: Sequence[Slot] | None) -> list[Any] | None:
    """Finish, node by node, the pass that the plain loop has begun. See Note [Order].

    The buffers of `task` contain what has arrived; `last` was the last node to run. A node there is ready if
    no edge leads to it any more. Those that `last` made ready go into the heap in the order of its edges, as
    if it had run there. The leaves and slots that were ready before are finished.
    """
    __tracebackhide__ = True
    ends = {node for node, _ in slots or ()}
    task.waiting = count_edges([node for node in task.buffers if node.__class__ is not AccumulateGrad])
    if slots is not None:
        task.limit(slots)
    ready = dict.fromkeys(node for node in task.buffers if task.waiting.setdefault(node, 0) == 0)
    now = [n for i, n in enumerate(last._next) if n in ready and n not in last._next[i + 1 :]]
    for node in ready:
        if node in now:
            continue
        if node in ends:
            task.captures[node, 0] = task.buffers.pop(node)
        elif node.__class__ is not AccumulateGrad:
            heappush(task.heap, (-node._seq, node))
        elif task.buffers[node] is not None:
            quiet(deposit, node, task.buffers.pop(node), node in task.owned)
    for node in now:
        heappush(task.heap, (-node._seq, node))
    with Within(grad_enabled=task.create_graph):
        inside(task, drain, task)
    return None if slots is None else [task.captures[slot] for slot in slots]
