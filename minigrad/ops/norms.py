"""Norms, and distances between the rows of matrices."""

from __future__ import annotations

from math import inf, isinf
from operator import index
from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import OF_NUMPY, kind_name, of, result_type
from ..core.guards import (
    MATRIX_DTYPE,
    NUMBERS,
    broadcast,
    check_bool,
    check_integers,
    check_matrix_input,
    check_real,
    check_same_dtype,
    check_tensor,
    refuse,
)
from ..core.public import public
from ..core.tensor_state import TensorBase
from .arguments import numpys
from .arithmetic import sub_op
from .decompositions import svdvals
from .inverses import check_float
from .kernels import no_derivative, second_refusal
from .reductions import cast, over, real_of, unsqueeze_reduced
from .shapes import place

# ─── Norms, and distances between the rows of matrices


def norm_vjp(g, self, result, p, dim, keepdim):
    """Return the gradient of a p-norm, composed in the order of PyTorch's `norm_backward`; None for p = 0."""
    if not keepdim and self.shape:
        g, result = (unsqueeze_reduced(x, dim, len(self.shape)) for x in (g, result))
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
    if p == 2 and len(axes) == x.ndim and x.dtype.kind == "f":  # in a quarter of the time
        flat = x.reshape(-1)
        length = np.sqrt(np.add.reduce(flat * flat))
        return (length.reshape((1,) * x.ndim) if stays else length).astype(kind)
    return np.linalg.vector_norm(x, axis=axes, keepdims=stays, ord=p).astype(kind)


def check_norm(self: Any, ord: Any, dim: Any) -> None:
    """RuntimeError with PyTorch's text for a norm that is not defined."""
    refuse(self, "linalg.vector_norm")
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


@differentiable(name="dist", self=dist_self_vjp, other=dist_other_vjp, complexes=True)
def dist_op(self, other, p=2):
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
    refuse(x1, "cdist_x1")
    refuse(x2, "cdist_x2")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    refuse(x1, "cdist")
    check_same_dtype(x1, x2)
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
    check_same_dtype(x1, x2, MATRIX_DTYPE)
    squares = [np.add.reduce(x * x, -1, keepdims=True) for x in (x1, x2)]
    ones = [np.ones_like(s) for s in squares]
    left = np.concatenate([x1 * x1.dtype.type(-2), squares[0], ones[0]], -1)
    right = np.concatenate([x2, ones[1], squares[1]], -1)
    return np.sqrt(np.maximum(left @ np.swapaxes(right, -1, -2), 0))


# ─── Norms of vectors and matrices, and distances


def check_order(ord: Any) -> None:
    """RuntimeError with PyTorch's text for a complex order of a norm."""
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the p-norm, p = `ord`, of all elements or over the dimensions `dim`; a real number."""
    if not isinstance(ord, NUMBERS) and not (isinstance(ord, TensorBase) and ord._data.ndim == 0):
        kind = kind_name(ord)
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {kind}")
    check_order(ord)
    return linalg_vector_norm(x, ord, dim, keepdim, numpys(dtype))


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The norm of a matrix, or of each over the two dimensions `dim`: "fro" of its elements, "nuc", 2 and -2
    of its singular values, 1, -1, inf and -inf of its columns and rows.
    """
    check_matrix_input(A._data, "linalg.matrix_norm")
    check_float(A, "linalg.matrix_norm")
    dims = check_dims(A, dim)
    if ord == "fro":
        return vector_norm(A, 2, dims, keepdim, dtype=dtype)
    if ord not in ("nuc", 2, -2, 1, -1, inf, -inf):
        raise RuntimeError(
            f"linalg.matrix_norm: Order {ord if isinstance(ord, str) else f'{ord:g}'} not supported."
        )
    A = A if dtype is None else A.to(dtype)
    if ord in ("nuc", 2, -2):
        return of_singular_values(A, ord, dims, keepdim)
    rows, columns = dims if abs(ord) == 1 else dims[::-1]
    sums = vector_norm(A, 1, (rows,), keepdim)
    if not keepdim and columns > rows:
        columns -= 1
    return extreme(sums, columns, keepdim, ord)


def extreme(values: Any, dim: int, keepdim: bool, ord: Any) -> Any:
    """Return the largest along a dimension (of none 0) for a positive `ord`, else the least."""
    if ord < 0:
        return values.amin(dim, keepdim)
    return values.amax(dim, keepdim) if values._data.shape[dim] else values.sum(dim, keepdim=keepdim)


def check_dims(A: Any, dim: Any) -> tuple[int, int]:
    """Both dimensions counted from the front; PyTorch's errors."""
    dim = tuple(dim)
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {', '.join(map(str, dim))}")
    first, second = (place(d, A._data.ndim) for d in dim)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    return first, second


def of_singular_values(A: Any, ord: Any, dims: tuple[int, int], keepdim: bool) -> Any:
    """Return the sum of singular values for "nuc", the largest for 2, the least for -2."""
    rest = [d for d in range(A._data.ndim) if d not in dims]
    order = (*rest, *dims)
    values = svdvals(F.permute(A, order))
    if ord == "nuc":
        norm = values.sum(-1, keepdim=keepdim)
    else:
        norm = extreme(values, -1, keepdim, ord)
    if not keepdim:
        return norm
    return F.permute(norm.unsqueeze(-1), tuple(order.index(d) for d in range(len(order))))


@public(out="cast")
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Return the norm of all elements, or over `dim`.

    Args:
        input: a tensor of any shape.
        p: the order of the norm, a number, inf, "fro" or "nuc".
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        dtype: the dtype in which the result is computed.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g * x / result` for p = 2.
    Source: torch.norm

    >>> torch.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    check_tensor("norm", input)
    over = (dim,) if isinstance(dim, int) else dim
    if over is not None:
        check_integers("linalg_vector_norm", "dim", over, 3)
    check_bool("linalg_vector_norm", "keepdim", keepdim, 4)
    if p == "fro" and (over is None or len(over) <= 2):
        return vector_norm(input, 2, over, keepdim, dtype=dtype)
    if isinstance(p, str):
        over = tuple(range(input._data.ndim)) if over is None else over
        return matrix_norm(input, p, over, keepdim, dtype=dtype)
    return vector_norm(input, 2.0 if p is None else p, over, keepdim, dtype=dtype)


def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of a vector or matrix, of all elements (`ord` None) or over one or two dimensions `dim`."""
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    ndim = A._data.ndim
    if dim is None and ord is not None and ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D."
        )
    of_matrix = ndim == 2 if dim is None else len(dim) == 2
    if isinstance(ord, str) or (ord is not None and of_matrix):
        return matrix_norm(A, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@public()
def dist(input: Any, other: Any, p: Any = 2) -> Any:
    """Return the p-norm of `input - other`."""
    broadcast(input._data.shape, other._data.shape)
    if not {input._data.dtype.kind, other._data.dtype.kind} & {*"fc"}:
        check_float(input, "norm")
    check_order(p)
    sub_op.op.check([of(input._data), of(other._data)])
    if input._data.dtype != other._data.dtype:
        kind = OF_NUMPY[result_type(input._data, other._data)]
        input, other = input.to(kind), other.to(kind)
    return dist_op(input, other, p)


MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
MANY = 25  # rows from which on Euclidean distances are made by a product of matrices


@public("function")
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """Return the distances between all pairs of rows of two matrices.

    Args:
        x1, x2: matrices, or batches of matrices, with equally long rows.
        p: the norm; 2 for the Euclidean distance.
        compute_mode: how PyTorch computes the Euclidean distance.
    Shape: (…, n, k) and (…, m, k) → (…, n, m).
    Returns: a new tensor.
    Raises: RuntimeError if the rows have different lengths.
    Derivative: `g * (x1 - x2) / result` for p = 2.
    Source: torch.cdist

    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    if compute_mode not in MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    check_real("cdist", "p", p, 3)
    batch = broadcast(x1.shape[:-2], x2.shape[:-2])
    is_many = max(x1.shape[-2], x2.shape[-2]) > MANY
    by_product = p == 2 and (compute_mode == MODES[1] or (is_many and compute_mode == MODES[0]))
    if not by_product or not x1.numel() or not x2.numel():
        return F._cdist_forward(x1, x2, float(p))
    return by_products(x1, x2, batch)


def by_products(x1: Any, x2: Any, batch: tuple[int, ...]) -> Any:
    """Euclidean distances from a product of matrices, of one batch as PyTorch makes it."""
    rows, columns = (x.shape[-2] for x in (x1, x2))
    if not (x1.ndim == x2.ndim == 2):
        x1, x2 = (x.expand(*batch, *x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in (x1, x2))
    return F._euclidean_dist(x1, x2).view(*batch, rows, columns)
