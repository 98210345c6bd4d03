"""Softmax, under the names of `torch.nn.functional`."""

from __future__ import annotations

import warnings
from typing import Any

from ...core import F
from ...tensor import statistics

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]


def dimension(name: str, dim: int | None, ndim: int, stacklevel: int) -> int:
    """Return `dim`, or the dimension that PyTorch takes where none is given, with its warning."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        "argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return the exponentials along `dim`, divided by their sum.

    Args:
        input: a tensor of any shape.
        dim: the dimension of the classes; give it, for the default is deprecated.
        dtype: the dtype in which the result is computed.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `result * (g - (g * result).sum(dim))`.
    Source: torch.nn.functional.softmax

    >>> F.softmax(torch.tensor([0.0, 1.0]), dim=0)
    tensor([0.2689, 0.7311])
    """
    return statistics.softmax(input, dimension("softmax", dim, input.ndim, _stacklevel), dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return the logarithm of the softmax along `dim`, computed without overflow.

    Args:
        input: a tensor of any shape.
        dim: the dimension of the classes; give it, for the default is deprecated.
        dtype: the dtype in which the result is computed.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g - exp(result) * g.sum(dim)`.
    Source: torch.nn.functional.log_softmax

    >>> F.log_softmax(torch.tensor([0.0, 1.0]), dim=0)
    tensor([-1.3133, -0.3133])
    """
    return statistics.log_softmax(input, dimension("log_softmax", dim, input.ndim, _stacklevel), dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return the softmax of the negatives: the smallest element gets the largest share."""
    return statistics.softmax(-input, dimension("softmin", dim, input.ndim, _stacklevel), dtype)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """Return a random share for each class along `dim`, as if drawn by the probabilities of `logits`, sharper
    for a lower `tau`; `hard`: 1 for the largest and 0 for the others, with the gradient of the shares.
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
