"""One backward pass of a trace, ready to be run again with other gradients.

Note [A pass that can be run again]
    A faulty engine passes on gradients that nobody recorded. So each node's vjp is run again, from the values
    that the node had saved, as the formulas are. It is believed only if it gives what was recorded for the
    gradient that was recorded. Where it does not (a custom Function, a hook), a node is known to be linear,
    and no more: a multiple of the recorded gradient gives that multiple of what was sent.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from minigrad.observing import F

from ..arithmetic.flow import raw, value_of
from ..arithmetic.notation import FAULTS, FLOATS, Known, is_elementwise, local, rules_of, vjp, wrapped
from ..model.grad_ledger import RETAINED, ledger_of
from ..model.node_details import match
from ..model.place import Edge
from ..model.scene import Scene
from ..protocol import Value
from ..snapshots import array_of, close
from ..trace.events import Deposited, NodeRan, NodeState

MOST = 60  # nodes of a pass that is run again
Arrow = tuple[str, int]  # a node and the number of its input


class Way(NamedTuple):
    """What the trace has of the way from a node to one of its inputs: the saved values by name, and the
    input's shape and dtype."""

    saved: dict[str, Any]
    shape: tuple[int, ...]
    dtype: str


T = TypeVar("T")


def remembered(method: Callable[..., T]) -> Callable[..., T]:
    """A method of a pass that computes each answer once."""

    @functools.wraps(method)
    def asked(self: Pass, *key: Any) -> T:
        place = (method.__name__, *key)
        if place not in self.known:
            self.known[place] = method(self, *key)
        return self.known[place]

    return asked


class Pass:
    """The backward pass of a scene: the nodes that ran, or would run, in their `order`, and their edges."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.order = list(scene.schedule.order) if scene.schedule is not None else list(scene.now.ran)
        self.order = [id for id in self.order if id in scene.nodes]
        self.nodes: dict[str, NodeState] = scene.nodes
        self.known: dict[tuple[Any, ...], Any] = {}
        self.retained = {edge: id for id in scene.named if (edge := self.retains(id)) is not None}

    def retains(self, tensor: str) -> Edge | None:
        """Where the gradient arrives that a tensor keeps although it is no leaf."""
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
        started, value = self.scene.now.started, value_of(self.scene, root)
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

    @remembered
    def deposit(self, node: str) -> Deposited | None:
        """What was added to the `.grad` of the tensor of a node."""
        scene, tensor = self.scene, self.retained.get((node, 0))
        if tensor is None:
            return scene.now.deposits.get(node)
        for account in ledger_of(scene.index):
            for entry in account.entries if account.tensor == tensor else ():
                amount, after = entry.amount, entry.after
                if entry.kind == RETAINED and entry.call == scene.call and amount and after:
                    return Deposited(scene.call, node, tensor, entry.before, amount, after)
        return None

    def ran(self, node: str) -> NodeRan | None:
        """What was recorded of a node's run."""
        return self.scene.now.ran.get(node)

    def expects(self, node: str, i: int) -> bool:
        """Whether a node passes anything to its input `i`, as far as that is known."""
        event = self.ran(node)
        return event is None or (i < len(event.sent) and event.sent[i] is not None)

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
        """What a node passes to input `i` if it receives this gradient; None where nobody knows."""
        given = np.asarray(received)
        key = "sent", node, i, given.tobytes(), given.shape
        if key not in self.known:
            self.known[key] = self._sent(node, i, received)
        return self.known[key]

    def factor(self, node: str, i: int) -> Any:
        """The local derivative of an op that works element by element, before any sum; None for others."""
        return self._factor(node, i) if self.trusted(node, i) else None

    @remembered
    def _factor(self, node: str, i: int) -> Any:
        way, state = self.way(node, i), self.nodes[node]
        known = way is not None and is_elementwise(state.name, len(state.edges))
        symbol = local(state.name, i, way.saved, {}, way.dtype) if known and way is not None else None
        return None if symbol is None else symbol.value

    @remembered
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
            given = Known(received, received.shape)
            symbol = vjp(state.name, i, way.saved, {}, given, way.shape, way.dtype)
        return None if symbol is None else symbol.value

    @remembered
    def way(self, node_id: str, i: int) -> Way | None:
        """The way from a node to its input `i`; None where the input's shape is not known."""
        node = self.nodes[node_id]
        tensors = self.inputs(node)
        mine = tensors[i] if i < len(tensors) else None
        event = self.ran(node.id)
        sent = event.sent[i] if event is not None and i < len(event.sent) else None
        value = sent or (value_of(self.scene, mine) if mine is not None else None)
        if value is None and not self.single(node_id):
            return None
        saved = {kept.name: raw(kept.value) for kept in node.saved if kept.value is not None}
        place = self.scene.by_node.get(node.id)
        others = {"result": place.states[0].id if place is not None else None}
        for rule in rules_of(node.name, len(node.edges))[:1]:
            others |= dict(zip(rule.inputs, tensors, strict=False))
        for name, tensor in others.items():
            known = value_of(self.scene, tensor) if tensor is not None and name not in saved else None
            if known is not None:
                saved[name] = raw(known)
        sizes = [self.shape(tensor) for tensor in tensors[:i]]
        saved |= {"edges": len(node.edges), "position": i}
        dim = saved.get("dim")
        if isinstance(dim, int) and all(sizes):
            saved["offset"] = sum(size[wrapped(dim, len(size))] for size in sizes if size)
        return Way(saved, value.shape if value else (), value.dtype if value else "float32")

    @remembered
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
        value = None if tensor is None else value_of(self.scene, tensor)
        return None if value is None else value.shape
