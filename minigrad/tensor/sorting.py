"""Functions and methods about order: sorting, the largest few, different elements, places among sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..core import dtypes
from ..core.public import public
from ..core.tensor_state import TensorBase, numbers, wrap
from ..ops import sorting as so
from .reductions import one, reducing

NOT_GIVEN: Any = object()


def in_order(input: Any, dim: int, descending: bool, stable: Any) -> Any:
    """Values and indices, by the overload that PyTorch takes: one of its own where `stable` is given."""
    op = so.sort if stable is NOT_GIVEN else so.sort_stable
    return op(input, one("sort", dim), bool(descending))


@public(out="same")
@reducing
def sort(input: Any, dim: int = -1, descending: bool = False, *, stable: Any = NOT_GIVEN) -> Any:
    """Return the elements in order along `dim`, with their indices; NaN counts as the largest.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        descending: whether the largest comes first.
        stable: whether equal elements keep their order; they do in any case.
    Shape: the same as that of `input`.
    Returns: the named tuple (values, indices).
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g` moved back to the indices.
    Source: torch.sort

    >>> torch.sort(torch.tensor([3.0, 1.0, 2.0])).indices
    tensor([1, 2, 0])
    """
    return return_types.sort(*in_order(input, dim, descending, stable))


@public(out="same")
@reducing
def argsort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """Return the indices that put the elements in order along `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        descending: whether the largest comes first.
        stable: whether equal elements keep their order; they do in any case.
    Shape: the same as that of `input`.
    Returns: an int64 tensor.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.argsort

    >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    return in_order(input, dim, descending, stable)[1]


@public(out="same")
@reducing
def msort(input: Any) -> Any:
    """Return the elements in order along the first dimension."""
    return so.sort(input, 0, False)[0]


@public(out="same")
@reducing
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the `k` largest elements along `dim`, with their indices.

    Args:
        input: a tensor of any shape.
        k: how many.
        dim: the dimension.
        largest: whether the largest or the smallest are returned.
        sorted: whether they are in order; they are in any case.
    Shape: that of `input` with size `k` at `dim`.
    Returns: the named tuple (values, indices).
    Raises: IndexError if there is no dimension `dim`. RuntimeError if `k` is out of range.
    Derivative: `g` moved back to the indices, else 0.
    Source: torch.topk

    >>> torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2).values
    tensor([3., 2.])
    """
    return return_types.topk(*so.topk(input, k, one("topk", dim), bool(largest), bool(sorted)))


# ── different elements
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def wanted(results: Any, return_inverse: bool, return_counts: bool) -> Any:
    """Return the values alone, or with what was asked for."""
    values, inverse, counts = results
    more = [t for t, asked in ((inverse, return_inverse), (counts, return_counts)) if asked]
    return (values, *more) if more else values


@public()
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the different elements in ascending order.

    Args:
        input: a tensor of any shape.
        sorted: accepted; the result is sorted in any case.
        return_inverse: whether to return the index of each element in the result as well.
        return_counts: whether to return how often each occurs as well.
        dim: the dimension whose parts are compared; None for single elements.
    Shape: (n,) for n different elements.
    Returns: a tensor, or a tuple with what was requested.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.unique

    >>> torch.unique(torch.tensor([3, 1, 3]))
    tensor([1, 3])
    """
    found = so.unique2(input) if dim is None else so.unique_dim(input, dim)
    return wanted(found, return_inverse, return_counts)


# ── places among sorted numbers
# ─────────────────────────────────────────────────────────────────────────────────────────────────

SEARCH = "torch.searchsorted(): "


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
    """Return the index at which each number of `input` belongs in `sorted_sequence` (row by row), before
    equal ones or, with `right`, after them.
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
        boundaries = put_in_order(boundaries, sorter)
    return so.search(boundaries, values, right or side == "right", bool(out_int32))


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


def put_in_order(boundaries: Any, sorter: Any) -> Any:
    """Return the boundaries in the order that `sorter` says; RuntimeError in PyTorch's words."""
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
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Return the bucket between sorted `boundaries` that each number of `input` falls into; a number on a
    boundary belongs to the lower one or, with `right`, to the upper one.
    """
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
