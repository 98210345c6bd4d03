"""One node that ran: its tensors, what the values that it saved are called, and whether a formula gives what
was recorded: otherwise it is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.observing import F

from ..model.node_details import match, tensor_saved_as
from ..model.scene import Scene
from ..protocol import Value
from ..snapshots import array_of, close, coarser
from ..trace.events import NodeRan
from .derivatives import label, root_of
from .flow import flow_of, is_seed, raw, value_of
from .glyphs import UNNAMED
from .notation import wrapped
from .symbols import ADD, SUB, Symbol


class NodeStep:
    """One node that ran."""

    def __init__(self, scene: Scene, event: NodeRan, lang: str | None) -> None:
        self.scene, self.event, self.lang = scene, event, lang
        self.flow = flow_of(scene)
        self.node = scene.nodes[event.node]
        self.place = scene.by_node.get(event.node)
        self.root = root_of(scene, event.call, event.node)
        own = any(s.name.startswith("saved[") for s in self.node.saved) or self.node.code is not None
        self.inside = scene.index.calls[event.call].inside.get(event.node, [])
        self.custom = own or bool(self.inside)
        self.op = "" if self.custom else self.node.name  # a Function of the user's may be called like an op
        inputs = list(self.place.inputs or ()) if self.place is not None else []
        self.tensors = match(scene, inputs, self.node.edges)[: len(self.node.edges)]
        self.saved = {s.name: raw(s.value) for s in self.node.saved if s.value is not None}
        self.names = dict(self.named(inputs))
        self.saved |= dict(self.packed())

    def place_of(self, i: int) -> dict[str, int]:
        """Where input `i` stands among the tensors that an op joined."""
        told = {"edges": len(self.node.edges), "position": i}
        dim = self.saved.get("dim")
        sizes = [self.shape(k) for k in range(i)] if isinstance(dim, int) else []
        if isinstance(dim, int) and all(sizes):
            told["offset"] = sum(size[wrapped(dim, len(size))] for size in sizes if size)
        return told

    def shape(self, i: int) -> tuple[int, ...] | None:
        """The shape of input `i`."""
        tensor, sent = self.tensors[i], self.event.sent[i]
        value = sent if tensor is None else value_of(self.scene, tensor)
        return None if value is None else value.shape

    def output(self, i: int = 0) -> str | None:
        """The tensor that the node made, as output `i`."""
        states = self.place.states if self.place is not None else []
        return states[i].id if i < len(states) else None

    def label(self, tensor: str | None) -> str:
        """What a tensor is called."""
        return label(self.scene, tensor)

    def packed(self) -> Iterator[tuple[str, Any]]:
        """The values of saved tensors that a hook packed, as far as these are tensors of the cell."""
        for kept in self.node.saved:
            packed = kept.packed and kept.value is None
            tensor = tensor_saved_as(self.scene, self.node, kept.name) if packed else None
            value = None if tensor is None else value_of(self.scene, tensor)
            if tensor is not None and value is not None:
                yield kept.name, raw(value)

    def named(self, inputs: list[str | None]) -> Iterator[tuple[str, str]]:
        """How the saved tensors are called: the inputs of the op in the order of its edges, its result, and
        others by their value."""
        for kept in self.node.saved:
            tensor = tensor_saved_as(self.scene, self.node, kept.name)
            if tensor is None and isinstance(kept.value, Value):
                same = {t for t in inputs if t is not None and value_of(self.scene, t) == kept.value}
                tensor = same.pop() if len(same) == 1 else None
            if tensor is None or self.is_constant(tensor) or is_seed(self.scene, tensor):
                continue
            if self.label(tensor) != UNNAMED:
                yield kept.name, self.label(tensor)

    def is_constant(self, tensor: str) -> bool:
        """Whether a tensor is data without a name, which a formula has as its numbers."""
        place, i = self.scene.at[tensor]
        unnamed = tensor not in self.scene.named
        return unnamed and place.inputs is None and not place.states[i].requires_grad


NOISE = 0.1  # of the precision, as a share of 1: what a difference of numbers of that size may be off


def fits(step: NodeStep, received: Value, factor: Symbol, sent: Value) -> bool:
    """Whether incoming · local, summed back to the shape of the input, is what the node sent. Where numbers
    are not known, whether the shapes are right and no hook ran."""
    incoming, recorded = array_of(received), array_of(sent)
    shapes_fit = broadcasts(factor.shape, received.shape) and broadcasts(sent.shape, received.shape)
    shapes_fit = shapes_fit and (factor.value is not None or not unsure(received, sent))
    if not shapes_fit or incoming is None or recorded is None or factor.value is None:
        return shapes_fit and quiet(step)
    with np.errstate(all="ignore"):
        whole = np.broadcast_to(incoming * factor.value, received.shape)
        terms = np.abs(whole) + (NOISE * np.abs(incoming) if cancels(factor) else 0)
        summed, scale = F.sum_to(whole, sent.shape), F.sum_to(terms, sent.shape)
    return close(summed, recorded, coarser(sent, received), scale)


def quiet(step: NodeStep) -> bool:
    """Whether no hook stands between what a node computed and what it sent."""
    return not step.node.hooks and not step.flow.changed(step.event)


def unsure(*values: Value) -> bool:
    """Whether numbers are complex: a formula that cannot be compared with them might lack a conjugate."""
    return any(value.dtype.startswith("complex") for value in values)


def broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Whether a shape can be broadcast to a larger one."""
    if len(small) > len(large):
        return False
    return all(n in (1, m) for n, m in zip(reversed(small), reversed(large), strict=False))


def cancels(factor: Symbol) -> bool:
    """Whether a formula has a difference (`1 − t²`), which may lose digits."""
    return factor.head in (ADD, SUB) or any(cancels(a) for a in factor.args if isinstance(a, Symbol))


def same(step: NodeStep, found: Symbol, sent: Value) -> bool:
    """Whether a formula gives what the node sent. Where numbers are not known, whether its shape is right and
    no hook ran."""
    recorded = array_of(sent)
    if found.value is None or recorded is None:
        return not unsure(sent) and quiet(step) and tuple(found.shape) == sent.shape
    largest = np.max(np.abs(recorded), initial=0)
    received = step.event.received[0] or sent
    agree = tuple(found.shape) == sent.shape
    return agree and close(found.value, recorded, coarser(sent, received), largest)
