"""Sums, products, extremes and log-sum-exps of all elements up to each one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import F, composite, differentiable, is_symbol
from ..core.op import RAW
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
    """Return whether nothing stands before any element along `dim`."""
    return math.prod(sizes) <= 1 or sizes[dim] == 1


def cumsum_vjp(g: Any, dim: int) -> Any:
    """Return the sum of the gradients from each element on."""
    if is_symbol(g):
        return backwards(F.cumsum, g, dim)
    return g if short(g.shape, dim) else backwards(F.cumsum, g, dim)


@differentiable(self=cumsum_vjp, linear=True)
def cumsum(self, dim, dtype=None):
    """Return the sum of all elements up to each one along `dim`; whole numbers give int64 without `dtype`."""
    return accumulated(np.add, self, dim, dtype)


# ── products
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def has_zero(self: Any) -> bool:
    """Return whether an element is 0."""
    return not np.all(self if isinstance(self, RAW) else self._data)


def cumprod_vjp(g: Any, self: Any, result: Any, dim: int) -> Any:
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
