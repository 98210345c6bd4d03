"""LU factors: a matrix as a unit lower triangular matrix times an upper triangular one, with rows exchanged.

Derivatives as in PyTorch's FunctionsManual.cpp (`linalg_lu_backward`, `linalg_lu_solve_LU`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import F, differentiable
from .elimination import eliminated
from .factors import adjoint
from .triangular import substituted

# ── one array
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def order_of(pivots: Any, rows: int) -> Any:
    """For each matrix, which row of it became which, from the exchanges in their order."""
    lead = pivots.shape[:-1]
    pivots = pivots.reshape(math.prod(lead), pivots.shape[-1]) - 1
    batch = np.arange(len(pivots))
    order = np.tile(np.arange(rows), (len(pivots), 1))
    for k in range(pivots.shape[-1]):
        other = pivots[:, k]
        order[batch, k], order[batch, other] = order[batch, other].copy(), order[batch, k].copy()
    return order.reshape(*lead, rows)


def permutation(pivots: Any, rows: int, kind: Any) -> Any:
    """The matrix P that puts the rows of `L @ U` where they were."""
    return np.eye(rows, dtype=kind)[order_of(pivots, rows)].mT


def lu_vjp(of_l: Any, of_u: Any, P: Any, L: Any, U: Any) -> Any:
    """`P @ Lᐨᴴ @ (tril(Lᴴ @ gₗ) + triu(gᵤ @ Uᴴ)) @ Uᐨᴴ`, and what a part that is not square adds."""
    rows, columns = L.shape[-2], U.shape[-1]
    k = min(rows, columns)
    of_l = F.zeros_like(L) if of_l is None else of_l
    of_u = F.zeros_like(U) if of_u is None else of_u
    lower, upper = adjoint(F.slice(L, -2, 0, k, 1)), adjoint(F.slice(U, -1, 0, k, 1))
    low = lower @ F.slice(of_l, -2, 0, k, 1)
    up = F.slice(of_u, -1, 0, k, 1) @ upper
    rest_l, rest_u = F.slice(of_l, -2, k, rows, 1), F.slice(of_u, -1, k, columns, 1)
    if columns > k:
        low = low - rest_u @ adjoint(F.slice(U, -1, k, columns, 1))
    if rows > k:
        up = up - adjoint(F.slice(L, -2, k, rows, 1)) @ rest_l
    inside = F.linalg_solve_triangular(upper, F.tril(low, -1) + F.triu(up, 0), False, False, False)
    whole = F.linalg_solve_triangular(lower, inside, True, True, True)
    if columns > k:
        whole = F.cat([whole, F.linalg_solve_triangular(lower, rest_u, True, True, True)], -1)
    if rows > k:
        whole = F.cat([whole, F.linalg_solve_triangular(upper, rest_l, False, False, False)], -2)
    return P @ whole


def unpacked(LU: Any, pivots: Any) -> Any:
    """P, L and U."""
    return (F.permutation_of(pivots, LU), *F._lu_unpack(LU, *LU.shape[-2:]))


def lu_factor_vjp(grads: Any, LU: Any, pivots: Any, pivot: Any) -> Any:
    """See `lu_vjp`."""
    g = grads[0]
    P, L, U = unpacked(LU, pivots)
    k = min(g.shape[-2:])
    return lu_vjp(F.slice(g, -1, 0, k, 1), F.slice(g, -2, 0, k, 1), P, L, U)


@differentiable(
    A=lu_factor_vjp,
    complexes={"A": lu_factor_vjp},
    several=("LU", "pivots", "info"),
    constants=("pivots", "info"),
)
def linalg_lu_factor_ex(A, pivot=True):
    """The LU factors of each matrix in one array, the exchanges of rows (counted from 1), and the first zero
    on the diagonal of U (0 if there is none).
    """
    return eliminated(A)


# ── in parts
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def parts_of(LU: Any) -> tuple[Any, Any]:
    """L and U."""
    rows, columns = LU.shape[-2:]
    k = min(rows, columns)
    L = np.tril(LU[..., :, :k], -1) + np.eye(rows, k, dtype=LU.dtype)
    return L, np.triu(LU[..., :k, :])


def of_parts(grads: Any, rows: int, columns: int) -> Any:
    """The strict lower triangle of the gradient of L and the upper one of that of U, in one array."""
    k = min(rows, columns)
    of_l, of_u = grads
    if of_l is None:
        of_l = F.zeros_of(of_u, (*of_u.shape[:-2], rows, k))
    if of_u is None:
        of_u = F.zeros_of(of_l, (*of_l.shape[:-2], k, columns))
    upper = F.triu(of_u if rows >= columns else F.slice(of_u, -1, 0, k, 1), 0)
    lower = F.tril(of_l if rows <= columns else F.slice(of_l, -2, 0, k, 1), -1)
    if rows < columns:
        return F.cat([lower + upper, F.slice(of_u, -1, k, columns, 1)], -1)
    return F.cat([lower + upper, F.slice(of_l, -2, k, rows, 1)], -2) if rows > columns else lower + upper


def of_lu_vjp(grads: Any, LU_data_sym_argsize_minus_2: Any, LU_data_sym_argsize_minus_1: Any) -> Any:
    """See `of_parts`."""
    return of_parts(grads, LU_data_sym_argsize_minus_2, LU_data_sym_argsize_minus_1)


def lu_unpack_jvp(LU_data_t: Any) -> tuple[Any, Any]:
    """The strict lower triangle and the upper one."""
    rows, columns = LU_data_t.shape[-2:]
    k = min(rows, columns)
    lower = LU_data_t if rows >= columns else F.slice(LU_data_t, -1, 0, k, 1)
    upper = LU_data_t if rows <= columns else F.slice(LU_data_t, -2, 0, k, 1)
    return F.tril(lower, -1), F.triu(upper, 0)


@differentiable(LU_data=of_lu_vjp, node="LuUnpackBackward0", jvp=lu_unpack_jvp, several=("L", "U"))
def _lu_unpack(LU_data, LU_data_sym_argsize_minus_2, LU_data_sym_argsize_minus_1):
    """L and U of what `linalg_lu_factor_ex` gives, whose sizes the other arguments are."""
    return parts_of(LU_data)


@differentiable()
def permutation_of(pivots, like):
    """The matrix P of these exchanges, in the dtype of `like` and with as many rows."""
    return permutation(pivots, like.shape[-2], like.dtype)


def lu_parts_vjp(grads: Any, P: Any, L: Any, U: Any, pivot: Any) -> Any:
    """See `lu_vjp`."""
    return lu_vjp(grads[1], grads[2], P, L, U)


@differentiable(
    A=lu_parts_vjp,
    complexes={"A": lu_parts_vjp},
    several=("P", "L", "U"),
    constants=("P",),
)
def linalg_lu(A, pivot=True):
    """P, L and U with A = P @ L @ U."""
    factors, pivots, _ = eliminated(A)
    return (permutation(pivots, A.shape[-2], A.dtype), *parts_of(factors))


# ── systems of equations
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def lu_solve_b_vjp(g: Any, LU: Any, pivots: Any, left: Any, adjoint: Any) -> Any:
    """The solution with g on the right side, for the adjoint matrix."""
    return F.linalg_lu_solve(LU, pivots, g, left, not adjoint)


def solve_matrix_vjp(back: Any, result: Any, left: Any, of_adjoint: Any) -> Any:
    """The gradient of the matrix of a system, `back` being that of the right side."""
    product = back @ adjoint(result) if left else adjoint(result) @ back
    return F.neg(adjoint(product) if of_adjoint else product)


def lu_solve_lu_vjp(g: Any, LU: Any, pivots: Any, left: Any, adjoint: Any, result: Any) -> Any:
    """The gradient of the matrix `P @ L @ U`, brought to L and U."""
    back = lu_solve_b_vjp(g, LU, pivots, left, adjoint)
    P, L, U = unpacked(LU, pivots)
    inside = P.mT @ solve_matrix_vjp(back, result, left, adjoint)
    return F.tril(inside @ F.conj(U).mT, -1) + F.triu(F.conj(L).mT @ inside, 0)


@differentiable(
    LU=lu_solve_lu_vjp,
    B=lu_solve_b_vjp,
    complexes={"LU": lu_solve_lu_vjp, "B": lu_solve_b_vjp},
)
def linalg_lu_solve(LU, pivots, B, left=True, adjoint=False):
    """The X with A @ X = B (X @ A = B unless `left`) for the matrix A, or its adjoint, of these factors."""
    if not left:
        return linalg_lu_solve.op.kernel(LU, pivots, B.conj().mT, True, not adjoint).conj().mT
    order = order_of(pivots, LU.shape[-1])[..., None]
    if not adjoint:
        taken = np.take_along_axis(B, np.broadcast_to(order, B.shape), -2)
        return substituted(LU, substituted(LU, taken, False, unitriangular=True), True)
    turned = LU.conj().mT
    found = substituted(turned, substituted(turned, B, False), True, unitriangular=True)
    out = np.empty_like(found)
    np.put_along_axis(out, np.broadcast_to(order, B.shape), found, -2)
    return out
