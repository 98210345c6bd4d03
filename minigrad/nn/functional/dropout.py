"""Dropout in all its forms. Out of training, or for p = 0, the result is the input itself."""

from __future__ import annotations

import warnings
from typing import Any

from ...core import F
from ...core.public import public
from ...core.tensor_state import wrap

__all__ = ["dropout", "dropout1d", "dropout2d"]


def dropped(input: Any, p: float, training: bool, inplace: bool, feature: bool) -> Any:
    """Set elements (or whole channels: `feature`) to 0 and multiply the others by `1 / (1 - p)`."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not training or not input.numel():
        return input
    if p == 1:
        factor = F.zeros_of(input, ())
    else:
        factor = noise_for(input, feature).bernoulli_(1 - p).div_(1 - p)
    return input.mul_(factor) if inplace else input * factor


def noise_for(input: Any, feature: bool) -> Any:
    """Allocate the noise: one number per element, in the memory layout of the input, or per channel
    (`feature`).
    """
    if not feature:
        return wrap(F.zeros_like(input._data))
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return F.zeros_of(input, (*input.shape[:2], *(1 for _ in input.shape[2:])))


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Set random elements to 0 and multiply the others by 1 / (1 − p).

    y = m · x / (1 − p), where each m is 0 with probability p and 1 otherwise. The derivative is m / (1 − p).

    Args:
        input: tensor of any shape.
        p: probability of an element being set to 0.
        training: False returns the input unchanged.
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Returns:
        The tensor with elements set to 0.

    Raises:
        ValueError: p is not between 0 and 1.

    Example:
        >>> F.dropout(torch.ones(2), p=1.0).tolist()
        [0.0, 0.0]

    Source: PyTorch's page `torch.nn.functional.dropout`; Srivastava et al., JMLR 15, 2014.
    """
    return dropped(input, p, training, inplace, False)


@public("function", name="dropout")
def torch_dropout(input: Any, p: float, train: bool) -> Any:
    """Return `dropout`, as `torch.dropout` spells it."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return dropped(input, p, train, False, False)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Apply dropout to whole channels of (N, C, L) or (C, L)."""
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d "
            "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, "
            "and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    if input.ndim == 3:
        return dropped(input, p, training, inplace, True)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = dropped(batch, p, training, inplace, True)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Apply dropout to whole channels of (N, C, H, W)."""
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is deprecated and will result "
            "in an error in a future release. To retain the behavior and silence this warning, please use "
            "dropout instead. Note that dropout2d exists to provide channel-wise dropout on inputs with 2 "
            "spatial dimensions, a channel dimension, and an optional batch dimension (i.e. 3D or 4D "
            "inputs).",
            stacklevel=2,
        )
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
            "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
            "will change in a future release to interpret the input as one without a batch dimension, i.e. "
            "shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using "
            "dropout1d instead.",
            stacklevel=2,
        )
    return dropped(input, p, training, inplace, True)
