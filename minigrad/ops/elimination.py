"""Gauss's elimination with exchange of rows, on arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

BLOCK = 48  # columns at a time; what they leave of the rest is one product of matrices


def eliminated(a: Any) -> tuple[Any, Any, Any]:
    """The LU factors of each matrix in one array, the rows exchanged (counted from 1), and the first zero on
    the diagonal (counted from 1; 0 if there is none).
    """
    shape = a.shape
    *lead, rows, columns = shape
    a = np.array(a).reshape(math.prod(lead), rows, columns)
    n = min(rows, columns)
    pivots = np.zeros((len(a), n), np.int32)
    info = np.zeros(len(a), np.int32)
    for start in range(0, n if len(a) else 0, BLOCK):
        stop = min(start + BLOCK, n)
        eliminate_columns(a, pivots, info, start, stop)
        if stop < columns:
            lower = np.tril(a[:, start:stop, start:stop], -1) + np.eye(stop - start, dtype=a.dtype)
            a[:, start:stop, stop:] = np.linalg.solve(lower, a[:, start:stop, stop:])
            a[:, stop:, stop:] -= a[:, stop:, start:stop] @ a[:, start:stop, stop:]
    return a.reshape(shape), pivots.reshape(*lead, n), info.reshape(lead)


def eliminate_columns(a: Any, pivots: Any, info: Any, start: int, stop: int) -> None:
    """The columns from `start` to `stop`, below the rows that are done; rows are exchanged as a whole."""
    batch = np.arange(len(a))
    for k in range(start, stop):
        row = k + np.argmax(sizes(a[:, k:, k]), axis=1)
        pivots[:, k] = row + 1
        a[batch, k], a[batch, row] = a[batch, row].copy(), a[batch, k].copy()
        pivot = a[:, k, k]
        info[(pivot == 0) & (info == 0)] = k + 1
        a[:, k + 1 :, k] /= np.where(pivot == 0, 1, pivot)[:, None]
        a[:, k + 1 :, k + 1 : stop] -= a[:, k + 1 :, k, None] * a[:, k, None, k + 1 : stop]


def sizes(x: Any) -> Any:
    """How large numbers are, as LAPACK measures it: of complex ones |a| + |b|."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)
