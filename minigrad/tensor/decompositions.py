"""Decompositions of matrices, the pseudoinverse and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..core import F
from ..core.public import public
from ..core.tensor_state import TensorBase, numbers
from ..ops import decompositions, inverses
from .matrices import checked, expanded, is_vector

# ── Cholesky and QR
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def cholesky(input: Any, *, upper: bool = False) -> Any:
    """The lower triangular L with `L @ L.mH` = input, symmetric (Hermitian) and positive-definite, or the
    upper triangular L.mH; only that triangle of the input is read. LinAlgError if there is none.
    """
    checked(input, "linalg.cholesky")
    return decompositions.linalg_cholesky_ex(input, upper)[0]


def qr(A: Any, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and the upper triangular R with A = Q @ R; mode "complete" gives a square Q
    and "r" none.
    """
    checked(A, "linalg.qr", square=False)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    return return_types.linalg_qr(*decompositions.linalg_qr(A, mode))


@public(out="same", name="qr")
def torch_qr(input: Any, some: bool = True) -> Any:
    """Return `linalg.qr`; with a square Q unless `some`."""
    return return_types.qr(*qr(input, "reduced" if some else "complete"))


# ── eigenvalues
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def eigh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues, ascending, and eigenvectors, as columns, of a symmetric (Hermitian) matrix, of which only
    the lower triangle (UPLO "U": the upper) is read.
    """
    checked(A, "linalg.eigh")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return return_types.linalg_eigh(*decompositions._linalg_eigh(A, UPLO))


def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Return the eigenvalues of a symmetric (Hermitian) matrix in ascending order."""
    return eigh(A, UPLO)[0]


def eig(A: Any) -> Any:
    """Eigenvalues, in no order, and eigenvectors, as columns of length 1, of a square matrix; complex."""
    return return_types.linalg_eig(*eig_of(A, "linalg.eig"))


def eigvals(A: Any) -> Any:
    """Return the eigenvalues of a square matrix, complex numbers in no order."""
    return eig_of(A, "linalg.eigvals")[0]


def eig_of(A: Any, name: str) -> Any:
    """Both; PyTorch's errors."""
    checked(A, name)
    if not np.isfinite(numbers(A)).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return decompositions._linalg_eig(A)


# ── singular values
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def svd_of(A: Any, full_matrices: bool) -> Any:
    """U, S, Vh."""
    checked(A, "linalg.svd", square=False)
    return decompositions._linalg_svd(A, full_matrices, min(A._data.shape[-2:]))


def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """U, S and Vh with A = U @ diag(S) @ Vh, the singular values S descending; U and Vh are square if
    `full_matrices`.
    """
    return return_types.linalg_svd(*svd_of(A, full_matrices))


def svdvals(A: Any, *, driver: Any = None) -> Any:
    """Return the singular values in descending order."""
    return svd_of(A, False)[1]


@public(out="same", name="svd")
def torch_svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """Return the singular value decomposition U diag(S) Vᴴ of a matrix or a batch of matrices.

    Args:
        input: a tensor of at least two dimensions.
        some: whether U and V have only the columns that belong to singular values.
        compute_uv: whether U and V are computed; else they are zeros.
    Shape: (…, n, m) → (…, n, k), (…, k) and (…, m, k) for k = min(n, m).
    Returns: the named tuple (U, S, V).
    Raises: RuntimeError for fewer than two dimensions.
    Derivative: `U diag(g_S) Vᴴ` for S; PyTorch's formula for U and V.
    Source: torch.svd

    >>> torch.svd(torch.tensor([[3.0, 0.0], [0.0, 2.0]])).S
    tensor([3., 2.])
    """
    u, s, vh = svd_of(input, not some)
    if not compute_uv:
        rows, columns = input._data.shape[-2:]
        zeros = [input.new_zeros((*input._data.shape[:-2], n, n)) for n in (rows, columns)]
        return return_types.svd(zeros[0], s, zeros[1])
    return return_types.svd(u, s, vh.mH)


def pinv(A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """Return the pseudoinverse; singular values up to max(atol, rtol · the largest) count as zero."""
    checked(A, "linalg.pinv", square=False)
    rtol = rcond if rtol is None else rtol
    raw = [numbers(x) if isinstance(x, TensorBase) else x for x in (atol, rtol)]
    return inverses.linalg_pinv(A, *raw, hermitian)


@public()
def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """Return the pseudoinverse; singular values up to rcond · the largest count as zero."""
    return pinv(input, rcond)


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: str | None = None) -> Any:
    """The X for which A @ X - B is shortest (of several the shortest X), its residuals, the rank of A and its
    singular values; what the LAPACK driver of that name ("gelsy" without one) does not give is empty.
    """
    checked(A, "torch.linalg.lstsq", square=False)
    a, b = A._data, B._data
    if b.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if a.dtype != b.dtype:
        raise RuntimeError("torch.linalg.lstsq: input and other dtypes must match")
    if driver is not None and driver not in DRIVERS:
        raise RuntimeError(f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(DRIVERS)})")
    vector = is_vector(a.shape, b.shape)
    rows = b.shape[-1] if vector else b.shape[-2]
    if a.shape[-2] != rows:
        place = -1 if vector else -2
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({place})")
    if vector:
        B = F.unsqueeze(B, -1)
    limit = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if rcond is None else rcond
    A, B = expanded(A, B)
    solution, *others = inverses.linalg_lstsq(A, B, limit, driver or "gelsy")
    return return_types.linalg_lstsq(F.squeeze_dim(solution, -1) if vector else solution, *others)
