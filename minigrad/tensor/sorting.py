"""Functions and methods about order: sorting, the largest few, different elements, places among sorted."""

from __future__ import annotations

from typing import Any

from .. import return_types
from ..core.public import public
from ..ops import sorting as so
from .reductions import one

NOT_GIVEN: Any = object()


def in_order(input: Any, dim: int, descending: bool, stable: Any) -> Any:
    """Values and indices, by the overload that PyTorch takes: one of its own where `stable` is given."""
    op = so.sort if stable is NOT_GIVEN else so.sort_stable
    return op(input, one(dim), bool(descending))


@public(out="same")
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
    return return_types.topk(*so.topk(input, k, one(dim), bool(largest), bool(sorted)))


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
