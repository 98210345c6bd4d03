"""Gradients that are too large, made smaller."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from ...autograd import no_grad
from ...core.shown_signature import shown_as
from ...creation import tensor
from ...linalg import vector_norm
from ...ops.joining import stack
from ...tensor import Tensor


def gradients(parameters: Any) -> list[Any]:
    """The gradients of parameters, of those that have one."""
    every = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in every if p.grad is not None]


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Tensor:
    """The norm of all tensors as if they were one vector."""
    every = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not every:
        return tensor(0.0)
    with no_grad():
        total = vector_norm(stack([vector_norm(t, float(norm_type)) for t in every]), float(norm_type))
    if error_if_nonfinite and not abs(total.item()) < float("inf"):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so "
            "it cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
            "anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: Any = None,
) -> Tensor:  # fmt: skip
    """Scale all gradients, in place, so that their norm as one vector is at most `max_norm`; returns the norm
    that they had.
    """
    every = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(gradients(every), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(every, max_norm, total)
    return total


@shown_as(clip_grad_norm_)
def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """Deprecated: `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: Any = None
) -> None:
    """Scale all gradients, in place, so that their norm becomes at most `max_norm`, given that it is
    `total_norm`.
    """
    with no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
        for gradient in gradients(parameters):
            gradient.mul_(factor)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: Any = None) -> None:
    """Bring every number of the gradients into [-clip_value, clip_value], in place."""
    bound = float(clip_value)
    with no_grad():
        for gradient in gradients(parameters):
            gradient.clamp_(min=-bound, max=bound)
