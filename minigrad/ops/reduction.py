"""Sums, means and products."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..core import F, composite, differentiable, is_symbol
from ..core.dtypes import FAST_ARRAYS
from ..core.op import RAW
from .copy import kind_of, to
from .kernels import linear_op
from .shape import place


def over(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions named by `dim` (an int, a tuple or None for all), counted from the front; IndexError if
    out of range.
    """
    dims = range(ndim) if dim is None or dim == () else (dim,) if isinstance(dim, int) else dim
    result = tuple([place(d, ndim) for d in dims])
    if len(result) > 1 and len(set(result)) < len(result):
        twice = next(d for d in result if result.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return result if ndim else ()


def count_of(sizes: tuple[int, ...], dim: Any) -> int:
    """How many elements of a tensor of shape `sizes` are reduced to one."""
    return prod([sizes[d] for d in over(dim, len(sizes))])


def unsqueezed(g: Any, dim: Any, ndim: int) -> Any:
    """A reduced gradient, given back the dimensions it lost, one after the other as PyTorch does; without
    dimensions as it is.
    """
    dims = (dim,) if isinstance(dim, int) else dim or ()
    for d in dims if len(dims) == 1 else sorted(place(d, ndim) for d in dims):
        g = F.unsqueeze(g, d)
    return g


def restore(g: Any, sizes: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """Return a reduced gradient, given back the dimensions it lost and expanded to `sizes`."""
    return F.expand(g if keepdim or not sizes else unsqueezed(g, dim, len(sizes)), sizes)


def cast(self: Any, dtype: Any) -> Any:
    """`self` in the dtype that was asked for, if one was."""
    return self if dtype is None or self.dtype == dtype else to.op.kernel(self, dtype)


def wide(dtype: Any) -> Any:
    """The dtype in which numbers of `dtype` are added or multiplied: int64 for integers and bools; float16 is
    too narrow.
    """
    return np.int64 if dtype.kind in "biu" else np.float32 if dtype == np.float16 else dtype


def narrowed(out: Any, dtype: Any) -> Any:
    """Return a result of `wide` numbers in the dtype that PyTorch gives for `dtype`."""
    return out.astype(dtype) if dtype == np.float16 else out


def real_of(self: Any) -> Any:
    """Return the dtype of real parts."""
    return self.real.dtype


def fold(ufunc: Any, x: Any, axes: Any, keepdim: bool, dtype: Any = None) -> Any:
    """All elements along `axes` put together by `ufunc`, in `dtype`."""
    return ufunc.reduce(x, axes, dtype, None, keepdim)


def total(ufunc: Any, self: Any, axes: Any, keepdim: bool, dtype: Any) -> Any:
    """Sum or product over `axes`, in the dtype that was asked for or else in that which PyTorch uses."""
    if dtype is None and self.dtype in FAST_ARRAYS:
        return fold(ufunc, self, axes, keepdim)
    self = cast(self, dtype)
    out = fold(ufunc, self, axes, keepdim, wide(self.dtype))
    return narrowed(out, self.dtype) if dtype is None else out.astype(dtype, copy=False)


def filled_rows(g: Any, sizes: tuple[int, ...]) -> Any:
    """For each number of `g` an array of this shape that is filled with it."""
    return np.broadcast_to(g.reshape(-1, *(1 for _ in sizes)), (len(g), *sizes))


@linear_op(
    self=lambda g, self_sym_sizes: F.expand(g, self_sym_sizes),
    rows={"self": lambda g, self_sym_sizes: filled_rows(g, self_sym_sizes)},
    node="SumBackward0",
)
def sum_all(self, dtype=None):
    """Return the sum of all elements."""
    return total(np.add, self, None, False, dtype)


@linear_op(
    self=lambda g, self_sym_sizes, dim, keepdim: restore(g, self_sym_sizes, dim, keepdim), node="SumBackward1"
)
def sum_dim(self, dim, keepdim, dtype=None):
    """Return the sum over some dimensions."""
    return total(np.add, self, over(dim, self.ndim), keepdim, dtype)


def average(self: Any, axes: Any, keepdim: bool, dtype: Any) -> Any:
    """Mean over `axes`."""
    self = cast(self, dtype)
    out = total(np.add, self, axes, keepdim, np.dtype(np.float32) if self.dtype == np.float16 else None)
    return narrowed(out / out.dtype.type(self.size / out.size if out.size else 1), self.dtype)


@linear_op(
    self=lambda g, self_sym_sizes, self_sym_numel: F.div_scalar(F.expand(g, self_sym_sizes), self_sym_numel),
    node="MeanBackward0",
)
def mean_all(self, dtype=None):
    """Return the mean of all elements."""
    return average(self, None, False, dtype)


def mean_vjp(g, self_sym_sizes, self_sym_numel, dim, keepdim):
    """Return the gradient spread over the elements that the mean was taken of. PyTorch's node shows their
    number in the whole tensor.
    """
    return F.div_scalar(restore(g, self_sym_sizes, dim, keepdim), count_of(self_sym_sizes, dim))


@linear_op(self=mean_vjp, node="MeanBackward1")
def mean_dim(self, dim, keepdim, dtype=None):
    """Return the mean over some dimensions."""
    return average(self, over(dim, self.ndim), keepdim, dtype)


# ── without NaN
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def nansum_vjp(g, self, dim, keepdim):
    """Return the gradient of a sum, and 0 where there is NaN."""
    numbers = F.logical_not(F.ne(self, self))
    return restore(F.like(g, self), self.shape, dim, keepdim) * numbers


@composite
def like(g: Any, other: Any) -> Any:
    """`g` in the dtype of `other`."""
    if is_symbol(other) or kind_of(g) == kind_of(other):
        return g
    return F.to(g, kind_of(other))


@differentiable(self=nansum_vjp)
def nansum(self, dim, keepdim, dtype=None):
    """Return the sum over some dimensions (all for None) in which NaN counts as 0."""
    if self.dtype.kind == "c":
        raise RuntimeError("nansum(): nansum does not support complex inputs")
    known = np.where(np.isnan(self), self.dtype.type(0), self) if self.dtype.kind == "f" else self
    return total(np.add, known, over(dim, self.ndim), keepdim, dtype)


# ── products
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def prod_backward(g: Any, self: Any, result: Any, dim: int | None) -> Any:
    """`g · result / self`; where a factor is 0, the product of the others (along `dim`, None for all)."""
    if is_symbol(self):
        return g * (result / self)
    if np.all(self if isinstance(self, RAW) else self._data):
        return g * F.conj(result / self)
    if dim is not None:
        return product_of_others(g, self, dim)
    return F.reshape(product_of_others(g, F.reshape(self, (-1,)), 0), self.shape)


def product_of_others(g: Any, self: Any, dim: int) -> Any:
    """`g` times the product of the elements before and after each, along `dim`, as PyTorch composes it."""
    n = self.shape[dim]
    if n == 1:
        return F.expand(g, self.shape)
    one = F.ones_like(F.slice(self, dim, 0, 1, 1))
    before = F.cumprod(F.cat([one, F.slice(self, dim, 0, n - 1, 1)], dim), dim)
    after = F.cumprod(F.cat([one, F.flip(F.slice(self, dim, 1, n, 1), (dim,))], dim), dim)
    return g * F.conj(before * F.flip(after, (dim,)))


def prod_dim_vjp(g, self, result, dim, keepdim):
    """See `prod_backward`."""
    if not self.shape:
        return g
    if not keepdim:
        g, result = F.unsqueeze(g, dim), F.unsqueeze(result, dim)
    return F.prod_backward(g, self, result, place(dim, len(self.shape)))


@differentiable(
    self=lambda g, self, result: F.prod_backward(g, self, result, None) if self.shape else g,
    complexes=True,
    node="ProdBackward0",
)
def prod_all(self, dtype=None):
    """Return the product of all elements."""
    return total(np.multiply, self, None, False, dtype)


@differentiable(self=prod_dim_vjp, complexes=True, node="ProdBackward1")
def prod_dim(self, dim, keepdim, dtype=None):
    """Return the product along a dimension."""
    return total(np.multiply, self, over(dim, self.ndim), keepdim, dtype)
