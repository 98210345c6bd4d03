"""Variances, covariances, quantiles and histograms; log-sum-exps."""

from __future__ import annotations

from math import inf, isfinite, nan, prod
from typing import Any

import numpy as np

from .. import return_types
from ..core import F, differentiable, dtypes
from ..core.dtypes import floating
from ..core.guards import refuse
from ..core.op import RAW
from ..core.public import public
from ..core.tensor_state import TensorBase, numbers, wrap
from ..core.user_warnings import warn
from . import reductions as red
from .arithmetic import plus
from .reductions import average, count_of, fold, mean_vjp, over, real_of, unsqueeze_reduced
from .shapes import place

# ─── Variances and log-sum-exps


# ── variances
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def deviation(g: Any, slope: float, self: Any, mean: Any) -> Any:
    """`slope · g · (self - mean)`; the difference first, as PyTorch does: that gives its nodes their ages."""
    away = self - mean
    return F.mul_scalar(g, slope) * away


def taken_off(correction: Any) -> Any:
    """What the divisor is less than the count: 1 where nothing is said."""
    return 1 if correction is None else correction


def var_vjp(g, self, dim, correction, keepdim):
    """`2 (self - mean) / (n - correction) · g`."""
    rest = count_of(self.shape, dim) - taken_off(correction)
    if not self.shape or dim is None:
        if rest <= 0:
            return g * F.like(F.where(F.eq(self, F.mean_all(self)), nan, inf), self)
        return deviation(g, 2 / rest, self, F.mean_all(self))
    if not keepdim and len(self.shape) > 1:
        g = unsqueeze_reduced(g, dim or tuple(range(len(self.shape))), len(self.shape))
    return deviation(g, 2 / rest if rest else inf, self, F.mean_dim(self, dim, True))


def std_vjp(g, self, result, dim, correction, keepdim):
    """Through the variance, and 0 where nothing varies."""
    slope = F.masked_fill(g / F.mul_scalar(result, 2), F.eq(result, 0), 0)
    return var_vjp(slope, self, dim, correction, keepdim)


def var_mean_vjp(grads, self, dim, correction, keepdim):
    """Through both results."""
    g = None if grads[0] is None else var_vjp(grads[0], self, dim, correction, keepdim)
    return with_mean(g, grads[1], self, dim, keepdim)


def std_mean_vjp(grads, self, result0, dim, correction, keepdim):
    """Through both results."""
    g = None if grads[0] is None else std_vjp(grads[0], self, result0, dim, correction, keepdim)
    return with_mean(g, grads[1], self, dim, keepdim)


def with_mean(g: Any, of_mean: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    """Return the gradient that comes through the mean added to `g`."""
    if of_mean is None:
        return g
    more = mean_vjp(of_mean, self.shape, prod(self.shape), () if dim is None else dim, keepdim)
    return plus(g, more)


def variance(self: Any, dim: Any, correction: Any, keepdim: bool, name: str) -> Any:
    """Return the mean square deviation over some dimensions, in double precision, as PyTorch has it."""
    refuse(self, name)
    axes = over(dim, self.ndim)
    exact = self.astype(np.complex128 if self.dtype.kind == "c" else np.float64)
    count = count_of(self.shape, dim)
    away = exact - fold(np.add, exact, axes, True) / np.float64(count)
    squares = fold(np.add, (away * np.conjugate(away)).real, axes, keepdim)
    return squares / np.float64(max(0, count - taken_off(correction)))


@differentiable(name="var", self=var_vjp, complexes=True)
def var_op(self, dim, correction, keepdim):
    """Return the variance over some dimensions (all for None); the sum of squares is divided by n -
    `correction`.
    """
    return variance(self, dim, correction, keepdim, "std and var").astype(real_of(self))


@differentiable(name="std", self=std_vjp, complexes=True)
def std_op(self, dim, correction, keepdim):
    """Return the standard deviation, the square root of `var_op`."""
    return np.sqrt(variance(self, dim, correction, keepdim, "std and var")).astype(real_of(self))


PAIR = ("result0", "result1")


@differentiable(name="var_mean", self=var_mean_vjp, complexes=True, several=PAIR)
def var_mean_op(self, dim, correction, keepdim):
    """Return the variance and mean."""
    var = variance(self, dim, correction, keepdim, "var_mean")
    return var.astype(real_of(self)), average(self, over(dim, self.ndim), keepdim, None)


@differentiable(name="std_mean", self=std_mean_vjp, complexes=True, several=PAIR)
def std_mean_op(self, dim, correction, keepdim):
    """Return the standard deviation and mean."""
    var = variance(self, dim, correction, keepdim, "std_mean")
    return np.sqrt(var).astype(real_of(self)), average(self, over(dim, self.ndim), keepdim, None)


# ── sums of exponentials
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def logsumexp_vjp(g, self, result, dim, keepdim):
    """Each exponential's share in the sum."""
    if not keepdim and self.shape:
        g, result = (unsqueeze_reduced(x, dim, len(self.shape)) for x in (g, result))
    return g * F.exp(self - result)


@differentiable(name="logsumexp", self=logsumexp_vjp)
def logsumexp_op(self, dim, keepdim=False):
    """Return the logarithm of the sum of exponentials over some dimensions, without overflow."""
    axes = over(dim, self.ndim)
    kind = floating(self.dtype)
    x = self.astype(np.float32 if kind == np.float16 else kind)
    if not x.size:
        return np.log(fold(np.add, np.exp(x), axes, keepdim)).astype(kind)
    maximum = fold(np.maximum, x.real, axes, True)
    maximum = np.where(np.isinf(maximum), 0, maximum).astype(maximum.dtype)
    sums = np.log(fold(np.add, np.exp(x - maximum), axes, True)) + maximum
    return (sums if keepdim else sums.squeeze(axes)).astype(kind)[()]


# ─── Variances, quantiles, softmax and histograms, as functions and as methods


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


def sorted_values(input: Any, dim: int | None, keepdim: bool) -> Any:
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
    ordered = sorted_values(input, dim, keepdim)
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


def variance_of(op: Any, input: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> Any:
    """What `var`, `std` and both with the mean do by their arguments: `var(True)` means `unbiased`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = int(unbiased)
    elif dim is not None and correction is None:
        correction = 1  # PyTorch notes it where there is a `dim`
    result = op(input, dim, correction, keepdim)
    count = count_of(input._data.shape, dim) if input._data.size else 0
    if count <= (1 if correction is None else correction):
        warn(NO_FREEDOM.format(op.op.name))
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
    return variance_of(var_op, input, dim, unbiased, keepdim, correction)


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
    return variance_of(std_op, input, dim, unbiased, keepdim, correction)


@public("function")
def var_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Return the variance and mean, as a tuple."""
    return variance_of(var_mean_op, input, dim, unbiased, keepdim, correction)


@public("function")
def std_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Return the standard deviation and mean, as a tuple."""
    return variance_of(std_mean_op, input, dim, unbiased, keepdim, correction)


# ── covariances
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_rows(input: Any, name: str) -> None:
    """RuntimeError with PyTorch's text for more than two dimensions."""
    if input._data.ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with "
            f"{input._data.ndim} dimensions"
        )


def check_weights(w: Any, name: str, kind: str, observations: int) -> None:
    """RuntimeError with PyTorch's text for weights that do not fit."""
    data = w._data
    if data.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{data.ndim} dimensions"
        )
    if data.dtype.kind not in ("iu" if kind == "integral" else "f"):
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with {dtypes.of(data).title} dtype"
        )
    if data.size != observations:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{data.size} != {observations}"
        )
    if data.size and F.min_all(w)._data < 0:  # an op, which hooks on saved tensors see
        raise RuntimeError(f"cov(): {name} cannot be negative")


@public()
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Return the covariances of the rows of a matrix, whose columns are observations.

    Args:
        input: a matrix; a vector counts as one row.
        correction: what is subtracted from the number of observations.
        fweights: how often each observation counts, integers.
        aweights: weights of the observations, floating-point numbers.
    Shape: (n, m) → (n, n); of one row `()`.
    Returns: a new tensor.
    Raises: RuntimeError if `input` has more than two dimensions or the weights do not fit.
    Derivative: that of the products of the rows without their means.
    Source: torch.cov

    >>> torch.cov(torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    check_rows(input, "cov")
    refuse(input._data, "cov")
    rows = input if input._data.ndim == 2 else F.view(input, (1, input._data.size))
    observations = rows._data.shape[1]
    w = None
    if fweights is not None:
        check_weights(fweights, "fweights", "integral", observations)
        w = fweights
    if aweights is not None:
        check_weights(aweights, "aweights", "floating point", observations)
        w = aweights if w is None else w * aweights
    total = wrap(np.int64(observations)) if w is None else red.sum(w)
    if w is not None and total._data == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    means = red.sum(rows if w is None else rows * w, (1,)) / total
    if correction == 0:
        divisor = total
    elif aweights is None:
        divisor = total - correction
    else:
        divisor = total - correction * red.sum(w * aweights) / total
    if divisor._data <= 0:
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
            "observations."
        )
        divisor = F.zeros_like(divisor)
    away = rows - F.unsqueeze(means, 1)
    products = F.mm(away, F.conj(F.t(away if w is None else away * w)))
    return F.squeeze_all(products / divisor)


@public()
def corrcoef(input: Any) -> Any:
    """Return the correlations of the rows of a matrix, whose columns are observations.

    Args:
        input: a matrix; a vector counts as one row.
    Shape: (n, m) → (n, n); of one row `()`.
    Returns: a new tensor of numbers between -1 and 1.
    Raises: RuntimeError if `input` has more than two dimensions.
    Derivative: that of the covariances divided by both standard deviations.
    Source: torch.corrcoef

    >>> torch.corrcoef(torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    check_rows(input, "corrcoef")
    c = cov(input)
    if c._data.ndim == 0:
        return c / c
    deviations = F.sqrt(F.real(F.diagonal(c, 0, 0, 1)))
    n = deviations._data.size
    c = c / F.view(deviations, (n, 1))
    c = c / F.view(deviations, (1, n))
    if c._data.dtype.kind == "c":
        return F.complex(F.clamp_numbers(F.real(c), -1, 1), F.clamp_numbers(F.imag(c), -1, 1))
    return F.clamp_numbers(c, -1, 1)


@public(out="cast")
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials over the dimensions `dim`, without overflow."""
    return logsumexp_op(input, dim, keepdim)


# ── histograms
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public(out="same")
def histogram(
    input: Any, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """Return the number of elements, or the sum of their weights, in each of `bins` equal bins or between the
    given edges; and the edges (hist, bin_edges).
    """
    return return_types.histogram(*histogram_op(input, bins, range, weight, density))


# ─── Sorting, medians, unique elements; truth, counts and histograms; the trace


@differentiable(forms="function method", out="")
def bincount(self, weights=None, minlength=0):
    """Return how often each number from 0 on occurs in a vector of integers, or the sum of its weights."""
    fits = self.ndim == 1 and self.dtype.kind in "iu" and not np.any(self < 0)
    if not fits and (self.size or self.ndim != 1):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0 or (weights is not None and weights.shape != self.shape):
        raise RuntimeError("minlength should be >= 0, weights should have the same length as input")
    out = np.bincount(self.astype(np.int64), weights, minlength)
    if weights is None or not self.size:
        return out.astype(np.int64)
    return out.astype(np.float32 if weights.dtype == np.float32 else np.float64)


def limits(self: Any, bins: int, low: Any, high: Any, name: str, room: float) -> tuple[Any, Any]:
    """Where the bins begin and end: at the extremes if none are given, with `room` to both sides if these are
    equal.
    """
    if bins <= 0 or low > high:
        raise RuntimeError(f"{name}: bins must be > 0 and min <= max, but got {bins}, {low} and {high}")
    if low == high and self.size:
        low, high = self.min(), self.max()
    if low == high:
        low, high = low - room, high + room
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low:g}, {high:g}] is not finite")
    return low, high


@differentiable(name="histogram", several=True)
def histogram_op(self, bins, range=None, weight=None, density=False):
    """Return the sums of weights (1 by default) of the elements in each bin, and the edges of the bins."""
    refuse(self, "histogramdd")
    edges: Any = bins if isinstance(bins, RAW) else even_edges(self, bins, range)
    weights = None if weight is None else weight.astype(np.float64)  # exact sums of them
    sums, _ = np.histogram(self, edges, weights=weights, density=density)
    return sums.astype(self.dtype), edges


def even_edges(self: Any, bins: int, range: Any) -> Any:
    """Return the edges of equal bins over `range`, or between the extremes."""
    low, high = range or ((0, 0) if self.size else (0, 1))
    low, high = limits(self, bins, low, high, "torch.histogram", 0.5)
    return np.linspace(low, high, bins + 1, dtype=self.dtype)


@differentiable(forms="function method", out="same")
def histc(self, bins=100, min=0, max=0):
    """Return how many elements lie in each of `bins` equal bins between `min` and `max`, or between the
    extremes.
    """
    low, high = limits(self, bins, min, max, "torch.histc", 1)
    x = np.ravel(self)
    x, low, high = x[(x >= low) & (x <= high)], x.dtype.type(low), x.dtype.type(high)
    places: Any = (x - low) * x.dtype.type(bins) / (high - low)  # in their own precision, as PyTorch does
    return np.bincount(np.minimum(places.astype(np.int64), bins - 1), minlength=bins).astype(self.dtype)
