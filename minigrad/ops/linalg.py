"""Products of vectors and matrices, and products added to a tensor."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..core import F, composite, differentiable, is_symbol
from .arithmetic import scaled, times
from .checks import refuse, same_dtype
from .kernels import wide, widened
from .shape import expand

OTHER_DTYPE = "expected m1 and m2 to have the same dtype, but got: {0.c_name} != {1.c_name}"
# Declares a product of vectors or matrices, linear in each of them.
product_op = partial(differentiable, multilinear=True, forms="function method", out="same")


# The number of products from which the BLAS is worth its conversions.
MANY = 2**13


def matrix_product(a: Any, b: Any) -> Any:
    """Return `a @ b`, also of dtypes that the BLAS does not have by the BLAS.

    float16 is multiplied and added in float32 and rounded once, as in PyTorch. Integers are multiplied in
    float64 where all sums are below 2⁵³ and so exact.
    """
    if a.dtype.char in "fdFD":
        return a @ b if a.ndim > 2 else a.dot(b)  # the faster one
    if a.dtype == np.float16:
        return (widened(a) @ widened(b)).astype(np.float16)
    many = a.size * (b.shape[-1] if b.ndim > 1 else 1) >= MANY
    if many and a.dtype.kind in "iu" and magnitude(a) * magnitude(b) * a.shape[-1] < 2**53:
        return (a.astype("f8") @ b.astype("f8")).astype("i8").astype(a.dtype, copy=False)
    return a @ b


def magnitude(whole: Any) -> int:
    """Return the largest magnitude of integers."""
    return max(int(whole.max()), -int(whole.min()))


@product_op(self=lambda g, tensor: g * tensor, tensor=lambda g, self: g * self)
def dot(self, tensor):
    """Return the inner product of two vectors.

    Args:
        input, tensor: two vectors of the same length and dtype.
    Shape: (n,) and (n,) → ().
    Returns: a new tensor.
    Raises: RuntimeError if an operand is no vector, or if the lengths or dtypes differ.
    Derivative: `g * tensor` for `input`, `g * input` for `tensor`.
    Source: torch.dot

    >>> torch.dot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    same_dtype(self, tensor, OTHER_DTYPE)
    if self.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(self.shape)} and src {list(tensor.shape)} to "
            f"have the same number of elements, but got {self.size} and {tensor.size} elements respectively"
        )
    return matrix_product(self, tensor)


@product_op(self=lambda g, other: F.conj(g) * other, other=lambda g, self: g * self, complexes=True)
def vdot(self, other):
    """Return the inner product of two vectors, the first conjugated: (n,) · (n,) → ()."""
    return dot.op.kernel(np.conjugate(self), other)


@product_op(
    self=lambda g, vec: F.outer(g, vec),
    vec=lambda g, self: F.mv(F.t(self), g),
    rows={"self": lambda g, vec: g[:, :, None] * vec, "vec": lambda g, self: g.dot(self)},
)
def mv(self, vec):
    """Matrix times vector: (n, m) @ (m,) → (n,)."""
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec "
            f"({vec.shape[0]})"
        )
    same_dtype(self, vec, OTHER_DTYPE)
    return matrix_product(self, vec)


def by_columns(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether a matrix is stored column after column; its gradient is then made so too, as PyTorch does."""
    return strides[0] == 1 and strides[1] == sizes[0]


def mm_self_vjp(g, mat2, self_sym_sizes, self_sym_strides):
    """`g @ mat2ᵀ`."""
    return F.t(F.mm(mat2, F.t(g))) if by_columns(self_sym_sizes, self_sym_strides) else F.mm(g, F.t(mat2))


def mm_mat2_vjp(g, self, mat2_sym_sizes, mat2_sym_strides):
    """`selfᵀ @ g`."""
    return F.t(F.mm(F.t(g), self)) if by_columns(mat2_sym_sizes, mat2_sym_strides) else F.mm(F.t(self), g)


@product_op(
    self=mm_self_vjp,
    mat2=mm_mat2_vjp,
)
def mm(self, mat2):
    """Return the product of two matrices.

    Args:
        input, mat2: two matrices of the same dtype.
    Shape: (n, k) and (k, m) → (n, m).
    Returns: a new tensor.
    Raises: RuntimeError if an operand is no matrix, if the inner sizes differ, or if the dtypes differ.
    Derivative: `g @ mat2.T` for `input`, `input.T @ g` for `mat2`.
    Source: torch.mm

    >>> torch.mm(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(f"{'self' if self.ndim != 2 else 'mat2'} must be a matrix")
    if self.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({self.shape[0]}x{self.shape[1]} and "
            f"{mat2.shape[0]}x{mat2.shape[1]})"
        )
    same_dtype(self, mat2, OTHER_DTYPE)
    return matrix_product(self, mat2)


@product_op(
    self=lambda g, mat2: F.bmm(g, F.transpose(mat2, 1, 2)),
    mat2=lambda g, self: F.bmm(F.transpose(self, 1, 2), g),
)
def bmm(self, mat2):
    """Return the products of two batches of matrices.

    Args:
        input, mat2: two tensors of three dimensions, with the same batch size and dtype.
    Shape: (b, n, k) and (b, k, m) → (b, n, m).
    Returns: a new tensor.
    Raises: RuntimeError if the number of dimensions, the sizes or the dtypes do not fit.
    Derivative: `g @ mat2.mT` for `input`, `input.mT @ g` for `mat2`.
    Source: torch.bmm

    >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 2)).shape
    torch.Size([2, 1, 2])
    """
    for name, batch in (("batch1", self), ("batch2", mat2)):
        if batch.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if (self.shape[0], self.shape[2]) != mat2.shape[:2]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{self.shape[0]}, "
            f"{self.shape[2]}] but got: [{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    same_dtype(self, mat2, "expected scalar type {0.title} but found {1.title}")
    return matrix_product(self, mat2)


@composite
def outer(g: Any, vec: Any) -> Any:
    """Outer product of two vectors, by broadcasting, as PyTorch composes it."""
    if is_symbol(g):
        return g.__minigrad_symbol__(outer, (g, vec))
    return F.reshape(g, (g.shape[0], 1)) * vec


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


def addmm_jvp(self_t, mat1_t, mat2_t, mat1, mat2, beta, alpha):
    """Return the terms of all three tangents, in PyTorch's order."""
    total = scaled(self_t, beta) + scaled(F.mm(mat1_t, mat2), alpha)
    return total + scaled(F.mm(mat1, mat2_t), alpha)


@differentiable(
    self=lambda g, beta: scaled(g, beta),
    mat1=lambda g, mat2, mat1_sym_sizes, mat1_sym_strides, alpha: scaled(
        mm_self_vjp(g, mat2, mat1_sym_sizes, mat1_sym_strides), alpha
    ),
    mat2=lambda g, mat1, mat2_sym_sizes, mat2_sym_strides, alpha: scaled(
        mm_mat2_vjp(g, mat1, mat2_sym_sizes, mat2_sym_strides), alpha
    ),
    jvp=addmm_jvp,
    broadcasts=True,
)
def addmm(self, mat1, mat2, beta=1, alpha=1):
    """Return `beta · self + alpha · mat1 @ mat2`."""
    if mat1.ndim != 2 or mat2.ndim != 2:
        name, matrix = ("mat1", mat1) if mat1.ndim != 2 else ("mat2", mat2)
        raise RuntimeError(f"{name} must be a matrix, got {matrix.ndim}-D tensor")
    for name, other in (("self", self), ("mat1", mat1)):
        same_dtype(other, mat2, name + " and mat2 must have the same dtype, but got {0.title} and {1.title}")
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
    refuse(self, "b", "cross")
    a, b = np.broadcast_arrays(self, other)
    return np.ascontiguousarray(np.cross(a, b, -1, -1, -1, dim))
