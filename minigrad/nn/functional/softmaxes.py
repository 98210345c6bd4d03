"""Softmax, under the names of `torch.nn.functional`."""

from __future__ import annotations

from typing import Any

from ...tensor import statistics


def dimension(dim: int | None, ndim: int) -> int:
    """`dim`, or the dimension that PyTorch takes where none is given."""
    return (0 if ndim in (0, 1, 3) else 1) if dim is None else dim


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Exponentials along `dim`, divided by their sum, in `dtype`."""
    return statistics.softmax(input, dimension(dim, input.ndim), dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of softmax along `dim`, without overflow, in `dtype`."""
    return statistics.log_softmax(input, dimension(dim, input.ndim), dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Softmax of the negatives: the smallest element gets the greatest share."""
    return statistics.softmax(-input, dimension(dim, input.ndim), dtype)
