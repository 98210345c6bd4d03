"""The backward pass: every node runs once, newest first, when all its edges have reported.

Note [Ownership]
    The engine adds in place only into memory that nobody else can see. That is its own sums, and the result
    of an op's vjp if it is neither the incoming gradient nor a view. A vjp is linear in the incoming
    gradient, so its result is that gradient, a view of it, or new memory. Hooks may keep what they receive,
    so nothing is owned after a hook has run.

There are two loops. `sweep` runs graphs in which the order of the nodes cannot be observed. `drain` runs the
others, node by node: hooks, observers, custom Functions, anomaly detection, and gradients that are captured
on the way. Counting the edges alone, which one loop for all would have to do, takes 20 % (three scalar ops)
to 28 % (a chain of 1,000) of what the backward pass of a scalar graph takes without.

Note [Order]
    PyTorch counts the edges that have reported to a node. It keeps the nodes that are ready in a heap, so
    that the newest runs first, and an AccumulateGrad at once. The inputs of an op are older than the op. So
    the newest node at which a gradient has arrived has all of its gradients, and the plain loop need not
    count: it runs that node. Its heap contains only numbers, and a chain passes it by, which is a fifth of
    its backward pass. The gradients of leaves are deposited at the end. Nobody can see that without a hook,
    except by an error: then the leaves that were ready get their gradients (`deposit_ready`).

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

import itertools
import operator
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush, heapreplace
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from . import modes
from . import nested_passes as anomaly
from .accumulate import after_deposit, after_node, before_node, deposit, deposit_tensor, keep_gradient
from .modes import Within, quiet
from .nested_passes import call_within_pass, here
from .node import LAST, AccumulateGrad, Node

# ─── The state of one backward pass: which nodes wait for how many edges, and which gradients have
# arrived


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
    these are all nodes. `inner` are the nodes of `slots` that are not leaves. `changes` is the value of
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


def add(task: Task, node: Node, nr: int, gradient: Any, is_fresh: bool = False) -> None:
    """Add a gradient to the buffer of output `nr` of `node`; under `create_graph` this is recorded. Nobody
    else refers to it if it `is_fresh`.
    """
    buffers, owned = task.buffers, task.owned
    if node._outputs > 1:
        slots = buffers.setdefault(node, [None] * node._outputs)
        slots[nr] = gradient if slots[nr] is None else slots[nr] + gradient
    elif node not in buffers:
        buffers[node] = gradient
        if is_fresh:
            owned.add(node)
    elif node in owned:
        np.add(buffers[node], gradient, buffers[node])
    else:
        total = buffers[node] = buffers[node] + gradient
        if total.__class__ is ndarray:
            owned.add(node)


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


# ─── The backward pass node by node, for everything that could observe the order. See Note [Order] in
# `engine`


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
        received, sent = call_with_modes_restored(run_observed, task, node, received)
    elif speaks:
        sent = call_with_modes_restored(node.apply, received)
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
    waiting = task.waiting
    for target, g, nr in zip(node._next, gradients, node._nrs or ZEROS):
        if target is None:
            continue
        if g is not None:
            # see Note [Ownership]
            is_fresh = g.__class__ is ndarray and own is not None and g is not own and g.base is None
            if task.create_graph:
                add(task, target, nr, g)
            else:
                quiet(add, task, target, nr, g, is_fresh)
        left = waiting[target]
        waiting[target] = left + 1 if left < 0 else 0
        if left in (1, -1):
            heappush(task.heap, (-target._seq, target))


def call_with_modes_restored(function: Any, *args: Any) -> Any:
    """Call a function that runs user code. Modes that it has changed are restored, as in PyTorch."""
    __tracebackhide__ = True
    before = modes.now()
    try:
        return function(*args)
    finally:
        modes.restore(before)


def run_observed(task: Task, node: Node, gradient: Any) -> tuple[Any, tuple[Any, ...]]:
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


# ─── The backward pass: every node runs once, newest first, when all its edges have reported


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
        call_within_pass(task, drain, task)
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
        call_within_pass(task, drain, task)
    return None if slots is None else [task.captures[slot] for slot in slots]
