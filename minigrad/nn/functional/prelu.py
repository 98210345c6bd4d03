"""PReLU."""

from __future__ import annotations

from typing import Any

from ...core import F
from ...core.public import public
from ...core.tensor_state import TensorBase

__all__ = ["prelu"]


def check_weight(weight: Any) -> None:
    """Raise PyTorch's TypeError unless `weight` is a tensor."""
    if not isinstance(weight, TensorBase):
        kind = type(weight).__name__
        raise TypeError(f"prelu(): argument 'weight' (position 2) must be Tensor, not {kind}")


@public("function", out=None)
def prelu(input: Any, weight: Any) -> Any:
    """Return x where x > 0, else `weight · x`: one weight, or one for each channel (dimension 1)."""
    check_weight(weight)
    if input._data.dtype != weight._data.dtype:
        kinds = f"{input.dtype.title} and {weight.dtype.title}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {kinds}")
    count, ndim = weight.numel(), input.ndim
    if count != 1:
        if ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if ndim > 1 else 1
        if channels != count:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} "
                f"and channel size = {channels}."
            )
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if ndim != weight.ndim:
        weight = weight.reshape([count if d == 1 else 1 for d in range(ndim)])
    return F._prelu_kernel(input, weight)
