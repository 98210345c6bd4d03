"""Linear algebra."""

from __future__ import annotations

from .left_out import refusing as _refusing
from .tensor.decompositions import cholesky, eig, eigh, eigvals, eigvalsh, lstsq, pinv, qr, svd, svdvals
from .tensor.explained import attach_all as _attach_all
from .tensor.matmul import matmul
from .tensor.matrices import LinAlgError, det, inv, matrix_power, slogdet, solve
from .tensor.norms import linalg_norm as norm
from .tensor.norms import matrix_norm, vector_norm
from .tensor.products import linalg_cross as cross
from .tensor.views import linalg_diagonal as diagonal

__all__ = [
    "LinAlgError", "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "norm", "pinv", "qr", "slogdet", "solve", "svd",
    "svdvals", "vector_norm",
]  # fmt: skip

_attach_all(globals(), "linalg_")

__getattr__ = _refusing("linalg")
