"""Sums, products, extremes and log-sum-exps of all elements up to each one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import of
from ..op import F, composite, differentiable
from ..op.registry import RAW
from .complexes import is_complex
from .copies import kind_of
from .extremes import refuse_complex
from .reduction import cast
from .shape import place

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
    """Whether nothing stands before any element along `dim`."""
    return math.prod(sizes) <= 1 or sizes[dim] == 1


def cumsum_vjp(g: Any, dim: int) -> Any:
    """The sum of the gradients from each element on."""
    if hasattr(g, "__minigrad_symbol__"):
        return backwards(F.cumsum, g, dim)
    return g if short(g.shape, dim) else backwards(F.cumsum, g, dim)


@differentiable(self=cumsum_vjp, linear=True)
def cumsum(self, dim, dtype=None):
    """The sum of all elements up to each one along `dim`; whole numbers give int64 without `dtype`."""
    return accumulated(np.add, self, dim, dtype)


# ── products
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def has_zero(self: Any) -> bool:
    """Whether an element is 0."""
    return not np.all(self if isinstance(self, RAW) else self._data)


def cumprod_vjp(g: Any, self: Any, result: Any, dim: int) -> Any:
    """`Σ g · result / self` from each element on; with zeros, the products that leave the element out."""
    if hasattr(g, "__minigrad_symbol__"):
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


def cumprod_jvp(self_t: Any, self: Any, result: Any, dim: int) -> Any:
    """`result · Σ self_t / self` up to each element; from the first zero on, the product with the tangent in
    its place.
    """
    zeros = F.eq(self, 0)
    count = F.cumsum(zeros, dim)
    from_there = F.cumprod(F.where(F.logical_and(zeros, F.eq(count, 1)), self_t, self), dim)
    return F.where(F.gt(count, 0), from_there, F.cumsum(self_t / self, dim) * result)


@differentiable(self=cumprod_vjp, jvp=cumprod_jvp)
def cumprod(self, dim, dtype=None):
    """The product of all elements up to each one along `dim`; whole numbers give int64 unless `dtype` is
    given.
    """
    return accumulated(np.multiply, self, dim, dtype)


# ── extremes
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def running(ufunc: Any, name: str) -> Any:
    """The kernel of an extreme of all elements up to each one, with its index: the last of equal ones, or of
    NaN.
    """

    def kernel(self: Any, dim: int) -> Any:
        front = place(dim, self.ndim)
        refuse_complex(self, f"{name}_cpu")
        if not self.ndim:
            return self, np.int64(0)
        values = ufunc.accumulate(self, axis=front)
        along = [1] * self.ndim
        along[front] = -1
        places = np.arange(self.shape[front]).reshape(along)
        is_new = (values == self) | (self != self)
        return values, np.maximum.accumulate(np.where(is_new, places, 0), axis=front)

    return kernel


def extreme_vjp(grads: Any, self: Any, indices: Any, dim: int) -> Any:
    """The gradient of each result goes to the element that it is."""
    return F.scatter_add(F.zeros_of(grads[0], self.shape), dim, indices, grads[0])


def extreme_jvp(self_t: Any, indices: Any, dim: int) -> Any:
    """The tangents at the same places, and none for the indices."""
    return F.gather(self_t, dim, indices), F.zeros_like(indices)


EXTREME: dict[str, Any] = {"self": extreme_vjp, "jvp": extreme_jvp, "several": ("values", "indices")}


@differentiable(kernel=running(np.maximum, "cummax"), **EXTREME)
def cummax(self, dim):
    """The greatest of all elements up to each one along `dim`, and its index."""


@differentiable(kernel=running(np.minimum, "cummin"), **EXTREME)
def cummin(self, dim):
    """The smallest of all elements up to each one along `dim`, and its index."""


# ── sums of exponentials
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def logcumsumexp_vjp(g: Any, self: Any, result: Any, dim: int) -> Any:
    """`exp(self) · Σ g / exp(result)` from each element on, in logarithms; of real numbers the positive and
    the negative gradients by themselves.
    """
    if hasattr(g, "__minigrad_symbol__"):
        return F.exp(self) * backwards(F.cumsum, g / F.exp(result), dim)
    if not g.shape or 0 in g.shape:
        return g
    size, least = F.log(F.abs(g)), least_of(g)
    positive, negative = F.where(F.gt(g, 0), size, least), F.where(F.lt(g, 0), size, least)
    more = F.exp(backwards(F.logcumsumexp, positive - result, dim) + self)
    less = F.exp(backwards(F.logcumsumexp, negative - result, dim) + self)
    return more - less


def complex_logcumsumexp_vjp(g: Any, self: Any, result: Any, dim: Any) -> Any:
    """The same of complex numbers, whose logarithms know the sign."""
    if not g.shape or 0 in g.shape:
        return g
    return F.conj(F.exp(backwards(F.logcumsumexp, F.log(F.conj(g)) - result, dim) + self))


def logcumsumexp_jvp(self_t: Any, self: Any, dim: int) -> Any:
    """The tangents weighted by the exponentials, of which, if they are real, the greatest is made 1; PyTorch
    keeps the sum of the weights from 0.
    """
    size = F.exp(self if is_complex(self) else self - F.amax(self, dim, True))
    return F.cumsum(F.product(self_t, size), dim) / F.add_scalar(F.cumsum(size, dim), 1e-13)


def least_of(g: Any) -> float:
    """The smallest number of the dtype of `g`: it stands for the logarithm of 0."""
    return float(np.finfo(kind_of(g)).min)


@differentiable(self=logcumsumexp_vjp, complexes={"self": complex_logcumsumexp_vjp}, jvp=logcumsumexp_jvp)
def logcumsumexp(self, dim):
    """The logarithm of the sum of the exponentials of all elements up to each one along `dim`."""
    front = place(dim, self.ndim)
    if self.dtype.kind not in "fc":
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{of(self).title}'")
    if not self.ndim or not self.size:
        return self.copy()
    wide = self.astype(WIDER.get(self.dtype.name, self.dtype))
    if self.dtype.kind == "f":
        return np.logaddexp.accumulate(wide, axis=front).astype(self.dtype)
    rows = np.moveaxis(wide, front, 0)
    out = rows.copy()
    for k in range(1, len(rows)):
        out[k] = log_add_exp(out[k - 1], rows[k])
    return np.moveaxis(out, 0, front).astype(self.dtype, order="C")


def log_add_exp(a: Any, b: Any) -> Any:
    """`log(eᵃ + eᵇ)` of complex numbers, from the one with the greater real part, which gives the turn."""
    is_less = a.real < b.real
    less, more = np.where(is_less, a, b), np.where(is_less, b, a)
    return np.where(np.isneginf(more.real), less, more + np.log1p(np.exp(less - more)))
