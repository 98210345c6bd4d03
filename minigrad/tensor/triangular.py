"""Systems of equations with a triangular matrix, and what a Cholesky factor gives."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import of
from ..core.public import public
from ..ops import triangular
from .contractions import check_square
from .factors import check_half
from .matrices import check_shapes, expanded
from .products import must_be_tensors


def solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """The X with A @ X = B (X @ A = B unless `left`), reading only the upper or lower triangle of A, and not
    its diagonal if that is 1 (`unitriangular`). A zero there makes X infinite.
    """
    if A._data.ndim < 2 or B._data.ndim < 2:
        which = "A" if A._data.ndim < 2 else "B"
        raise RuntimeError(
            f"linalg.solve_triangular: The input tensor {which} must have at least 2 dimensions."
        )
    check_square(A, "linalg.solve_triangular")
    check_shapes("linalg.solve_triangular", A._data.shape, B._data.shape[-2:], left)
    check_half(A, "triangular_solve_cpu")
    return triangular.linalg_solve_triangular(*expanded(A, B), upper, left, unitriangular)


def check_old(name: str, b: Any, A: Any) -> None:
    """PyTorch's errors for the older functions, which take the right side first."""
    if b._data.dtype != A._data.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {of(b._data).title} and A of type "
            f"{of(A._data).title} instead."
        )
    rows, columns = A._data.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    n, m = b._data.shape[-2:]
    if columns != n:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {rows} by {columns} but each b matrix "
            f"is {n} by {m}"
        )


# ── Cholesky
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public()
def cholesky(input: Any, upper: bool = False) -> Any:
    """Return the lower triangular L with `L @ L.mH` = input, or L.mH for `upper`; LinAlgError if there is
    none.
    """
    check_square(input, "cholesky")
    check_half(input, "cholesky_cpu")
    return triangular.cholesky(input, upper)


@public()
def cholesky_solve(B: Any, L: Any, upper: bool = False) -> Any:
    """Return the X with A @ X = B for the matrix A whose Cholesky factor is L, lower triangular unless
    `upper`.
    """
    must_be_tensors("cholesky_solve", input=B, input2=L)
    for name, x in (("b", B), ("u", L)):
        if x._data.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {x._data.ndim} dimensions instead"
            )
    check_old("cholesky_solve", B, L)
    check_half(L, "cholesky_solve_cpu")
    L, b = expanded(L, B)
    return triangular.cholesky_solve(b, L, upper)
