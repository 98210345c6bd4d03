"""How gradients flowed in one backward call: what the lines of arithmetic need of it, found once."""

from __future__ import annotations

import ast
import weakref
from typing import Any

from ..model.scene import Scene
from ..protocol import Value
from ..snapshots import add_up, array_of, summed
from ..trace.events import HookRan, NodeRan
from .notation import Known


class Flow:
    """How gradients flowed in one backward call, and what the lines about it need of other calls.

    `met` has per output of a node the gradients that were sent to it, with the nodes that sent them, and
    `into` per node the edges that lead to it. `tainted` are nodes, with their call, that a gradient reached
    which a hook had changed; `unseen` the sums of what was sent to an output of a node, where something that
    was not recorded (a hook, in a library that does not tell) made the node receive another gradient.
    `labels` are the names of tensors in formulas, `factors` the local derivatives at edges, once they are
    known.
    """

    def __init__(self, scene: Scene) -> None:
        self.call, self.calls, self.ran = scene.call, scene.index.calls, scene.now.ran
        self.tainted: set[tuple[int, str]] = set()
        self.unseen: dict[tuple[str, int], Value] = {}
        self.labels: dict[str, str] = {}
        self.factors: dict[tuple[str, int], float | None] = {}
        self.met: dict[tuple[str, int], list[tuple[str, int, Value]]] = {}
        self.into: dict[str, list[tuple[str, int]]] = {}
        for (node, i), values in scene.now.flows.items():
            edges = scene.nodes[node].edges
            edge = edges[i] if i < len(edges) else None
            if edge is not None:
                self.met.setdefault(edge, []).extend((node, i, value) for value in values)
                self.into.setdefault(edge[0], []).append((node, i))
        for event in scene.trace.events:  # in the order in which gradients flowed
            if isinstance(event, HookRan):
                if event.before != event.after and event.kind != "post_accumulate":
                    self.taint(scene, event.call, event.node, event.kind != "post")
            elif isinstance(event, NodeRan):
                if event.call == self.call:
                    self.compare(event)
                if (event.call, event.node) in self.tainted:
                    self.taint(scene, event.call, event.node, True)

    def hooks(self, event: NodeRan) -> list[HookRan]:
        """The hooks that ran with a node."""
        return self.calls[event.call].hooks.get(event.node, [])

    def taint(self, scene: Scene, call: int, node: str, itself: bool) -> None:
        """A gradient that a hook had changed reached a node, or only left it."""
        if itself:
            self.tainted.add((call, node))
        self.tainted.update((call, edge[0]) for edge in scene.nodes[node].edges if edge is not None)

    def compare(self, event: NodeRan) -> None:
        """Whether a node received the sum of what was sent to it."""
        if self.hooks(event):
            return
        for nr, received in enumerate(event.received):
            shares = [value for _, _, value in self.met.get((event.node, nr), ())]
            if received is None or not shares or shares == [received]:
                continue
            total = summed(shares)
            if total is not None and received.items is not None and not add_up(shares, received):
                self.unseen[event.node, nr] = total
                self.tainted.add((event.call, event.node))

    def changed(self, event: NodeRan) -> list[HookRan]:
        """The hooks that changed a gradient of a node."""
        return [hook for hook in self.hooks(event) if hook.before != hook.after]


_known: weakref.WeakKeyDictionary[Scene, Flow] = weakref.WeakKeyDictionary()


def flow_of(scene: Scene) -> Flow:
    """How gradients flowed in the call of a scene."""
    flow = _known.get(scene)
    if flow is None:
        flow = _known[scene] = Flow(scene)
    return flow


def is_seed(scene: Scene, tensor: str) -> bool:
    """Whether a tensor is the gradient that a backward call began with, ∂z/∂z: a formula has its number."""
    call, target = scene.gradient_of.get(tensor, (0, ""))
    return call > 0 and scene.of.get(call) == target


def value_of(scene: Scene, tensor: str) -> Value | None:
    """The recorded value of a tensor."""
    state = scene.state(tensor)
    return None if state is None else state.value


def raw(value: Any) -> Any:
    """A saved value for a vjp: numbers with their shape for a tensor, what a text says else."""
    if isinstance(value, Value):
        return Known(array_of(value), value.shape)
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError):
        try:
            return float(value)  # inf, nan
        except (TypeError, ValueError):
            return value
