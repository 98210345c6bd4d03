"""Which tensors the edges of a node lead to, and which node stands below a tensor."""

from __future__ import annotations

from collections.abc import Container, Sequence

from ..trace.events import NodeState
from .place import Edge, Lookup, Place


def match(found: Lookup, given: list[str | None], edges: Sequence[Edge | None]) -> list[str | None]:
    """The op's input tensors, one per entry of `next_functions` and then the others.

    An op's arguments and its edges agree in order, but an argument without gradient may have no edge
    (`where`'s condition): an edge takes the next argument that leads to it. An argument that needs a
    gradient and has no edge here has one further back, inside an op that is made of several.
    """
    if not edges:
        return given
    result: list[str | None] = []
    rest = list(given)
    for n, edge in enumerate(edges):
        if edge is None:
            left = sum(e is not None for e in edges[n + 1 :])
            result.append(rest.pop(0) if len(rest) > left else None)
            continue
        k = next((k for k, id in enumerate(rest) if id is not None and leads(found, id, edge)), None)
        result.append(found.tensor_of(edge) if k is None else rest.pop(k))
    return result + [id for id in rest if id is None or not found.asks(id)]


def leads(found: Lookup, id: str, edge: Edge) -> bool:
    """Whether tensor `id` is what `edge` sends its gradient to."""
    if id not in found.at:
        return False
    place, i = found.at[id]
    if place.node is not None:
        return (place.node, i) == edge
    return found.nodes[edge[0]].variable == id if edge[0] in found.nodes else edge[0] == f"a{id}"


def node_of(found: Lookup, place: Place, users: Container[str]) -> NodeState | None:
    """The node below a station: the one that made it, or a leaf's AccumulateGrad."""
    state = place.states[0]
    if state.node is not None:
        known = found.nodes.get(state.node)
        return known or NodeState(state.node, state.grad_fn or "", (), guess(found, place), None, 0)
    known = found.nodes.get(found.accumulators.get(state.id, ""))
    if known is None and state.id in users:
        return NodeState(f"a{state.id}", "AccumulateGrad", (), (), state.id, 0)
    return known


def guess(found: Lookup, place: Place) -> tuple[Edge | None, ...]:
    """The edges of a node that was never looked at: to the tensors that the op was given."""
    edges: list[Edge | None] = []
    for id in place.inputs or ():
        if id is not None and found.asks(id):
            source, i = found.at[id]
            edges.append((source.node or f"a{id}", i))
        elif id is not None:
            edges.append(None)
    return tuple(edges)
