"""Linear algebra."""

from __future__ import annotations

from .tensor.contractions import matrix_power, multi_dot
from .tensor.matrices import (
    LinAlgError,
    cholesky,
    cholesky_ex,
    det,
    eigh,
    eigvalsh,
    inv,
    inv_ex,
    matrix_norm,
    pinv,
    qr,
    slogdet,
    solve,
    solve_ex,
    svd,
    svdvals,
)
from .tensor.norms import linalg_norm as norm
from .tensor.norms import vector_norm
from .tensor.products import linalg_cross as cross
from .tensor.products import vecdot
from .tensor.views import linalg_diagonal as diagonal

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "inv_ex",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "svd",
    "svdvals",
    "vecdot",
    "vector_norm",
]
