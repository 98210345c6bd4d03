"""The whole duck-typing contract: what the viewer reads of a tensor and of a backward node, minigrad's or PyTorch's.

Tensors: `requires_grad`, `is_leaf`, `grad_fn`, `output_nr`, `grad`, `retains_grad`, `_version`, `shape`, `dtype` and their
numbers. Nodes: `name()`, `next_functions`, `variable` (of an AccumulateGrad), `_saved_<name>` (or `saved_tensors` of a
custom Function), `metadata` and `register_hook`. Nothing else is touched, so every graph that offers these can be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

# Numbers kept per snapshot: enough to draw a 3×3 matrix in full and to redo a small vjp by hand.
KEPT = 64


class Value(NamedTuple):
    """A snapshot of a tensor's numbers.

    `items` holds all numbers in row-major order when there are at most `KEPT` of them, else None; `low` and `high` are
    the extremes of the finite numbers (None when there is none, or for complex numbers). `dtype` is the bare name
    ("float32").
    """

    shape: tuple[int, ...]
    dtype: str
    items: tuple[Any, ...] | None
    low: float | None = None
    high: float | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


class Kept(NamedTuple):
    """What a node saved under `name`: a tensor, another Python value, or None after it was `freed`."""

    name: str
    value: Any
    freed: bool


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor of minigrad or of PyTorch (or anything else that keeps the contract)."""
    cls = type(obj)
    return hasattr(cls, "grad_fn") and hasattr(cls, "requires_grad") and hasattr(cls, "backward")


def is_parameter(tensor: Any) -> bool:
    """Whether a tensor is an `nn.Parameter`."""
    return any(cls.__name__ == "Parameter" for cls in type(tensor).__mro__)


def array_of(tensor: Any) -> Any:
    """The numbers of a tensor as NumPy data, to be read only; the tensor does not notice."""
    data = getattr(tensor, "_data", None)
    return data if isinstance(data, (np.ndarray, np.generic)) else tensor.detach().resolve_conj().resolve_neg().numpy()


def dtype_name(tensor: Any) -> str:
    """`float32` for minigrad.float32 and torch.float32."""
    return str(tensor.dtype).rpartition(".")[2]


def value_of(tensor: Any) -> Value:
    """A snapshot of a tensor's numbers."""
    data = array_of(tensor)
    shape = data.shape
    if not shape:
        number = data.item()
        return Value(shape, dtype_name(tensor), (number,), number, number)
    items = tuple(data.reshape(-1).tolist()) if data.size <= KEPT else None
    low = high = None
    if data.size and data.dtype.kind in "fiub":
        finite = data[np.isfinite(data)] if data.dtype.kind == "f" else data
        if finite.size:
            low, high = finite.min().item(), finite.max().item()
    return Value(tuple(shape), dtype_name(tensor), items, low, high)


def node_name(node: Any) -> str:
    """The node's name without a namespace."""
    return node.name().rpartition("::")[2]


def edges_of(node: Any) -> tuple[tuple[Any, int], ...]:
    """`next_functions` of a node."""
    return node.next_functions


def variable_of(node: Any) -> Any:
    """The leaf of an AccumulateGrad, or None for another node."""
    return getattr(node, "variable", None) if node_name(node) == "AccumulateGrad" else None


_saved_names: dict[type, tuple[str, ...]] = {}


def saved_of(node: Any) -> Iterator[Kept]:
    """What a node saved for its backward; shapes that PyTorch notes beside it (`_saved_self_sym_sizes`) are left out."""
    cls = type(node)
    names = _saved_names.get(cls)
    if names is None:
        names = _saved_names[cls] = tuple(n for n in dir(cls) if n.startswith("_saved_") and "_sym_" not in n)
    for name in names:
        try:
            value = getattr(node, name)
        except RuntimeError:  # freed, or changed in place since: either way it cannot be read any more
            yield Kept(name.removeprefix("_saved_"), None, True)
            continue
        if value is not None:
            yield Kept(name.removeprefix("_saved_"), value, False)
    if not names and hasattr(cls, "saved_tensors"):
        yield from _saved_by_function(node)


def _saved_by_function(node: Any) -> Iterator[Kept]:
    try:
        tensors = node.saved_tensors
    except RuntimeError:
        yield Kept("saved", None, True)
        return
    for i, tensor in enumerate(tensors):
        if tensor is not None:
            yield Kept(f"saved[{i}]", tensor, False)
