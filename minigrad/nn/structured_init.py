"""Initialization with structure: truncated, orthogonal, sparse and identity weights."""

from __future__ import annotations

import math
from typing import Any

from ..autograd import no_grad
from ..core import F
from ..linalg import qr
from ..tensor import Tensor


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Any = None,
) -> Tensor:  # fmt: skip
    """Fill a tensor from a normal distribution truncated to [a, b].

    Values outside are drawn again. Where that would be nearly all, the inverse of the distribution
    function is used, and the numbers differ from PyTorch's.
    """
    low, high = distribution((a - mean) / std), distribution((b - mean) / std)
    with no_grad():
        if high - low <= 0.3:
            tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
            tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean)
            return tensor.clamp_(min=a, max=b)
        drawn = tensor.normal_(mean, std, generator=generator).detach()
        while bool((outside := F.logical_or(drawn < a, drawn > b)).any()):
            again = F.zeros_like(drawn).normal_(mean, std, generator=generator)
            drawn = F.where(outside, again, drawn)
        return tensor.copy_(drawn)


def distribution(x: float) -> float:
    """Return the normal distribution function at `x`."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill a matrix with random orthogonal rows or columns, times `gain` (Saxe et al., 2013).

    The dimensions after the first are joined.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    with no_grad():
        drawn = F.zeros_of(tensor, (len(tensor), tensor.numel() // len(tensor)))
        drawn = drawn.normal_(0, 1, generator=generator)
        is_wide = drawn.shape[0] < drawn.shape[1]
        q, r = qr(drawn.t() if is_wide else drawn)
        q = q * r.diagonal().sign()
        tensor.copy_((q.t() if is_wide else q).reshape(tensor.shape))
        return tensor.mul_(gain)
