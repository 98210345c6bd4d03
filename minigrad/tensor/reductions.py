"""Reductions (sums, means, products, truth) and cumulative sums and products."""

from __future__ import annotations

from typing import Any

from ..core import F, dtypes
from ..core.public import public
from ..creation.arguments import dims, whole
from ..ops import reduction as red
from ..ops import sorting, variance
from ..ops.checks import choice, invalid

NOT_GIVEN: Any = object()


def is_of_all(name: str, input: Any, dim: Any, keepdim: Any) -> bool:
    """Return whether no `dim` was given; TypeError in PyTorch's words for a `keepdim` without one."""
    if dim is not NOT_GIVEN:
        return False
    if keepdim is not False:
        raise invalid(name, input, keepdim=keepdim)
    return True


def flag(given: Any) -> bool:
    """`given`; TypeError unless it is a bool."""
    if not isinstance(given, bool):
        raise TypeError("expected a bool")
    return given


def numpys(dtype: Any) -> Any:
    """Return the NumPy dtype of `dtype`; None as it is."""
    return None if dtype is None else dtypes.given(dtype).numpy


@public(out="dtype")
def sum(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum of all elements, or the sums over `dim`; integers and booleans give int64.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        dtype: the dtype in which the result is computed.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g`, expanded to the shape of `input`.
    Source: torch.sum

    >>> torch.sum(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([4., 6.])
    """
    if is_of_all("sum", input, dim, keepdim):
        return red.sum_all(input, numpys(dtype))
    return red.sum_dim(input, dims(dim) or (), flag(keepdim), numpys(dtype))


@public(out="dtype")
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum in which NaN counts as 0, of all elements or over the dimensions `dim`."""
    if input._data.dtype.kind in "biu":
        return sum(input, dim, keepdim, dtype=dtype)
    return red.nansum(input, dims(dim), flag(keepdim), numpys(dtype))


@public(out="dtype")
def mean(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean of all elements, or the means over `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        dtype: the dtype in which the result is computed.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`. RuntimeError for integers without `dtype`.
    Derivative: `g / n`, expanded, for n elements per mean.
    Source: torch.mean

    >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([2., 3.])
    """
    kind = dtypes.of(input._data) if dtype is None else dtype
    if kind.category < 2:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype must be "
            f"either a floating point or complex dtype. Got: {kind.title}"
        )
    if is_of_all("mean", input, dim, keepdim):
        return red.mean_all(input, numpys(dtype))
    return red.mean_dim(input, dims(dim) or (), flag(keepdim), numpys(dtype))


@public(out="cast")
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean of what is not NaN, of all elements or over the dimensions `dim`; RuntimeError for
    integers.
    """
    kind = dtypes.of(input._data)
    if kind.category < 2:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {kind.title}"
        )
    over = () if dim is None else dim
    count = sum(F.eq(input.detach(), input.detach()), over, keepdim)
    return F.div(nansum(input, dim, keepdim, dtype=dtype), count)


@public(out="dtype")
def prod(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the product of all elements, or the products along `dim`.

    Args:
        input: a tensor of any shape.
        dim: one dimension; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        dtype: the dtype in which the result is computed.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g * result / x`, computed without the division where an element is 0.
    Source: torch.prod

    >>> torch.prod(torch.tensor([2.0, 3.0, 4.0]))
    tensor(24.)
    """
    if is_of_all("prod", input, dim, keepdim):
        return red.prod_all(input, numpys(dtype))
    if dim is None:
        raise invalid("prod", input, dim=dim)
    return red.prod_dim(input, whole(dim), flag(keepdim), numpys(dtype))


@public(out="cast")
def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether all elements are true, that is not 0, overall or over `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a boolean tensor (uint8 for uint8).
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.all

    >>> torch.all(torch.tensor([[True, False], [True, True]]), dim=1)
    tensor([False,  True])
    """
    return sorting.all(input, dims(dim), flag(keepdim))


@public(out="cast")
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether at least one element is true, that is not 0, overall or over `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a boolean tensor (uint8 for uint8).
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.any

    >>> torch.any(torch.tensor([[True, False], [True, True]]), dim=1)
    tensor([True, True])
    """
    return sorting.any(input, dims(dim), flag(keepdim))


@public()
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """Return how many elements are not 0, of all or over the dimensions `dim`."""
    return sorting.count_nonzero(input, dims(dim))


def checked(name: str, dtype: Any) -> Any:
    """Return the NumPy dtype of `dtype`; NotImplementedError in PyTorch's words for bools."""
    dtype = dtypes.given(dtype)
    if dtype is not None and dtype.title == "Bool":
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
    return numpys(dtype)


@public("function method method_", out="dtype")
@choice
def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the cumulative sums along `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        dtype: the dtype in which the result is computed.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: the cumulative sums of `g` from the end.
    Source: torch.cumsum

    >>> torch.cumsum(torch.tensor([1, 2, 3]), dim=0)
    tensor([1, 3, 6])
    """
    return variance.cumsum, (input, whole(dim), checked("cumsum", dtype))


@public("function method method_", out="dtype")
@choice
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the product of all elements up to each one along `dim`; whole numbers give int64 unless `dtype`
    is given.
    """
    return variance.cumprod, (input, whole(dim), checked("cumprod", dtype))
