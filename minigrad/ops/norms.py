"""Norms, and distances between the rows of matrices."""

from __future__ import annotations

from math import isinf
from operator import index
from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .checks import not_implemented, of_kind, same_dtype
from .kernels import no_derivative, second_refusal
from .linalg import OTHER_DTYPE
from .reduction import cast, over, real_of, unsqueezed


def norm_vjp(g, self, result, p, dim, keepdim):
    """Return the gradient of a p-norm, composed in the order of PyTorch's `norm_backward`; None for p = 0."""
    if not keepdim and self.shape:
        g, result = (unsqueezed(x, dim, len(self.shape)) for x in (g, result))
    if p == 0:
        return None
    if p == 1:
        return F.sgn(self) * g
    if p == 2:
        return g * F.masked_fill(self / result, F.eq(result, 0), 0)
    if isinf(p):
        size = F.abs(self)
        mask = F.logical_not(F.logical_and(F.ne(size, result), F.eq(size, size)))
        share = (g / F.count_in(mask, dim or (), g)) * mask
        return F.sgn(self) * share
    if p < 1:
        slope = F.masked_fill(F.pow_scalar(F.abs(self), p - 1), F.eq(self, 0), 0)
        slope = F.sgn(self) * slope
        scale = F.pow_scalar(result, 1 - p)
        return slope * g * scale
    slope = F.pow_scalar(F.abs(self), p - 1 if p < 2 else p - 2)
    slope = (F.sgn(self) if p < 2 else self) * slope
    return slope * F.masked_fill(g / F.pow_scalar(result, p - 1), F.eq(result, 0), 0)


def norm_of(self: Any, p: float, axes: tuple[int, ...], keepdim: bool) -> Any:
    """Return a p-norm over `axes`; real numbers in the precision of `self`, float16 added in float32."""
    kind = real_of(self)
    x = self.astype(np.float32) if kind == np.float16 else self
    stays: Any = index(keepdim)  # a TypeError for what is no bool
    return np.linalg.vector_norm(x, axis=axes, keepdims=stays, ord=p).astype(kind)


def check_norm(self: Any, ord: Any, dim: Any) -> None:
    """RuntimeError with PyTorch's text for a norm that is not defined."""
    text = "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {0.title}"
    of_kind(self, "fc", text)
    if not (ord >= 0 and not isinf(ord)) and any(not self.shape[d] for d in over(dim, self.ndim)):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {float(ord):g} norm on an empty tensor because the "
            "operation does not have an identity"
        )


@differentiable(
    self=lambda g, self, result, ord, dim, keepdim: norm_vjp(g, self, result, ord, dim, keepdim),
    complexes=True,
)
def linalg_vector_norm(self, ord, dim, keepdim, dtype=None):
    """Return the p-norm, p = `ord`, over some dimensions (all for None); a real number."""
    check_norm(self, ord, dim)
    return norm_of(cast(self, dtype), float(ord), over(dim, self.ndim), keepdim)


def dist_self_vjp(g, self, other, result, p):
    """That of the norm of `self - other`."""
    g = norm_vjp(g, self - other, result, p, (), True)
    return g if g is None or g.shape == self.shape else F.sum_to(g, self.shape)


def dist_other_vjp(g, self, other, result, p):
    """Minus that of the norm of `self - other`."""
    g = norm_vjp(g, self - other, result, p, (), True)
    g = None if g is None else F.neg(g)
    return g if g is None or g.shape == other.shape else F.sum_to(g, other.shape)


@differentiable(self=dist_self_vjp, other=dist_other_vjp, complexes=True)
def dist(self, other, p=2):
    """Return the p-norm of `self - other`."""
    return norm_of(self - other, float(p), tuple(range(np.ndim(self - other))), False)


@differentiable(self=norm_vjp, complexes=True, node="NormBackward1")
def norm_dim(self, p, dim, keepdim):
    """Return the p-norm over some dimensions; a real number."""
    return norm_of(self, float(p), over(dim, self.ndim), keepdim)


@differentiable(
    x1=lambda g, x1, x2, p, result: F._cdist_backward(g, x1, x2, p, result),
    x2=lambda g, x1, x2, p, result: F._cdist_backward(g.mT, x2, x1, p, result.mT),
    jvp=no_derivative("_cdist_forward")["jvp"],
    broadcasts=True,
    node="CdistBackward0",
)
def _cdist_forward(x1, x2, p):
    """Return the distances between all rows of two matrices, or batches of them."""
    for name, x in (("X1", x1), ("X2", x2)):
        of_kind(x, "f", "cdist only supports floating-point dtypes, " + name + " got: {0.title}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype == np.float16:
        raise not_implemented("cdist", of(x1))
    same_dtype(x1, x2, "expected scalar type {0.title} but found {1.title}")
    p = p if x1.shape[-1] else 0  # rows without elements have no distance
    return norm_of(x1[..., :, None, :] - x2[..., None, :, :], p, (-1,), False)


NO_CDIST = second_refusal("_cdist_backward")


@differentiable(grad=NO_CDIST, x1=NO_CDIST, x2=NO_CDIST, cdist=NO_CDIST)
def _cdist_backward(grad, x1, x2, p, cdist):
    """Return the gradient of `_cdist_forward` for `x1`, in the shape of all batches."""
    difference = x1[..., :, None, :] - x2[..., None, :, :]
    if isinf(p):  # here elements that are as large do not share the gradient
        of_each = grad[..., None] * np.sign(difference) * (np.abs(difference) == cdist[..., None])
    else:
        of_each = norm_vjp(grad, difference, cdist, p, -1, False)
    return np.add.reduce(np.zeros_like(difference) if of_each is None else of_each, -2)


def times(a: Any, b: Any) -> Any:
    """Return the product of two matrices, or of two batches."""
    return F.mm(a, b) if len(a.shape) == 2 else F.bmm(a, b)


def ratio(g: Any, result: Any) -> Any:
    """Return the gradient by distance; 0 where that is 0."""
    return F.masked_fill(g / result, F.eq(result, 0), 0)


def euclidean_vjp1(g, x1, x2, result):
    """Return the gradient of the first matrix, from products as the distances are."""
    part = ratio(g, result)
    product = times(part, x2)  # first, as in PyTorch
    return x1 * F.sum_dim(part, (-1,), True) - product


def euclidean_vjp2(g, x1, x2, result):
    """Return the gradient of the second."""
    part = ratio(g, result)
    product = times(part.mT, x1)
    return x2 * F.unsqueeze(F.sum_dim(part, (-2,), False), -1) - product


@differentiable(x1=euclidean_vjp1, x2=euclidean_vjp2)
def _euclidean_dist(x1, x2):
    """Return the distances between all rows of two matrices, from a product of matrices: √(|x|² − 2xy +
    |y|²).
    """
    same_dtype(x1, x2, OTHER_DTYPE)
    squares = [np.add.reduce(x * x, -1, keepdims=True) for x in (x1, x2)]
    ones = [np.ones_like(s) for s in squares]
    left = np.concatenate([x1 * x1.dtype.type(-2), squares[0], ones[0]], -1)
    right = np.concatenate([x2, ones[1], squares[1]], -1)
    return np.sqrt(np.maximum(left @ np.swapaxes(right, -1, -2), 0))
