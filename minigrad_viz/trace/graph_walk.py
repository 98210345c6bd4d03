"""Roots → Trace: what the nodes of an unrecorded graph show.

Works on minigrad's and PyTorch's graphs alike. Values of intermediate tensors are not part of a graph;
they are shown where the caller still has the tensor (`names`), or where a later node saved it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ..isolation import pass_on
from ..protocol import (
    TENSORS,
    bare_name,
    edges_of,
    has_history,
    history_of,
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
from ..saved_values import NARROWER, SavedValue, is_number, native_slots, saved_of, shown_alone
from .events import Event, NodeState, TensorCreated, TensorState, Trace
from .graph import SavedChip

T = TypeVar("T")


def reachable(start: Iterable[T], onward: Callable[[T], Iterable[T]], most: float = math.inf) -> list[T]:
    """Everything that can be reached by going `onward` from `start`, nearest first, each once; the walk ends
    when it has found more than `most`."""
    found = list(dict.fromkeys(start))
    seen = set(found)
    for each in found:  # grows while it is read
        if len(found) > most:
            break
        new = [one for one in dict.fromkeys(onward(each)) if one not in seen]
        seen.update(new)
        found += new
    return found


def in_order(
    roots: list[Any], limit: int, known: Callable[[Any], bool] = lambda node: False, whole: bool = True
) -> tuple[list[Any], int]:
    """Nodes in an order in which inputs come before users, and how many were left out beyond `limit` (at
    least so many, if the graph is not gone through `whole`).

    A depth-first walk without recursion: a chain of 100,000 nodes is as good as one of ten. Of a graph
    larger than `limit` the nodes nearest to the roots are kept. The walk does not enter nodes that are
    `known`.
    """

    def behind(node: Any) -> Iterable[Any]:
        return (target for target, _ in edges_of(node) if target is not None and not known(target))

    near = reachable((node for node in roots if not known(node)), behind, math.inf if whole else limit)
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


def nodes_of(roots: list[Any], limit: int, said: str) -> tuple[list[Any], int]:
    """The nodes of the graph behind tensors as `in_order` gives them. ValueError without roots, TypeError for
    a root that is not a tensor; these begin with what is `said` of the function that was called."""
    if not roots:
        raise ValueError(f"{said.partition(' ')[0]} needs at least one tensor")
    for root in roots:
        if not is_tensor(root):
            raise TypeError(f"{said}, not of {type(root).__name__}")
    return in_order([root.grad_fn for root in roots if root.grad_fn is not None], limit)


def trace_of(
    roots: list[Any],
    names: Mapping[str, Any] | None = None,
    limit: int = 5000,
    said: str = "draw() draws the graph of tensors",
) -> Trace:
    """Return a trace of the finished graph behind the tensors `roots`, as far as its nodes show it.

    `names` maps variable names to tensors; errors are those of `nodes_of`.
    """
    order, omitted = nodes_of(roots, limit, said)
    return Walk(roots, order, names or {}).trace(omitted)


def ranks(numbers: Iterable[int]) -> dict[int, int]:
    """The rank of each sequence number of nodes, which is the highest for an AccumulateGrad."""
    return {number: i for i, number in enumerate(sorted(set(numbers)))}


def chips(
    kept: Iterable[SavedValue],
    node: Any,
    number: Callable[[int], int] = lambda memory: memory,
    take: Callable[[Any], Any] = value_of,
) -> tuple[SavedChip, ...]:
    """What a node saved, as data, with what `take` takes of the numbers of a tensor. Each memory gets a
    number from what distinguishes it from all others."""
    return tuple([chip(k, node, number, take) for k in kept])


def native_chips(node: Any, take: Callable[[Any], Any]) -> tuple[SavedChip, ...]:
    """`chips` of a node of PyTorch's own, which is not asked for what only others have."""
    found = []
    try:
        for attribute, name, raw in native_slots(type(node)):
            if raw and getattr(getattr(node, raw), "unpack_hook", None) is not None:
                return chips(saved_of(node), node, take=take)
            value = getattr(node, attribute)
            if type(value) in TENSORS and (value.shape or bare_name(value.dtype) not in NARROWER):
                size, memory = (memory_of(value) or (None, None))[::-1]
                found.append(SavedChip(name, take(value), version_of(value), nbytes=size, memory=memory))
            elif (value := shown_alone(node, attribute, value)) is not None:
                found.append(chip(SavedValue(name, value, False), node, lambda number: number, take))
    except RuntimeError as refused:  # one was released, or written to
        pass_on(refused)
        return chips(saved_of(node), node, take=take)
    return tuple(found)


def chip(kept: SavedValue, node: Any, number: Callable[[int], int], take: Callable[[Any], Any]) -> SavedChip:
    """One saved value."""
    k = kept
    if not is_tensor(k.value):
        told = None if k.value is None else str(k.value)
        return SavedChip(k.name, told, k.version, k.freed, k.packed, k.now, bytes_in(k.value))
    how = k.name, take(k.value), version_of(k.value), k.freed, k.packed, k.now
    if is_number(node, k.name, k.value):
        return SavedChip(*how, nbytes=0)
    memory = memory_of(k.value)
    return SavedChip(*how) if memory is None else SavedChip(*how, nbytes=memory[1], memory=number(memory[0]))


def bytes_in(value: Any) -> int | None:
    """The bytes of the tensors in a list or tuple; None for anything else."""
    inside = [memory_of(v) for v in value if is_tensor(v)] if isinstance(value, list | tuple) else []
    return sum(memory[1] for memory in inside if memory is not None) if inside else None


def numbering() -> Callable[[int], int]:
    """A function that numbers what it is given 0, 1, …, the same each time."""
    known: dict[int, int] = {}
    return lambda key: known.setdefault(key, len(known))


def state_of(
    tensor: Any, name: str, node_id: Callable[[Any], Any], take: Callable[[Any], Any]
) -> TensorState:
    """A tensor as it is now, with what its node is known by, and what is taken of its numbers."""
    fn, retains, tangent = history_of(tensor), tensor.retains_grad, tangent_of(tensor)
    grad = tensor.grad if fn is None or retains else None
    value, kept = take(tensor), None if grad is None else take(grad)
    made_by, node = (None, None) if fn is None else (node_name(fn), node_id(fn))
    asks, parameter = fn is not None or tensor.requires_grad, fn is None and is_parameter(tensor)
    how = asks, fn is None, retains, made_by, node, version_of(tensor), parameter
    return TensorState(name, value, kept, *how, None if tangent is None else take(tangent))


class Walk:
    """Makes a trace of nodes in order. `names` are variables; those with private names do not count."""

    def __init__(self, roots: list[Any], order: list[Any], names: Mapping[str, Any]) -> None:
        self.roots, self.order = roots, order
        self.index = {node: i for i, node in enumerate(order)}
        self.variables = {n: t for n, t in names.items() if not n.startswith("_") and is_tensor(t)}
        self.leaves = {id(t): i for i, node in enumerate(order) if (t := variable_of(node)) is not None}
        self.saved = {node: list(saved_of(node)) for node in order}
        self.tensors: dict[tuple[Any, int], Any] = {}
        kept = (k.value for entries in self.saved.values() for k in entries)
        for tensor in (*roots, *self.variables.values(), *kept):
            if is_tensor(tensor) and tensor.grad_fn in self.index:
                self.tensors.setdefault((tensor.grad_fn, tensor.output_nr), tensor)
        self.events: list[Event] = []
        self.names: list[tuple[str, str]] = []

    def trace(self, omitted: int) -> Trace:
        """All tensors, inputs first, and all nodes."""
        outputs, ages, number = self.outputs(), ranks(map(sequence_of, self.order)), numbering()
        named: dict[int, str] = {}  # the first variable that stands for an object
        for name, tensor in self.variables.items():
            named.setdefault(id(tensor), name)
        nodes = []
        for i, node in enumerate(self.order):
            leaf = variable_of(node)
            found = [self.tensors.get((node, nr)) for nr in range(outputs[node])]
            made = found if leaf is None else [leaf]
            for nr, tensor in enumerate(made):
                self.meet(place(i, nr), tensor, named, node)
            saved = chips(self.saved[node], node, number)
            hooks = hooks_of(node, [tensor for tensor in made if tensor is not None])
            own = None if leaf is None else place(i, 0)
            memory = None if leaf is None else memory_of(leaf)
            told = f"n{i}", node_name(node), saved, self.edges(node), own, hooks, ages[sequence_of(node)]
            nodes.append(NodeState(*told, memory=None if memory is None else number(memory[0])))
        asked = []
        for i, root in enumerate(self.roots):
            if root.grad_fn is not None:
                asked.append(place(self.index[root.grad_fn], root.output_nr))
            elif not self.order:  # nothing but tensors without a graph
                self.meet(place(i, 0), root, named, None)
        return Trace("", tuple(self.events), None, tuple(self.names), tuple(nodes), recorded=False,
                     roots=tuple(asked), omitted=omitted)  # fmt: skip

    def meet(self, known: str, tensor: Any, named: Mapping[int, str], node: Any) -> None:
        """A tensor as it is now; None for one that nobody has any more."""
        if tensor is None:
            made_by = node_name(node), f"n{self.index[node]}"
            state = TensorState(known, None, None, True, False, False, *made_by, 0)
            self.events.append(TensorCreated(state, None, None))
            return
        if id(tensor) in named:
            self.names.append((known, named[id(tensor)]))
        state = state_of(tensor, known, lambda node: f"n{self.index[node]}", value_of)
        self.events.append(TensorCreated(state, None, None, shares=self.shared(tensor)))

    def edges(self, node: Any) -> tuple[tuple[str, int] | None, ...]:
        """The edges of a node, without those to nodes that are left out."""
        return tuple((f"n{self.index[n]}", nr) if n in self.index else None for n, nr in edges_of(node))

    def outputs(self) -> dict[Any, int]:
        """How many outputs of each node are in use."""
        count = dict.fromkeys(self.order, 1)
        ends = [end for node in self.order for end in edges_of(node)]
        for node, nr in (*ends, *((root.grad_fn, root.output_nr) for root in self.roots)):
            if node in count:
                count[node] = max(count[node], nr + 1)
        return count

    def shared(self, tensor: Any) -> str:
        """The id of the tensor of which this is a view; "" if it is none, or that is not among these."""
        base = getattr(tensor, "_base", None)
        if base is None or not has_history(base):
            return ""
        i = self.leaves.get(id(base)) if base.grad_fn is None else self.index.get(base.grad_fn)
        return "" if i is None else place(i, base.output_nr)


def place(i: int, nr: int) -> str:
    """The id of output `nr` of the `i`-th node, or of its leaf."""
    return f"t{i}" if nr == 0 else f"t{i}.{nr}"
