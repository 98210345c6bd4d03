"""Reductions: sums, means, extremes, variances and norms, as functions and as methods."""

from __future__ import annotations

import functools
import operator
from typing import Any

from .. import return_types
from ..core import F, dtypes
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..ops import count as counting
from ..ops import max_min as extremes
from ..ops import median as order
from ..ops import reduction as red
from ..ops import variance as spread
from ..ops.elementwise import must_be

NUMPYS = {"axis": "dim", "keepdims": "keepdim", "self": "input"}  # names that PyTorch takes too


def reducing(function: Any) -> Any:
    """A function of a tensor that also takes NumPy's names of its arguments. TypeError unless `input` is a
    tensor, for a NumPy array would do, and `keepdim` a bool.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for name in NUMPYS.keys() & kwargs.keys():
            kwargs[NUMPYS[name]] = kwargs.pop(name)
        if "keepdim" in kwargs:
            flag(kwargs["keepdim"])
        given = args[0] if args else kwargs.get("input")
        if not isinstance(given, TensorBase):
            kind = dtypes.kind_name(given)
            raise TypeError(
                f"{function.__name__}(): argument 'input' (position 1) must be Tensor, not {kind}"
            )
        return function(*args, **kwargs)

    return call


def dims(dim: Any) -> tuple[int, ...] | None:
    """`dim` as a tuple of integers; None as it is."""
    if dim is None:
        return None
    return tuple(map(one, dim if isinstance(dim, (tuple, list)) else (dim,)))


def one(dim: Any) -> int:
    """`dim` as an integer; TypeError unless it is one."""
    if isinstance(dim, bool):
        raise TypeError("a dimension must be an integer")
    return operator.index(dim)


def flag(keepdim: Any) -> bool:
    """`keepdim`; TypeError unless it is a bool."""
    if not isinstance(keepdim, bool):
        raise TypeError("keepdim must be a bool")
    return keepdim


def numpys(dtype: Any) -> Any:
    """Return the NumPy dtype of `dtype`; None as it is."""
    return None if dtype is None else dtypes.given(dtype).numpy


# ── sums, means and products
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public(out="dtype")
@reducing
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
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
    if dim is None and not keepdim:
        return red.sum_all(input, numpys(dtype))
    return red.sum_dim(input, dims(dim) or (), flag(keepdim), numpys(dtype))


@public(out="dtype")
@reducing
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum in which NaN counts as 0, of all elements or over the dimensions `dim`."""
    if input._data.dtype.kind in "biu":
        return sum(input, dim, keepdim, dtype=dtype)
    return red.nansum(input, dims(dim), flag(keepdim), numpys(dtype))


@public(out="dtype")
@reducing
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
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
    if dim is None and not keepdim:
        return red.mean_all(input, numpys(dtype))
    return red.mean_dim(input, dims(dim) or (), flag(keepdim), numpys(dtype))


@public(out="cast")
@reducing
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
@reducing
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
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
    if dim is None:
        return red.prod_all(input, numpys(dtype))
    return red.prod_dim(input, one(dim), flag(keepdim), numpys(dtype))


# ── extremes
# ─────────────────────────────────────────────────────────────────────────────────────────────────


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
@reducing
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
    return extreme("max", extremes.max_all, extremes.max_dim, input, dim, keepdim, other)


@public(out="same")
@reducing
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
    return extreme("min", extremes.min_all, extremes.min_dim, input, dim, keepdim, other)


@public(out="same")
@reducing
def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Return the largest element over the dimensions `dim`, all for (); the gradient is divided evenly."""
    return extremes.amax(input, dims(dim) or (), flag(keepdim))


@public(out="same")
@reducing
def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Return the smallest element over the dimensions `dim`, all for (); the gradient is divided evenly."""
    return extremes.amin(input, dims(dim) or (), flag(keepdim))


@public(out="same")
@reducing
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
    return extremes.argmax(input, dim, keepdim)


@public(out="same")
@reducing
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
    return extremes.argmin(input, dim, keepdim)


# ── truth and order
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public(out="cast")
@reducing
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
    return counting.all(input, dims(dim), keepdim)


@public(out="cast")
@reducing
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
    return counting.any(input, dims(dim), keepdim)


@public()
@reducing
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """Return how many elements are not 0, of all or over the dimensions `dim`."""
    return counting.count_nonzero(input, dims(dim))


@public(out="same")
@reducing
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the lower median of all elements, or along `dim` (values, indices)."""
    if dim is None:
        return order.median_all(input)
    return return_types.median(*order.median_dim(input, one(dim), keepdim))


@public(out="same")
@reducing
def nanmedian(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the lower median of what is not NaN, of all elements or along `dim` (values, indices)."""
    if dim is None:
        return order.nanmedian_all(input)
    return return_types.nanmedian(*order.nanmedian_dim(input, one(dim), keepdim))


@public(out="same")
@reducing
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the `k`-th smallest element along `dim`, counted from 1, and its index (values, indices)."""
    if isinstance(k, float):
        must_be(int, "kthvalue", "k", k, 2)
    return return_types.kthvalue(*order.kthvalue(input, k, dim, keepdim))


# ── variances, norms, exponentials
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def spread_of(name: str, input: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> Any:
    """What `var`, `std` and both with the mean do by their arguments: `var(True)` means `unbiased`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None and not isinstance(unbiased, bool):
        raise TypeError("unbiased must be a bool")
    if unbiased is not None:
        correction = int(unbiased)
    elif dim is not None and correction is None:
        correction = 1  # PyTorch notes it where there is a `dim`
    return getattr(spread, name)(input, dims(dim), correction, keepdim)


@public(out="cast")
@reducing
def var(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Return the variance of all elements, or over `dim`, with divisor n - correction.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        unbiased: the old form of `correction`: True for 1, False for 0.
        keepdim: whether the reduced dimensions stay, with size 1.
        correction: what is subtracted from the number of elements; 1 if None.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `2 * g * (x - mean) / (n - correction)`.
    Source: torch.var

    >>> torch.var(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor(1.6667)
    """
    return spread_of("var", input, dim, unbiased, keepdim, correction)


@public(out="cast")
@reducing
def std(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Return the standard deviation of all elements, or over `dim`, with divisor n - correction.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        unbiased: the old form of `correction`: True for 1, False for 0.
        keepdim: whether the reduced dimensions stay, with size 1.
        correction: what is subtracted from the number of elements; 1 if None.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g * (x - mean) / ((n - correction) * result)`.
    Source: torch.std

    >>> torch.std(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor(1.2910)
    """
    return spread_of("std", input, dim, unbiased, keepdim, correction)


@public("function")
@reducing
def var_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Return the variance and mean, as a tuple."""
    return spread_of("var_mean", input, dim, unbiased, keepdim, correction)


@public("function")
@reducing
def std_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Return the standard deviation and mean, as a tuple."""
    return spread_of("std_mean", input, dim, unbiased, keepdim, correction)


@public(out="cast")
@reducing
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials over the dimensions `dim`, without overflow."""
    return spread.logsumexp(input, dims(dim), flag(keepdim))
