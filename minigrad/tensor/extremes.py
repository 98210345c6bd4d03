"""Extremes and medians, as functions and as methods."""

from __future__ import annotations

from typing import Any

from .. import return_types
from ..core import F
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..ops import max_min
from ..ops import median as order
from .reductions import dims, flag, one


def extreme(name: str, every: Any, along: Any, input: Any, dim: Any, keepdim: Any, other: Any) -> Any:
    """What `max` and `min` do by their arguments."""
    if isinstance(dim, TensorBase):
        dim, other = None, dim
    if other is not None:
        return getattr(F, name + "imum")(input, other)
    if dim is None:
        return every(input)
    kind = getattr(return_types, name)
    return kind(*along(input, one(dim), flag(keepdim)))


@public(out="same")
def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
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
def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
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
def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the index of the maximum, in the flattened tensor or along `dim`.

    Args:
        input: a tensor of any shape.
        dim: one dimension; None for the flattened tensor.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: an int64 tensor; of several equal elements the first index.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.argmax

    >>> torch.argmax(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
    tensor([1, 0])
    """
    return max_min.argmax(input, dim, keepdim)


@public(out="same")
def argmin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the index of the minimum, in the flattened tensor or along `dim`.

    Args:
        input: a tensor of any shape.
        dim: one dimension; None for the flattened tensor.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: an int64 tensor; of several equal elements the first index.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.argmin

    >>> torch.argmin(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
    tensor([0, 1])
    """
    return max_min.argmin(input, dim, keepdim)


@public(out="same")
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the lower median of all elements, or along `dim` (values, indices)."""
    if dim is None:
        return order.median_all(input)
    return return_types.median(*order.median_dim(input, one(dim), keepdim))


@public(out="same")
def nanmedian(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the lower median of what is not NaN, of all elements or along `dim` (values, indices)."""
    if dim is None:
        return order.nanmedian_all(input)
    return return_types.nanmedian(*order.nanmedian_dim(input, one(dim), keepdim))
