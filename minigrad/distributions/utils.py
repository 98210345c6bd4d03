"""Parameters of distributions: numbers among tensors, probabilities and logits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd import enable_grad
from ..core.dtypes import get_default_dtype
from ..creation import tensor
from ..left_out import refusing as _refusing
from ..nn.functional import softmax
from ..ops.joining import broadcast_tensors
from ..tensor import Tensor
from ..tensor.properties import finfo

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits"]


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Return tensors of one shape. A number becomes a tensor of the dtype of the first tensor, or of the
    default one.
    """
    tensors = [value for value in values if isinstance(value, Tensor)]
    if not all(isinstance(value, Tensor | float | int) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
            "__torch_function__."
        )
    dtype = tensors[0].dtype if tensors else get_default_dtype()
    return broadcast_tensors(*(v if isinstance(v, Tensor) else tensor(v, dtype=dtype) for v in values))


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Return the probabilities of log-odds (`is_binary`) or of log-probabilities (of the last dimension)."""
    return logits.sigmoid() if is_binary else softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Return probabilities that are neither 0 nor 1, by the smallest step of the dtype."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Return log-odds (`is_binary`) or log-probabilities. They are finite: the probabilities are clamped."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def lazy_property(compute: Callable[[Any], Tensor]) -> Any:
    """Return a property that is computed once, with gradients even where none are recorded: what is read
    first in a `sample` may be differentiated later.
    """

    @functools.wraps(compute)
    def with_gradients(self: Any) -> Tensor:
        with enable_grad():
            return compute(self)

    return functools.cached_property(with_gradients)


__getattr__ = _refusing("distributions.utils")
