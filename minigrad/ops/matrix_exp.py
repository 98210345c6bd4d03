"""The exponential of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import F, composite, differentiable
from ..tensor_base import TensorBase
from .factors import adjoint

# The Padé approximant of order 13, whose error is below that of double precision up to a norm of 5.37
# (Higham, "The scaling and squaring method for the matrix exponential revisited", 2005).
COEFFICIENTS = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
    670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
LIMIT = 5.37


def approximant(a: Any) -> Any:
    """The exponential of matrices with a small norm."""
    b = COEFFICIENTS
    eye = np.eye(a.shape[-1])
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a2 @ a4
    odd = a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    odd = a @ odd
    return np.linalg.solve(even - odd, even + odd)


@composite
def twice_on_diagonal(a: Any, b: Any) -> Any:
    """`[a b; 0 a]`; on tensors written in place, as in PyTorch."""
    if not isinstance(a, TensorBase):
        return F.cat([F.cat([a, b], -1), F.cat([F.zeros_like(a), a], -1)], -2)
    *lead, n, _ = a._data.shape
    whole = F.zeros_of(a, (*lead, 2 * n, 2 * n))
    for row, column, block in ((0, 0, a), (n, n, a), (0, n, b)):
        part: Any = F.slice(F.slice(whole, -2, row, row + n, 1), -1, column, column + n, 1)
        part.copy_(block)
    return whole


def differential(a: Any, change: Any) -> Any:
    """The upper right block of the exponential of `[a change; 0 a]`."""
    n = a.shape[-1]
    whole = F.linalg_matrix_exp(twice_on_diagonal(a, change))
    return F.slice(F.slice(whole, -2, 0, n, 1), -1, n, 2 * n, 1)


def vjp(g: Any, self: Any) -> Any:
    """See `differential`."""
    return differential(adjoint(self), g)


def jvp(self_t: Any, self: Any) -> Any:
    """See `differential`."""
    return differential(self, self_t)


@differentiable(self=vjp, complexes={"self": vjp}, jvp=jvp)
def linalg_matrix_exp(self):
    """`I + A + A² / 2! + A³ / 3! + …` of each square matrix A."""
    if not self.size:
        return self.copy()
    a = self.astype(np.result_type(self.dtype, np.float64))
    norms = np.abs(a).sum(-2).max(-1)
    halvings = np.ceil(np.log2(np.maximum(np.where(np.isfinite(norms), norms, 0) / LIMIT, 1))).astype(int)
    found = approximant(a / (2.0**halvings)[..., None, None])
    for i in range(halvings.max()):
        found = np.where((halvings > i)[..., None, None], found @ found, found)
    return found.astype(self.dtype)
