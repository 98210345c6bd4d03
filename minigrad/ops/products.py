"""Products of vectors and matrices: `mm`, `bmm`, `matmul`, `addmm`, `linear`, `tensordot`."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ..core import F, composite, dialect, differentiable, is_symbol
from ..core.dtypes import of
from ..core.guards import (
    broadcast,
    check_3d,
    check_added_product,
    check_batch_sizes,
    check_matrices,
    check_matrix_and_vector,
    check_same_dtype,
    check_tensor,
    check_vectors,
    refuse,
)
from ..core.public import public
from ..core.tensor_state import TensorBase, numbers, share
from . import shapes as sh
from . import views
from .arguments import choice
from .arithmetic import scale_by_alpha, times
from .kernels import as_float32, in_float32
from .shapes import expand, place

# ─── Products of vectors and matrices, and products added to a tensor


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
        return (as_float32(a) @ as_float32(b)).astype(np.float16)
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
    Raises: RuntimeError if an operand is not a vector, or if the lengths or dtypes differ.
    Derivative: `g * tensor` for `input`, `g * input` for `tensor`.
    Source: torch.dot

    >>> torch.dot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    check_vectors(self, tensor)
    return matrix_product(self, tensor)


@product_op(self=lambda g, other: F.conj(g) * other, other=lambda g, self: g * self, complexes=True)
def vdot(self, other):
    """Return the inner product of two vectors, the first conjugated: (n,) · (n,) → ()."""
    return dot.op.kernel(np.conjugate(self), other)


@product_op(
    self=lambda g, vec: F.outer_product(g, vec),
    vec=lambda g, self: F.mv(F.t(self), g),
    rows={"self": lambda g, vec: g[:, :, None] * vec, "vec": lambda g, self: g.dot(self)},
)
def mv(self, vec):
    """Matrix times vector: (n, m) @ (m,) → (n,)."""
    check_matrix_and_vector(self, vec)
    return matrix_product(self, vec)


def columns_together(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether a matrix is stored column after column; its gradient is then made so too, as PyTorch does."""
    return strides[0] == 1 and strides[1] == sizes[0]


def mm_self_vjp(g, mat2, self_sym_sizes, self_sym_strides):
    """`g @ mat2ᵀ`."""
    return (
        F.t(F.mm(mat2, F.t(g))) if columns_together(self_sym_sizes, self_sym_strides) else F.mm(g, F.t(mat2))
    )


def mm_mat2_vjp(g, self, mat2_sym_sizes, mat2_sym_strides):
    """`selfᵀ @ g`."""
    return (
        F.t(F.mm(F.t(g), self)) if columns_together(mat2_sym_sizes, mat2_sym_strides) else F.mm(F.t(self), g)
    )


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
    Raises: RuntimeError if an operand is not a matrix, if the inner sizes differ, or if the dtypes differ.
    Derivative: `g @ mat2.T` for `input`, `input.T @ g` for `mat2`.
    Source: torch.mm

    >>> torch.mm(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    check_matrices(self, mat2)
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
    check_3d(self.shape, mat2.shape)
    check_batch_sizes(self.shape, mat2.shape)
    check_same_dtype(self, mat2)
    return matrix_product(self, mat2)


@composite
def outer_product(g: Any, vec: Any) -> Any:
    """Outer product of two vectors, by broadcasting, as PyTorch composes it."""
    if is_symbol(g):
        return g.__minigrad_symbol__(outer_product, (g, vec))
    return F.reshape(g, (g.shape[0], 1)) * vec


def scaled_sum(self: Any, product: Any, beta: Any, alpha: Any) -> Any:
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
    total = scale_by_alpha(self_t, beta) + scale_by_alpha(F.mm(mat1_t, mat2), alpha)
    return total + scale_by_alpha(F.mm(mat1, mat2_t), alpha)


@differentiable(
    name="addmm",
    self=lambda g, beta: scale_by_alpha(g, beta),
    mat1=lambda g, mat2, mat1_sym_sizes, mat1_sym_strides, alpha: scale_by_alpha(
        mm_self_vjp(g, mat2, mat1_sym_sizes, mat1_sym_strides), alpha
    ),
    mat2=lambda g, mat1, mat2_sym_sizes, mat2_sym_strides, alpha: scale_by_alpha(
        mm_mat2_vjp(g, mat1, mat2_sym_sizes, mat2_sym_strides), alpha
    ),
    jvp=addmm_jvp,
    broadcasts=True,
)
def addmm_op(self, mat1, mat2, beta=1, alpha=1):
    """Return `beta · self + alpha · mat1 @ mat2`."""
    check_added_product(self, mat1, mat2)
    return plus_product(self, mat1, mat2, beta, alpha, mm.op.kernel)


@in_float32
def plus_product(self: Any, a: Any, b: Any, beta: Any, alpha: Any, product: Any) -> Any:
    """`beta · self + alpha · product(a, b)`."""
    return scaled_sum(self, product(a, b), beta, alpha)


@differentiable(
    name="baddbmm",
    self=lambda g, beta: scale_by_alpha(g, beta),
    batch1=lambda g, batch2, alpha: scale_by_alpha(F.bmm(g, F.transpose(batch2, 1, 2)), alpha),
    batch2=lambda g, batch1, alpha: scale_by_alpha(F.bmm(F.transpose(batch1, 1, 2), g), alpha),
    broadcasts=True,
)
def baddbmm_op(self, batch1, batch2, beta=1, alpha=1):
    """Return `beta · self + alpha · batch1 @ batch2`, a batch of matrix products."""
    return plus_product(self, batch1, batch2, beta, alpha, bmm.op.kernel)


# ── vectors of three dimensions
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@differentiable(
    name="linalg_cross",
    self=lambda g, other, dim: F.linalg_cross(other, g, dim),
    other=lambda g, self, dim: F.linalg_cross(g, self, dim),
    broadcasts=True,
    multilinear=True,
)
def linalg_cross_op(self, other, dim=-1):
    """Return the vector product of 3-vectors along `dim`."""
    refuse(self, "cross")
    a, b = np.broadcast_arrays(self, other)
    return np.ascontiguousarray(np.cross(a, b, -1, -1, -1, dim))


# ─── Products of vectors and matrices, and transposed matrices


@public(out="same")
def matmul(input: Any, other: Any) -> Any:
    """Return the product of vectors, matrices, or batches of matrices, chosen by their dimensions.

    Args:
        input, other: tensors of at least one dimension and of the same dtype.
    Shape: (n,) and (n,) → (); (n, k) and (k,) → (n,); (…, n, k) and (…, k, m) → (…, n, m); leading sizes
        broadcast.
    Returns: a new tensor.
    Raises: RuntimeError if the inner sizes differ, or if an operand has no dimension.
    Derivative: `g @ other.mT` for `input`, `input.mT @ g` for `other`; the graph shows the dot, mv, mm or bmm
        that ran.
    Source: torch.matmul

    >>> torch.matmul(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    m, n = input._data.ndim, other._data.ndim
    if m == 0 or n == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {m}D and {n}D")
    if m == 1 and n == 1:
        return dot(input, other)
    if m == 2 and n == 1:
        return mv(input, other)
    if m == 1 and n == 2:
        row = F.squeeze_result(mm(F.unsqueeze(input, 0), other), 0)
        share(row).version += 1  # PyTorch squeezes in place, which counts
        return row
    if m == 2 and n == 2:
        return mm(input, other)
    return batched_matmul(input, other)


def folds(a: Any, b: Any) -> bool:
    """Whether PyTorch makes a product with more than two dimensions one of matrices: see `batched_matmul`."""
    large, small = (a, b) if a._data.ndim >= b._data.ndim else (b, a)
    if large._data.ndim < 3 or small._data.ndim > 2:
        return False
    if small.requires_grad:
        return True
    if a._data.ndim == 2:
        return False
    data = large._data if large is a else np.swapaxes(large._data, -2, -1)
    return all(data.strides[i] == data.strides[i + 1] * data.shape[i + 1] for i in range(data.ndim - 2))


def fold_batch(a: Any, b: Any) -> Any:
    """A product in which one factor is a vector or matrix: the batch dimensions of the other become rows."""
    turned = b._data.ndim > a._data.ndim
    large = F.transpose(b, -2, -1) if turned else a
    small = b if not turned else F.t(a) if a._data.ndim == 2 else a
    *lead, k = large._data.shape
    rows = F.reshape(large, (math.prod(lead), k))
    if small._data.ndim == 1:
        return F.unsafe_view(mv(rows, small), tuple(lead))
    out = F.unsafe_view(mm(rows, small), (*lead, small._data.shape[1]))
    return F.transpose(out, -2, -1).contiguous() if turned else out


def batched_matmul(a: Any, b: Any) -> Any:
    """matmul of more than two dimensions: one product of matrices, or one bmm of broadcast factors."""
    m, n = a._data.shape, b._data.shape
    if len(m) == len(n) == 3 and m[0] != n[0]:  # PyTorch takes a learned batch of one for its matrix
        a = F.squeeze_dim(a, 0) if m[0] == 1 and a.requires_grad else a
        b = F.squeeze_dim(b, 0) if n[0] == 1 and b.requires_grad else b
    if folds(a, b):
        return fold_batch(a, b)
    rows, k = (m[-2] if len(m) > 1 else 1), m[-1]
    k2, columns = (n[-2], n[-1]) if len(n) > 1 else (n[0], 1)
    batch = m[:-2] if m[:-2] == n[:-2] else broadcast(m[:-2], n[:-2])
    size = math.prod(batch)
    left = F.reshape(F.expand(a, (*batch, rows, k)), (size, rows, k))
    shape = batch + ((rows,) if len(m) > 1 else ()) + ((columns,) if len(n) > 1 else ())
    if len(n) == 1:
        right = F.unsqueeze(F.reshape(F.expand(b, (*batch, k2)), (size, k2)), 2)
        return F.unsafe_view(F.squeeze_dim(bmm(left, right), -1), shape)
    right = F.reshape(F.expand(b, (*batch, k2, columns)), (size, k2, columns))
    return F.unsafe_view(bmm(left, right), shape)


T_IS_DEPRECATED = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
    "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*"
    "torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
)


class Algebra(TensorBase):
    """`@`, and `T mT H mH`."""

    __slots__ = ()

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other) if isinstance(other, TensorBase) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self) if isinstance(other, TensorBase) else NotImplemented

    @property
    def T(self) -> Any:
        """All dimensions in reverse order."""
        n = self._data.ndim
        if n == 0:
            text = "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases."
            dialect.warn_of_dialect(text)
        elif n != 2:
            dialect.warn_of_dialect(T_IS_DEPRECATED)
        return sh.permute(self, tuple(reversed(range(n))))

    @property
    def mT(self) -> Any:
        """The last two dimensions exchanged."""
        return sh.transpose(self, -2, -1) if views.matrices(self, "mT") else self

    @property
    def H(self) -> Any:
        """A matrix transposed and conjugated."""
        n = self._data.ndim
        if n == 1 or n > 2:
            more = " For batches of matrices, consider using tensor.mH" if n > 2 else ""
            raise RuntimeError(
                f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{more}"
            )
        if n == 0:
            dialect.warn_of_dialect("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
        return F.conj(sh.transpose(self, -2, -1) if n else self)

    @property
    def mH(self) -> Any:
        """The last two dimensions exchanged, and conjugated."""
        return F.conj(sh.transpose(self, -2, -1) if views.matrices(self, "mH") else self)


# ─── Products of vectors, matrices and tensors: sums with a factor, contractions and powers


# ── sums with a product
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public("function method method_", out="same")
@choice
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return `beta · input + alpha · mat1 @ mat2` of shape (n, m), to which `input` is broadcast."""
    return addmm_op, (input, mat1, mat2, beta, alpha)


def check_batches(input: Any, batch1: Any, batch2: Any, of_result: tuple[int, ...]) -> None:
    """PyTorch's errors for shapes that do not fit: first of what is added, then of the factors.

    `of_result` are the places of the result's first dimensions in those of `batch1`.
    """
    a, b = batch1._data.shape, batch2._data.shape
    check_3d(a, b)
    F.expand(input.detach(), (*(a[i] for i in of_result), b[2]))
    check_batch_sizes(a, b)


@public("function method method_", out="same")
@choice
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return `beta · input + alpha · batch1 @ batch2` of shape (b, n, m)."""
    check_batches(input, batch1, batch2, (0, 1))
    return baddbmm_op, (input, batch1, batch2, beta, alpha)


# ── products
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public(out="cast", also="ger")
def outer(input: Any, vec2: Any) -> Any:
    """Return the products of each element of a vector with each of another, of shape (n, m)."""
    for name, vector in (("self", input), ("vec2", vec2)):
        if vector._data.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector._data.ndim}-D")
    return outer_product(input, vec2)


@public(out="same")
def inner(input: Any, other: Any) -> Any:
    """Return the sum of products along the last dimension of both; with a number, the product."""
    a, b = input._data.shape, other._data.shape
    if not a or not b:
        return F.mul(input, other)
    if a[-1] != b[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(a)} and {list(b)}"
        )
    return contract_dims(input, other, (-1,), (-1,))


@public("function", out="same")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Return the sum of products over the last `dims` dimensions of `a` and the first of `b`, or over those
    in two lists.
    """
    if isinstance(dims, TensorBase):
        dims = numbers(dims).tolist() if dims._data.size > 1 else int(numbers(dims).item())
    if not isinstance(dims, int):
        first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
        return contract_dims(a, b, tuple(first), tuple(second))
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got {dims=}")
    if dims > min(a.dim(), b.dim()):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got {dims=}")
    return contract_dims(a, b, tuple(range(-dims, 0)), tuple(range(dims)))


def contract_dims(a: Any, b: Any, dims_a: tuple[int, ...], dims_b: tuple[int, ...]) -> Any:
    """Both as matrices, multiplied: composed as PyTorch's `tensordot`."""
    if len(dims_a) != len(dims_b):
        raise RuntimeError("both dimension lists should have same length")
    if a._data.dtype != b._data.dtype:
        raise RuntimeError("both inputs should have same dtype")
    size = 1
    for i, j in zip(dims_a, dims_b):
        n, m = (x.shape[place(d, x._data.ndim)] for x, d in ((a, i), (b, j)))
        if m == 1:
            a = a.sum(i, keepdim=True, dtype=a.dtype)
        elif n == 1:
            b = b.sum(j, keepdim=True, dtype=b.dtype)
        elif n != m:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {i} and second has size "
                f"{m} in dim {j}"
            )
        else:
            size *= n
    front = [place(d, a._data.ndim) for d in dims_a]
    back = [place(d, b._data.ndim) for d in dims_b]
    rest_a = [d for d in range(a._data.ndim) if d not in front]
    rest_b = [d for d in range(b._data.ndim) if d not in back]
    sizes_a, sizes_b = [a._data.shape[d] for d in rest_a], [b._data.shape[d] for d in rest_b]
    rows, columns = int(np.prod(sizes_a)), int(np.prod(sizes_b))
    full = rows == columns == 1
    a = F.reshape(F.permute(a, (*rest_a, *dims_a)), (size,) if full else (rows, size))
    b = F.reshape(F.permute(b, (*dims_b, *rest_b)), (size,) if full else (size, columns))
    product = dot(a, b) if full else mm(a, b)
    return F.reshape(product, (*sizes_a, *sizes_b))


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Return y = x Wᵀ + b.

    The gradients for an upstream gradient g are g W with respect to x, gᵀ x with respect to W and the sum of
    the rows of g with respect to b.

    Args:
        input: x.
        weight: W.
        bias: b, or None.

    Shape:
        input (*, in), weight (out, in), bias (out) → (*, out).

    Returns:
        The products.

    Raises:
        RuntimeError: the last dimensions of input and weight differ.

    Example:
        >>> F.linear(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])).tolist()
        [[11.0]]

    Source: PyTorch's page `torch.nn.functional.linear`.
    """
    check_tensor("linear", input)
    check_tensor("linear", weight, 2, "weight")
    if bias is None:
        return matmul(input, F.t(weight))
    shape = input._data.shape
    if weight._data.ndim == 2 and len(shape) == 2:
        return addmm_op(bias, input, F.t(weight))
    if weight._data.ndim == 2 and len(shape) and input.is_contiguous():
        rows = F.view(input, (-1 if 0 not in shape else int(np.prod(shape[:-1])), shape[-1]))
        return F.view(addmm_op(bias, rows, F.t(weight)), (*shape[:-1], weight._data.shape[0]))
    return matmul(input, F.t(weight)) + bias


# ── vectors along a dimension
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def linalg_cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """Return the vector product of the 3-vectors along `dim`, with broadcasting."""
    a, b = input._data, other._data
    if a.ndim != b.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    at = place(dim, a.ndim)
    if a.shape[at] != 3 or b.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[at]} and {b.shape[at]}"
        )
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected scalar type {of(a).title} but found {of(b).title}")
    return linalg_cross_op(input, other, dim)


@public(out="cast")
def cross(input: Any, other: Any, dim: Any = None) -> Any:
    """Return the vector product of the 3-vectors along `dim`: the first dimension of size 3 unless it is
    given.
    """
    if dim is None:
        if 3 not in input._data.shape:
            raise RuntimeError("no dimension of size 3 in input")
        dim = input._data.shape.index(3)
    return linalg_cross(input, other, dim=dim)
