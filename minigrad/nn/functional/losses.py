"""Losses between numbers and numbers: `reduction` is "mean", "sum" or "none"."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...core import F, check_broadcast
from ...inplace.views import Unobserved
from ...ops.half_precision import MEAN, NONE, SUM
from .constants import check_constant

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "gaussian_nll_loss", "huber_loss",
    "kl_div", "l1_loss", "mse_loss", "poisson_nll_loss", "smooth_l1_loss",
]  # fmt: skip

ENUM = {"none": NONE, "mean": MEAN, "elementwise_mean": MEAN, "sum": SUM}
WORDS = ("mean", "sum", "none")


def legacy(size_average: bool | None, reduce: bool | None) -> str:
    """Return the reduction that PyTorch's two old flags mean."""
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def number(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """Return the reduction as PyTorch's nodes note it; ValueError for a word that is none."""
    if size_average is not None or reduce is not None:
        reduction = legacy(size_average, reduce)
    if reduction not in ENUM:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return ENUM[reduction]


def listed(shape: Any) -> str:
    """Return a shape as PyTorch's errors show it."""
    return f"torch.Size({list(shape)})"


def expanded(*tensors: Any) -> Any:
    """Return tensors in their common shape; those that have it, themselves."""
    shapes = [t.shape for t in tensors]
    if all(shape == shapes[0] for shape in shapes):
        return tensors
    shape = np.broadcast_shapes(*shapes)
    return [t if t.shape == shape else t.expand(shape) for t in tensors]


def paired(input: Any, target: Any) -> Any:
    """Both in their common shape, with PyTorch's warning if that is not theirs."""
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({listed(target.shape)}) that is different to the input size "
            f"({listed(input.shape)}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=3,
        )
    check_broadcast(input.shape, target.shape)
    return expanded(input, target)


def averaged(losses: Any, reduction: int) -> Any:
    """Losses reduced by the methods that a learner would call."""
    if reduction == NONE:
        return losses
    return losses.mean() if reduction == MEAN else losses.sum()


def weighed(losses: Any, weight: Any, input: Any, reduction: str, by_weight: bool = True) -> Any:
    """Losses of elements times weights, reduced: a mean is that of the weights if `by_weight`."""
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    if reduction not in WORDS:
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    if reduction == "mean" and by_weight:
        return losses.sum() / weight.sum()
    return averaged(losses, ENUM[reduction])


def mse_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Any = None,
) -> Any:  # fmt: skip
    """Return the squared differences of `input` and `target`, reduced.

    Args:
        input, target: tensors of the same shape.
        weight: factors for the elements.
        reduction: "mean", "sum" or "none". size_average and reduce are the old form of it.
    Shape: `()`, or that of `input` for reduction "none".
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast.
    Derivative: `2 * g * (input - target) / n` for "mean" over n elements.
    Source: torch.nn.functional.mse_loss

    >>> F.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """
    a, b = paired(input, target)
    if weight is not None:
        return weighed((a - b) ** 2, weight, input, reduction)
    return F.mse_loss(a, b, number(reduction, size_average, reduce))


def l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Any = None,
) -> Any:  # fmt: skip
    """Return the size of the difference."""
    a, b = paired(input, target)
    if weight is not None:
        return weighed((a - b).abs(), weight, input, reduction)
    return averaged((a - b).abs(), number(reduction, size_average, reduce))


def smooth_l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Any:  # fmt: skip
    """Return `d² / (2 beta)` where the difference d is smaller than `beta`, else `|d| - beta / 2`."""
    a, b = paired(input, target)
    how = number(reduction, size_average, reduce)
    if beta == 0.0:
        return averaged((a - b).abs(), how)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return F.smooth_l1_loss(a, b, how, beta)


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Return `d² / 2` where the difference d is at most `delta`, else `delta · (|d| - delta / 2)`."""
    a, b = paired(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        return weighed(F.huber_loss(a, b, NONE, delta), weight, input, reduction, False)
    return F.huber_loss(a, b, number(reduction), delta)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return -(t * log(p) + (1 - t) * log(1 - p)) for probabilities p and targets t, reduced.

    Args:
        input: probabilities between 0 and 1.
        target: a tensor of the same shape, between 0 and 1.
        weight: factors for the elements.
        reduction: "mean", "sum" or "none". size_average and reduce are the old form of it.
    Shape: `()`, or that of `input` for reduction "none".
    Returns: a new tensor.
    Raises: ValueError if the shapes differ. RuntimeError if `input` leaves [0, 1].
    Derivative: `g * (p - t) / (p * (1 - p)) / n` for "mean" over n elements.
    Source: torch.nn.functional.binary_cross_entropy

    >>> F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    how = number(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({listed(target.shape)}) that is different to the input size "
            f"({listed(input.shape)}) is deprecated. Please ensure they have the same size."
        )
    if target.dtype is not input.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.title} but expected {input.dtype.title}")
    if weight is not None:
        weight = expanded(target, weight)[1]
    check_constant("binary_cross_entropy", weight=weight)
    return F.binary_cross_entropy(input, target, weight, how)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", pos_weight: Any = None,
) -> Any:  # fmt: skip
    """Return `binary_cross_entropy` of the logistic function of `input`, computed without overflow.

    Args:
        input: any real numbers (logits).
        target: a tensor of the same shape, between 0 and 1.
        weight: factors for the elements.
        reduction: "mean", "sum" or "none". size_average and reduce are the old form of it.
        pos_weight: a factor for positive targets.
    Shape: `()`, or that of `input` for reduction "none".
    Returns: a new tensor.
    Raises: ValueError if the shapes differ.
    Derivative: `g * (sigmoid(x) - t) / n` for "mean" over n elements.
    Source: torch.nn.functional.binary_cross_entropy_with_logits

    >>> F.binary_cross_entropy_with_logits(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    how = number(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({listed(target.shape)}) must be the same as input size ({listed(input.shape)})"
        )
    check_constant("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    check_logits(input.dtype, target.dtype)
    return F.binary_cross_entropy_with_logits(input, target, weight, pos_weight, how)


def check_logits(scores: Any, targets: Any) -> None:
    """RuntimeError with PyTorch's text for targets that are no floating-point numbers."""
    if targets.category == 0:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if scores.category > targets.category:
        raise RuntimeError(
            f"result type {scores.title} can't be cast to the desired output type {targets.title}"
        )


def kl_div(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", log_target: bool = False,
) -> Any:  # fmt: skip
    """Return `target · (log(target) - input)` of log-probabilities `input`; `log_target`: both are such."""
    if size_average is None and reduce is None and reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    how = SUM if reduction == "batchmean" else number(reduction, size_average, reduce)
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    last = target - input if log_target else target * input
    losses = target.exp() * last if log_target else F.xlogy(target, target) - last
    loss = averaged(losses, how)
    return loss / input.shape[0] if reduction == "batchmean" and input.ndim else loss


def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-8, reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return `exp(input) - target · input` of a rate whose logarithm (or, without `log_input`, which itself)
    is `input`; `full` adds Stirling's approximation of `log(target!)`.
    """
    if size_average is not None or reduce is not None:
        reduction = legacy(size_average, reduce)
    if reduction not in WORDS:
        raise ValueError(reduction + " is not a valid value for reduction")
    last = target * (input if log_input else F.log(F.add_scalar(input, eps)))
    loss = (input.exp() if log_input else input) - last
    if full:
        half_log = F.mul_scalar(F.log(F.mul_scalar(target, 2 * math.pi)), 0.5)
        stirling = target * target.log() - target + half_log
        loss.add_(stirling.masked_fill(target <= 1, 0))
    return averaged(loss, ENUM[reduction])


def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """Return `(log(var) + (input - target)² / var) / 2`, with `var` at least `eps`; `full` adds the
    constant.
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * F.ones_like(input)
    elif (var < 0)._data.any():
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.ndim != var.ndim or sum(b for a, b in zip(input.shape, var.shape) if a != b) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in WORDS:
        raise ValueError(reduction + " is not valid")
    var = at_least(var, eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return averaged(loss, ENUM[reduction])


def at_least(t: Any, least: float) -> Any:
    """Return a copy of `t` with no number below `least`, through which gradients pass unchanged."""
    t = t.clone()
    with Unobserved(False):
        t.clamp_(min=least)
    return t
