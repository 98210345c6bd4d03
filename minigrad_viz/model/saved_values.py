"""What nodes saved: which tensor under which name, and its values where the node has lost them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from minigrad.observing import all_ops

from ..protocol import Value
from ..trace.events import NodeState
from ..trace.graph import Saved
from .place import Lookup


def tensor_saved_as(found: Lookup, node: NodeState, name: str) -> str | None:
    """The tensor that the node of an op saved as `name`; None where that is not certain."""
    place = found.by_node.get(node.id)
    if name == "result":
        return place.states[0].id if place is not None and len(place.states) == 1 else None
    op = all_ops().get(node.name) or all_ops().get(node.name + "0")
    if op is None or node.code is not None or name not in op.inputs or len(node.edges) != len(op.inputs):
        return None
    edge = node.edges[op.inputs.index(name)]
    if edge is not None:
        return found.tensor_of(edge)
    event, i = None if place is None else place.event, op.params.index(name)
    return event.inputs[i] if event is not None and i < len(event.inputs) else None


def as_saved(found: Lookup, index: Lookup, node: NodeState, saved: tuple[Saved, ...]) -> tuple[Saved, ...]:
    """What a node of `found` saved, with the values that were there before their memory was written to; those
    `index` has, which is of the whole trace."""
    if all(s.now is None or s.value is not None for s in saved):
        return saved
    known = {s.name: tensor_saved_as(found, node, s.name) for s in saved if s.now is not None}
    values = {name: value_at(index, id, version_of(saved, name)) for name, id in known.items() if id}
    values |= {s.name: of_function(found, index, node, s) for s in saved if s.name.startswith("saved[")}
    return tuple(replace(s, value=s.value or values.get(s.name)) for s in saved)


def of_function(found: Lookup, index: Lookup, node: NodeState, saved: Saved) -> Value | None:
    """What a custom Function saved before its memory was written to: what the only one of its inputs and
    outputs was then that has come from the one version to the other."""
    place = found.by_node.get(node.id)
    if place is None or saved.now is None:
        return None
    near = dict.fromkeys([*(id for id in place.inputs or () if id), *(state.id for state in place.states)])
    fits = [id for id in near if changed(index, id, saved)]
    return value_at(index, fits[0], saved.version) if len(fits) == 1 else None


def changed(index: Lookup, tensor: str, saved: Saved) -> bool:
    """Whether a tensor, or what a write in place made of it, may be at the version of a stale value."""
    if tensor not in index.at or value_at(index, tensor, saved.version) is None:
        return False
    later = [state.version for _, state in index.later.get(tensor, ())]
    born = [place.states[0].version for place in index.places if place.inputs and tensor in place.inputs[:1]]
    return saved.now in (*later, *born)


def version_of(saved: tuple[Saved, ...], name: str) -> int | None:
    """The version at which a value was saved."""
    return next(s.version for s in saved if s.name == name)


def value_at(index: Lookup, tensor: str, version: int | None) -> Value | None:
    """What a tensor was when its version was `version`; None if nobody looked then."""
    if tensor not in index.at:
        return None
    place, i = index.at[tensor]
    states = (place.states[i], *(state for _, state in index.later.get(tensor, ())))
    return next((state.value for state in states if state.version == version), None)


def unpacked(node: NodeState, packed: Mapping[tuple[str, str], tuple[Value | None, str]]) -> NodeState:
    """A node with the recorded values of the saved tensors that hooks packed."""
    if not any((node.id, s.name) in packed for s in node.saved):
        return node
    saved = []
    for s in node.saved:
        value, kept = packed.get((node.id, s.name), (s.value, s.packed))
        saved.append(replace(s, value=s.value if value is None else value, packed=kept))
    return node._replace(saved=tuple(saved))


def remember(node: NodeState, before: NodeState | None) -> NodeState:
    """A node as a later call finds it, with the values that an earlier call saw before they were freed or
    changed."""
    if before is None:
        return node
    known = {s.name: s.value for s in before.saved}
    saved = tuple(
        replace(s, value=known.get(s.name)) if s.freed or s.now is not None else s for s in node.saved
    )
    return node._replace(saved=saved)
