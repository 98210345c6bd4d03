"""Inverse, determinant, and the solution of systems of equations; pseudoinverse and least squares.

Derivatives as in PyTorch's derivatives.yaml and FunctionsManual.cpp. They go through the inverse, where
PyTorch takes the LU factors that its nodes save.
"""

from __future__ import annotations

import math
from math import nan
from typing import Any

import numpy as np

from .. import return_types
from ..core import RAW, F, composite, differentiable
from ..core.dtypes import of
from ..core.guards import broadcast, check_broadcast, check_matrix_input
from ..core.public import public
from ..core.tensor_state import numbers, wrap
from .arithmetic import plus
from .kernels import only_first
from .products import matmul

# ─── Inverse, determinant, and the solution of systems of equations; pseudoinverse and least squares


class LinAlgError(RuntimeError):
    """A matrix does not allow what was asked for: it is singular, or not positive-definite."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"  # as PyTorch calls it


def first_wrong(codes: Any) -> tuple[str, int]:
    """Which matrix of a batch is the first with an error, as PyTorch writes it, and its code; 0 for none."""
    if not np.any(codes):
        return "", 0
    i = int(np.flatnonzero(codes)[0])
    return (f"(Batch element {i}): " if np.ndim(codes) else ""), int(np.ravel(codes)[i])


def usable(a: Any, info: Any) -> Any:
    """Return the matrices, with the identity instead of the singular ones."""
    return np.where((info == 0)[..., None, None], a, np.eye(a.shape[-1], dtype=a.dtype))


def mark_singular(result: Any, info: Any) -> Any:
    """Return the results, with NaN for the matrices that are singular."""
    return np.where((info == 0)[..., None, None], result, np.nan) if np.any(info) else result


# ── inverse
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@differentiable(
    A=lambda grads, inverse: -(inverse.mT @ (grads[0] @ inverse.mT)), **only_first("inverse", "info")
)
def linalg_inv_ex(A):
    """Return the inverse of each matrix, and which element of its diagonal is zero after elimination (0 if
    none).
    """
    try:
        return column_by_column(np.linalg.inv(A)), np.zeros(A.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        info = lu_factors(A)[2]
        return column_by_column(mark_singular(np.linalg.inv(usable(A, info)), info)), info


def column_by_column(a: Any) -> Any:
    """Return the matrices, stored as LAPACK does, which shows in PyTorch's strides."""
    return np.ascontiguousarray(a.mT).mT


def inverse_of(A: Any) -> Any:
    """Return the inverse for a vjp."""
    return F.linalg_inv_ex(A)[0]


def of_matrices(x: Any) -> Any:
    """Return numbers, one for each matrix, in a shape that broadcasts with the matrices."""
    return F.unsqueeze(F.unsqueeze(x, -1), -1)


def adjoint(x: Any) -> Any:
    """Return the conjugate transpose."""
    return F.conj(x.mT)


# ── systems of equations
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def is_vector_side(A: Any, B: Any) -> bool:
    """Return whether the right side is a vector for each matrix, and not a matrix."""
    return len(B.shape) == len(A.shape) - 1


def solve_b_vjp(grads, A, left):
    """`Aᐨᵀ @ g`; of `X @ A = B` it is `g @ Aᐨᵀ`."""
    g, inverse = grads[0], inverse_of(A).mT
    if is_vector_side(A, g):
        return F.squeeze_dim(inverse @ F.unsqueeze(g, -1), -1)
    return inverse @ g if left else g @ inverse


def solve_a_vjp(grads, A, LU, pivots, left, result):
    """`-(Aᐨᵀ @ g) @ resultᵀ`; of `X @ A = B` it is `-resultᵀ @ (g @ Aᐨᵀ)`."""
    g, inverse = grads[0], inverse_of(A).mT
    if is_vector_side(A, result):
        g, result = F.unsqueeze(g, -1), F.unsqueeze(result, -1)
    return -((inverse @ g) @ result.mT) if left else -(result.mT @ (g @ inverse))


# ── determinant
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def cofactors(A: Any, result: Any) -> Any:
    """Return the derivative of the determinant, `det(A) · Aᐨᵀ`; of arrays also where A is singular."""
    if not isinstance(A, RAW):
        return of_matrices(result) * inverse_of(A).mT
    # by singular values, of which each product leaves one out
    u, s, vh = np.linalg.svd(np.asarray(A))
    others = np.where(np.eye(s.shape[-1]) == 1, 1, s[..., None, :]).prod(-1).astype(s.dtype)
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return sign * ((u.conj() * others[..., None, :]) @ vh.conj())


def solve_by_columns(A: Any) -> Any:
    """A matrix, or its transpose if it is real and stored row by row: PyTorch factors that, which copies
    nothing.
    """
    return A.mT if A.dtype.kind == "f" and A.flags.c_contiguous else A


def det_vjp(grads, A, LU, pivots, result):
    """`g · det(A) · Aᐨᵀ`; of a matrix of one element, or none, just g."""
    if A.shape[-1] < 2 or 0 in A.shape:
        return F.expand(of_matrices(grads[0]), A.shape)
    return of_matrices(grads[0]) * cofactors(A, result)


@differentiable(A=det_vjp, **only_first("result", "LU", "pivots"))
def _linalg_det(A):
    """Return the determinant of each matrix, and its LU factors."""
    factors, pivots, _ = lu_factors(solve_by_columns(A))
    exchanged = pivots != np.arange(1, pivots.shape[-1] + 1)
    parity = 1 - 2 * (exchanged.sum(-1) % 2)
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    det = (diagonal.prod(-1) * parity).astype(A.dtype)
    return det[()], factors, pivots


def slogdet_vjp(grads, A, LU, pivots, sign):
    """`c · conj(Aᐨ)ᵀ`, where c is the gradient of the logarithm and, if complex, that of the angle."""
    of_sign, of_log = grads[:2]
    slope = F.conj(inverse_of(A)).mT
    if of_sign is not None and is_complex_dtype(A.dtype):
        turn = -1j * F.imag(F.conj(of_sign) * sign)
        of_log = plus(of_log, turn)
    if of_log is None:
        return None
    return of_matrices(of_log) * slope


def is_complex_dtype(dtype: Any) -> bool:
    """Return whether a dtype, of NumPy or minigrad, is complex."""
    return "complex" in str(dtype)


@differentiable(
    A=slogdet_vjp, complexes=True, several=("sign", "logabsdet", "LU", "pivots"), constants=("LU", "pivots")
)
def _linalg_slogdet(A):
    """Return the sign and logarithm of the absolute value of the determinant of each matrix, and its LU
    factors.
    """
    factors, pivots, _ = lu_factors(solve_by_columns(A))
    return *np.linalg.slogdet(A), factors, pivots


@differentiable(A=solve_a_vjp, B=solve_b_vjp, **only_first("result", "LU", "pivots", "info"))
def _linalg_solve_ex(A, B, left=True):
    """Return the X with A @ X = B (X @ A = B unless `left`) for each matrix A, of one batch shape, its LU
    factors, and where it is singular.
    """
    factors, pivots, info = lu_factors(A)
    a = usable(A, info)
    if is_vector_side(A, B):
        result = np.linalg.solve(a, B[..., None])
        return mark_singular(result, info)[..., 0], factors, pivots, info
    result = np.linalg.solve(a, B) if left else np.linalg.solve(a.mT, B.mT).mT
    return mark_singular(result, info), factors, pivots, info


# ── Gauss's elimination with exchange of rows, on arrays
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def lu_factors(a: Any) -> tuple[Any, Any, Any]:
    """The LU factors of each matrix in one array, the rows exchanged (counted from 1), and the first zero on
    the diagonal (counted from 1; 0 if there is none).
    """
    shape = a.shape
    *lead, rows, columns = shape
    a = np.array(a).reshape(math.prod(lead), rows, columns)
    n, batch = min(rows, columns), np.arange(len(a))
    pivots, info = np.zeros((len(a), n), np.int32), np.zeros(len(a), np.int32)
    for k in range(n if len(a) else 0):
        row = k + np.argmax(sizes(a[:, k:, k]), axis=1)
        pivots[:, k] = row + 1
        a[batch, k], a[batch, row] = a[batch, row].copy(), a[batch, k].copy()
        pivot = a[:, k, k]
        info[(pivot == 0) & (info == 0)] = k + 1
        a[:, k + 1 :, k] /= np.where(pivot == 0, 1, pivot)[:, None]
        a[:, k + 1 :, k + 1 :] -= a[:, k + 1 :, k, None] * a[:, k, None, k + 1 :]
    return a.reshape(shape), pivots.reshape(*lead, n), info.reshape(lead)


def sizes(x: Any) -> Any:
    """How large numbers are, as LAPACK measures it: of complex ones |a| + |b|."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


# ── pseudoinverse and least squares
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def pinv_vjp(g, self, result):
    """Composed as in PyTorch's `pinv_backward`, by the shorter way for tall and for wide matrices."""
    turned, g = adjoint(result), adjoint(g)
    if self.shape[-2] <= self.shape[-1]:
        inside = g @ result
        back = inside @ turned
        rest = (turned @ result) @ (g - inside @ self)
        return back - (self @ result) @ back - adjoint(result @ inside) + rest
    inside = result @ g
    back = turned @ inside
    rest = ((g - self @ inside) @ result) @ turned
    return rest + back - (back @ result) @ self - adjoint(inside @ result)


@differentiable(self=pinv_vjp, complexes=True)
def linalg_pinv(self, atol=None, rtol=None, hermitian=False):
    """Return the pseudoinverse: singular values up to max(atol, rtol · the largest) count as zero."""
    atol = 0 if atol is None else np.asarray(atol)
    if rtol is None:
        rtol = 0 if np.any(atol > 0) else max(self.shape[-2:]) * np.finfo(self.dtype).eps
    if np.any(atol > 0) and self.size:
        rtol = np.maximum(rtol, atol / np.linalg.norm(self, 2, (-2, -1)))
    lead = np.broadcast_shapes(self.shape[:-2], np.shape(rtol))
    return np.linalg.pinv(np.broadcast_to(self, (*lead, *self.shape[-2:])), rtol, hermitian)


def has_residuals(g: Any) -> bool:
    """Return whether a gradient comes from residuals; they may be an empty tensor."""
    return g is not None and 0 not in g.shape


def residual_gradient(g: Any, A: Any, b: Any, solution: Any) -> Any:
    """`2 · (A @ X - B) · g`, g being the gradient of the sums of squares."""
    return F.mul_scalar((A @ solution - b) * F.unsqueeze(g, -2), 2)


def lstsq_b_vjp(grads, self, b, solution):
    """`A⁺ᴴ @ g`, and minus the gradient of the residual."""
    sent = None if grads[0] is None else adjoint(F.linalg_pinv(self)) @ grads[0]
    if not has_residuals(grads[1]):
        return sent
    of_residual = F.neg(residual_gradient(grads[1], self, b, solution))
    return plus(sent, of_residual)


def lstsq_a_vjp(grads, self, b, solution):
    """Through the pseudoinverse, of which the solution is the product with b, and through the residual."""
    sent = None
    if grads[0] is not None:
        sent = pinv_vjp(grads[0] @ adjoint(b), self, F.linalg_pinv(self))
    if not has_residuals(grads[1]):
        return sent
    of_residual = residual_gradient(grads[1], self, b, solution) @ adjoint(solution)
    return plus(sent, of_residual)


@differentiable(
    self=lstsq_a_vjp,
    b=lstsq_b_vjp,
    complexes=True,
    several=("solution", "residuals", "rank", "singular_values"),
    constants=("rank", "singular_values"),
)
def linalg_lstsq(self, b, rcond, driver):
    """Return the shortest X for which `self @ X - b` is shortest; the sums of squares of that; the rank;
    singular values. Singular values up to `rcond` · the largest count as zero.
    """
    solution, s = np.linalg.pinv(self, rcond) @ b, np.linalg.svd(self, compute_uv=False)
    rank = (s > rcond * s.max(-1, keepdims=True, initial=0)).sum(-1)
    rows, columns = self.shape[-2:]
    residuals = values = np.zeros(0, s.dtype)
    if rows > columns and driver != "gelsy" and np.all(rank == columns):
        residuals = (np.abs(self @ solution - b) ** 2).sum(-2).astype(s.dtype)
    if driver in ("gelsd", "gelss"):
        values = s
    return solution, residuals, np.zeros(0, np.int64) if driver == "gels" else rank, values


# ─── Inverses, determinants, solutions and powers of matrices, and checks of matrices


def check_square(x: Any, name: str, square: bool = True) -> None:
    """RuntimeError with PyTorch's text unless `x` is a (square) matrix or a batch of them."""
    check_matrix_input(x._data, name)
    rows, columns = x._data.shape[-2:]
    if square and rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def check_float(x: Any, name: str) -> None:
    """RuntimeError with PyTorch's text for integers and bools."""
    if of(x._data).category < 2:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {of(x._data).title}"
        )


# Functions that refuse half precision themselves, not in a kernel.
REFUSES_EARLY = ("linalg.inv", "linalg.pinv", "linalg.slogdet", "logdet", "torch.linalg.lstsq")


def check_matrix(x: Any, name: str, square: bool = True) -> None:
    """PyTorch's errors for what is no (square) matrix of floating-point numbers, or of half precision."""
    check_square(x, name, square)
    check_float(x, name)
    if of(x._data).title == "Half":
        error = RuntimeError if name in REFUSES_EARLY else NotImplementedError
        raise error(f"{name}: Low precision dtypes not supported. Got Half")


def inv(A: Any) -> Any:
    """Return the inverse of a square matrix, or of each in a batch; LinAlgError for a singular one."""
    check_matrix(A, "linalg.inv")
    inverse, info = linalg_inv_ex(A)
    which, code = first_wrong(numbers(info))
    if code:
        raise LinAlgError(
            f"linalg.inv: {which}The diagonal element {code} is zero, the inversion could not be completed "
            "because the input matrix is singular."
        )
    return inverse


@public(out="same")
def inverse(input: Any) -> Any:
    """Return the inverse of a square matrix, or of each in a batch; LinAlgError for a singular one."""
    return inv(input)


def is_vector(a: Any, b: Any) -> bool:
    """Return whether a right side of shape `b` is a vector, or one for each matrix of `a`."""
    return len(b) == 1 or (len(a) - 1 == len(b) and a[:-1] == b)


def together(A: Any, B: Any) -> tuple[Any, Any]:
    """Both with one batch shape."""
    own = 1 if is_vector(A._data.shape, B._data.shape) else 2
    check_broadcast(B._data.shape[:-own], A._data.shape[:-2])
    return expand_batches(A, B, own)


def expand_batches(A: Any, B: Any, own: int = 2) -> tuple[Any, Any]:
    """Both with one batch shape; the last `own` dimensions of B are its own."""
    a, b = A._data.shape, B._data.shape
    lead = broadcast(a[:-2], b[:-own])
    shapes = (*lead, *a[-2:]), (*lead, *b[-own:])
    return tuple(x if x._data.shape == s else F.expand(x, s) for x, s in zip((A, B), shapes))


def check_right_side(A: Any, B: Any, left: bool) -> None:
    """RuntimeError with PyTorch's text for a right side of another dtype or shape."""
    a, b = A._data.shape, B._data.shape
    kinds = of(A._data).title, of(B._data).title
    if kinds[0] != kinds[1]:
        told = f"but found A of type {kinds[0]} and B of type {kinds[1]} instead"
        raise RuntimeError(f"linalg.solve: Expected A and B to have the same dtype, {told}")
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
    """Return the X with A @ X = B (X @ A = B unless `left`), B being a vector or matrix, or a batch of them;
    LinAlgError where A is singular.
    """
    check_matrix(A, "linalg.solve")
    check_right_side(A, B, left)
    result, _, _, info = _linalg_solve_ex(*together(A, B), left)
    which, code = first_wrong(numbers(info))
    if code:
        raise LinAlgError(
            f"torch.linalg.solve: {which}The solver failed because the input matrix is singular."
        )
    return result


@public()
def det(A: Any) -> Any:
    """Return the determinant of a square matrix, or of each matrix in a batch.

    Args:
        A: a tensor of shape (…, n, n). PyTorch calls it `input` in torch.det.
    Shape: (…, n, n) → (…).
    Returns: a new tensor.
    Raises: RuntimeError if the matrices are not square.
    Derivative: `g * result * inverse(A).T`.
    Source: torch.det

    >>> torch.det(torch.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor(6.)
    """
    check_matrix(A, "linalg.det")
    return _linalg_det(A)[0]


def slogdet(A: Any) -> Any:
    """Sign and logarithm of the absolute value of the determinant, which itself may overflow."""
    check_matrix(A, "linalg.slogdet")
    return return_types.linalg_slogdet(*_linalg_slogdet(A)[:2])


@public(out="same", name="slogdet")
def torch_slogdet(input: Any) -> Any:
    """Return the sign and logarithm of the absolute value of the determinant, which itself may overflow."""
    return return_types.slogdet(*slogdet(input))


@public()
def logdet(input: Any) -> Any:
    """Return the logarithm of the determinant of a square matrix, or of each in a batch; NaN of a negative
    one.
    """
    check_matrix(input, "logdet")
    sign, log = slogdet(input)
    if sign._data.dtype.kind == "c":
        return F.log(sign) + log
    return F.where(F.eq(sign, -1.0), nan, log)


def positive_power(base: Any, n: int) -> Any:
    """`base` to the power of n > 0 by repeated squares, multiplied in PyTorch's order."""
    if n == 1:
        return F.clone(base)
    if n == 3:
        return matmul(matmul(base, base), base)
    square, result = None, None
    while n:
        square = base if square is None else matmul(square, square)
        if n % 2:
            result = square if result is None else matmul(result, square)
        n //= 2
    return result


@public(out="same")
def matrix_power(input: Any, n: int) -> Any:
    """Return the n-th power of a square matrix or of each in a batch; of a negative n that of the inverse."""
    check_square(input, "linalg.matrix_power")
    if n == 0:
        return F.clone(input).copy_(wrap(np.eye(input._data.shape[-1], dtype=input._data.dtype)))
    if n > 0:
        return positive_power(input, n)
    inverse = inv(input)
    return inverse if n == -1 else positive_power(inverse, -n)
