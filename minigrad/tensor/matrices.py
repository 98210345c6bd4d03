"""Inverses, determinants, solutions, factors and norms of matrices."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from .. import return_types
from ..dtypes import of
from ..op import F, composite
from ..ops import factors, inverses
from ..ops.shape import place
from ..tensor_base import TensorBase, numbers
from .contractions import check_float, check_square
from .norms import vector_norm
from .products import must_be_tensors


class LinAlgError(RuntimeError):
    """A matrix does not allow what was asked for: it is singular, or not positive-definite."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"  # as PyTorch calls it


def checked(x: Any, name: str, kernel: str = "", square: bool = True) -> None:
    """PyTorch's errors for what is no (square) matrix of floating-point numbers.

    `kernel` is the name by which it refuses half precision, by "Low precision" without one.
    """
    must_be_tensors(name.replace(".", "_"), A=x)
    kind = of(x._data)
    if square:
        check_square(x, name)
    elif x._data.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    check_float(x, name)
    if kind.title == "Half":
        if kernel:
            raise NotImplementedError(f"\"{kernel}\" not implemented for 'Half'")
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")


def first_wrong(info: Any) -> tuple[str, int]:
    """Which matrix of a batch is the first with an error, as PyTorch writes it, and its code; 0 for none."""
    codes = numbers(info)
    if not np.any(codes):
        return "", 0
    i = int(np.flatnonzero(codes)[0])
    return (f"(Batch element {i}): " if np.ndim(codes) else ""), int(np.ravel(codes)[i])


# ── inverse, solutions, determinant
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def refuse_singular(info: Any) -> None:
    """LinAlgError with PyTorch's text for an inverse that does not exist."""
    which, code = first_wrong(info)
    if code:
        raise LinAlgError(
            f"linalg.inv: {which}The diagonal element {code} is zero, the inversion could not be completed "
            "because the input matrix is singular."
        )


def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """`inv`, and per matrix a number that is 0 where the inverse exists; no error unless `check_errors`."""
    checked(A, "linalg.inv")
    inverse, info = inverses.linalg_inv_ex(A)
    if check_errors:
        refuse_singular(info)
    return return_types.linalg_inv_ex(inverse, info)


def inv(A: Any) -> Any:
    """The inverse of a square matrix, or of each in a batch; LinAlgError for a singular one."""
    return inv_ex(A, check_errors=True)[0]


def inverse(input: Any) -> Any:
    """The inverse of a square matrix, or of each in a batch; LinAlgError for a singular one."""
    return inv(input)


@composite
def linalg_inv(x: Any) -> Any:
    """The inverse for functions in lower modules."""
    return inv(x)


def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """`solve`, and per matrix a number that is 0 where a solution exists; no error unless `check_errors`."""
    must_be_tensors("linalg_solve_ex", A=A, B=B)
    checked(A, "linalg.solve", "lu_cpu")
    check_right_side(A, B, left)
    result, _, _, info = inverses._linalg_solve_ex(*together(A, B), left)
    which, code = first_wrong(info)
    if check_errors and code:
        raise LinAlgError(
            f"torch.linalg.solve: {which}The solver failed because the input matrix is singular."
        )
    return return_types.linalg_solve_ex(result, info)


def is_vector(a: Any, b: Any) -> bool:
    """Whether a right side of shape `b` is a vector, or one for each matrix of `a`."""
    return len(b) == 1 or (len(a) - 1 == len(b) and a[:-1] == b)


def together(A: Any, B: Any) -> tuple[Any, Any]:
    """Both with one batch shape."""
    a, b = A._data.shape, B._data.shape
    own = 1 if is_vector(a, b) else 2
    lead = np.broadcast_shapes(a[:-2], b[:-own])
    shapes = (*lead, *a[-2:]), (*lead, *b[-own:])
    return tuple(x if x._data.shape == s else F.expand(x, s) for x, s in zip((A, B), shapes))


def check_right_side(A: Any, B: Any, left: bool) -> None:
    """RuntimeError with PyTorch's text for a right side of another dtype or shape."""
    a, b = A._data.shape, B._data.shape
    if A._data.dtype != B._data.dtype:
        raise RuntimeError(
            f"linalg.solve: Expected A and B to have the same dtype, but found A of type {of(A._data).title} "
            f"and B of type {of(B._data).title} instead"
        )
    rows, columns = (b[-1], 1) if is_vector(a, b) else b[-2:]
    if is_vector(a, b) and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In "
            "this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if a[-1] != (rows if left else columns):
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and "
            f"{rows}x{columns})"
        )


def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """The X with A @ X = B (X @ A = B unless `left`), B being a vector or matrix, or a batch of them;
    LinAlgError where A is singular.
    """
    return solve_ex(A, B, left=left, check_errors=True)[0]


def det(A: Any) -> Any:
    """The determinant of a square matrix, or of each in a batch."""
    checked(A, "linalg.det", "lu_cpu")
    return inverses._linalg_det(A)[0]


def slogdet(A: Any) -> Any:
    """Sign and logarithm of the absolute value of the determinant, which itself may overflow."""
    checked(A, "linalg.slogdet")
    return return_types.linalg_slogdet(*inverses._linalg_slogdet(A)[:2])


def torch_slogdet(input: Any) -> Any:
    """Sign and logarithm of the absolute value of the determinant, which itself may overflow."""
    return return_types.slogdet(*slogdet(input))


# ── factors
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def cholesky_ex(input: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """`cholesky`, and per matrix the order of the first minor that is not positive-definite, 0 for none."""
    checked(input, "linalg.cholesky", "cholesky_cpu")
    factor, info = factors.linalg_cholesky_ex(input, upper)
    which, code = first_wrong(info)
    if check_errors and code:
        raise LinAlgError(
            f"linalg.cholesky: {which}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {code} is not positive-definite)."
        )
    return return_types.linalg_cholesky_ex(factor, info)


def cholesky(input: Any, *, upper: bool = False) -> Any:
    """The lower triangular L with `L @ L.mH` = input, symmetric (Hermitian) and positive-definite, or the
    upper triangular L.mH; only that triangle of the input is read. LinAlgError if there is none.
    """
    return cholesky_ex(input, upper=upper, check_errors=True)[0]


def qr(A: Any, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and the upper triangular R with A = Q @ R; mode "complete" gives a square Q
    and "r" none.
    """
    checked(A, "linalg.qr", "geqrf_cpu", square=False)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    return return_types.linalg_qr(*factors.linalg_qr(A, mode))


def torch_qr(input: Any, some: bool = True) -> Any:
    """`linalg.qr`; with a square Q unless `some`."""
    return return_types.qr(*qr(input, "reduced" if some else "complete"))


def check_half(x: Any, kernel: str) -> None:
    """NotImplementedError with PyTorch's text for integers and half precision."""
    if x._data.dtype.kind not in "fc" or x._data.dtype == np.float16:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{of(x._data).title}'")


def eigh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues, ascending, and eigenvectors, as columns, of a symmetric (Hermitian) matrix, of which only
    the lower triangle (UPLO "U": the upper) is read.
    """
    must_be_tensors("linalg_eigh", A=A)
    check_square(A, "linalg.eigh")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_half(A, "linalg_eigh_cpu")
    return return_types.linalg_eigh(*factors._linalg_eigh(A, UPLO))


def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of a symmetric (Hermitian) matrix in ascending order."""
    return eigh(A, UPLO)[0]


def svd_of(A: Any, full_matrices: bool) -> Any:
    """U, S, Vh."""
    checked(A, "linalg.svd", "linalg_svd_cpu", square=False)
    return factors._linalg_svd(A, full_matrices, min(A._data.shape[-2:]))


def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """U, S and Vh with A = U @ diag(S) @ Vh, the singular values S descending; U and Vh are square if
    `full_matrices`.
    """
    return return_types.linalg_svd(*svd_of(A, full_matrices))


def svdvals(A: Any, *, driver: Any = None) -> Any:
    """The singular values in descending order."""
    return svd_of(A, False)[1]


def torch_svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V with input = U @ diag(S) @ V.mH; zeros for U and V unless `compute_uv`."""
    u, s, vh = svd_of(input, not some)
    if not compute_uv:
        rows, columns = input._data.shape[-2:]
        zeros = [input.new_zeros((*input._data.shape[:-2], n, n)) for n in (rows, columns)]
        return return_types.svd(zeros[0], s, zeros[1])
    return return_types.svd(u, s, vh.mH)


def pinv(A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """The pseudoinverse; singular values up to max(atol, rtol · the greatest) count as zero."""
    must_be_tensors("linalg_pinv", A=A)
    data = A._data
    if data.ndim < 2 or data.dtype.kind not in "fc" or data.dtype == np.float16:
        raise RuntimeError(
            f"linalg.pinv({of(data).title}{{{list(data.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    rtol = rcond if rtol is None else rtol
    raw = [numbers(x) if isinstance(x, TensorBase) else x for x in (atol, rtol)]
    return factors.linalg_pinv(A, *raw, hermitian)


def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """The pseudoinverse; singular values up to rcond · the greatest count as zero."""
    return pinv(input, rcond)


# ── norms
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The norm of a matrix, or of each over the two dimensions `dim`: "fro" of its elements, "nuc", 2 and -2
    of its singular values, 1, -1, inf and -inf of its columns and rows.
    """
    must_be_tensors("linalg_matrix_norm", A=A)
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
    """The greatest along a dimension (of none 0) for a positive `ord`, else the least."""
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
    """The sum of singular values for "nuc", the greatest for 2, the least for -2."""
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


class Matrices(TensorBase):
    """Inverses and factors of matrices."""

    __slots__ = ()

    inverse, det, pinverse = inverse, det, pinverse
    slogdet, qr, svd = torch_slogdet, torch_qr, torch_svd
