"""Sums of gradients over broadcast dimensions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

ROWS = 4096  # the largest number of ones that is kept, for sums over rows


@functools.lru_cache(64)
def ones(count: int, dtype: Any) -> np.ndarray:
    """Return a row of ones, which must not be modified."""
    return np.ones(count, dtype)


def sum_to(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum raw `gradient` over the dimensions along which `shape` was broadcast."""
    if gradient.shape == shape:
        return gradient
    lead = gradient.ndim - len(shape)
    if len(shape) == 1 and gradient.shape[lead] == shape[0] and gradient.dtype.char in "fd":
        rows = gradient if lead == 1 else gradient.reshape(-1, shape[0])
        if len(rows) <= ROWS and rows.flags.c_contiguous:  # a bias: a product is three times as fast
            return ones(len(rows), rows.dtype).dot(rows)
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and gradient.shape[i + lead] != 1
    )
    total = np.add.reduce(gradient, axis=axes) if axes else gradient
    if total.shape == shape:
        return total  # a view of it would be copied into `.grad`
    return total.reshape(shape)[()]
