"""Elementwise ops on one large float16 array, whose results are looked up.

NumPy computes float16 element by element in software, ten to fifty times slower than PyTorch. But an array
of it has at most 65,536 different elements: the kernel runs on each of these once, which gives the same
results bit by bit in a fifth of the time for a million elements.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .op import NUMBER_CLASSES, Op

HALF = np.dtype(np.float16)
EVERY = np.arange(2**16, dtype=np.uint16).view(HALF)
LARGE = 2**16  # from this size on a table costs no more than the results
PART = 2**14  # so many indices fit the cache
VECTORIZED = frozenset((  # as fast in NumPy on processors with AVX-512, or without numbers
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "copy", "cos", "cosh", "exp", "exp2", "expm1",
    "fill", "log", "log10", "log1p", "log2", "neg", "sin", "sinh", "tan", "tanh", "zero",
))  # fmt: skip


def table_helps(op: Op, raws: list[Any]) -> bool:
    """Return whether the results of a kernel on these arguments can be looked up, and are many."""
    first = raws[0]
    return bool(
        first.__class__ is np.ndarray
        and first.dtype == HALF
        and first.size >= LARGE
        and first.flags.c_contiguous
        and op.elementwise
        and op.name not in VECTORIZED
        and all(v is None or isinstance(v, str) or v.__class__ in NUMBER_CLASSES for v in raws[1:])
    )


@functools.lru_cache(8)
def table_of(op: Op, text: str, *others: Any) -> np.ndarray:
    """Return all results. The last tables are kept; `text` tells apart arguments that are equal."""
    table: np.ndarray = op.kernel(EVERY, *others)
    return table


def look_up(op: Op, first: np.ndarray, *others: Any) -> np.ndarray:
    """Return the results of the kernel of `op`."""
    table = table_of(op, repr(others), *others)
    bits = first.reshape(-1).view(np.uint16)
    out = np.empty(bits.shape, table.dtype)
    for i in range(0, len(bits), PART):
        table.take(bits[i : i + PART], out=out[i : i + PART], mode="wrap")
    return out.reshape(first.shape)
