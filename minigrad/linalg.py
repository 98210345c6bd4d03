"""Linear algebra."""

from __future__ import annotations

from .left_out import refusing as _refusing
from .ops.decompositions import cholesky, eig, eigh, eigvals, eigvalsh, lstsq, pinv, qr, svd, svdvals
from .ops.inverses import LinAlgError, det, inv, matrix_power, slogdet, solve
from .ops.norms import linalg_norm as norm
from .ops.norms import matrix_norm, vector_norm
from .ops.products import linalg_cross as cross
from .ops.products import matmul
from .ops.views import linalg_diagonal as diagonal
from .tensor.binder import attach_all as _attach_all

__all__ = [
    "LinAlgError", "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "norm", "pinv", "qr", "slogdet", "solve", "svd",
    "svdvals", "vector_norm",
]  # fmt: skip

_attach_all(globals(), "linalg_")

__getattr__ = _refusing("linalg")
