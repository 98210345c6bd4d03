"""Systems of equations with a triangular matrix, and what a Cholesky factor gives.

Derivatives as in PyTorch's FunctionsManual.cpp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from .factors import adjoint, cholesky_kernel, cholesky_vjp, halved
from .inverses import column_by_column, inverse_of, refuse_indefinite

# ── substitution
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def triangle_of(a: Any, upper: bool, unitriangular: bool) -> Any:
    """Return the triangle of each matrix, with 1 on the diagonal if `unitriangular`."""
    part = np.triu(a) if upper else np.tril(a)
    return np.where(np.eye(a.shape[-1]) == 1, a.dtype.type(1), part) if unitriangular else part


def substituted(a: Any, b: Any, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """Return the X with `a @ X = b` (`X @ a = b` unless `left`) for triangular matrices."""
    if not left:
        return substituted(a.mT, b.mT, not upper, True, unitriangular).mT
    a = triangle_of(a, upper, unitriangular)
    if not upper:  # from the other end, so that nothing is left to eliminate
        return np.flip(by_elimination(np.flip(a, (-2, -1)), np.flip(b, -2)), -2)
    return by_elimination(a, b)


def by_elimination(a: Any, b: Any) -> Any:
    """Return the solution for upper triangular matrices, infinite where one is singular."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        x = np.array(b)
        for i in reversed(range(a.shape[-1])):
            rest = a[..., i, None, i + 1 :] @ x[..., i + 1 :, :]
            x[..., i, :] = (x[..., i, :] - rest[..., 0, :]) / a[..., i, i, None]
        return x


def within(x: Any, upper: Any, unitriangular: Any) -> Any:
    """Return the triangle of a gradient, without the diagonal if that does not count."""
    return F.triu(x, int(unitriangular)) if upper else F.tril(x, -int(unitriangular))


def triangular_b_vjp(g: Any, self: Any, upper: Any, left: Any, unitriangular: Any) -> Any:
    """`Aᐨᴴ @ g`; of `X @ A = B` it is `g @ Aᐨᴴ`."""
    return F.linalg_solve_triangular(adjoint(self), g, not upper, left, unitriangular)


def triangular_a_vjp(g: Any, self: Any, upper: Any, left: Any, unitriangular: Any, result: Any) -> Any:
    """Return the triangle of `-(Aᐨᴴ @ g) @ resultᴴ`; of `X @ A = B` of `-resultᴴ @ (g @ Aᐨᴴ)`."""
    back = triangular_b_vjp(g, self, upper, left, unitriangular)
    turned = adjoint(result)
    return within(F.neg(back @ turned if left else turned @ back), upper, unitriangular)


def triangular_jvp(
    self_t: Any, B_t: Any, self: Any, upper: Any, left: Any, unitriangular: Any, result: Any
) -> Any:
    """`Aᐨ @ (dB - dA @ result)`, of dA the triangle."""
    change = within(self_t, upper, unitriangular)
    right = B_t - (change @ result if left else result @ change)
    return F.linalg_solve_triangular(self, right, upper, left, unitriangular)


@differentiable(
    self=triangular_a_vjp,
    B=triangular_b_vjp,
    complexes={"self": triangular_a_vjp, "B": triangular_b_vjp},
    jvp=triangular_jvp,
)
def linalg_solve_triangular(self, B, upper, left=True, unitriangular=False):
    """Return the X with self @ X = B (X @ self = B unless `left`), reading only one triangle of `self`."""
    return column_by_column(substituted(self, B, upper, left, unitriangular))


# ── Cholesky
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def old_cholesky_jvp(self_t: Any, result: Any, upper: Any) -> Any:
    """`L @ Φ(Lᐨ @ dA @ Lᐨᴴ)`, Φ taking the lower triangle with half of the diagonal."""
    factor = adjoint(result) if upper else result
    inverse = inverse_of(factor)
    change = factor @ halved(F.tril((inverse @ self_t) @ adjoint(inverse), 0))
    return adjoint(change) if upper else change


def old_cholesky_vjp(g: Any, result: Any, upper: Any) -> Any:
    """See `cholesky_vjp`."""
    return cholesky_vjp(g, result, upper)


@differentiable(self=old_cholesky_vjp, complexes={"self": old_cholesky_vjp}, jvp=old_cholesky_jvp)
def cholesky(self, upper=False):
    """Return the triangular L with `L @ Lᴴ = self`, or Lᴴ."""
    factor, info = cholesky_kernel(self, upper)
    refuse_indefinite("cholesky", info)
    return factor


def cholesky_solve_b_vjp(g: Any, self: Any, input2: Any, upper: Any, result: Any) -> Any:
    """Return the solution for g on the right side."""
    return F.cholesky_solve(g, input2, upper)


def cholesky_solve_l_vjp(g: Any, self: Any, input2: Any, upper: Any, result: Any) -> Any:
    """`-(C + Cᴴ) @ L` with C the product of that with `resultᴴ`."""
    product = F.cholesky_solve(g, input2, upper) @ adjoint(result)
    common = product + adjoint(product)
    return F.neg(input2 @ common if upper else common @ input2)


@differentiable(
    self=cholesky_solve_b_vjp,
    input2=cholesky_solve_l_vjp,
    complexes={"self": cholesky_solve_b_vjp, "input2": cholesky_solve_l_vjp},
)
def cholesky_solve(self, input2, upper=False):
    """Return the X with `L @ Lᴴ @ X = self` for the lower triangular `input2` = L (`Lᴴ @ L` for `upper`)."""
    turned = input2.conj().mT
    if upper:
        return substituted(input2, substituted(turned, self, False), True)
    return substituted(turned, substituted(input2, self, False), True)
