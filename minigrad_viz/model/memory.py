"""Trace → memory: what the graph keeps for backward, in bytes, and when it is freed.

What counts is the memory of saved tensors: the whole of what a saved part keeps alive, once for all that
share it. Python numbers and shapes count for nothing. What is a leaf's own is counted apart: whoever wants
its gradient keeps the leaf anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..trace.events import BackwardStarted, Forward, NodeState
from ..trace.graph import SavedChip
from .scene import Scene, Scenes

DIFFERENTIABLE = ("float", "bfloat", "complex")  # dtypes through which a gradient goes
OWN, LEAF, SHARED, NOTHING, UNKNOWN = "own", "leaf", "shared", "nothing", "unknown"


class Item(NamedTuple):
    """One saved value (None: the node saved nothing) of the `node` called `name`, which belongs to the
    tensor `at`. `kind` is OWN if its bytes count here, LEAF if they are a leaf's, SHARED if they were counted
    above, NOTHING for a number, a shape and the like, UNKNOWN for what could not be read. `gone` are the
    calls, by their place, after which the node had let go of it."""

    node: str
    name: str
    at: str
    saved: SavedChip | None
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


class UnrecordedPart(NamedTuple):
    """What was computed while nothing was recorded, in the `mode` "no_grad" or "inference": the graph holds 0
    bytes for it."""

    mode: str
    texts: tuple[str, ...]


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
    unrecorded: tuple[UnrecordedPart, ...] = ()


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
    return Memory(tuple(items), moments, shown, held, leaves, rest, tuple(tensors_without_recording(scene)))


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
            yield Item(*where, saved, saved_kind(saved, leaves, seen))
            if saved.memory is not None:
                seen.add(saved.memory)


def saved_kind(saved: SavedChip, leaves: set[int], seen: set[int]) -> str:
    """How a saved value counts."""
    if saved.nbytes is None:
        return UNKNOWN if saved.packed or saved.freed or saved.now is not None else NOTHING
    if saved.memory is None:
        return OWN if saved.nbytes else NOTHING
    return LEAF if saved.memory in leaves else SHARED if saved.memory in seen else OWN


# ── what was not recorded ───────────────────────────────────────────────────────────────────────────────────


def tensors_without_recording(scene: Scene) -> Iterable[UnrecordedPart]:
    """The tensors that each mode without recording computed from tensors that require gradients."""
    asks = {state.id for place in scene.places for state in place.states if state.requires_grad}
    carries = {"no_grad": set(asks), "inference": set(asks)}
    texts: dict[str, dict[str, None]] = {mode: {} for mode in carries}
    for time, event in enumerate(scene.trace.events):
        if not isinstance(event, Forward) or event.call:
            continue
        inference = scene.index.switched("inference", time)
        mode = "inference" if inference else "no_grad"
        if (event.grad_enabled and not inference) or carries[mode].isdisjoint(event.read):
            continue
        first = event.outputs[0]
        if first.value is None or first.value.dtype.startswith(DIFFERENTIABLE):
            texts[mode][scene.at[first.id][0].expr or event.op] = None
            carries[mode].update(state.id for state in event.made)
    for mode, found in texts.items():
        if found:
            yield UnrecordedPart(mode, tuple(found))
