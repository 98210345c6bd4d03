"""Least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..core import F
from ..ops import least_squares
from .factors import check_half
from .matrices import expanded, is_vector

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: str | None = None) -> Any:
    """The X for which A @ X - B is shortest (of several the shortest X), its residuals, the rank of A and its
    singular values; what the LAPACK driver of that name ("gelsy" without one) does not give is empty.
    """
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
