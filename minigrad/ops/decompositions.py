"""Decompositions of matrices: Cholesky, QR, eigenvectors and singular values.

Derivatives as in PyTorch's FunctionsManual.cpp; an inverse stands for its triangular solves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..core import F, composite, differentiable, is_symbol
from ..core.public import public
from ..core.tensor_state import TensorBase, numbers, wrap
from . import inverses
from .arithmetic import plus
from .copies import cast_back
from .inverses import (
    LinAlgError,
    adjoint,
    check_matrix,
    expand_batches,
    inverse_of,
    is_complex_dtype,
    is_vector,
)
from .kernels import only_first

# ─── Decompositions of matrices: Cholesky, QR, eigenvectors and singular values


@composite
def off_diagonal(x: Any) -> Any:
    """`x` with 1 on the diagonal. A formula does not show it."""
    if is_symbol(x):
        return x
    diagonal = np.eye(x.shape[-1]) == 1
    if isinstance(x, TensorBase):
        return F.masked_fill(x, wrap(diagonal), 1)
    return np.where(diagonal, x.dtype.type(1), x)


def differences(values: Any) -> Any:
    """`values[j] - values[i]` for each pair, and 1 on the diagonal."""
    return off_diagonal(F.unsqueeze(values, -2) - F.unsqueeze(values, -1))


def halve_diagonal(x: Any) -> Any:
    """`x` with half of its diagonal."""
    return x - F.mul_scalar(F.diag_embed(F.diagonal(x, 0, -2, -1), 0, -2, -1), 0.5)


# ── Cholesky
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def cholesky_vjp(g, L, upper):
    """`Lᐨᴴ @ Φ(Lᴴ @ g) @ Lᐨ`, Φ taking the Hermitian part of the lower triangle."""
    factor, g = (adjoint(L), adjoint(g)) if upper else (L, g)
    lower = F.tril(adjoint(factor) @ g, 0)
    middle = F.mul_scalar(lower + adjoint(F.tril(lower, -1)), 0.5)
    inverse = inverse_of(factor)
    return adjoint(inverse) @ (middle @ inverse)


def cholesky_jvp(self_t, L, info, upper):
    """`L @ Φ(Lᐨ @ dA @ Lᐨᴴ)`, Φ taking the lower triangle with half of the diagonal."""
    factor = adjoint(L) if upper else L
    inverse = inverse_of(factor)
    change = factor @ halve_diagonal(F.tril((inverse @ self_t) @ adjoint(inverse), 0))
    return (adjoint(change) if upper else change), F.zeros_like(info)


@differentiable(
    self=lambda grads, L, upper: cholesky_vjp(grads[0], L, upper),
    complexes=True,
    jvp=cholesky_jvp,
    **only_first("L", "info"),
)
def linalg_cholesky_ex(self, upper=False):
    """Return the triangular L with `L @ Lᴴ = self` (`Lᴴ @ L` for `upper`), and 0 for each matrix."""
    a = np.triu(self).conj().mT if upper else self
    try:
        factor = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.cholesky: The factorization could not be completed because the input is not "
            "positive-definite."
        ) from None
    return (factor.conj().mT if upper else factor), np.zeros(a.shape[:-2], np.int32)


def qr_vjp(grads, Q, R, mode):
    """That of a matrix with at least as many rows as columns, or with fewer."""
    of_q, of_r = grads
    rows, columns = Q.shape[-2], R.shape[-1]
    if mode == "r" or (mode == "complete" and rows > columns):
        raise RuntimeError(
            f"The derivative of linalg.qr(mode={mode!r}) is not defined for these sizes: use mode='reduced'"
        )
    inside = None if of_r is None else of_r @ adjoint(R)
    if of_q is not None:
        turned = adjoint(Q) @ of_q
        inside = -turned if inside is None else inside - turned
    if rows >= columns:
        upper = F.triu(inside, 0)
        result = Q @ halve_diagonal(upper + adjoint(upper))
        return plus(of_q, result) @ adjoint(inverse_of(R))
    lower = halve_diagonal(F.tril(adjoint(inside) - inside, 0))
    square = F.slice(R, -1, 0, rows, 1)
    first = lower @ adjoint(inverse_of(square))
    wide = F.constant_pad_nd(first, (0, columns - rows))
    return Q @ plus(wide, of_r)


@differentiable(A=qr_vjp, complexes=True, several=("Q", "R"))
def linalg_qr(A, mode="reduced"):
    """Q with orthonormal columns and the upper triangular R with `A = Q @ R`."""
    if mode == "r":
        return np.zeros(0, A.dtype), np.linalg.qr(A, mode="r")
    return tuple(np.linalg.qr(A, mode=mode))


# ── eigenvalues
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def eigh_vjp(grads, eigenvalues, eigenvectors):
    """`V @ (diag(gₗ) + (Vᴴ @ gᵥ) / (λⱼ - λᵢ)) @ Vᴴ`."""
    of_values, of_vectors = grads
    turned = adjoint(eigenvectors)
    if of_vectors is None:
        return (eigenvectors * F.unsqueeze(of_values, -2)) @ turned
    inside = (turned @ of_vectors) / differences(eigenvalues)
    inside = inside - F.diag_embed(F.diagonal(inside, 0, -2, -1), 0, -2, -1)
    if of_values is not None:
        inside = inside + F.diag_embed(of_values, 0, -2, -1)
    whole = eigenvectors @ (inside @ turned)
    return F.mul_scalar(whole + adjoint(whole), 0.5)  # the Hermitian part


@differentiable(A=eigh_vjp, complexes=True, several=("eigenvalues", "eigenvectors"))
def _linalg_eigh(A, UPLO="L"):
    """Return the eigenvalues in ascending order, and eigenvectors as columns, of symmetric (Hermitian)
    matrices.
    """
    return tuple(np.linalg.eigh(A, UPLO.upper()))


# ── singular values
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def skew(x: Any) -> Any:
    """`x - xᴴ`."""
    return x - adjoint(x)


def svd_vjp(grads, U, S, Vh, full_matrices, S_sym_argsize_minus_1):
    """Composed as in PyTorch's `svd_backward`."""
    of_u, of_s, of_vh = grads
    k, rows, columns = S_sym_argsize_minus_1, U.shape[-2], Vh.shape[-1]
    if full_matrices:
        U, Vh = F.slice(U, -1, 0, k, 1), F.slice(Vh, -2, 0, k, 1)
        of_u = of_u if of_u is None else F.slice(of_u, -1, 0, k, 1)
        of_vh = of_vh if of_vh is None else F.slice(of_vh, -2, 0, k, 1)
    if of_u is None and of_vh is None:
        return (U * F.unsqueeze(of_s, -2)) @ Vh
    across, down = F.unsqueeze(S, -2), F.unsqueeze(S, -1)
    gaps = differences(S * S)
    inside = None if of_s is None else F.diag_embed(of_s, 0, -2, -1)
    if of_u is not None:
        turned = skew(adjoint(U) @ of_u)
        inside = plus(inside, (turned * across) / gaps)
        if is_complex_dtype(U.dtype):
            diagonal = F.diagonal(turned, 0, -2, -1) / F.mul_scalar(S, 2)
            inside = inside + F.diag_embed(diagonal, 0, -2, -1)
    if of_vh is not None:
        inside = plus(inside, (down * skew(Vh @ adjoint(of_vh))) / gaps)
    if rows > k and of_u is not None:
        scaled = of_u / across
        return (U @ inside + (scaled - U @ (adjoint(U) @ scaled))) @ Vh
    if columns > k and of_vh is not None:
        scaled = of_vh / down
        return U @ (inside @ Vh + (scaled - (scaled @ adjoint(Vh)) @ Vh))
    return U @ (inside @ Vh)


@differentiable(A=svd_vjp, complexes=True, several=("U", "S", "Vh"))
def _linalg_svd(A, full_matrices, S_sym_argsize_minus_1):
    """U, S and Vh with `A = U @ diag(S) @ Vh`; the last argument is how many singular values there are."""
    return tuple(np.linalg.svd(A, full_matrices))


def eig_vjp(grads, A_scalar_type, eigenvalues, eigenvectors):
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


@differentiable(A=eig_vjp, complexes=True, several=("eigenvalues", "eigenvectors"))
def _linalg_eig(A):
    """Return the eigenvalues in no order, and eigenvectors of length 1 as columns."""
    kind = np.result_type(A.dtype, np.complex64)
    values, vectors = np.linalg.eig(A)
    return values.astype(kind), vectors.astype(kind)


# ─── Decompositions of matrices, the pseudoinverse and least squares


# ── Cholesky and QR
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def cholesky(input: Any, *, upper: bool = False) -> Any:
    """The lower triangular L with `L @ L.mH` = input, symmetric (Hermitian) and positive-definite, or the
    upper triangular L.mH; only that triangle of the input is read. LinAlgError if there is none.
    """
    check_matrix(input, "linalg.cholesky")
    return linalg_cholesky_ex(input, upper)[0]


def qr(A: Any, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and the upper triangular R with A = Q @ R; mode "complete" gives a square Q
    and "r" none.
    """
    check_matrix(A, "linalg.qr", square=False)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    return return_types.linalg_qr(*linalg_qr(A, mode))


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
    check_matrix(A, "linalg.eigh")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return return_types.linalg_eigh(*_linalg_eigh(A, UPLO))


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
    check_matrix(A, name)
    if not np.isfinite(numbers(A)).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return _linalg_eig(A)


# ── singular values
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def svd_of(A: Any, full_matrices: bool) -> Any:
    """U, S, Vh."""
    check_matrix(A, "linalg.svd", square=False)
    return _linalg_svd(A, full_matrices, min(A._data.shape[-2:]))


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
    check_matrix(A, "linalg.pinv", square=False)
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
    check_matrix(A, "torch.linalg.lstsq", square=False)
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
    A, B = expand_batches(A, B)
    solution, *others = inverses.linalg_lstsq(A, B, limit, driver or "gelsy")
    return return_types.linalg_lstsq(F.squeeze_dim(solution, -1) if vector else solution, *others)
