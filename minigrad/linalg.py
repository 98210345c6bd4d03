"""Linear algebra."""

from __future__ import annotations

from .left_out import refusing as _refusing
from .tensor.decompositions import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    lstsq,
    pinv,
    qr,
    svd,
    svdvals,
)
from .tensor.explained import attach_all as _attach_all
from .tensor.matmul import matmul
from .tensor.matrices import LinAlgError, det, inv, inv_ex, matrix_power, slogdet, solve, solve_ex
from .tensor.norms import linalg_norm as norm
from .tensor.norms import matrix_norm, vector_norm
from .tensor.products import linalg_cross as cross
from .tensor.views import linalg_diagonal as diagonal

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "inv_ex",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "svd",
    "svdvals",
    "vector_norm",
]

_attach_all(globals(), "linalg_")

__getattr__ = _refusing("linalg")
