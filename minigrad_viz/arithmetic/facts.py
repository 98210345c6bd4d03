"""What the lines of one backward call need of its trace, found once."""

from __future__ import annotations

import ast
import weakref
from typing import Any

import numpy as np

from ..model.build import Builder
from ..protocol import Value
from ..trace.events import BackwardStarted, HookRan, Inside, NodeRan, Recomputed
from .lines import add_up, array_of
from .notation import Known


def summed(shares: list[Value]) -> Value | None:
    """The sum of gradients; None where numbers are not known."""
    arrays = [array_of(value) for value in shares]
    if any(a is None for a in arrays):
        return None
    total = np.asarray(sum(arrays[1:], arrays[0]))
    return Value(total.shape, shares[0].dtype, tuple(total.reshape(-1).tolist()))


class Facts:
    """What the lines of one backward call need of its trace, found once.

    `met` has per output of a node the gradients that were sent to it, with the nodes that sent them, and
    `into` per node the edges that lead to it; `ran` the nodes of the call as they ran. `tainted` are nodes,
    with their call, that a gradient reached which a hook had changed; `unseen` the sums of what was sent to
    an output of a node, where something that was not recorded (a hook, in a library that does not tell) made
    the node receive another gradient.
    """

    def __init__(self, builder: Builder) -> None:
        self.call = builder.call
        self.started: dict[int, BackwardStarted] = {}
        self.ran: dict[str, NodeRan] = {}
        self.hooks: dict[tuple[int, str], list[HookRan]] = {}
        self.inside: dict[tuple[int, str], list[Inside]] = {}
        self.again: set[tuple[int, str]] = set()  # nodes of checkpoints, which ran a function again
        self.tainted: set[tuple[int, str]] = set()
        self.unseen: dict[tuple[str, int], Value] = {}
        self.labels: dict[str, str] = {}
        self.met: dict[tuple[str, int], list[tuple[str, int, Value]]] = {}
        self.into: dict[str, list[tuple[str, int]]] = {}
        for (node, i), values in builder.flows.items():
            edges = builder.nodes[node].edges
            edge = edges[i] if i < len(edges) else None
            if edge is not None:
                self.met.setdefault(edge, []).extend((node, i, value) for value in values)
                self.into.setdefault(edge[0], []).append((node, i))
        for event in builder.trace.events:
            self.read(builder, event)

    def read(self, builder: Builder, event: Any) -> None:
        """Take one event in; they come in the order in which gradients flowed."""
        if isinstance(event, BackwardStarted):
            self.started[event.call] = event
        elif isinstance(event, Inside):
            self.inside.setdefault((event.call, event.node), []).append(event)
        elif isinstance(event, Recomputed):
            self.again.add((event.call, event.node))
        elif isinstance(event, HookRan):
            self.hooks.setdefault((event.call, event.node), []).append(event)
            if event.before != event.after and event.kind != "post_accumulate":
                self.taint(builder, event.call, event.node, event.kind != "post")
        elif isinstance(event, NodeRan):
            if event.call == self.call:
                self.ran[event.node] = event
                self.compare(event)
            if (event.call, event.node) in self.tainted:
                self.taint(builder, event.call, event.node, True)

    def taint(self, builder: Builder, call: int, node: str, itself: bool) -> None:
        """A gradient that a hook had changed reached a node, or only left it."""
        if itself:
            self.tainted.add((call, node))
        self.tainted.update((call, edge[0]) for edge in builder.nodes[node].edges if edge is not None)

    def compare(self, event: NodeRan) -> None:
        """Whether a node received the sum of what was sent to it."""
        if (event.call, event.node) in self.hooks:
            return
        for nr, received in enumerate(event.received):
            shares = [value for _, _, value in self.met.get((event.node, nr), ())]
            if received is None or not shares or shares == [received]:
                continue
            total = summed(shares)
            if total is not None and received.items is not None and not add_up(shares, received):
                self.unseen[event.node, nr] = total
                self.tainted.add((event.call, event.node))

    def changed(self, call: int, node: str) -> list[HookRan]:
        """The hooks that changed a gradient of a node."""
        return [hook for hook in self.hooks.get((call, node), ()) if hook.before != hook.after]


_known: weakref.WeakKeyDictionary[Builder, Facts] = weakref.WeakKeyDictionary()


def facts_of(builder: Builder) -> Facts:
    """The facts of a builder."""
    facts = _known.get(builder)
    if facts is None:
        facts = _known[builder] = Facts(builder)
    return facts


def is_seed(builder: Builder, tensor: str) -> bool:
    """Whether a tensor is the gradient that a backward call began with, ∂z/∂z: a formula has its number."""
    call, target = builder.gradient_of.get(tensor, (0, ""))
    return call > 0 and builder.of.get(call) == target


def value_of(builder: Builder, tensor: str) -> Value | None:
    """The recorded value of a tensor."""
    place, i = builder.at[tensor]
    return place.states[i].value


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
