"""Where pickles of earlier versions look for dtypes, which are in `core.dtypes`."""

from __future__ import annotations

from .core.dtypes import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)

NAMES = (bool_, complex64, complex128, float16, float32, float64, int8, int16, int32, int64, uint8)
