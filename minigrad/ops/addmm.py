"""Products added to a tensor (`addmm`, `baddbmm`), and the cross product.

Gradients are composed as in PyTorch's derivatives.yaml.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .arithmetic import scaled, times
from .checks import refuse
from .half_precision import wide
from .linalg import bmm, by_columns, mm
from .shape import expand


def summed(self: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """`beta · self + alpha · product`, written over the product; with beta = 0 `self` does not count,
    whatever it holds.
    """
    if self.shape != product.shape[product.ndim - self.ndim :]:
        self = expand.op.kernel(np.asarray(self), product.shape)
    product = times(product, alpha) if alpha != 1 else product
    if beta != 0:
        product += self if beta == 1 else times(self, beta)
    return product


def addmm_mat1_vjp(g: Any, mat2: Any, mat1_sym_sizes: Any, mat1_sym_strides: Any, alpha: Any) -> Any:
    """`alpha · g @ mat2ᵀ`."""
    if by_columns(mat1_sym_sizes, mat1_sym_strides):
        return scaled(F.t(F.mm(mat2, F.t(g))), alpha)
    return scaled(F.mm(g, F.t(mat2)), alpha)


def addmm_mat2_vjp(g: Any, mat1: Any, mat2_sym_sizes: Any, mat2_sym_strides: Any, alpha: Any) -> Any:
    """`alpha · mat1ᵀ @ g`."""
    if by_columns(mat2_sym_sizes, mat2_sym_strides):
        return scaled(F.t(F.mm(F.t(g), mat1)), alpha)
    return scaled(F.mm(F.t(mat1), g), alpha)


def addmm_jvp(self_t: Any, mat1_t: Any, mat2_t: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    """Return the terms of all three tangents, in PyTorch's order."""
    total = scaled(self_t, beta) + scaled(F.mm(mat1_t, mat2), alpha)
    return total + scaled(F.mm(mat1, mat2_t), alpha)


@differentiable(
    self=lambda g, beta: scaled(g, beta),
    mat1=addmm_mat1_vjp,
    mat2=addmm_mat2_vjp,
    jvp=addmm_jvp,
    broadcasts=True,
)
def addmm(self, mat1, mat2, beta=1, alpha=1):
    """Return `beta · self + alpha · mat1 @ mat2`."""
    if mat1.ndim != 2 or mat2.ndim != 2:
        name, matrix = ("mat1", mat1) if mat1.ndim != 2 else ("mat2", mat2)
        raise RuntimeError(f"{name} must be a matrix, got {matrix.ndim}-D tensor")
    if self.dtype is not mat2.dtype or mat1.dtype is not mat2.dtype:
        for name, other in (("self", self), ("mat1", mat1)):
            if other.dtype != mat2.dtype:
                found = f"{of(other).title} and {of(mat2).title}"
                raise RuntimeError(f"{name} and mat2 must have the same dtype, but got {found}")
    return plus_product(self, mat1, mat2, beta, alpha, mm.op.kernel)


@wide
def plus_product(self: Any, a: Any, b: Any, beta: Any, alpha: Any, product: Any) -> Any:
    """`beta · self + alpha · product(a, b)`."""
    return summed(self, product(a, b), beta, alpha)


@differentiable(
    self=lambda g, beta: scaled(g, beta),
    batch1=lambda g, batch2, alpha: scaled(F.bmm(g, F.transpose(batch2, 1, 2)), alpha),
    batch2=lambda g, batch1, alpha: scaled(F.bmm(F.transpose(batch1, 1, 2), g), alpha),
    broadcasts=True,
)
def baddbmm(self, batch1, batch2, beta=1, alpha=1):
    """Return `beta · self + alpha · batch1 @ batch2`, a batch of matrix products."""
    return plus_product(self, batch1, batch2, beta, alpha, bmm.op.kernel)


# ── vectors of three dimensions
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@differentiable(
    self=lambda g, other, dim: F.linalg_cross(other, g, dim),
    other=lambda g, self, dim: F.linalg_cross(g, self, dim),
    broadcasts=True,
    multilinear=True,
)
def linalg_cross(self, other, dim=-1):
    """Return the vector product of 3-vectors along `dim`."""
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    refuse(self, "b", "cross")
    a, b = (np.moveaxis(x, dim, 0) for x in np.broadcast_arrays(self, other))
    made = np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    return np.ascontiguousarray(np.moveaxis(made, 0, dim))
