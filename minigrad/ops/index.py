"""Elements picked, and written, by tensors of indices: `x[i, j]`, `take`, `put`; and checks of indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import RAW, F, composite, differentiable, is_symbol
from ..core.dtypes import of
from ..core.tensor_state import operand, wrap
from .checks import same_dtype
from .kernels import linear_op, picking

LONG = (np.dtype("int64"),)
WHOLE = (np.dtype("int64"), np.dtype("int32"))


@composite
def into_zeros(g: Any, sizes: Any, name: str, *args: Any) -> Any:
    """What the op called `name` makes, in place, of zeros of shape `sizes` in the dtype of `g`."""
    op = getattr(F, name).op
    if is_symbol(g):
        raise TypeError("there is no formula for this")
    zeros = np.zeros(sizes, g.dtype if isinstance(g, RAW) else g._data.dtype)
    return op.kernel(zeros, *args) if isinstance(g, RAW) else F.in_place(op, wrap(zeros), *args)


def check_kind(index: Any, kinds: tuple[Any, ...], text: str, error: type[Exception] = RuntimeError) -> None:
    """An error unless the dtype of `index` is one of `kinds`; `{}` in the text stands for its title."""
    if index.dtype not in kinds:
        raise error(text.format(of(index).title))


def outside(index: Any, low: int, high: int) -> Any:
    """Return the first index that is not in `low`, …, `high - 1`; None if there is none."""
    if not index.size:
        return None
    if np.minimum.reduce(index, axis=None) >= low and np.maximum.reduce(index, axis=None) < high:
        return None
    return index[(index < low) | (index >= high)].flat[0]


def check_inside(index: Any, low: int, high: int, text: str, error: type[Exception] = IndexError) -> None:
    """An error unless all indices are in `low`, …, `high - 1`; `{}` in the text stands for the first."""
    wrong = outside(np.asarray(index), low, high)
    if wrong is not None:
        raise error(text.format(wrong))


def along(dim: int, where: Any) -> tuple[Any, ...]:
    """Return the NumPy index of the parts `where` along `dim`."""
    return (np.s_[:],) * dim + (where,)


def raised(array: Any) -> Any:
    """An array with at least one dimension: ops along a dimension take a number for a vector of one."""
    return array if array.ndim else array.reshape(1)


def copied(array: Any) -> Any:
    """Return a copy to write into, with at least one dimension, that lies in memory as a clone does."""
    return raised(np.array(F.clone.op.kernel(array), order="K"))


# ── the indices of x[i, j]
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def unmasked(shape: tuple[int, ...], indices: Any) -> list[Any]:
    """The indices as arrays of whole numbers, None for a dimension without one: a mask becomes the places
    where it holds, one array per dimension.
    """
    found: list[Any] = []
    for index in indices:
        array = None if index is None else np.asarray(operand(index))
        if array is None or array.dtype in WHOLE:
            found.append(array)
        elif array.dtype.kind == "b" or array.dtype == np.uint8:
            check_mask(array, shape, len(found))
            found.extend(np.nonzero(array))
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return found


def check_mask(mask: Any, shape: tuple[int, ...], start: int) -> None:
    """IndexError with PyTorch's text unless the mask fits the dimensions from `start` on."""
    for j, n in enumerate(mask.shape):
        if start + j >= len(shape) or n != shape[start + j]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {j} does not match the shape of the "
                f"indexed tensor {list(shape)} at index {start + j}"
            )


def places(shape: tuple[int, ...], indices: Any) -> tuple[Any, ...]:
    """The NumPy index for the tensors `indices` of an array of this shape; IndexError in PyTorch's words."""
    if len(indices) > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})")
    found = unmasked(shape, indices)
    arrays = [array for array in found if array is not None]
    try:
        together = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(list(array.shape)) for array in arrays)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    if len(found) > len(shape):  # a mask stands for several
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(found)})")
    given = [(n, array) for n, array in zip(shape, found) if array is not None]
    if 0 not in together and any(n == 0 for n, _ in given):
        raise IndexError("index is out of bounds for dimension with size 0")
    others = [n for i, n in enumerate(shape) if i >= len(found) or found[i] is None]
    if 0 in others:  # nothing is read, whatever the indices are
        found = [None if a is None else np.zeros_like(a) for a in found]
    else:
        for i, (n, array) in enumerate(given):
            text = f"index {{}} is out of bounds for dimension {i} with size {n}"
            check_inside(np.broadcast_to(array, together), -n, n, text)
    return tuple(np.s_[:] if a is None else np.broadcast_to(a, together) for a in found)


@linear_op(self=lambda g, self_sym_sizes, indices: F.index_into_zeros(g, self_sym_sizes, indices))
def index(self, indices):
    """Return a copy of the elements at `indices`: one tensor of whole numbers or bools per dimension, or None
    for the whole dimension.
    """
    where = as_they_are(indices) or places(self.shape, indices)
    try:
        out = self[where]
    except IndexError:
        out = None  # `places` says why, or that nothing is read
    if out is None:
        out = self[places(self.shape, indices)]
    return out if out.flags.c_contiguous and out.ndim else np.array(out, order="C")[()]


def as_they_are(indices: Any) -> tuple[Any, ...] | None:
    """NumPy's index for tensors of indices that it reads as PyTorch does: whole numbers, or one mask."""
    where: list[Any] = []
    masks = 0
    for k in indices:
        if k is not None and k._data.dtype not in WHOLE:
            masks += 1 if k._data.dtype == np.bool_ and k._data.size else 2
        where.append(np.s_[:] if k is None else k._data)
    return tuple(where) if not masks or (masks == 1 and sum(k is not None for k in indices) == 1) else None


@composite
def index_into_zeros(g: Any, sizes: Any, indices: Any) -> Any:
    """Zeros of shape `sizes` with `g` added at `indices`."""
    where = as_they_are(indices) if isinstance(g, np.ndarray) else None
    if where is None:
        return F.into_zeros(g, sizes, "index_put_impl", indices, g, True, True)
    out = np.zeros(sizes, g.dtype)
    if slice in map(type, where):
        np.add.at(out, where, g)
    elif where[0].dtype == np.bool_:
        out[where] = g
    else:
        add_rows(out, where, g)
    return out


def add_rows(out: np.ndarray, where: tuple[np.ndarray, ...], g: np.ndarray) -> None:
    """Add `g` to the parts of `out` at the indices `where` of its first dimensions. In memory of one
    dimension `np.add.at` takes a third of the time.
    """
    if not g.size:
        return
    width = math.prod(out.shape[len(where) :])
    at = np.ravel_multi_index(where, out.shape[: len(where)], mode="wrap").reshape(-1)
    if width != 1:
        at = (at[:, None] * width + np.arange(width)).reshape(-1)
    np.add.at(out.reshape(-1), at, g.reshape(-1))


def check_values(shape: tuple[int, ...], values: Any) -> None:
    """RuntimeError with PyTorch's text unless `values` broadcast to `shape`."""
    lead = len(shape) - values.ndim
    if lead < 0 or any(n not in (1, m) for n, m in zip(values.shape, shape[lead:])):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing "
            f"result of shape {list(shape)}"
        )


def is_one_mask(indices: Any) -> bool:
    """Return whether the only index is a mask."""
    given = [i for i in indices if i is not None]
    return len(given) == 1 and given[0]._data.dtype.kind == "b"


def put_at_indices(self: Any, indices: Any, values: Any, accumulate: bool, unsafe: bool = False) -> Any:
    """A copy of `self` with `values`, broadcast, at `indices`; `accumulate`: added to what is there."""
    where, out = places(self.shape, indices), copied(self)
    check_values(np.broadcast_to(np.False_, self.shape)[where].shape, values)
    same = self.dtype == values.dtype
    if not same and (accumulate or values.size != 1 or not is_one_mask(indices)):
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {of(self).title} for the "
            f"destination and {of(values).title} for the source."
        )
    if accumulate:
        np.add.at(out, where, values)
    else:
        out[where] = values.real if out.dtype.kind != "c" else values
    return out.reshape(self.shape)[()]


def put_back(g: Any, indices: Any, accumulate: bool) -> Any:
    """Return the gradient of what values were put into: 0 where they replaced it."""
    return g if accumulate else F.index_put(g, indices, F.zero_of(g), False)


PUT: dict[str, Any] = {
    "self": lambda g, indices, accumulate: put_back(g, indices, accumulate),
    "values": lambda g, indices, accumulate: F.index(g, indices),
    "kernel": put_at_indices,
    "broadcasts": True,
    "linear": True,
}


@differentiable(**PUT)
def index_put(self, indices, values, accumulate=False):
    """Return a copy with `values` at `indices`."""


@differentiable(**PUT)
def index_put_impl(self, indices, values, accumulate=False, unsafe=False):
    """Return `index_put` as PyTorch's derivative of `index` calls it."""


# ── of the flattened tensor
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_flat(index: Any, size: int) -> None:
    """IndexError with PyTorch's text unless all indices are of a tensor with `size` elements."""
    text = f"out of range: tried to access index {{}} on a tensor of {size} elements."
    check_inside(index, -size, size, text)


@picking(self=lambda g, self, index: F.into_zeros(g, self.shape, "put", index, g, True))
def take(self, index):
    """Return the elements at the indices of the flattened tensor.

    Args:
        input: a tensor of any shape.
        index: an int64 tensor.
    Shape: that of `index`.
    Returns: a new tensor.
    Raises: IndexError if an index is out of range.
    Derivative: `g` added into zeros at `index`.
    Source: torch.take

    >>> torch.take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, 3]))
    tensor([1, 4])
    """
    check_kind(index, LONG, "take(): Expected a long tensor for index, but got {}")
    if not self.size and index.size:
        raise IndexError("take(): tried to take from an empty tensor")
    check_flat(index, self.size)
    return self.reshape(-1)[index]


@linear_op(
    self=lambda g, index, source_sym_sizes, accumulate: (
        g if accumulate else F.put(g, index, F.zeros_of(g, source_sym_sizes), False)
    ),
    source=lambda g, index, source, accumulate: F.reshape(F.take(g, index), source.shape),
    forms="function method method_",
    out="",
)
def put(self, index, source, accumulate=False):
    """Return a copy with the elements of `source` at `index` of the flattened tensor, or added there."""
    check_kind(index, LONG, "put_(): Expected a long tensor for index, but got {}")
    text = "put_(): self and source expected to have the same dtype, but got self.dtype = {0.title} and "
    same_dtype(self, source, text + "source.dtype = {1.title}")
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    check_flat(index, self.size)
    out = self.reshape(-1).copy()
    if accumulate:
        np.add.at(out, index.reshape(-1), source.reshape(-1))
    else:
        out[index.reshape(-1)] = source.reshape(-1)
    return out.reshape(self.shape)


del put.op.node._saved_source_sym_sizes  # PyTorch's node does not show it
