"""Softmax, under the names of `torch.nn.functional`."""

from __future__ import annotations

import warnings
from typing import Any

from ...core import F
from ...tensor import statistics

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]


def dimension(name: str, dim: int | None, ndim: int, stacklevel: int) -> int:
    """`dim`, or the dimension that PyTorch takes where none is given, with its warning."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        "argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return y = eˣ / Σ eˣ along a dimension, so that the elements sum to 1.

    The gradient with respect to x is y · (g − Σ g · y).

    Args:
        input: tensor of any shape.
        dim: dimension along which the elements sum to 1; None is deprecated.
        dtype: dtype to compute in; that of the input if None.

    Shape:
        (*) → (*).

    Returns:
        The softmax.

    Raises:
        IndexError: the input has no such dimension.

    Example:
        >>> F.softmax(torch.zeros(1, 2), dim=1).tolist()
        [[0.5, 0.5]]

    Source: PyTorch's page `torch.nn.functional.softmax`.
    """
    return statistics.softmax(input, dimension("softmax", dim, input.ndim, _stacklevel), dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return y = x − log Σ eˣ along a dimension: the logarithm of the softmax, without overflow.

    The gradient with respect to x is g − eʸ · Σ g.

    Args:
        input: tensor of any shape.
        dim: dimension along which the elements of eʸ sum to 1; None is deprecated.
        dtype: dtype to compute in; that of the input if None.

    Shape:
        (*) → (*).

    Returns:
        The logarithm of the softmax.

    Raises:
        IndexError: the input has no such dimension.

    Example:
        >>> F.log_softmax(torch.tensor([[1000.0, 0.0]]), dim=1).tolist()
        [[0.0, -1000.0]]

    Source: PyTorch's page `torch.nn.functional.log_softmax`.
    """
    return statistics.log_softmax(input, dimension("log_softmax", dim, input.ndim, _stacklevel), dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Softmax of the negatives: the smallest element gets the greatest share."""
    return statistics.softmax(-input, dimension("softmin", dim, input.ndim, _stacklevel), dtype)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A random share for each class along `dim`, as if drawn by the probabilities of `logits`, sharper for a
    lower `tau`; `hard`: 1 for the greatest and 0 for the others, with the gradient of the shares.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -F.zeros_of(logits.detach(), tuple(logits.shape)).exponential_().log()
    shares = statistics.softmax((logits + gumbels) / tau, dim)
    if not hard:
        return shares
    chosen = F.zeros_of(logits.detach(), tuple(logits.shape))
    chosen = chosen.scatter_(dim, shares.max(dim, keepdim=True)[1], 1.0)
    return chosen - shares.detach() + shares
