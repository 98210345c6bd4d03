"""Variances and log-sum-exps; cumulative sums and products."""

from __future__ import annotations

from math import inf, nan, prod
from typing import Any

import numpy as np

from ..core import F, composite, differentiable, is_symbol
from ..core.dtypes import floating
from ..core.op import RAW
from .arithmetic import plus
from .checks import of_kind
from .kernels import linear_op
from .reduction import average, cast, count_of, fold, mean_vjp, over, real_of, unsqueezed
from .shape import place

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
        g = unsqueezed(g, dim or tuple(range(len(self.shape))), len(self.shape))
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
    of_kind(self, "fc", f"{name} only support floating point and complex dtypes")
    axes = over(dim, self.ndim)
    exact = self.astype(np.complex128 if self.dtype.kind == "c" else np.float64)
    count = count_of(self.shape, dim)
    away = exact - fold(np.add, exact, axes, True) / np.float64(count)
    squares = fold(np.add, (away * np.conjugate(away)).real, axes, keepdim)
    return squares / np.float64(max(0, count - taken_off(correction)))


@differentiable(self=var_vjp, complexes=True)
def var(self, dim, correction, keepdim):
    """Return the variance over some dimensions (all for None); the sum of squares is divided by n -
    `correction`.
    """
    return variance(self, dim, correction, keepdim, "std and var").astype(real_of(self))


@differentiable(self=std_vjp, complexes=True)
def std(self, dim, correction, keepdim):
    """Return the standard deviation, the square root of `var`."""
    return np.sqrt(variance(self, dim, correction, keepdim, "std and var")).astype(real_of(self))


PAIR = ("result0", "result1")


@differentiable(self=var_mean_vjp, complexes=True, several=PAIR)
def var_mean(self, dim, correction, keepdim):
    """Return the variance and mean."""
    var = variance(self, dim, correction, keepdim, "var_mean")
    return var.astype(real_of(self)), average(self, over(dim, self.ndim), keepdim, None)


@differentiable(self=std_mean_vjp, complexes=True, several=PAIR)
def std_mean(self, dim, correction, keepdim):
    """Return the standard deviation and mean."""
    var = variance(self, dim, correction, keepdim, "std_mean")
    return np.sqrt(var).astype(real_of(self)), average(self, over(dim, self.ndim), keepdim, None)


# ── sums of exponentials
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def logsumexp_vjp(g, self, result, dim, keepdim):
    """Each exponential's share in the sum."""
    if not keepdim and self.shape:
        g, result = (unsqueezed(x, dim, len(self.shape)) for x in (g, result))
    return g * F.exp(self - result)


@differentiable(self=logsumexp_vjp)
def logsumexp(self, dim, keepdim=False):
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


WIDER = {"float16": np.float32, "float32": np.float64, "complex64": np.complex128}


def accumulated(ufunc: Any, self: Any, dim: int, dtype: Any = None) -> Any:
    """`ufunc` over all elements up to each one along `dim`; whole numbers become int64, and the numbers in
    between are wider than the result, as in PyTorch.
    """
    front = place(dim, self.ndim)
    self = cast(self, dtype)
    kind = np.dtype(np.int64) if self.dtype.kind in "biu" and dtype is None else self.dtype
    if not self.ndim:
        return self.astype(kind)
    return ufunc.accumulate(self, axis=front, dtype=WIDER.get(kind.name, kind)).astype(kind)


def backwards(op: Any, g: Any, dim: int) -> Any:
    """`op` along `dim` from the last element to the first."""
    return F.flip(op(F.flip(g, (dim,)), dim), (dim,))


def short(sizes: Any, dim: int) -> bool:
    """Return whether nothing stands before any element along `dim`."""
    return prod(sizes) <= 1 or sizes[dim] == 1


def cumsum_vjp(g, dim):
    """Return the sum of the gradients from each element on."""
    if is_symbol(g):
        return backwards(F.cumsum, g, dim)
    return g if short(g.shape, dim) else backwards(F.cumsum, g, dim)


@linear_op(self=cumsum_vjp)
def cumsum(self, dim, dtype=None):
    """Return the sum of all elements up to each one along `dim`; whole numbers give int64 without `dtype`."""
    return accumulated(np.add, self, dim, dtype)


# ── products
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def has_zero(self: Any) -> bool:
    """Return whether an element is 0."""
    return not np.all(self if isinstance(self, RAW) else self._data)


def cumprod_vjp(g, self, result, dim):
    """`Σ g · result / self` from each element on; with zeros, the products that leave the element out."""
    if is_symbol(g):
        return backwards(F.cumsum, result * g, dim) / self
    if short(self.shape, dim):
        return g
    dim = place(dim, len(self.shape))
    if F.has_zero(self):
        return cumprod_with_zeros(g, self, dim)
    return backwards(F.cumsum, result * g, dim) / self


def cumprod_with_zeros(g: Any, self: Any, dim: int) -> Any:
    """For each element, the gradients from it on times the products without it, as PyTorch composes them."""
    n = self.shape[dim]
    one = F.ones_like(F.slice(self, dim, 0, 1, 1))
    parts = []
    for k in range(n):
        before = F.prod_dim(F.slice(self, dim, 0, k, 1), dim, True) if k else one
        if k < n - 1:
            after = F.cumprod(F.slice(self, dim, k + 1, n, 1), dim)
            before = F.cat([before, before * after], dim)
        parts.append(F.sum_dim(F.slice(g, dim, k, n, 1) * before, dim, False))
    return F.stack(parts, dim)


@differentiable(self=cumprod_vjp)
def cumprod(self, dim, dtype=None):
    """Return the product of all elements up to each one along `dim`; whole numbers give int64 unless `dtype`
    is given.
    """
    return accumulated(np.multiply, self, dim, dtype)
