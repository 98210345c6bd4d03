"""Eigenvalues and eigenvectors of any square matrix: complex numbers.

Derivatives as in PyTorch's FunctionsManual.cpp (`linalg_eig_backward`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from .copy import cast_back
from .factors import adjoint, differences


def eig_vjp(grads: Any, A_scalar_type: Any, eigenvalues: Any, eigenvectors: Any) -> Any:
    """`Vᐨᴴ @ (diag(gₗ) + X) @ Vᴴ` with `X = (Vᴴ @ gᵥ - Vᴴ @ V · Re diag(Vᴴ @ gᵥ)) / conj(λⱼ - λᵢ)`."""
    of_values, of_vectors = grads
    turned = adjoint(eigenvectors)
    if of_vectors is None:
        inside = F.unsqueeze(of_values, -1) * turned
        return cast_back(F._linalg_solve_ex(turned, inside, True)[0], A_scalar_type)
    product = turned @ of_vectors
    diagonal = F.real(F.diagonal(product, 0, -2, -1))
    inside = product - (turned @ eigenvectors) * F.unsqueeze(diagonal, -2)
    inside = inside / differences(F.conj(eigenvalues))
    inside = inside - F.diag_embed(F.diagonal(inside, 0, -2, -1), 0, -2, -1)
    if of_values is not None:
        inside = inside + F.diag_embed(of_values, 0, -2, -1)
    return cast_back(F._linalg_solve_ex(turned, inside @ turned, True)[0], A_scalar_type)


@differentiable(
    A=eig_vjp,
    complexes=True,
    node="LinalgEigBackward0",
    several=("eigenvalues", "eigenvectors"),
)
def _linalg_eig(A):
    """Return the eigenvalues in no order, and eigenvectors of length 1 as columns."""
    kind = np.result_type(A.dtype, np.complex64)
    values, vectors = np.linalg.eig(A)
    return values.astype(kind), vectors.astype(kind)
