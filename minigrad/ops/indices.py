"""Checks of tensors of indices, and what ops that take indices share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import RAW, F, composite, is_symbol
from ..core.dtypes import of
from ..core.tensor_state import numbers, wrap

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
        array = None if index is None else np.asarray(numbers(index))
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
    given = [(n, array) for n, array in zip(shape, found) if array is not None]
    try:
        together = np.broadcast_shapes(*(array.shape for _, array in given))
    except ValueError:
        shapes = ", ".join(str(list(array.shape)) for _, array in given)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    for i, (n, array) in enumerate(given):
        text = f"index {{}} is out of bounds for dimension {i} with size {n}"
        check_inside(np.broadcast_to(array, together), -n, n, text)
    return tuple(np.s_[:] if a is None else np.broadcast_to(a, together) for a in found)
