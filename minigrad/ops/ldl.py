"""Symmetric (Hermitian) matrices as `L @ D @ Lᵀ`: Bunch and Kaufman's elimination, which keeps the symmetry.

D has blocks of one or two rows. Results are LAPACK's (`sytrf`): the factors in one lower triangle, and per
row which one it was exchanged with (counted from 1; negative for both rows of a block of two). PyTorch does
not differentiate them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import differentiable
from .elimination import sizes
from .underivable import no_derivative

LIMIT = (1 + 17**0.5) / 8  # Bunch and Kaufman's: how small a pivot may be beside its column


def turned(x: Any, hermitian: bool) -> Any:
    """The transpose, or adjoint, of a part of a matrix; of a vector the conjugate."""
    x = np.swapaxes(x, -1, -2) if x.ndim > 1 else x
    return x.conj() if hermitian else x


def block(a: Any, k: int, hermitian: bool) -> Any:
    """The block of D in rows k and k + 1."""
    low = a[k + 1, k]
    return np.array([[a[k, k], low.conj() if hermitian else low], [low, a[k + 1, k + 1]]])


def find_pivot(a: Any, k: int, diagonal: Any) -> tuple[int, int]:
    """Which row to exchange, and how many rows the block has (0 rows if there is nothing but zeros)."""
    n = len(a)
    below = sizes(a[k + 1 :, k])
    own, most = diagonal[k], below.max(initial=0)
    if max(own, most) == 0:
        return k, 0
    if own >= LIMIT * most:
        return k, 1
    row = k + 1 + int(below.argmax())
    others = np.concatenate([a[row, k:row], a[row + 1 : n, row]])
    beside = sizes(others).max()
    if own >= LIMIT * most * (most / beside):
        return k, 1
    return row, 1 if diagonal[row] >= LIMIT * beside else 2


def exchange(a: Any, k: int, kk: int, kp: int, hermitian: bool) -> None:
    """Exchange rows and columns `kk` < `kp` of the symmetric matrix of which the lower triangle is known from
    column k on.
    """
    a[kp + 1 :, [kk, kp]] = a[kp + 1 :, [kp, kk]]
    between = a[kk + 1 : kp, kk].copy()
    a[kk + 1 : kp, kk] = turned(a[kp, kk + 1 : kp], hermitian)
    a[kp, kk + 1 : kp] = turned(between, hermitian)
    if hermitian:
        a[kp, kk] = a[kp, kk].conj()
    a[kk, kk], a[kp, kp] = a[kp, kp], a[kk, kk]
    if kk > k:
        a[kk, k], a[kp, k] = a[kp, k], a[kk, k]


def factored(a: Any, hermitian: bool) -> tuple[Any, Any, int]:
    """The factors, exchanges and first zero of one matrix."""
    a = np.tril(a)
    n = len(a)
    pivots = np.zeros(n, np.int32)
    info = k = 0
    while k < n:
        if hermitian:
            a[range(k, n), range(k, n)] = a.diagonal()[k:].real
        kp, count = find_pivot(a, k, sizes(a.diagonal()))
        if count == 0:
            info = info or k + 1
            count = 1
        else:
            if kp != k + count - 1:
                exchange(a, k, k + count - 1, kp, hermitian)
            eliminate(a, k, count, hermitian)
        pivots[k : k + count] = kp + 1 if count == 1 else -(kp + 1)
        k += count
    return a, pivots, info


def eliminate(a: Any, k: int, count: int, hermitian: bool) -> None:
    """The multipliers of one or two columns, and what they leave of the rest."""
    rest = k + count
    column = a[rest:, k:rest].copy()
    if count == 1:
        weights = column / a[k, k]
    else:
        weights = np.linalg.solve(turned(block(a, k, hermitian), False), column.T).T
    a[rest:, rest:] -= np.tril(weights @ turned(column, hermitian))
    a[rest:, k:rest] = weights


def solved(a: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    """The solution of one system."""
    x = np.array(b)
    n, k = len(a), 0
    starts = []
    while k < n:
        count = 1 if pivots[k] > 0 else 2
        rest = k + count
        starts.append((k, rest))
        swap(x, rest - 1, abs(pivots[k]) - 1)
        x[rest:] -= a[rest:, k:rest] @ x[k:rest]
        x[k:rest] = x[k:rest] / a[k, k] if count == 1 else np.linalg.solve(block(a, k, hermitian), x[k:rest])
        k = rest
    for k, rest in reversed(starts):
        x[k:rest] -= turned(a[rest:, k:rest], hermitian) @ x[rest:]
        swap(x, rest - 1, abs(pivots[k]) - 1)
    return x


def swap(x: Any, i: int, j: int) -> None:
    """Exchange two rows."""
    x[[i, j]] = x[[j, i]]


@differentiable(
    **no_derivative("linalg_ldl_factor_ex", "self"),
    several=("LD", "pivots", "info"),
    constants=("pivots", "info"),
)
def linalg_ldl_factor_ex(self, hermitian=False):
    """The factors of each matrix, the exchanges, and the first zero on the diagonal of D (0 if none)."""
    LD = np.empty(self.shape, self.dtype)
    pivots = np.empty(self.shape[:-1], np.int32)
    info = np.empty(self.shape[:-2], np.int32)
    for place in np.ndindex(info.shape):
        LD[place], pivots[place], info[place] = factored(self[place], hermitian)
    return LD, pivots, info


@differentiable(**no_derivative("linalg_ldl_solve", "LD", "B"))
def linalg_ldl_solve(LD, pivots, B, hermitian=False):
    """The X with A @ X = B for each matrix A of these factors."""
    out = np.empty(B.shape, B.dtype)
    for place in np.ndindex(B.shape[:-2]):
        out[place] = solved(LD[place], pivots[place], B[place], hermitian)
    return out
