"""Checks of matrices."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import of


def check_square(x: Any, name: str) -> None:
    """RuntimeError with PyTorch's text unless `x` is a square matrix or a batch of them."""
    if x._data.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    rows, columns = x._data.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def check_float(x: Any, name: str) -> None:
    """RuntimeError with PyTorch's text for integers and bools."""
    if of(x._data).category < 2:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {of(x._data).title}"
        )
