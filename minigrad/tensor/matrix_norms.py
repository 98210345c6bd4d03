"""Norms and conditions of matrices, and their rank."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ..core import F
from ..core.dtypes import int64, of
from ..core.tensor_state import TensorBase
from ..ops import norms
from ..ops.inverses import linalg_inv_ex
from ..ops.shape import place
from .contractions import check_float, check_square
from .factors import eigvalsh, svdvals
from .reductions import dims, numpys

# ── norms
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the p-norm, p = `ord`, of all elements or over the dimensions `dim`; a real number."""
    if not isinstance(x, TensorBase):
        kind = type(x).__name__
        raise TypeError(f"linalg_vector_norm(): argument 'input' (position 1) must be Tensor, not {kind}")
    return norms.linalg_vector_norm(x, ord, dims(dim), keepdim, numpys(dtype))


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The norm of a matrix, or of each over the two dimensions `dim`: "fro" of its elements, "nuc", 2 and -2
    of its singular values, 1, -1, inf and -inf of its columns and rows.
    """
    if A._data.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
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


# ── conditions
# ─────────────────────────────────────────────────────────────────────────────────────────────────


ORDERS = ("fro", "nuc", inf, -inf, 1, -1, 2, -2)


def cond(A: Any, p: Any = None) -> Any:
    """How much solving equations with the matrix may enlarge an error: its norm `p` times that of its
    inverse; the largest singular value through the least (`p` None or 2; -2 the reciprocal).
    """
    if A._data.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is not None and p not in ORDERS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p if isinstance(p, str) else f'{p:g}'}")
    if A._data.size == 0:
        return A.new_zeros(A._data.shape[:-2], dtype=A.dtype.to_real())
    if p in (None, 2, -2):
        values = svdvals(A)
        first, last = F.slice(values, -1, 0, 1, 1), F.slice(values, -1, values.shape[-1] - 1, None, 1)
        return F.squeeze_dim(last / first if p == -2 else first / last, -1)
    check_square(A, f"linalg.cond(ord={p if isinstance(p, str) else f'{p:g}'})")
    if p == "nuc":
        values = svdvals(A)
        return values.sum(-1) * values.reciprocal().sum(-1)
    inverse, info = linalg_inv_ex(A)
    inverse = inverse.masked_fill((info > 0).unsqueeze(-1).unsqueeze(-1), inf)
    of_inverse = matrix_norm(inverse, p)
    return (matrix_norm(A, p) * of_inverse).nan_to_num(inf, inf, -inf)


def matrix_rank(
    A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Any:
    """How many singular values are greater than max(atol, rtol · the largest), an int64 tensor. With `tol`
    as `atol` nothing is compared with the largest.
    """
    data = A._data
    if data.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    if of(data).category < 2 or data.dtype == np.float16:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if tol is not None:
        atol, rtol = tol, 0.0
    for name, limit in (("atol", atol), ("rtol", rtol)):
        if isinstance(limit, TensorBase) and limit._data.dtype.kind == "c":
            title = of(limit._data).title
            raise RuntimeError(
                f"torch.linalg.matrix_rank: {name} tensor of complex type is not supported. Got {title}"
            )
    if rtol is None:
        rtol = 0.0 if is_positive(atol) else max(data.shape[-2:]) * float(np.finfo(data.dtype).eps)
    values = F.abs(eigvalsh(A)) if hermitian else svdvals(A)
    if not values._data.size:
        return values.new_zeros(values._data.shape[:-1], dtype=int64)
    limit = as_limit(rtol, values) * values.amax(-1, keepdim=True)
    return (values > F.maximum(limit, as_limit(0.0 if atol is None else atol, values))).sum(-1)


def is_positive(limit: Any) -> bool:
    """Whether a limit was given that lets some number count as zero: any tensor, or a number above 0."""
    return limit is not None and (isinstance(limit, TensorBase) or limit > 0)


def as_limit(limit: Any, values: Any) -> Any:
    """Return a limit, or one for each matrix of a batch, beside its singular values."""
    if isinstance(limit, TensorBase):
        return F.unsqueeze(limit, -1)
    return values.new_full((), limit)
