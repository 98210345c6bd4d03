"""Factors of symmetric matrices that need not be positive-definite."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..dtypes import of
from ..op import F
from ..ops import ldl as ops
from ..tensor_base import numbers
from .contractions import check_float, check_square
from .factors import check_half
from .matrices import expanded
from .products import must_be_tensors
from .triangular import check_old


def ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """`ldl_factor`, and per matrix the first zero on the diagonal of D, 0 if there is none."""
    must_be_tensors("linalg_ldl_factor_ex", input=A)
    check_square(A, "torch.linalg.ldl_factor_ex")
    check_float(A, "torch.linalg.ldl_factor_ex")
    check_half(A, "ldl_factor_kernel_cpu")
    found = ops.linalg_ldl_factor_ex(A, hermitian)
    codes = numbers(found[2])
    if check_errors and np.any(codes):
        code = np.ravel(codes)[np.flatnonzero(codes)[0]]
        raise RuntimeError(
            f"torch.linalg.ldl_factor_ex: D[{code},{code}] is zero, using it would divide by zero"
        )
    return return_types.linalg_ldl_factor_ex(*found)


def ldl_factor(A: Any, *, hermitian: bool = False) -> Any:
    """L and D in one lower triangle, and the exchanges of rows, of a symmetric matrix (Hermitian if so):
    `L @ D @ L.mT`, where D has blocks of one or two rows. Only the lower triangle is read.
    """
    return return_types.linalg_ldl_factor(*ldl_factor_ex(A, hermitian=hermitian, check_errors=True)[:2])


def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    """The X with A @ X = B for the matrix A of which `ldl_factor` gave LD and pivots."""
    name = "torch.linalg.ldl_solve"
    must_be_tensors("linalg_ldl_solve", LD=LD, pivots=pivots, B=B)
    check_square(LD, name)
    shape = list(pivots._data.shape)
    if pivots._data.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {of(pivots._data).title}")
    if tuple(shape) != LD._data.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{shape} instead"
        )
    if B._data.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected B to have at least 2 dimensions, but it has {B._data.ndim} dimensions instead"
        )
    check_old(name, B, LD)
    check_half(LD, "ldl_solve_kernel_cpu")
    LD, B = expanded(LD, B)
    of_all = LD._data.shape[:-1]
    pivots = pivots if pivots._data.shape == of_all else F.expand(pivots, of_all)
    return ops.linalg_ldl_solve(LD, pivots, B, hermitian)
