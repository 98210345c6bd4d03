"""The norm that distances are, and the distances between all rows of matrices."""

from __future__ import annotations

from math import isinf
from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .half_precision import not_implemented
from .norms import norm_of, norm_vjp
from .reduction import over
from .underivable import no_derivative, second_refusal


@differentiable(self=norm_vjp, complexes=True, node="NormBackward1")
def norm_dim(self, p, dim, keepdim):
    """Return the p-norm over some dimensions; a real number."""
    return norm_of(self, float(p), over(dim, self.ndim), keepdim)


# ── the distance of two rows and its gradient
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def length(difference: Any, p: float) -> Any:
    """Return the p-norm along the last dimension; 0 of no elements."""
    size = np.abs(difference)
    if p == 0:
        return np.add.reduce(size != 0, -1, dtype=size.dtype)
    if isinf(p):
        return np.max(size, -1, initial=0)
    if p == 1:
        return np.add.reduce(size, -1)
    return np.sqrt(np.add.reduce(size * size, -1)) if p == 2 else np.add.reduce(size**p, -1) ** (1 / p)


def shares(g: Any, difference: Any, dist: Any, p: float) -> Any:
    """What each element of a difference has of the gradient of its length; nothing where the length is 0."""
    g, dist = g[..., None], dist[..., None]
    size = np.abs(difference)
    if p == 0:
        return np.zeros_like(difference)
    if p == 1:
        return g * np.sign(difference)
    if isinf(p):
        return g * np.sign(difference) * (size == dist)
    if p == 2:
        return np.where(dist == 0, 0, g * difference / dist)
    slope = np.where(size == 0, 0, size ** (p - 1)) if p < 2 else size ** (p - 1)
    return np.where(dist == 0, 0, g * np.sign(difference) * slope / dist ** (p - 1))


def check_p(name: str, p: float) -> None:
    """RuntimeError with PyTorch's text for what is no norm."""
    if p < 0:
        raise RuntimeError(f"{name} only supports non-negative p values")


# ── between the rows of two matrices
# ─────────────────────────────────────────────────────────────────────────────────────────────────


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
        if x.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {of(x).title}")
    check_p("cdist", p)
    if x1.dtype == np.float16:
        raise not_implemented("cdist", of(x1))
    if x1.dtype != x2.dtype:
        raise RuntimeError(f"expected scalar type {of(x1).title} but found {of(x2).title}")
    return length(x1[..., :, None, :] - x2[..., None, :, :], p)


NO_CDIST = second_refusal("_cdist_backward")


@differentiable(grad=NO_CDIST, x1=NO_CDIST, x2=NO_CDIST, cdist=NO_CDIST, node="CdistBackwardBackward0")
def _cdist_backward(grad, x1, x2, p, cdist):
    """Return the gradient of `_cdist_forward` for `x1`, in the shape of all batches."""
    difference = x1[..., :, None, :] - x2[..., None, :, :]
    return np.add.reduce(shares(grad, difference, cdist, p), -2)


def times(a: Any, b: Any) -> Any:
    """Return the product of two matrices, or of two batches."""
    return F.mm(a, b) if len(a.shape) == 2 else F.bmm(a, b)


def ratio(g: Any, result: Any) -> Any:
    """Return the gradient by distance; 0 where that is 0."""
    return F.masked_fill(g / result, F.eq(result, 0), 0)


def euclidean_vjp1(g: Any, x1: Any, x2: Any, result: Any) -> Any:
    """Return the gradient of the first matrix, from products as the distances are."""
    part = ratio(g, result)
    product = times(part, x2)  # first, as in PyTorch
    return x1 * F.sum_dim(part, (-1,), True) - product


def euclidean_vjp2(g: Any, x1: Any, x2: Any, result: Any) -> Any:
    """Return the gradient of the second."""
    part = ratio(g, result)
    product = times(part.mT, x1)
    return x2 * F.unsqueeze(F.sum_dim(part, (-2,), False), -1) - product


@differentiable(x1=euclidean_vjp1, x2=euclidean_vjp2, node="EuclideanDistBackward0")
def _euclidean_dist(x1, x2):
    """Return the distances between all rows of two matrices, from a product of matrices: √(|x|² − 2xy +
    |y|²).
    """
    names = {np.float16: "c10::Half", np.float32: "float", np.float64: "double"}
    if x1.dtype != x2.dtype:
        first, second = names[x1.dtype.type], names[x2.dtype.type]
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {first} != {second}")
    squares = [np.add.reduce(x * x, -1, keepdims=True) for x in (x1, x2)]
    ones = [np.ones_like(s) for s in squares]
    left = np.concatenate([x1 * x1.dtype.type(-2), squares[0], ones[0]], -1)
    right = np.concatenate([x2, ones[1], squares[1]], -1)
    return np.sqrt(np.maximum(left @ np.swapaxes(right, -1, -2), 0))
