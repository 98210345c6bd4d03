"""Forward mode of reductions: the tangents of results, composed as in PyTorch's `FunctionsManual.cpp`."""

from __future__ import annotations

from math import isinf
from typing import Any

from ..core import F

# Of each function below the parameters are what the op's parameters and results are called, and `self_t` the
# tangent of its input. None and () stand for all dimensions.


def full(reduced: Any, ndim: int, dim: Any, keepdim: bool) -> Any:
    """What was reduced, with the lost dimensions as ones."""
    dims = (dim,) if isinstance(dim, int) else dim or ()
    for d in () if keepdim or not ndim else sorted(d % ndim for d in dims):
        reduced = F.unsqueeze(reduced, d)
    return reduced


def real_product(a: Any, tangent: Any) -> Any:
    """Return the real part of `a` times the conjugate of a tangent."""
    return F.real(a * F.conj(tangent))


def prod_jvp(self_t: Any, self: Any, result: Any) -> Any:
    """Return the sum of the products in which one factor is a tangent."""
    slopes = F.prod_backward(F.ones_like(result), self, result, None) if self.shape else F.ones_like(result)
    return F.conj(F.sum_all(slopes * F.conj(self_t)))


def prod_dim_jvp(self_t: Any, self: Any, result: Any, dim: int, keepdim: bool) -> Any:
    """Return the same along a dimension."""
    if not self.shape:
        return F.conj(F.sum_dim(F.ones_like(result) * F.conj(self_t), (dim,), keepdim))
    whole, dim = full(result, len(self.shape), dim, keepdim), dim % len(self.shape)
    slopes = F.prod_backward(F.ones_like(whole), self, whole, dim)
    return F.conj(F.sum_dim(slopes * F.conj(self_t), (dim,), keepdim))


def extreme_jvp(self_t: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    """Return the mean of the tangents of all elements that are the extreme."""
    mask = F.eq(self, full(result, len(self.shape), dim, keepdim))
    return F.sum_dim(F.where(mask, self_t, 0.0), dim, keepdim) / F.sum_dim(mask, dim, keepdim)


def evenly_jvp(self_t: Any, self: Any, result: Any) -> Any:
    """Return the mean of the tangents of all elements that equal the one result."""
    mask = F.eq(self, result)
    return F.sum_all(F.mul(mask, self_t / F.sum_all(mask)))


def selected_jvp(self_t: Any, dim: int, indices: Any, keepdim: bool) -> Any:
    """Return the tangents at the same places, and none for the indices."""
    if not self_t.shape:
        return F.gather(self_t, dim, indices), F.zeros_like(indices)
    found = F.gather(self_t, dim, indices if keepdim else F.unsqueeze(indices, dim))
    return found if keepdim else F.squeeze_dim(found, dim), F.zeros_like(indices)


def logsumexp_jvp(self_t: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    """Return the mean of the tangents, weighted by exponentials, whose largest is 1."""
    empty = 0 in self.shape
    powers = F.exp(self if empty else self - F.amax(F.real(self), dim, True))
    return F.sum_dim(powers * self_t, dim, keepdim) / F.sum_dim(powers, dim, keepdim)


def norm_jvp(self_t: Any, self: Any, result: Any, p: Any, dim: Any, keepdim: bool) -> Any:
    """Return the tangent of a p-norm."""
    dim = dim or ()
    if p == 0:
        return F.zeros_like(result)
    if p == 1:
        return F.sum_dim(real_product(F.sgn(self), self_t), dim, keepdim)
    if p == 2:
        change = F.sum_dim(real_product(self, self_t), dim, keepdim)
        return F.masked_fill(change / result, F.eq(result, 0), 0)
    if isinf(p):
        return greatest_jvp(self_t, self, result, dim, keepdim)
    size = F.pow_scalar(F.abs(self), p - 1 if p < 2 else p - 2)
    size = F.masked_fill(size, F.eq(self, 0), 0) if p < 1 else size
    change = F.sum_dim(size * real_product(F.sgn(self) if p < 2 else self, self_t), dim, keepdim)
    if p < 1:
        return change * F.pow_scalar(result, 1 - p)
    return F.masked_fill(change / F.pow_scalar(result, p - 1), F.eq(result, 0), 0)


def greatest_jvp(self_t: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    """That of the norm for p = inf: the mean of the tangents of all elements of that size."""
    size = F.abs(self)
    whole = full(result, len(self.shape), dim, keepdim)
    mask = F.logical_not(F.logical_and(F.ne(size, whole), F.eq(size, size)))
    count = F.sum_dim(mask, dim, True) if dim else F.sum_all(mask)
    shares = real_product(F.sgn(self), self_t) * F.to(mask, whole._data.dtype) / count
    return F.sum_dim(shares, dim, keepdim)
