"""Linear algebra."""

from __future__ import annotations

from .explained import attach_all as _attach_all
from .tensor.contractions import matrix_power, multi_dot
from .tensor.factors import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    pinv,
    qr,
    svd,
    svdvals,
)
from .tensor.ldl import ldl_factor, ldl_factor_ex, ldl_solve
from .tensor.least_squares import exponential as matrix_exp
from .tensor.least_squares import householder_product, lstsq
from .tensor.lu import lu, lu_factor, lu_factor_ex, lu_solve
from .tensor.matrices import (
    LinAlgError,
    det,
    inv,
    inv_ex,
    slogdet,
    solve,
    solve_ex,
    tensorinv,
    tensorsolve,
    vander,
)
from .tensor.matrix_norms import cond, matrix_norm, matrix_rank
from .tensor.norms import linalg_norm as norm
from .tensor.norms import vector_norm
from .tensor.products import linalg_cross as cross
from .tensor.products import vecdot
from .tensor.shapes import matmul
from .tensor.triangular import solve_triangular
from .tensor.views import linalg_diagonal as diagonal

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

_attach_all(globals(), "linalg_")
