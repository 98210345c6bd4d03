"""Least squares, products of Householder reflections, and the exponential of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..dtypes import of
from ..op import F
from ..ops import least_squares, matrix_exp, reflections
from ..tensor_base import TensorBase
from .contractions import check_float, check_square
from .factors import check_half
from .matrices import expanded, is_vector
from .products import must_be_tensors

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: str | None = None) -> Any:
    """The X for which A @ X - B is shortest (of several the shortest X), its residuals, the rank of A and its
    singular values; what the LAPACK driver of that name ("gelsy" without one) does not give is empty.
    """
    must_be_tensors("linalg_lstsq", input=A, b=B)
    a, b = A._data, B._data
    if a.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
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
    check_half(A, "linalg_lstsq_cpu")
    if vector:
        B = F.unsqueeze(B, -1)
    limit = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if rcond is None else rcond
    A, B = expanded(A, B)
    solution, *others = least_squares.linalg_lstsq(A, B, limit, driver or "gelsy")
    return return_types.linalg_lstsq(F.squeeze_dim(solution, -1) if vector else solution, *others)


# ── reflections
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_factors(name: str, input: Any, tau: Any) -> None:
    """PyTorch's errors for the factors of reflections, after those for their vectors."""
    a, t = input._data, tau._data
    if a.ndim - t.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {t.ndim} "
            f"and input.ndim is equal to {a.ndim}"
        )
    if t.shape[:-1] != a.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(t.shape[:-1])}"
        )
    if t.dtype != a.dtype:
        raise RuntimeError(f"{name}: tau dtype {of(t).title} does not match input dtype {of(a).title}")


def householder_product(A: Any, tau: Any) -> Any:
    """The first columns, as many as A has, of the product of the reflections `I - τ · v @ v.mH`, whose
    vectors v stand below the diagonal of A.
    """
    name = "torch.linalg.householder_product"
    must_be_tensors("linalg_householder_product", input=A, tau=tau)
    shape = A._data.shape
    if len(shape) < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if shape[-2] < shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if shape[-1] < tau._data.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    check_factors(name, A, tau)
    check_half(A, "orgqr_cpu")
    return reflections.linalg_householder_product(A, tau)


def orgqr(input: Any, tau: Any) -> Any:
    """`linalg.householder_product`."""
    return householder_product(input, tau)


def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """The whole product Q of the reflections in `input` times a matrix, Q @ other (other @ Q unless `left`),
    or with the adjoint of Q.
    """
    must_be_tensors("ormqr", input=input, input2=tau, input3=other)
    a, c = input._data.shape, other._data.shape
    for name, shape in (("input", a), ("other", c)):
        if len(shape) < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    side = -2 if left else -1
    if c[side] != a[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if tau._data.shape[-1] != min(c[side], a[-1]):
        raise RuntimeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    check_factors("torch.ormqr", input, tau)
    check_half(input, "ormqr_cpu")
    return reflections.ormqr(input, tau, other, left, transpose)


def geqrf(input: Any) -> Any:
    """The QR factors of a matrix as LAPACK keeps them: R with the vectors of reflections below its diagonal,
    and their factors.
    """
    must_be_tensors("geqrf", input=input)
    if input._data.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_half(input, "geqrf_cpu")
    return return_types.geqrf(*reflections.geqrf(input))


# ── exponential
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def exponential(A: Any) -> Any:
    """The exponential of a square matrix, or of each in a batch: I + A + A @ A / 2! + …"""
    must_be_tensors("linalg_matrix_exp", input=A)
    check_square(A, "linalg.matrix_exp")
    check_float(A, "linalg.matrix_exp")
    return matrix_exp.linalg_matrix_exp(A)


class LeastSquares(TensorBase):
    """QR factors as reflections, and exponentials."""

    __slots__ = ()

    geqrf, matrix_exp, orgqr, ormqr = geqrf, exponential, orgqr, ormqr
