"""Trace → memory: what the graph keeps for backward, in bytes, and when it lets go of it.

What counts is the memory of saved tensors: the whole of what a saved part keeps alive, once for all that
share it. Python numbers and shapes count for nothing. What is a leaf's own is counted apart: whoever wants
its gradient keeps the leaf anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.observing import F, Op, is_differentiable

from ..protocol import Value
from ..trace.events import (
    BackwardStarted,
    Detached,
    Forward,
    Left,
    Mutated,
    NodeState,
)
from ..trace.graph import Saved
from .scene import Scene, Scenes

PRODUCTS: dict[tuple[int, ...], str]
PRODUCTS = {(1, 1): "dot", (2, 1): "mv", (2, 2): "mm"}  # what matmul becomes, by the ranks of its operands
REDUCTIONS = ("sum", "mean")  # with or without dimensions
OWN, LEAF, SHARED, NOTHING, UNKNOWN = "own", "leaf", "shared", "nothing", "unknown"


class Item(NamedTuple):
    """One saved value (None: the node saved nothing) of the `node` called `name`, which stands under the
    tensor `at`. `kind` is OWN if its bytes count here, LEAF if they are a leaf's, SHARED if they were counted
    above, NOTHING for a number, a shape and the like, UNKNOWN for what could not be read. `gone` are the
    calls, by their place, after which the node had let go of it."""

    node: str
    name: str
    at: str
    saved: Saved | None
    kind: str
    gone: tuple[bool, ...] = ()

    @property
    def bytes(self) -> int:
        """The bytes that the graph keeps for this value alone."""
        return (self.saved.nbytes or 0) if self.kind == OWN and self.saved is not None else 0


class CallMemory(NamedTuple):
    """A backward call: the bytes that its graph held before and after it."""

    call: int
    before: int
    after: int


class Unrecorded(NamedTuple):
    """What was computed while nothing was recorded, in the `mode` "no_grad" or "inference": the graph holds 0
    bytes for it. With the grad mode on it would hold `would` (None where that is not certain)."""

    mode: str
    texts: tuple[str, ...]
    would: int | None


class Memory(NamedTuple):
    """What the graph of the last backward call (of the variables, if there was none) saved, in the order in
    which it was saved, and for `moments` all backward calls that were kept. `held` are its bytes before that
    call, `leaves` those of leaves among them that are held anyway, `rest` what nodes hold that no backward
    call reached."""

    items: tuple[Item, ...]
    moments: tuple[CallMemory, ...]
    shown: tuple[int, ...]
    held: int
    leaves: int
    rest: int
    unrecorded: tuple[Unrecorded, ...] = ()


def memory_of_scenes(scenes: Scenes) -> Memory:
    """The memory of a recorded cell."""
    trace, known, calls = scenes.trace, scenes.index.calls.values(), scenes.index.started
    gone = {call.number: set(call.ended.freed) for call in known if call.ended is not None}
    moments = tuple(moment(call, gone.get(call.call, set())) for call in calls)
    last = calls[-1].nodes if calls else trace.nodes
    ids = {node.id for node in last if node.variable is None}
    graph = [call for call in calls if any(node.id in ids for node in call.nodes)]
    first = {node.id: node for call in reversed(graph) for node in call.nodes}  # as it stood at first
    scene = scenes.last
    at = {place.node: title(scene, place) for place in scene.places if place.node is not None}
    order = {node: i for i, node in enumerate(at)}
    nodes = [first.get(node.id, node) for node in last]
    nodes.sort(key=lambda node: order.get(node.id, -1))
    freed = [gone.get(call.call, set()) for call in graph]
    over = [set[str]().union(*freed[: i + 1]) for i in range(len(freed))]
    items = [item._replace(gone=tuple(item.node in f for f in over)) for item in items_of(nodes, at)]
    held, leaves = sizes(nodes)
    rest = sizes(trace.nodes)[0] if calls else 0
    shown = tuple(call.call for call in graph)
    return Memory(tuple(items), moments, shown, held, leaves, rest, tuple(unrecorded(scene)))


def memory_of_nodes(nodes: Sequence[NodeState], at: dict[str, str]) -> Memory:
    """The memory of a graph that is at hand; `at` has what each node made, in words."""
    held, leaves = sizes(nodes)
    return Memory(tuple(items_of(nodes, at)), (), (), held, leaves, 0)


def title(scene: Scene, place: Any) -> str:
    """What a node made: the variable, or the expression."""
    named = scene.named.get(place.states[0].id)
    return named or place.expr or scene.expression(place) or ""


def moment(call: BackwardStarted, freed: set[str]) -> CallMemory:
    """What the graph of a call held before and after it."""
    left = [node for node in call.nodes if node.id not in freed]
    return CallMemory(call.call, sizes(call.nodes)[0], sizes(left, call.nodes)[0])


def sizes(nodes: Iterable[NodeState], whole: Iterable[NodeState] | None = None) -> tuple[int, int]:
    """The bytes that nodes hold, and those of leaves among what they saved. `whole` are all the nodes that
    know the leaves."""
    nodes = list(nodes)
    leaves = leaf_memory(nodes if whole is None else whole)
    known: dict[Any, int] = {}
    loose = 0
    for saved in (saved for node in nodes for saved in node.saved if saved.nbytes is not None):
        if saved.memory is None:
            loose += saved.nbytes or 0
        else:
            known[saved.memory] = saved.nbytes or 0
    own = sum(size for memory, size in known.items() if memory not in leaves)
    return own + loose, sum(size for memory, size in known.items() if memory in leaves)


def leaf_memory(nodes: Iterable[NodeState]) -> set[int]:
    """The memory of the leaves among nodes."""
    return {node.memory for node in nodes if node.variable is not None and node.memory is not None}


def items_of(nodes: Sequence[NodeState], at: dict[str, str]) -> Iterable[Item]:
    """A row per saved value."""
    leaves = leaf_memory(nodes)
    seen: set[int] = set()
    for node in nodes:
        if node.variable is not None:
            continue
        where = node.id, node.name, at.get(node.id, "")
        if not node.saved:
            yield Item(*where, None, NOTHING)
        for saved in node.saved:
            yield Item(*where, saved, kind_of(saved, leaves, seen))
            if saved.memory is not None:
                seen.add(saved.memory)


def kind_of(saved: Saved, leaves: set[int], seen: set[int]) -> str:
    """How a saved value counts."""
    if saved.nbytes is None:
        return UNKNOWN if saved.packed or saved.freed or saved.now is not None else NOTHING
    if saved.memory is None:
        return OWN if saved.nbytes else NOTHING
    return LEAF if saved.memory in leaves else SHARED if saved.memory in seen else OWN


# ── what was not recorded ───────────────────────────────────────────────────────────────────────────────────


def unrecorded(scene: Scene) -> Iterable[Unrecorded]:
    """The tensors that each mode without recording computed from tensors that require gradients."""
    asks = {state.id for place in scene.places for state in place.states if state.requires_grad}
    would = {"no_grad": Would(scene, asks), "inference": Would(scene, asks)}
    for time, event in enumerate(scene.trace.events):
        if isinstance(event, Forward | Detached | Left):
            for each in would.values():
                each.share(event)
        if isinstance(event, Forward) and not event.call:
            inference = scene.index.switched("inference", time)
            if inference or not event.grad_enabled:
                would["inference" if inference else "no_grad"].ran(event)
        elif isinstance(event, Mutated):
            for each in would.values():
                each.certain = each.certain and event.before not in each.asks - asks
    for mode, each in would.items():
        if each.texts:
            yield Unrecorded(mode, tuple(dict.fromkeys(each.texts)), each.bytes if each.certain else None)


class Would:
    """What the nodes would save that ops would have left if they had been recorded; nothing is run for it:
    what is saved are inputs and results, whose sizes are known."""

    def __init__(self, scene: Scene, asks: set[str]) -> None:
        self.scene = scene
        self.leaves = {id for id in asks if self.state(id).node is None}
        self.asks = set(asks)
        self.same: dict[str, str] = {}  # a view -> whose memory it has
        self.saved: dict[str, int] = {}  # bytes by the tensor whose memory it is
        self.texts: list[str] = []
        self.certain = True

    @property
    def bytes(self) -> int:
        """All bytes but those of leaves."""
        return sum(size for id, size in self.saved.items() if id not in self.leaves)

    def state(self, id: str) -> Any:
        """A tensor of the trace."""
        return self.scene.state(id)

    def ran(self, event: Forward) -> None:
        """An op ran; if it had an input that asks, it would have left a node."""
        if not any(id in self.asks for id in event.inputs):
            return
        op = self.op_of(event)
        value = event.outputs[0].value
        if op is not None and value is not None and not is_differentiable(np.dtype(value.dtype)):
            return  # a comparison, say: no gradient would go through it
        self.texts.append(self.scene.at[event.outputs[0].id][0].expr or event.op)
        self.asks.update(state.id for state in event.outputs)
        if event.shares:
            return  # a view saves no tensor
        if op is None or op.listed or op.several:
            self.certain = False
        else:
            self.save(op, event)

    def share(self, event: Forward | Detached | Left) -> None:
        """Note whose memory new tensors have, if it is another's."""
        source = event.source if isinstance(event, Detached) else event.shares
        states = event.outputs if isinstance(event, Forward) else (event.tensor,)
        if source:
            owner = self.same.get(source, source)
            self.same.update((state.id, owner) for state in states if state.id != owner)

    def op_of(self, event: Forward) -> Op | None:
        """The op of minigrad that does what ran, be it under the name that PyTorch gives to several; None if
        that is not certain."""
        first, *others = event.inputs or (None,)
        values = [None if id is None else self.state(id).value for id in event.inputs]
        name = event.op
        if name == "pow":
            name = "pow_tensor" if others and others[0] is not None else "pow_scalar"
        elif name == "matmul" and all(value is not None for value in values):
            name = PRODUCTS.get(tuple(len(value.shape) for value in values if value is not None), "")
        elif name in REDUCTIONS:
            name += "_dim" if others else "_all"
        op: Op | None = getattr(getattr(F, name, None), "op", None)
        return op if first is not None or name != "pow_scalar" else None

    def save(self, op: Op, event: Forward) -> None:
        """Add what the node of an op would save."""
        given = dict(zip(op.params, event.inputs, strict=False))
        asking = {i for i, name in enumerate(op.inputs) if given.get(name) in self.asks}
        for name, users in op.saved:
            id = event.outputs[0].id if name == "result" else given.get(name)
            if name in op.tensors and id is not None and asking.intersection(users):
                owner = self.same.get(id, id)
                value: Value | None = self.state(owner).value
                if value is None:
                    self.certain = False
                else:
                    self.saved[owner] = value.size * np.dtype(value.dtype).itemsize
