"""How gradients flow in one backward call: what arrived where, the local derivatives, the sums and paths, and
what each node would pass on for another gradient.

Note [A pass that can be run again]
    A faulty engine passes on gradients that nobody recorded. So each node's vjp is run again, from the values
    that the node had saved, as the formulas are. It is believed only if it gives what was recorded for the
    gradient that was recorded. Where it does not (a custom Function, a hook), a node is known to be linear,
    and no more: a multiple of the recorded gradient gives that multiple of what was sent.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from minigrad.observing import F

from ..model.grad_ledger import RETAINED, ledger_of
from ..model.node_details import match
from ..model.scene import Scene
from ..model.stations import Edge
from ..protocol import Value
from ..snapshots import add_up, array_of, close, sum_snapshots
from ..trace.events import GradAccumulated, HookRan, NodeRan, NodeState
from .node_vjps import (
    FAULTS,
    FLOATS,
    SavedTensor,
    is_elementwise,
    local_derivative,
    positive_dim,
    rules_of,
    vjp,
)

# ─── What was recorded of tensors and saved values


def recorded_value(scene: Scene, tensor: str) -> Value | None:
    """The recorded value of a tensor."""
    state = scene.state(tensor)
    return None if state is None else state.value


def is_single_real(value: Value | None) -> bool:
    """Whether a value is one real number."""
    return value is not None and value.size == 1 and isinstance((value.items or ("",))[0], float | int)


def vjp_argument(value: Any) -> Any:
    """A saved value for a vjp: numbers with their shape for a tensor, what a text says else."""
    if isinstance(value, Value):
        return SavedTensor(array_of(value), value.shape)
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError):
        try:
            return float(value)  # inf, nan
        except (TypeError, ValueError):
            return value


def saved_values(node: NodeState) -> dict[str, Any]:
    """What a node had saved, by name, for its vjp."""
    return {kept.name: vjp_argument(kept.value) for kept in node.saved if kept.value is not None}


def position_among(
    saved: Mapping[str, Any], edges: int, i: int, shapes: Sequence[tuple[int, ...] | None]
) -> dict[str, int]:
    """Where input `i` is among the tensors that an op joined; `shapes` are those of the inputs before."""
    found, dim = {"edges": edges, "position": i}, saved.get("dim")
    if isinstance(dim, int) and all(shapes):
        found["offset"] = sum(shape[positive_dim(dim, len(shape))] for shape in shapes if shape)
    return found


# ─── The flow of gradients in one backward call


MOST = 60  # nodes of a pass that is run again
Arrow = tuple[str, int]  # a node and the number of its input
T = TypeVar("T")


class Way(NamedTuple):
    """What the trace says about the path from a node to one of its inputs: the saved values by name, and the
    input's shape and dtype."""

    saved: dict[str, Any]
    shape: tuple[int, ...]
    dtype: str


class SumSoFar(NamedTuple):
    """What has arrived at a node over several edges when another node has run: the `shares` that nodes sent,
    their sum (with what a call started with), and how many edges have not reported."""

    node: str
    total: Value | None
    missing: int
    shares: tuple[Value, ...]


def memoize(method: Callable[..., T]) -> Callable[..., T]:
    """A method of a flow that computes each answer once."""

    @functools.wraps(method)
    def asked(self: Flow, *key: Any) -> T:
        place = (method.__name__, *key)
        if place not in self.known:
            self.known[place] = method(self, *key)
        return self.known[place]

    return asked


def flow_of(scene: Scene) -> Flow:
    """How gradients flowed in the call of a scene."""
    flow = scene.derived.get("flow")
    if flow is None:
        flow = scene.derived["flow"] = Flow(scene)
    return flow


class Flow:
    """How gradients flowed, or would flow, in the backward call of a scene, through its nodes in their
    `order`.

    `met` has per output of a node the gradients that were sent to it, with the nodes that sent them, and
    `into` per node the edges that lead to it. `tainted` are nodes, with their call, that a gradient reached
    which a hook had changed; `unseen` the sums of what was sent to an output of a node, where something that
    was not recorded (a hook, in a library that does not tell) made the node receive another gradient.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.order = list(scene.schedule.order) if scene.schedule is not None else list(scene.now.ran)
        self.order = [id for id in self.order if id in scene.nodes]
        self.nodes: dict[str, NodeState] = scene.nodes
        self.known: dict[tuple[Any, ...], Any] = {}
        self.call, self.calls = scene.call, scene.index.calls
        self.tainted: set[tuple[int, str]] = set()
        self.unseen: dict[Edge, Value] = {}
        self.met: dict[Edge, list[tuple[str, int, Value]]] = {}
        self.into: dict[str, list[Arrow]] = {}
        self.read_record()

    @functools.cached_property
    def retained(self) -> dict[Edge, str]:
        """The tensors that keep their gradient although they are not leaves, by where it arrives."""
        kept = ((self.retains(id), id) for id in self.scene.named)
        return {edge: id for edge, id in kept if edge is not None}

    # ── what was recorded ───────────────────────────────────────────────────────────────────────────────────

    def read_record(self) -> None:
        """Which gradients met where, and which were changed on the way."""
        scene = self.scene
        for (node, i), values in scene.now.flows.items():
            edges = scene.nodes[node].edges
            edge = edges[i] if i < len(edges) else None
            if edge is not None:
                self.met.setdefault(edge, []).extend((node, i, value) for value in values)
                self.into.setdefault(edge[0], []).append((node, i))
        for event in scene.trace.events:  # in the order in which gradients flowed
            match event:
                case HookRan():
                    if event.before != event.after and event.kind != "post_accumulate":
                        self.taint(event.call, event.node, event.kind != "post")
                case NodeRan():
                    if event.call == self.call:
                        self.compare(event)
                    if (event.call, event.node) in self.tainted:
                        self.taint(event.call, event.node, True)

    def hooks(self, event: NodeRan) -> list[HookRan]:
        """The hooks that ran with a node."""
        return self.calls[event.call].hooks.get(event.node, [])

    def taint(self, call: int, node: str, itself: bool) -> None:
        """A gradient that a hook had changed reached a node, or only left it."""
        if itself:
            self.tainted.add((call, node))
        self.tainted.update((call, edge[0]) for edge in self.scene.nodes[node].edges if edge is not None)

    def compare(self, event: NodeRan) -> None:
        """Whether a node received the sum of what was sent to it."""
        if self.hooks(event):
            return
        for nr, received in enumerate(event.received):
            shares = [value for _, _, value in self.met.get((event.node, nr), ())]
            if received is None or not shares or shares == [received]:
                continue
            total = sum_snapshots(shares)
            if total is not None and received.items is not None and not add_up(shares, received):
                self.unseen[event.node, nr] = total
                self.tainted.add((event.call, event.node))

    def changed(self, event: NodeRan) -> list[HookRan]:
        """The hooks that changed a gradient of a node."""
        return [hook for hook in self.hooks(event) if hook.before != hook.after]

    def sums(self) -> dict[str, list[SumSoFar]]:
        """Per node that ran, the sums so far at the nodes to which its edges lead, in the order of its edges;
        nothing where the queue is not known."""
        scene, schedule, started = self.scene, self.scene.schedule, self.scene.now.started
        if schedule is None or started is None:
            return {}
        total: dict[str, Value | None] = {}
        shares: dict[str, list[Value]] = {}
        for root, given in zip(started.roots, started.gradients, strict=True):
            total[scene.node_at(root) or ""] = given
        result: dict[str, list[SumSoFar]] = {}
        for event in scene.now.ran.values():
            reports = schedule.reports.get(event.node, {})
            for edge, value in zip(scene.nodes[event.node].edges, event.sent, strict=False):
                if edge is None or value is None or edge[0] not in reports:
                    continue
                shares.setdefault(edge[0], []).append(value)
                before = total.get(edge[0])
                total[edge[0]] = value if before is None else sum_snapshots([before, value])
            result[event.node] = [
                SumSoFar(node, total.get(node), missing, tuple(shares.get(node, ())))
                for node, missing in reports.items()
            ]
        return result

    # ── paths ───────────────────────────────────────────────────────────────────────────────────────────────

    def count_paths(self, target: str) -> int:
        """Along how many paths gradients come from the roots to a node."""
        scene, arrows = self.scene, self.leading(target)
        paths = Counter({target: 1})
        for node, i in reversed(arrows):
            edge = self.nodes[node].edges[i]
            paths[node] += paths[edge[0]] if edge is not None else 0
        roots = scene.now.roots or scene.trace.roots or ()
        return sum(paths[scene.node_at(root) or ""] for root in roots) if arrows else 0

    def paths(self, node: str, end: Edge, most: int, longest: int) -> list[list[Arrow]] | None:
        """All paths along which gradients flowed from a node to `end`, in the order in which they arrived;
        None if there are more than `most`, or too many nodes for paths of `longest`."""
        useful = self.arrows_towards(end, most * longest)
        found: list[list[Arrow]] = []
        stack: list[tuple[str, list[Arrow]]] = [(node, [])]
        while stack and useful is not None:
            current, path = stack.pop()
            for i in useful.get(current, ()):
                edge = self.scene.nodes[current].edges[i]
                assert edge is not None
                longer = [*path, (current, i)]
                if edge == end:
                    found.append(longer)
                else:
                    stack.append((edge[0], longer))
            if len(found) + len(stack) > most:
                return None
        order = [(source, i) for source, i, _ in self.met.get(end, ())]
        return None if useful is None else sorted(found, key=lambda path: order.index(path[-1]))

    def arrows_towards(self, end: Edge, most: int) -> dict[str, list[int]] | None:
        """Per node the inputs over which gradients flowed towards `end`, found from there upwards; None if
        those are more than `most` nodes."""
        useful: dict[str, list[int]] = {}
        todo = [(source, i) for source, i, _ in self.met.get(end, ())]
        for source, i in todo:  # grows while it is read
            if source not in useful:
                todo += self.into.get(source, ())
            useful.setdefault(source, []).append(i)
            if len(useful) > most:
                return None
        return useful

    # ── what stands in `.grad` ──────────────────────────────────────────────────────────────────────────────

    def retains(self, tensor: str) -> Edge | None:
        """Where the gradient arrives that a tensor keeps although it is not a leaf."""
        state = self.scene.state(tensor)
        kept = state is not None and state.retains_grad and not state.is_leaf
        return self.arrival(tensor) if kept else None

    def owner(self, node: str) -> str | None:
        """The tensor whose `.grad` is written when a node has its gradient."""
        return self.nodes[node].variable or self.retained.get((node, 0))

    @property
    def readable(self) -> bool:
        """Whether it is small enough to be followed by hand."""
        return 0 < len(self.order) <= MOST

    def seed(self, root: str) -> Any:
        """The gradient that the pass starts with at a root; None where that is not known."""
        started, value = self.scene.now.started, recorded_value(self.scene, root)
        if started is not None and root in started.roots:
            given = started.gradients[started.roots.index(root)]
            if given is not None:
                return array_of(given)
        return None if value is None or value.size != 1 else np.ones(value.shape)

    def arrival(self, root: str) -> Edge | None:
        """The output of a node at which a root's gradient arrives."""
        node = self.scene.node_at(root)
        where = self.scene.at.get(root)
        return None if node is None or where is None else (node, where[1] if where[0].node else 0)

    def held(self, tensor: str) -> Value | None:
        """What the `.grad` of a tensor held before the pass."""
        state = self.scene.state(tensor) if self.scene.now.started is None else None
        if state is not None:  # of a finished graph, which nobody has run
            return state.grad
        came = self.deposit(self.scene.node_at(tensor) or "") if tensor in self.retained.values() else None
        return self.scene.before.get(tensor) if came is None else came.before

    @memoize
    def deposit(self, node: str) -> GradAccumulated | None:
        """What was added to the `.grad` of the tensor of a node."""
        scene, tensor = self.scene, self.retained.get((node, 0))
        if tensor is None:
            return scene.now.deposits.get(node)
        for account in ledger_of(scene.index):
            for entry in account.entries if account.tensor == tensor else ():
                amount, after = entry.amount, entry.after
                if entry.kind == RETAINED and entry.call == scene.call and amount and after:
                    return GradAccumulated(scene.call, node, tensor, entry.before, amount, after)
        return None

    def ran(self, node: str) -> NodeRan | None:
        """What was recorded of a node's run."""
        return self.scene.now.ran.get(node)

    def sends(self, node: str, i: int) -> bool:
        """Whether a node passed a gradient to its input `i`."""
        event = self.ran(node)
        return event is not None and i < len(event.sent) and event.sent[i] is not None

    def expects(self, node: str, i: int) -> bool:
        """Whether a node passes anything to its input `i`, as far as that is known."""
        return self.ran(node) is None or self.sends(node, i)

    def leading(self, target: str) -> list[Arrow]:
        """The arrows over which gradients come to a node, in the order in which they flow."""
        found, useful = list[Arrow](), {target}
        for node in reversed(self.order):
            arrows = [
                (node, i) for i, edge in enumerate(self.nodes[node].edges) if edge and edge[0] in useful
            ]
            if arrows:
                useful.add(node)
                found += reversed(arrows)
        return found[::-1]

    # ── one node ────────────────────────────────────────────────────────────────────────────────────────────

    def sent(self, node: str, i: int, received: Any) -> Any:
        """What a node passes to input `i` if it receives this gradient; None if unknown."""
        given = np.asarray(received)
        key = "sent", node, i, given.tobytes(), given.shape
        if key not in self.known:
            self.known[key] = self._sent(node, i, received)
        return self.known[key]

    def factor(self, node: str, i: int) -> Any:
        """The local derivative of an op that works element by element, before any sum; None for others."""
        return self._factor(node, i) if self.trusted(node, i) else None

    @memoize
    def scale(self, node: str, i: int) -> float | None:
        """By what a node multiplied one number to get another: its local derivative, else what it made of
        its gradient; None where it did not."""
        event = self.ran(node)
        sent = None if event is None or i >= len(event.sent) else event.sent[i]
        received = None if event is None or len(event.received) != 1 else event.received[0]
        if not is_single_real(sent) or not is_single_real(received):
            return None
        assert sent is not None and received is not None and sent.items and received.items
        factor = self.factor(node, i)
        if factor is not None and np.size(factor) == 1 and not np.iscomplexobj(factor):
            return float(np.reshape(factor, ()))
        return float(sent.items[0]) / float(received.items[0]) if received.items[0] else None

    @memoize
    def _factor(self, node: str, i: int) -> Any:
        way, state = self.way(node, i), self.nodes[node]
        known = way is not None and is_elementwise(state.name, len(state.edges))
        symbol = (
            local_derivative(state.name, i, way.saved, {}, way.dtype) if known and way is not None else None
        )
        return None if symbol is None else symbol.value

    @memoize
    def trusted(self, node: str, i: int) -> bool:
        """Whether the vjp gives what was recorded, or nothing was."""
        event = self.ran(node)
        if event is None or (i < len(event.sent) and event.sent[i] is None):
            return not self.nodes[node].code and not self.nodes[node].hooks
        if len(event.received) != 1 or i >= len(event.sent):
            return False
        received, recorded = array_of(event.received[0]), array_of(event.sent[i])
        if received is None or recorded is None or self.scene.now.hooks.get(node):
            return False
        computed = self._computed(node, i, received)
        scale = np.max(np.abs(recorded), initial=0)
        return computed is not None and close(computed, recorded, "float32", scale)

    def _sent(self, node: str, i: int, received: Any) -> Any:
        if self.trusted(node, i):
            return self._computed(node, i, received)
        event = self.ran(node)
        if event is None or len(event.received) != 1 or i >= len(event.sent):
            return None
        usual, recorded = array_of(event.received[0]), array_of(event.sent[i])
        if usual is None or recorded is None or np.shape(usual) != np.shape(received):
            return None
        if close(received, usual, "float32"):
            return recorded
        if self.scene.now.hooks.get(node):
            return None
        share = received / usual if np.size(usual) == 1 and np.all(usual) else None
        return None if share is None else recorded * share.reshape(())

    def _computed(self, node: str, i: int, received: Any) -> Any:
        """What the node's own vjp gives."""
        way, state = self.way(node, i), self.nodes[node]
        if way is None:
            return None
        exact = np.dtype(way.dtype if way.dtype in FLOATS else np.float32)
        received = np.asarray(received, exact)
        with np.errstate(all="ignore"):
            if is_elementwise(state.name, len(state.edges)):
                factor = self._factor(node, i)
                try:
                    return None if factor is None else F.sum_to(np.asarray(received * factor), way.shape)
                except FAULTS:
                    return None
            given = SavedTensor(received, received.shape)
            symbol = vjp(state.name, i, way.saved, {}, given, way.shape, way.dtype)
        return None if symbol is None else symbol.value

    @memoize
    def way(self, node_id: str, i: int) -> Way | None:
        """The way from a node to its input `i`; None where the input's shape is not known."""
        node = self.nodes[node_id]
        tensors = self.inputs(node)
        mine = tensors[i] if i < len(tensors) else None
        event = self.ran(node.id)
        sent = event.sent[i] if event is not None and i < len(event.sent) else None
        value = sent or (recorded_value(self.scene, mine) if mine is not None else None)
        if value is None and not self.single(node_id):
            return None
        saved = saved_values(node)
        place = self.scene.by_node.get(node.id)
        others = {"result": place.states[0].id if place is not None else None}
        for rule in rules_of(node.name, len(node.edges))[:1]:
            others |= dict(zip(rule.inputs, tensors, strict=False))
        for name, tensor in others.items():
            known = recorded_value(self.scene, tensor) if tensor is not None and name not in saved else None
            if known is not None:
                saved[name] = vjp_argument(known)
        saved |= position_among(saved, len(node.edges), i, [self.shape(tensor) for tensor in tensors[:i]])
        return Way(saved, value.shape if value else (), value.dtype if value else "float32")

    @memoize
    def single(self, node_id: str) -> bool:
        """Whether a node of a finished graph, whose results nobody has, made a single number without
        dimensions: then its inputs are such numbers, too."""
        node = self.nodes[node_id]
        place = self.scene.by_node.get(node.id)
        value = place.states[0].value if place is not None else None
        users = (id for id in self.order if any(edge and edge[0] == node.id for edge in self.nodes[id].edges))
        if not is_elementwise(node.name, len(node.edges)):
            return False
        return value.shape == () if value is not None else any(map(self.single, users))

    def inputs(self, node: NodeState) -> list[str | None]:
        """The tensors that the edges of a node lead to."""
        place = self.scene.by_node.get(node.id)
        given = list(place.inputs or ()) if place is not None else []
        return match(self.scene, given, node.edges)[: len(node.edges)]

    def shape(self, tensor: str | None) -> tuple[int, ...] | None:
        """The shape of a tensor."""
        value = None if tensor is None else recorded_value(self.scene, tensor)
        return None if value is None else value.shape
