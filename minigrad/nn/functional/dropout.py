"""Dropout in all its forms. Out of training, or for p = 0, the result is the input itself."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...core import F
from ...core.public import public
from ...core.tensor_state import wrap

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

ALPHA = 1.7580993408473766  # -scale · alpha of selu: the value for dropped numbers


def dropped(input: Any, p: float, training: bool, inplace: bool, feature: bool, alpha: bool) -> Any:
    """Return `input` with numbers (or whole channels: `feature`) set to 0, the others scaled by `1 / (1 -
    p)`; with `alpha` set to that of selu, and all brought back to mean 0 and variance 1.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not training or not input.numel():
        return input
    if p == 1:
        return times(input, F.zeros_of(input, ()), inplace)
    kept = noise_for(input, feature).bernoulli_(1 - p)
    if not alpha:
        return times(input, kept.div_(1 - p), inplace)
    a = 1 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    shift = (kept + -1).mul_(ALPHA * a).add_(ALPHA * a * p)
    return times(input, kept.mul_(a), inplace).add_(shift)


def times(input: Any, factor: Any, inplace: bool) -> Any:
    """Return the product, in place or not."""
    return input.mul_(factor) if inplace else input * factor


def noise_for(input: Any, feature: bool) -> Any:
    """Room for the noise: a number for each of the input, laid out in memory as they are, or (`feature`) for
    each sample and channel.
    """
    if not feature:
        return wrap(F.zeros_like(input._data))
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return F.zeros_of(input, (*input.shape[:2], *(1 for _ in input.shape[2:])))


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Return each element set to 0 with probability `p`, the others divided by 1 - p.

    Args:
        input: a tensor of any shape.
        p: the probability of 0.
        training: whether to do it at all; False returns `input`.
        inplace: whether to write the result into `input`.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: ValueError if `p` is not between 0 and 1.
    Derivative: `g` multiplied by the same zeros and factors.
    Source: torch.nn.functional.dropout

    >>> F.dropout(torch.tensor([1.0, 2.0]), training=False)
    tensor([1., 2.])
    """
    return dropped(input, p, training, inplace, False, False)


@public("function", out=None, name="dropout")
def torch_dropout(input: Any, p: float, train: bool) -> Any:
    """Return `dropout` as PyTorch has it in `torch` too."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return dropped(input, p, train, False, False, False)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Return the dropout for `selu`: mean and variance stay what they are."""
    return dropped(input, p, training, inplace, False, True)


def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Return `alpha_dropout` of whole channels."""
    return dropped(input, p, training, inplace, True, True)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Return the dropout of whole channels of (N, C, L) or (C, L)."""
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d "
            "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, "
            "and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return of_batch(input, 3, p, training, inplace)


def of_batch(input: Any, ndim: int, p: float, training: bool, inplace: bool) -> Any:
    """Return the dropout of whole channels; an input with fewer than `ndim` dimensions is a batch of one."""
    if input.ndim == ndim:
        return dropped(input, p, training, inplace, True, False)
    result = dropped(
        input.unsqueeze_(0) if inplace else input.unsqueeze(0), p, training, inplace, True, False
    )
    return result.squeeze_(0) if inplace else result.squeeze(0)


UNUSUAL = (
    "{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a "
    "future release. To retain the behavior and silence this warning, please use dropout instead. Note that "
    "{name} exists to provide channel-wise dropout on inputs with {n} spatial dimensions, a channel "
    "dimension, and an optional batch dimension (i.e. {a}D or {b}D inputs)."
)
NO_BATCH = (
    "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
    "desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will "
    "change in a future release to interpret the input as one without a batch dimension, i.e. shape (C, H, "
    "W). To maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead."
)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Return the dropout of whole channels of (N, C, H, W)."""
    if input.ndim not in (3, 4):
        text = UNUSUAL.format(name="dropout2d", ndim=input.ndim, n=2, a=3, b=4)
        warnings.warn(text, stacklevel=2)
    if input.ndim == 3:
        warnings.warn(NO_BATCH, stacklevel=2)
    return dropped(input, p, training, inplace, True, False)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Return the dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    if input.ndim not in (4, 5):
        text = UNUSUAL.format(name="dropout3d", ndim=input.ndim, n=3, a=4, b=5)
        warnings.warn(text, stacklevel=2)
    return of_batch(input, 5, p, training, inplace)
