"""What keeps the transforms apart when one runs inside another.

Note [Levels]
    `grad(f)(x)` differentiates by what `f` does to its own argument: not by other uses of `x`, and whatever
    `x` itself depends on. So `f` gets `x` as a new leaf that shares its memory, an *inner* leaf. In place
    of its AccumulateGrad it has an `Entry`: a node at which the gradient of this level is caught, and from
    which an outer backward pass goes on to where `x` came from. One graph thus serves every level: what `f`
    did and the gradient that was computed from it (with `create_graph`) are connected to the inner leaves,
    to outer inputs behind them, and to outer tensors that `f` uses besides.

    When the transform ends, `outward` makes its results what they are for the caller. One that depends on
    nothing outside needs no gradient there, nor does any result if the caller does not record. Once nobody
    asks for this level's gradients any more the graph is tidied: edges lead past the entries, and those to
    what depends on nothing outside are cut, as if the inner leaves had been constants.
"""

from __future__ import annotations

import itertools
import operator
import weakref
from collections.abc import Iterable
from typing import Any

from ..core import dialect, modes, tangents
from ..core import engine as tasks
from ..core.dtypes import DIFFERENTIABLE
from ..core.guards import check_output
from ..core.node import LAST, Node, sequence_numbers
from ..core.op import RAW
from ..core.tensor_state import TensorBase, edge, wrap
from . import pytree

HOOKS_REFUSED = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with "
    "your use case."
)
MODES: dict[str, dict[str, Any]] = {
    "grad": {"inference": False, "grad_enabled": True, "hooks_refused": HOOKS_REFUSED},
    "jvp": {"inference": False},
    "vmap": {},
}


class Entry(Node):
    """Where the graph of a level begins: inside, while it is open, the end of a path, with the inner leaf as
    `variable`; outside a node that hands its gradient on to where the outer tensor came from, if anywhere.
    """

    __slots__ = ("__weakref__", "_born", "variable")

    def __init__(self, leaf: TensorBase, source: TensorBase, connected: bool) -> None:
        node = edge(source) if connected else None
        self._begin((node,), node and (source._nr,))
        self._born, self._seq = self._seq, LAST
        self._storage = leaf._storage
        self.variable = leaf

    def close(self) -> None:
        """End the level."""
        del self.variable
        self._seq = self._born

    def name(self) -> str:
        """Return what PyTorch has there: a leaf's node inside the level, an alias's outside."""
        return dialect.full_name("AccumulateGrad" if hasattr(self, "variable") else "AliasBackward0")

    def apply(self, gradient: Any, keep: bool = True) -> tuple[Any, ...]:
        """Return the gradient unchanged."""
        return (gradient,)

    _apply_tensors = apply


def transform_block(kind: str) -> modes.Within:
    """Return the block in which `f` runs in a transform ("grad", "jvp" or "vmap"): `requires_grad_()` and
    `backward()` are refused there, as in PyTorch. "grad" records whatever modes are in force around it, and
    refuses saved-tensor hooks.
    """
    if kind == "grad" and modes.state.saved_hooks:
        raise RuntimeError(HOOKS_REFUSED)
    return modes.Within(transforms=(*modes.state.transforms, kind), **MODES[kind])


class Level:
    """One reverse transform: its inner leaves and what they stand for. See Note [Levels]."""

    def __init__(self) -> None:
        self.mark = next(sequence_numbers)
        self.recording = modes.is_grad_enabled() and not modes.state.inference
        self.leaves: list[tuple[Any, Any, Entry]] = []  # inner leaf, outer tensor, entry
        self.entries: set[Node] = set()  # those of its inner leaves
        self.inside: set[Node] = set()  # nodes that are known to depend on nothing outside

    def enter(self, tree: Any) -> Any:
        """Return the tree with an inner leaf for each of its tensors; raise PyTorch's errors for other
        leaves.
        """
        return pytree.apply(self.inner, tree)

    def inner(self, source: Any) -> Any:
        """Return an inner leaf on the memory of `source`."""
        if not isinstance(source, TensorBase):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(source)}")
        check_floating(source)
        leaf = source.detach()  # type: ignore[attr-defined]
        tangent = tangents.tangent_of(source)
        if tangent is not None:
            tangents.put_tangent(leaf, tangent)
        entry = Entry(leaf, source, self.recording)
        leaf._acc = weakref.ref(entry)
        self.leaves.append((leaf, source, entry))
        self.entries.add(entry)
        if modes.state.tape is not None:
            modes.state.tape.enter(source if self.recording else leaf, leaf, entry)
        return leaf

    def outward(self, results: Iterable[Any]) -> list[Any]:
        """Return tensors of this level as they are outside. See Note [Levels]."""
        return [self.outside(result) for result in results]

    def outside(self, result: Any) -> Any:
        """Return one tensor of this level as it is outside; raise RuntimeError for anything else."""
        check_output(result)
        for leaf, source, _ in self.leaves:
            if leaf is result:
                return source
        tangent = tangents.tangent_of(result)
        if result.requires_grad and not (self.recording and self.connected(result)):
            result = result.detach()
        if tangent is not None:
            with tangents.without_tangents():
                tangent = self.outside(tangent)
            tangents.put_tangent(result, tangent)
        return result

    def connected(self, result: TensorBase) -> bool:
        """Return whether a tensor of this level depends on something outside that needs a gradient."""
        seen: set[Node] = set()
        stack = [edge(result)]
        while stack:
            node = stack.pop()
            if node is None or node in seen or node in self.inside:
                continue
            if node._seq < self.mark or (node._seq == LAST and node not in self.entries):
                return True
            seen.add(node)
            stack.extend(node._next)
        self.inside |= seen
        return False

    def needs_graph(self, output: TensorBase) -> bool:
        """Return whether the derivatives of an output must be ops: they may be differentiated again, outside
        or forward, or are those of one example of `vmap`, which runs these ops for the others.
        """
        return (
            modes.is_forward() or modes.state.tape is not None or (self.recording and self.connected(output))
        )

    def end(self, *groups: Iterable[Any]) -> list[list[Any]]:
        """End the level, and return groups of its tensors as they are outside."""
        outside = [self.outward(group) for group in groups]
        self.leave(itertools.chain(*outside))
        return outside

    def leave(self, results: Iterable[Any]) -> None:
        """End the level: the graph of `results` and its inner leaves continues at the outer tensors."""
        for leaf, _, entry in self.leaves:
            entry.close()
            leaf._acc = None
            leaf._fn, leaf._nr = past(entry)
        if modes.state.dual_level:
            return  # tangents are kept beside what a node saved: it stays as it is
        seen: set[Node] = set()
        stack = [edge(result) for result in results]
        while stack:
            node = stack.pop()
            if node is not None and node not in seen and self.mark <= node._seq < LAST:
                seen.add(node)
                stack.extend(node._next)
        tidy(sorted(seen, key=operator.attrgetter("_seq")), self.entries)

    def stay(self) -> None:
        """End the call only: gradients of this level can still be computed, at its entries."""
        for _, _, entry in self.leaves:
            entry.close()


def tidy(nodes: list[Node], entries: set[Node]) -> None:
    """Lead the edges of `nodes`, the oldest first, past these entries, and cut those that end at nothing."""
    tasks.edges_changed()
    dead: set[Node | None] = {None}
    changes = set(entries)  # nodes to which no edge may lead
    for node in nodes:
        if changes.isdisjoint(node._next) and any(node._next):
            continue
        edges = [past(target) if target in entries else (target, nr) for target, nr in node.next_functions]
        if all(target in dead for target, _ in edges):
            dead.add(node)
            changes.add(node)
        elif type(node).op is not None:
            edges = [(None, 0) if target in dead else (target, nr) for target, nr in edges]
            keep_constants(node, [target for target, _ in edges])
        node._next = tuple(target for target, _ in edges)
        numbers = tuple(nr for _, nr in edges)
        node._nrs = numbers if any(numbers) else None


def past(entry: Any) -> tuple[Node | None, int]:
    """Return the node and output number to which an entry leads."""
    return entry._next[0], entry._nrs[0] if entry._nrs else 0


def keep_constants(node: Node, targets: list[Node | None]) -> None:
    """Make what `node` saved of inputs that it loses what it would have saved of constants."""
    op = node.op
    for i, (before, after) in enumerate(zip(node.next_functions, targets, strict=True)):
        if before[0] is after or after is not None or op.listed:
            continue
        name = op.inputs[i]
        raw = getattr(node, "_raw_" + name, None)
        if isinstance(raw, RAW):
            if modes.state.tape is not None:
                modes.state.tape.rebuilt(raw)
            constant = wrap(raw)
            constant._storage = before[0]._storage_of(before[1])  # type: ignore[union-attr]
            setattr(node, "_raw_" + name, constant)
    for saved in () if op.listed else op.saved:
        if saved.derive is None and not any(targets[i] is not None for i in saved.users):
            setattr(node, saved.slot, None)


def check_floating(t: TensorBase) -> None:
    """Raise RuntimeError unless the dtype can carry gradients."""
    if t._data.dtype not in DIFFERENTIABLE:
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
