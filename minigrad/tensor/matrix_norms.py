"""Norms and conditions of matrices, and their rank."""

from __future__ import annotations

from math import inf
from typing import Any

from ..core import F
from ..core.tensor_state import TensorBase
from ..ops import norms
from ..ops.shape import place
from .contractions import check_float
from .factors import svdvals
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
