"""Roots → Graph: the picture of a graph that nobody recorded, from what its nodes tell.

Works on minigrad's and PyTorch's graphs alike. Values of intermediate tensors are not part of a graph;
they are shown where the caller still has the tensor (`names`), or where a later node saved it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..kept import Kept, is_number, saved_of
from ..protocol import (
    edges_of,
    has_history,
    hooks_of,
    is_parameter,
    is_tensor,
    memory_of,
    node_name,
    sequence_of,
    tangent_of,
    value_of,
    variable_of,
    version_of,
)
from .graph import LEAF, PARAMETER, RESULT, ROOT, Card, Deck, Graph, Route, Saved, Station


def in_order(
    roots: list[Any], limit: int, known: Callable[[Any], bool] = lambda node: False
) -> tuple[list[Any], int]:
    """Nodes in an order in which inputs come before users, and how many were left out beyond `limit`.

    A depth-first walk without recursion: a chain of 100,000 nodes is as good as one of ten. Of a graph
    larger than `limit` the nodes nearest to the roots are kept. The walk does not enter nodes that are
    `known`.
    """
    near = [node for node in dict.fromkeys(roots) if not known(node)]
    seen = set(near)
    for node in near:  # grows while it is read: breadth first, so the nearest come first
        for target, _ in edges_of(node):
            if target is not None and target not in seen and not known(target):
                seen.add(target)
                near.append(target)
    kept = set(near[:limit])
    order, done = [], set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, left = stack.pop()
            if left:
                order.append(node)
            elif node not in done and node in kept:
                done.add(node)
                stack.append((node, True))
                stack.extend(
                    (n, False) for n, _ in reversed(edges_of(node)) if n is not None and n not in done
                )
    return order, len(near) - len(kept)


def graph_of(roots: list[Any], names: Mapping[str, Any] | None = None, limit: int = 5000) -> Graph:
    """The picture's model of everything that the tensors `roots` were computed from.

    `names` maps variable names to tensors. ValueError without roots; TypeError for anything that is no
    tensor.
    """
    if not roots:
        raise ValueError("draw() needs at least one tensor")
    for root in roots:
        if not is_tensor(root):
            raise TypeError(f"draw() draws the graph of tensors, not of {type(root).__name__}")
    if all(root.grad_fn is None for root in roots):
        return without_graph(roots, names or {})
    order, omitted = in_order([r.grad_fn for r in roots if r.grad_fn is not None], limit)
    return _Walk(roots, order, names or {}).graph(omitted)


def names_of(names: Mapping[str, Any]) -> dict[int, str]:
    """Variable names by identity of the tensor; the first name counts, private names do not."""
    found: dict[int, str] = {}
    for name, value in names.items():
        if not name.startswith("_") and is_tensor(value):
            found.setdefault(id(value), name)
    return found


def without_graph(roots: list[Any], names: Mapping[str, Any]) -> Graph:
    """Tensors that no node made: their cards alone, and why."""
    by_id = names_of(names)
    stations = []
    for i, root in enumerate(roots):
        card = card_of(root, f"t{i}", by_id.get(id(root)), LEAF if root.requires_grad else RESULT)
        stations.append(Station(f"s{i}", (card,)))
    asking = [by_id.get(id(r), f"[{i}]") for i, r in enumerate(roots) if r.requires_grad]
    note = ("no_graph_leaf", {"names": ", ".join(asking)}) if asking else ("no_graph", {})
    return Graph(tuple(stations), (), note)


def card_of(tensor: Any, id: str, name: str | None, role: str) -> Card:
    """The card of a tensor that is at hand."""
    fn = tensor.grad_fn
    grad = tensor.grad if fn is None or tensor.retains_grad else None
    tangent = tangent_of(tensor)
    return Card(
        id=id,
        role=role,
        name=name,
        value=value_of(tensor),
        grad=None if grad is None else value_of(grad),
        grad_kept=grad is not None,
        requires_grad=tensor.requires_grad,
        is_leaf=fn is None,
        retains_grad=tensor.retains_grad,
        version=version_of(tensor),
        held=name is not None,
        tangent=None if tangent is None else value_of(tangent),
    )


def ranks(nodes: Iterable[Any]) -> dict[Any, int]:
    """The rank of each node's sequence number, which is the highest for an AccumulateGrad."""
    numbers = {node: sequence_of(node) for node in nodes}
    rank = {number: i for i, number in enumerate(sorted(set(numbers.values())))}
    return {node: rank[number] for node, number in numbers.items()}


def chips(
    kept: Iterable[Kept], node: Any, number: Callable[[int], int] = lambda memory: memory
) -> tuple[Saved, ...]:
    """What a node saved, as data. Each memory gets a number from what tells it from all others."""
    return tuple(chip(k, node, number) for k in kept)


def chip(kept: Kept, node: Any, number: Callable[[int], int]) -> Saved:
    """One saved value."""
    k = kept
    if not is_tensor(k.value):
        told = None if k.value is None else str(k.value)
        return Saved(k.name, told, k.version, k.freed, k.packed, k.now, bytes_in(k.value))
    how = k.name, value_of(k.value), version_of(k.value), k.freed, k.packed, k.now
    if is_number(node, k.name, k.value):
        return Saved(*how, nbytes=0)
    memory = memory_of(k.value)
    return Saved(*how) if memory is None else Saved(*how, nbytes=memory[1], memory=number(memory[0]))


def bytes_in(value: Any) -> int | None:
    """The bytes of the tensors in a list or tuple; None for anything else."""
    inside = [memory_of(v) for v in value if is_tensor(v)] if isinstance(value, list | tuple) else []
    return sum(memory[1] for memory in inside if memory is not None) if inside else None


def counting() -> Callable[[int], int]:
    """A function that numbers what it is given 0, 1, …, the same each time."""
    known: dict[int, int] = {}
    return lambda key: known.setdefault(key, len(known))


class _Walk:
    """Puts the picture together from nodes in order."""

    def __init__(self, roots: list[Any], order: list[Any], names: Mapping[str, Any]) -> None:
        self.order = order
        self.index = {node: i for i, node in enumerate(order)}
        self.names = names_of(names)
        self.leaves = {id(t): i for i, node in enumerate(order) if (t := variable_of(node)) is not None}
        self.tensors: dict[tuple[Any, int], Any] = {}
        self.roots = {(r.grad_fn, r.output_nr) for r in roots}
        self.saved = {node: list(saved_of(node)) for node in order}
        for tensor in [*roots, *(v for n, v in names.items() if is_tensor(v) and not n.startswith("_"))]:
            if tensor.grad_fn in self.index:
                self.tensors.setdefault((tensor.grad_fn, tensor.output_nr), tensor)
        for kept in (k for entries in self.saved.values() for k in entries):
            if is_tensor(kept.value) and kept.value.grad_fn in self.index:
                self.tensors.setdefault((kept.value.grad_fn, kept.value.output_nr), kept.value)

    def graph(self, omitted: int) -> Graph:
        """All stations and routes."""
        routes: list[Route] = []
        stations = []
        outputs = self.outputs()
        ages, number = ranks(self.order), counting()
        for i, node in enumerate(self.order):
            slots: list[str | None] = []
            for k, (target, nr) in enumerate(edges_of(node)):
                if target is None or target not in self.index:
                    slots.append(None)
                    continue
                slots.append(f"r{len(routes)}")
                routes.append(Route(f"r{len(routes)}", f"s{self.index[target]}", f"s{i}", nr, k))
            count = outputs[node]
            made = [t for nr in range(count) if (t := self.tensors.get((node, nr))) is not None]
            hooks, age = hooks_of(node, made), ages[node]
            saved = chips(self.saved[node], node, number)
            deck = Deck(f"n{i}", node_name(node), saved, tuple(slots), hooks, age)
            cards = tuple(self.card(node, nr, i) for nr in range(count))
            stations.append(Station(f"s{i}", cards, deck))
        graph = Graph(tuple(stations), tuple(routes), omitted=omitted)
        return replace(graph, unseen=graph.has_gradients)

    def outputs(self) -> dict[Any, int]:
        """How many outputs of each node are in use."""
        count = dict.fromkeys(self.order, 1)
        for node in self.order:
            for target, nr in edges_of(node):
                if target in count:
                    count[target] = max(count[target], nr + 1)
        for node, nr in self.roots:
            if node in count:
                count[node] = max(count[node], nr + 1)
        return count

    def card(self, node: Any, nr: int, i: int) -> Card:
        """The tensor that a node made, as far as it is known."""
        variable = variable_of(node)
        if variable is not None:
            role = PARAMETER if is_parameter(variable) else LEAF
            return card_of(variable, f"t{i}", self.names.get(id(variable)), role)
        role = ROOT if (node, nr) in self.roots else RESULT
        tensor = self.tensors.get((node, nr))
        id_ = f"t{i}" if nr == 0 else f"t{i}.{nr}"
        if tensor is None:
            return Card(id_, role, requires_grad=True, is_leaf=False)
        card = card_of(tensor, id_, self.names.get(id(tensor)), role)
        return replace(card, shares=self.memory_of(tensor))

    def memory_of(self, tensor: Any) -> str:
        """The id of the tensor of which this is a view; "" if it is none, or that is not in the picture."""
        base = getattr(tensor, "_base", None)
        if base is None or not has_history(base):
            return ""
        i = self.index.get(base.grad_fn) if base.grad_fn is not None else self.leaves.get(id(base))
        return "" if i is None else f"t{i}" if base.output_nr == 0 else f"t{i}.{base.output_nr}"
