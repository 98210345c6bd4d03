"""Elements looked up in others: among them, or between sorted boundaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import differentiable, dtypes, rename
from ..core.guards import NUMBERS, invalid_arguments
from ..core.public import public
from ..core.tensor_state import TensorBase, numbers, wrap

# ─── Among others


@differentiable(node="IsinBackward0")
def is_among(elements, test_elements, invert=False):
    """Return whether each element is among `test_elements`; with `invert` whether it is not."""
    return np.isin(elements, test_elements, invert=invert)[()]


rename(is_among, "isin")


@public("function", out="same")
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Return whether each element is among others.

    Args:
        elements: a tensor or a number.
        test_elements: a tensor of any shape or a number; one of both must be a tensor.
        assume_unique: accepted; the result is the same.
        invert: whether to return the opposite.
    Shape: that of `elements`.
    Returns: a boolean tensor.
    Raises: RuntimeError for booleans and complex numbers. TypeError if both are numbers.
    Source: torch.isin

    >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 5]))
    tensor([False,  True, False])
    """
    tensors = [isinstance(x, TensorBase) for x in (elements, test_elements)]
    if not any(tensors) or not all(isinstance(x, (TensorBase, *NUMBERS)) for x in (elements, test_elements)):
        raise invalid_arguments("isin", elements, test_elements)
    for x in (elements, test_elements):
        if isinstance(x, TensorBase) and x._data.dtype.kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {dtypes.of(x._data).title}")
    pair = [x if isinstance(x, TensorBase) else wrap(np.array(x)[()]) for x in (elements, test_elements)]
    return is_among(*pair, invert)


# ─── Between sorted boundaries

SEARCH = "torch.searchsorted(): "


@differentiable(name="searchsorted")
def searchsorted_op(boundaries, values, right, int32):
    """For each of `values` return how many of the sorted `boundaries` are less (`right`: not greater); rows
    of several dimensions belong together.
    """
    low = np.zeros(values.shape, np.int64)
    high = np.full(values.shape, boundaries.shape[-1])
    for _ in range(boundaries.shape[-1].bit_length()):  # bisection; NaN is beyond all numbers
        middle = (low + high) // 2
        at = np.minimum(middle, boundaries.shape[-1] - 1)
        limit = boundaries[at] if boundaries.ndim == 1 else np.take_along_axis(boundaries, at, -1)
        is_below = ~(limit > values if right else limit >= values) & (low < high)
        low, high = np.where(is_below, middle + 1, low), np.where(is_below, high, middle)
    return low.astype(np.int32 if int32 else np.int64)


def check_shapes(rows: tuple[int, ...], values: tuple[int, ...]) -> None:
    """RuntimeError with PyTorch's text unless there is a row of boundaries for each row of values."""
    if not rows:
        raise RuntimeError(f"{SEARCH}boundaries tensor should have positive dimension, but got 0 dimension")
    if not values and len(rows) > 1:
        raise RuntimeError(
            f"{SEARCH}input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({len(rows)}) and input value's dim(0) numel(1)"
        )
    if len(rows) > 1 and (len(rows) != len(values) or rows[:-1] != values[:-1]):
        raise RuntimeError(
            f"{SEARCH}boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(rows)} and input "
            f"value tensor {list(values)}"
        )


def in_order_of(boundaries: Any, sorter: Any) -> Any:
    """Return the boundaries in the order that `sorter` says; RuntimeError with PyTorch's text."""
    data, order = numbers(boundaries), numbers(sorter)
    if data.shape != order.shape:
        raise RuntimeError(
            f"{SEARCH}boundary and sorter must have the same size, but got boundary tensor {list(data.shape)}"
            f"and got sorter tensor {list(order.shape)}"
        )
    if order.dtype != np.int64:
        raise RuntimeError(
            f"{SEARCH}sorter must be a tensor of long dtype but got dtype {dtypes.of(order).title}"
        )
    if order.size and not 0 <= order.min() <= order.max() < data.shape[-1]:
        raise RuntimeError(f"{SEARCH}sorter index out of range")
    return wrap(np.take_along_axis(data, order, -1))


@public("function", out="same")
def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """Return the index at which each number belongs in a sorted sequence.

    Args:
        sorted_sequence: a vector in ascending order, or rows of them.
        input: a tensor or a number; with rows of sequences it has a row for each.
        out_int32: whether the result is int32.
        right: whether a number that the sequence has belongs after it, not before it.
        side: "left" or "right", for `right`.
        sorter: indices that put `sorted_sequence` in order.
    Shape: that of `input`.
    Returns: an int64 tensor, or int32.
    Raises: RuntimeError if the shapes do not match.
    Source: torch.searchsorted

    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6]))
    tensor([1, 3])
    """
    boundaries = sorted_sequence
    if side not in (None, "left", "right"):
        raise RuntimeError(f"{SEARCH}side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError(
            f"{SEARCH}side and right can't be set to opposites, got side of left while right was True"
        )
    values = input if isinstance(input, TensorBase) else wrap(np.asarray(input)[()])
    check_shapes(boundaries._data.shape, values._data.shape)
    if sorter is not None:
        boundaries = in_order_of(boundaries, sorter)
    return searchsorted_op(boundaries, values, right or side == "right", bool(out_int32))


@public("function", out="same")
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Return the index of the bucket that each number falls into.

    Args:
        input: a tensor or a number.
        boundaries: a vector in ascending order.
        out_int32: whether the result is int32.
        right: whether a number on a boundary belongs to the bucket above it, not to that below.
    Shape: that of `input`.
    Returns: an int64 tensor, or int32.
    Raises: RuntimeError if `boundaries` is not a vector.
    Source: torch.bucketize

    >>> torch.bucketize(torch.tensor([3, 6]), torch.tensor([1, 3, 5]))
    tensor([1, 3])
    """
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
