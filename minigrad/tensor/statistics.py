"""Variances, quantiles, softmax and histograms, as functions and as methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..core import F
from ..core.public import public
from ..core.tensor_state import TensorBase, numbers, wrap
from ..core.user_warnings import warn
from ..creation.arguments import dims
from ..ops import smooth_activations as soft
from ..ops import sorting, variance
from ..ops.reduction import count_of
from ..ops.shape import place
from .reductions import flag

NO_FREEDOM = (
    "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
    "numel divided by output numel)."
)
ROUNDED: dict[str, Any] = {
    "linear": np.asarray,
    "midpoint": np.asarray,
    "lower": np.floor,
    "higher": np.ceil,
    "nearest": np.round,
}


# ── softmax
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def in_dtype(input: Any, dtype: Any) -> Any:
    """Return the tensor in `dtype`, if one is given."""
    return input if dtype is None else input.to(dtype)


@public(out="same")
def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return the exponentials along `dim`, divided by their sum.

    Args:
        input: a tensor of any shape.
        dim: the dimension whose elements add up to 1.
        dtype: the dtype in which the result is computed.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `result * (g - (g * result).sum(dim))`.
    Source: torch.softmax

    >>> torch.softmax(torch.tensor([0.0, 1.0]), dim=0)
    tensor([0.2689, 0.7311])
    """
    return soft.softmax(in_dtype(input, dtype), dim)


@public(out="same")
def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return the logarithm of the softmax along `dim`, computed without overflow.

    Args:
        input: a tensor of any shape.
        dim: the dimension whose exponentials add up to 1.
        dtype: the dtype in which the result is computed.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g - exp(result) * g.sum(dim)`.
    Source: torch.log_softmax

    >>> torch.log_softmax(torch.tensor([0.0, 1.0]), dim=0)
    tensor([-1.3133, -0.3133])
    """
    return soft.log_softmax(in_dtype(input, dtype), dim)


# ── quantiles
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_quantile(input: Any, q: Any, interpolation: str) -> None:
    """RuntimeError with PyTorch's text for arguments that do not fit."""
    data, ranks = input._data, q._data if isinstance(q, TensorBase) else np.asarray(q, input._data.dtype)
    if not np.all((ranks >= 0) & (ranks <= 1)):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    if not data.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if ranks.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if data.dtype not in (np.float32, np.float64) or ranks.dtype != data.dtype:
        raise RuntimeError("quantile() input and q must be of one dtype, float or double")
    if interpolation not in ROUNDED:
        raise RuntimeError(
            f"quantile() interpolation must be one of {', '.join(ROUNDED)}, not {interpolation}"
        )


def in_order(input: Any, dim: int | None, keepdim: bool) -> Any:
    """The elements of which quantiles are taken, in order along a last dimension; before it the dimensions of
    the results.
    """
    shape = input._data.shape
    if dim is None:
        rows, rest = input.flatten(), (1,) * len(shape) if keepdim else ()
    else:
        front = place(dim, len(shape))
        last = front == len(shape) - 1
        rows = input if last else F.transpose(F.unsqueeze(input, -1), front, -1)
        rest = (*shape[:front], *((1,) if keepdim and shape else ()), *shape[front + 1 :])
    ordered = rows.sort()[0]
    return F.view(ordered, (*rest, ordered._data.shape[-1]))


def ranks_of(q: Any, ordered: Any) -> Any:
    """Where quantiles lie among ordered elements; NaN comes last and is the quantile."""
    last, broken = ordered.shape[-1] - 1, np.isnan(ordered).any(-1, keepdims=True)
    ranks = q * last
    shape = np.broadcast_shapes(q._data.shape, broken.shape)
    return F.masked_fill(F.expand(ranks, shape), wrap(np.broadcast_to(broken, shape)), last)


@public(out="same")
def quantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """Return the quantile `q` of all elements or along `dim`; a vector `q` gives a dimension in front."""
    check_quantile(input, q, interpolation)
    q = q if isinstance(q, TensorBase) else wrap(input._data.dtype.type(q))
    ordered = in_order(input, dim, keepdim)
    ranks = ranks_of(q, numbers(ordered))
    below = wrap(ROUNDED[interpolation](numbers(ranks)).astype(np.int64))
    values = F.gather(ordered, -1, below)
    if interpolation in ("linear", "midpoint"):
        half = wrap(np.full_like(ranks._data, 0.5))
        weights = half if interpolation == "midpoint" else ranks - below
        above = wrap(np.ceil(numbers(ranks)).astype(np.int64))
        values = values.lerp(F.gather(ordered, -1, above), weights)
    if q._data.ndim:
        values = values.unsqueeze_(0).transpose_(0, -1)
    return values.squeeze_(-1)


# ── variances
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def variance_of(name: str, input: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> Any:
    """What `var`, `std` and both with the mean do by their arguments: `var(True)` means `unbiased`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None and not isinstance(unbiased, bool):
        raise TypeError("unbiased must be a bool")
    if unbiased is not None:
        correction = int(unbiased)
    elif dim is not None and correction is None:
        correction = 1  # PyTorch notes it where there is a `dim`
    result = getattr(variance, name)(input, dims(dim), correction, flag(keepdim))
    count = count_of(input._data.shape, dims(dim)) if input._data.size else 0
    if count <= (1 if correction is None else correction):
        warn(NO_FREEDOM.format(name))
    return result


@public(out="cast")
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
    return variance_of("var", input, dim, unbiased, keepdim, correction)


@public(out="cast")
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
    return variance_of("std", input, dim, unbiased, keepdim, correction)


@public("function")
def var_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Return the variance and mean, as a tuple."""
    return variance_of("var_mean", input, dim, unbiased, keepdim, correction)


@public("function")
def std_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Return the standard deviation and mean, as a tuple."""
    return variance_of("std_mean", input, dim, unbiased, keepdim, correction)


@public(out="cast")
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials over the dimensions `dim`, without overflow."""
    if dim is None:
        raise TypeError("logsumexp(): argument 'dim' must be tuple of ints, not NoneType")
    return variance.logsumexp(input, dims(dim), flag(keepdim))


# ── histograms
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public(out="same")
def histogram(
    input: Any, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """Return the number of elements, or the sum of their weights, in each of `bins` equal bins or between the
    given edges; and the edges (hist, bin_edges).
    """
    return return_types.histogram(*sorting.histogram(input, bins, range, weight, density))
