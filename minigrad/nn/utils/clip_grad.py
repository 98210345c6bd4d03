"""Clipping gradients."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from ...autograd import no_grad
from ...core.public import shown_as
from ...creation import tensor
from ...ops.joining import stack
from ...ops.norms import vector_norm
from ...tensor import Tensor


def gradients_of_parameters(parameters: Any) -> list[Any]:
    """Return the gradients of the parameters that have one."""
    every = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in every if p.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: Any = None,
) -> Tensor:  # fmt: skip
    """Scale all gradients, in place, so that their norm as one vector is at most `max_norm`.

    g ← g · min(1, max_norm / (norm + 1e-6)).

    Args:
        parameters: one parameter or several; those without a gradient are skipped.
        max_norm: largest norm allowed.
        norm_type: p of the p-norm; inf for the maximum.
        error_if_nonfinite: True raises an error for a norm that is infinite or NaN.
        foreach: accepted and ignored.

    Returns:
        The norm before the scaling.

    Raises:
        RuntimeError: the norm is not finite and error_if_nonfinite is True.

    Example:
        >>> p = nn.Parameter(torch.tensor([3.0, 4.0]))
        >>> (p * p / 2).sum().backward()
        >>> nn.utils.clip_grad_norm_([p], max_norm=1.0).item()
        5.0

    Source: PyTorch's page `torch.nn.utils.clip_grad_norm_`; Pascanu et al., 2012, arXiv:1211.5063.
    """
    every, order = gradients_of_parameters(parameters), float(norm_type)
    if not every:
        return tensor(0.0)
    with no_grad():
        total = vector_norm(stack([vector_norm(gradient, order) for gradient in every]), order)
        if error_if_nonfinite and not abs(total.item()) < float("inf"):
            raise RuntimeError(
                f"The total norm of order {order} for gradients from `parameters` is non-finite, so it "
                "cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
                "anyway, set `error_if_nonfinite=False`"
            )
        factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for gradient in every:
            gradient.mul_(factor)
    return total


@shown_as(clip_grad_norm_)
def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """Call `clip_grad_norm_`, with a warning: this is its deprecated name.

    Args:
        parameters: as for `clip_grad_norm_`, like the others.
        max_norm: largest norm allowed.
        norm_type: p of the p-norm; inf for the maximum.
        error_if_nonfinite: True raises an error for a norm that is infinite or NaN.
        foreach: accepted and ignored.

    Returns:
        The norm before the scaling.

    Raises:
        RuntimeError: as for `clip_grad_norm_`.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     nn.utils.clip_grad_norm([nn.Parameter(torch.ones(2))], 1.0).item()
        0.0

    Source: PyTorch's page `torch.nn.utils.clip_grad_norm`.
    """
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: Any = None) -> None:
    """Clamp every element of the gradients to [−clip_value, clip_value], in place.

    Args:
        parameters: one parameter or several; those without a gradient are skipped.
        clip_value: largest absolute value allowed.
        foreach: accepted and ignored.

    Returns:
        None.

    Raises:
        ValueError: clip_value is not a number.

    Example:
        >>> p = nn.Parameter(torch.tensor([3.0, 0.5]))
        >>> (p * p / 2).sum().backward()
        >>> nn.utils.clip_grad_value_([p], 1.0)
        >>> p.grad.tolist()
        [1.0, 0.5]

    Source: PyTorch's page `torch.nn.utils.clip_grad_value_`.
    """
    bound = float(clip_value)
    with no_grad():
        for gradient in gradients_of_parameters(parameters):
            gradient.clamp_(min=-bound, max=bound)
