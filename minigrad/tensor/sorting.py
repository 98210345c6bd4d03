"""Sorting, the largest few elements, unique elements, maxima, minima and medians."""

from __future__ import annotations

from typing import Any

from .. import return_types
from ..core import F
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..creation.arguments import dims, whole
from ..left_out import without
from ..ops import max_min
from ..ops import sorting as so
from ..ops.checks import invalid
from .reductions import NOT_GIVEN, flag, is_of_all


def in_order(input: Any, dim: int, descending: bool, stable: Any) -> Any:
    """Values and indices, by the overload that PyTorch takes: one of its own where `stable` is given."""
    op = so.sort if stable is NOT_GIVEN else so.sort_stable
    return op(input, whole(dim), bool(descending))


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
    return return_types.topk(*so.topk(input, k, whole(dim), bool(largest), bool(sorted)))


@public()
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the different elements in ascending so.

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
    if dim is not None:
        raise without("unique", "dim")
    values, inverse, counts = so.unique2(input)
    more = [t for t, asked in ((inverse, return_inverse), (counts, return_counts)) if asked]
    return (values, *more) if more else values


def extreme(name: str, every: Any, along: Any, input: Any, dim: Any, keepdim: Any, other: Any) -> Any:
    """What `max` and `min` do by their arguments."""
    if isinstance(dim, TensorBase):
        dim, other = NOT_GIVEN, dim
    if other is not None:
        return getattr(F, name + "imum")(input, other)
    if is_of_all(name, input, dim, keepdim):
        return every(input)
    if dim is None:
        raise invalid(name, input, dim=dim)
    kind = getattr(return_types, name)
    return kind(*along(input, whole(dim), flag(keepdim)))


@public(out="same")
def max(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the maximum of all elements, or along `dim` the maximum values with their indices.

    Args:
        input: a tensor of any shape.
        dim: one dimension, or a tensor, for which the result is that of `maximum`; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        other: a tensor, for the result of `maximum`.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a tensor; with `dim` the named tuple (values, indices).
    Raises: IndexError if there is no dimension `dim`. RuntimeError if `input` is empty and no `dim` is given.
    Derivative: without `dim`, `g` divided evenly among the equal largest elements; with `dim`, `g` at the
        index, else 0.
    Source: torch.max

    >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).values
    tensor([5., 7.])
    """
    return extreme("max", max_min.max_all, max_min.max_dim, input, dim, keepdim, other)


@public(out="same")
def min(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the minimum of all elements, or along `dim` the minimum values with their indices.

    Args:
        input: a tensor of any shape.
        dim: one dimension, or a tensor, for which the result is that of `minimum`; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        other: a tensor, for the result of `minimum`.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a tensor; with `dim` the named tuple (values, indices).
    Raises: IndexError if there is no dimension `dim`. RuntimeError if `input` is empty and no `dim` is given.
    Derivative: without `dim`, `g` divided evenly among the equal smallest elements; with `dim`, `g` at the
        index, else 0.
    Source: torch.min

    >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).values
    tensor([1., 2.])
    """
    return extreme("min", max_min.min_all, max_min.min_dim, input, dim, keepdim, other)


@public(out="same")
def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Return the largest element over the dimensions `dim`, all for (); the gradient is divided evenly."""
    return max_min.amax(input, dims(dim) or (), flag(keepdim))


@public(out="same")
def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Return the smallest element over the dimensions `dim`, all for (); the gradient is divided evenly."""
    return max_min.amin(input, dims(dim) or (), flag(keepdim))


@public(out="same")
def median(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False) -> Any:
    """Return the lower median of all elements, or along `dim` (values, indices)."""
    if is_of_all("median", input, dim, keepdim):
        return so.median_all(input)
    return return_types.median(*so.median_dim(input, whole(dim), flag(keepdim)))
