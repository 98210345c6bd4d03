"""Approximate factors of large matrices, from random products with them."""

from __future__ import annotations

from typing import Any

from ..creation import randn
from .factors import qr, svd
from .products import must_be_tensors
from .shapes import matmul


def product_of(A: Any, M: Any, x: Any) -> Any:
    """`(A - M) @ x`."""
    return matmul(A, x) if M is None else matmul(A, x) - matmul(M, x)


def turned(x: Any) -> Any:
    """The adjoint of a matrix that may not be there."""
    return None if x is None else x.mH


def basis(A: Any, q: int, niter: int, M: Any) -> Any:
    """Orthonormal columns that nearly span the columns of A - M: of a random product, made better `niter`
    times by multiplying with the adjoint and with the matrix.
    """
    Q = qr(product_of(A, M, randn(A._data.shape[-1], q, dtype=A.dtype)))[0]
    for _ in range(niter):
        Q = qr(product_of(A.mH, turned(M), Q))[0]
        Q = qr(product_of(A, M, Q))[0]
    return Q


def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:
    """U, S and V of a matrix near A - M of rank q: the first of its singular values, approximately. They
    depend on random numbers.
    """
    must_be_tensors("svd_lowrank", A=A)
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    rows, columns = A._data.shape[-2:]
    M = None if M is None else M.broadcast_to(A._data.shape)
    wide = rows < columns
    if wide:
        A, M = A.mH, turned(M)
    Q = basis(A, q, niter, M)
    inside = matmul(Q.mH, A) if M is None else matmul(Q.mH, A) - matmul(Q.mH, M)
    U, S, Vh = svd(inside, False)
    U, V = matmul(Q, U), Vh.mH
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """`svd_lowrank` of a matrix with a sample in each row, less the mean row if `center`: the columns of V
    are the principal directions.
    """
    must_be_tensors("pca_lowrank", A=A)
    least = min(A._data.shape[-2:])
    if q is None:
        q = min(6, least)
    elif not 0 <= q <= least:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
