"""Softmax, under the names of `torch.nn.functional`."""

from __future__ import annotations

import warnings
from typing import Any

from ...core import F

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]


def dimension(name: str, dim: int | None, input: Any, stacklevel: int) -> int:
    """Return `dim`; without one, the dimension that PyTorch chooses, with its warning."""
    if dim is not None:
        return dim
    ndim = input.dim()
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
    dim = dimension("softmax", dim, input, _stacklevel)
    return input.softmax(dim, dtype=dtype)


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
    dim = dimension("log_softmax", dim, input, _stacklevel)
    return input.log_softmax(dim, dtype=dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return the softmax of `-input`: the smallest element gets the largest weight."""
    dim = dimension("softmin", dim, input, _stacklevel)
    return (-input).softmax(dim, dtype=dtype)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """Draw a random distribution over the classes along `dim`, with the probabilities of `logits` (Jang et
    al., 2016).

    A lower `tau` makes it sharper. `hard` returns 1 for the maximum and 0 for the others, with the
    gradient of the soft result.
    """
    gumbels = -F.zeros_of(logits.detach(), tuple(logits.shape)).exponential_().log()
    shares = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return shares
    chosen = F.zeros_of(logits.detach(), tuple(logits.shape))
    chosen = chosen.scatter_(dim, shares.max(dim, keepdim=True)[1], 1.0)
    return chosen - shares.detach() + shares
