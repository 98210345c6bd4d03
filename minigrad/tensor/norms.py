"""Norms of vectors and matrices, and distances."""

from __future__ import annotations

from math import inf
from typing import Any

from ..core import F
from ..core.dtypes import OF_NUMPY, kind_name, of, result_type
from ..core.operands import broadcast
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..creation.arguments import dims
from ..ops import norms
from ..ops.arithmetic import sub
from ..ops.checks import NUMBERS, must_be, must_be_tensor
from ..ops.shape import place
from .decompositions import svdvals
from .matrices import check_float
from .reductions import numpys


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
    must_be_tensor("norm", input)
    over = dims(dim)
    if p == "fro" and (over is None or len(over) <= 2):
        return vector_norm(input, 2, over, keepdim, dtype=dtype)
    if isinstance(p, str):
        over = tuple(range(input._data.ndim)) if over is None else over
        return matrix_norm(input, p, over, keepdim, dtype=dtype)
    return vector_norm(input, 2.0 if p is None else p, over, keepdim, dtype=dtype)


def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of a vector or matrix, of all elements (`ord` None) or over one or two dimensions `dim`."""
    over = dims(dim)
    if over is not None and len(over) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(over)}")
    ndim = A._data.ndim
    if over is None and ord is not None and ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D."
        )
    of_matrix = ndim == 2 if over is None else len(over) == 2
    if isinstance(ord, str) or (ord is not None and of_matrix):
        return matrix_norm(A, ord, (0, 1) if over is None else over, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, over, keepdim, dtype=dtype)


@public()
def dist(input: Any, other: Any, p: Any = 2) -> Any:
    """Return the p-norm of `input - other`."""
    broadcast(input._data.shape, other._data.shape)
    if not {input._data.dtype.kind, other._data.dtype.kind} & {*"fc"}:
        check_float(input, "norm")
    check_order(p)
    sub.op.check([of(input._data), of(other._data)])
    if input._data.dtype != other._data.dtype:
        kind = OF_NUMPY[result_type(input._data, other._data)]
        input, other = input.to(kind), other.to(kind)
    return norms.dist(input, other, p)


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
    must_be(float, "cdist", "p", p, 3)
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
