"""Sums, products and extremes of all elements up to each one; differences of neighbors."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import return_types
from ..core import F, composite, differentiable, is_symbol
from ..core.guards import refuse, refuse_dtype
from ..core.op import RAW
from ..core.public import public
from ..inplace.in_place import in_place
from .arguments import choice
from .joining import cat
from .kernels import linear_op
from .reductions import cast
from .shapes import place

# ─── Sums


WIDER = {"float16": np.float32, "float32": np.float64, "complex64": np.complex128}


def accumulate_along(ufunc: Any, self: Any, dim: int, dtype: Any = None) -> Any:
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
    """Return whether no element has another before it along `dim`."""
    return prod(sizes) <= 1 or sizes[dim] == 1


def cumsum_vjp(g, dim):
    """Return the sum of the gradients from each element on."""
    if is_symbol(g):
        return backwards(F.cumsum, g, dim)
    return g if short(g.shape, dim) else backwards(F.cumsum, g, dim)


@linear_op(name="cumsum", self=cumsum_vjp)
def cumsum_op(self, dim, dtype=None):
    """Return the sum of all elements up to each one along `dim`; whole numbers give int64 without `dtype`."""
    return accumulate_along(np.add, self, dim, dtype)


def checked_dtype(dtype: Any, kernel_name: str) -> Any:
    """Return the NumPy dtype of one that the user asks for, which the kernel may refuse; None as it is."""
    if dtype is None:
        return None
    refuse_dtype(dtype, kernel_name)
    return dtype.numpy


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
    return cumsum_op, (input, dim, checked_dtype(dtype, "cumsum_out_cpu"))


# ─── Products


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


@differentiable(name="cumprod", self=cumprod_vjp)
def cumprod_op(self, dim, dtype=None):
    """Return the product of all elements up to each one along `dim`; whole numbers give int64 unless `dtype`
    is given.
    """
    return accumulate_along(np.multiply, self, dim, dtype)


@public("function method method_", out="dtype")
@choice
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the product of all elements up to each one along `dim`; whole numbers give int64 unless `dtype`
    is given.
    """
    return cumprod_op, (input, dim, checked_dtype(dtype, "cumprod_out_cpu"))


# ─── Extremes


def cumulative_extreme(ufunc: Any, kernel_name: str) -> Any:
    """The kernel of an extreme of all elements up to each one, with its index: the last of equal ones, or of
    NaN.
    """

    def kernel(self: Any, dim: int) -> Any:
        front = place(dim, self.ndim)
        refuse(self, kernel_name)
        if not self.ndim:
            return self, np.int64(0)
        values = ufunc.accumulate(self, axis=front)
        along = [1] * self.ndim
        along[front] = -1
        indices = np.arange(self.shape[front]).reshape(along)
        is_new = (values == self) | (self != self)
        return values, np.maximum.accumulate(np.where(is_new, indices, 0), axis=front)

    return kernel


def cumulative_extreme_vjp(grads, self, indices, dim):
    """Pass the gradient of each result to the element that it is."""
    return F.scatter_add(F.zeros_of(grads[0], self.shape), dim, indices, grads[0])


EXTREME: dict[str, Any] = {"self": cumulative_extreme_vjp, "several": ("values", "indices")}


@differentiable(name="cummax", kernel=cumulative_extreme(np.maximum, "cummax_cpu"), **EXTREME)
def cummax_op(self, dim):
    """Return the largest of all elements up to each one along `dim`, and its index."""


@differentiable(name="cummin", kernel=cumulative_extreme(np.minimum, "cummin_cpu"), **EXTREME)
def cummin_op(self, dim):
    """Return the smallest of all elements up to each one along `dim`, and its index."""


@public(out="same")
def cummax(input: Any, dim: int) -> Any:
    """Return the largest of all elements up to each one along `dim`, with its index.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
    Shape: the same as that of `input`.
    Returns: the named tuple (values, indices); of equal elements the last index.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g` added at the indices.
    Source: torch.cummax

    >>> torch.cummax(torch.tensor([1.0, 3.0, 2.0]), dim=0).values
    tensor([1., 3., 3.])
    """
    return return_types.cummax(*cummax_op(input, dim))


@public(out="same")
def cummin(input: Any, dim: int) -> Any:
    """Return the smallest of all elements up to each one along `dim`, with its index.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
    Shape: the same as that of `input`.
    Returns: the named tuple (values, indices); of equal elements the last index.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g` added at the indices.
    Source: torch.cummin

    >>> torch.cummin(torch.tensor([3.0, 1.0, 2.0]), dim=0).values
    tensor([3., 1., 1.])
    """
    return return_types.cummin(*cummin_op(input, dim))


# ─── Differences


def check_joins(input: Any, more: Any, dim: int) -> None:
    """RuntimeError with PyTorch's text unless `more` fits before or after `input` along `dim`."""
    if more.ndim != input.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (n, m) in enumerate(zip(input._data.shape, more._data.shape)):
        if d != dim and n != m:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along "
                f"the differencing dimension; input.size({d}) = {n}, but got tensor.size({d}) = {m}"
            )


def neighbor_differences(t: Any, dim: int) -> Any:
    """What each element has more than the one before; of bools, whether they differ."""
    n = t._data.shape[dim]
    before, after = F.slice(t, dim, 0, n - 1, 1), F.slice(t, dim, 1, n, 1)
    return F.logical_xor(after, before) if t._data.dtype.kind == "b" else F.sub(after, before)


@public(out="cast")
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return the `n`-th differences of neighbors along `dim`: each element minus the one before.

    Args:
        input: a tensor of at least one dimension.
        n: how many times differences are taken.
        dim: the dimension.
        prepend, append: tensors that are joined to `input` first, before and after it along `dim`.
    Shape: that of `input` with `n` elements fewer at `dim`.
    Returns: a new tensor; of bools, whether neighbors differ.
    Raises: RuntimeError if `input` has no dimension, `n` is negative or `prepend` and `append` do not fit.
    Derivative: that of the differences `x[1:] - x[:-1]`.
    Source: torch.diff

    >>> torch.diff(torch.tensor([1, 3, 2]))
    tensor([ 2, -1])
    """
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    along = place(dim, input.ndim)
    around = [t for t in (prepend, append) if t is not None]
    for more in around:
        check_joins(input, more, along)
    if n and around:
        input = cat([t for t in (prepend, input, append) if t is not None], dim)
    if not n:
        return in_place(F.copy.op, F.zeros_like(input), input)
    for _ in range(min(n, input._data.shape[along])):
        input = neighbor_differences(input, dim)
    return input
