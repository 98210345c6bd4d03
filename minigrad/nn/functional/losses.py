"""Losses of continuous targets; `reduction` is "mean", "sum" or "none"."""

from __future__ import annotations

import warnings
from typing import Any

from ...core import F
from ...left_out import refuse
from ...ops.kernels import SUM
from .checks import broadcast, broadcast_pair, check_constant, reduced, reduction_enum

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "huber_loss", "kl_div", "l1_loss", "mse_loss",
    "smooth_l1_loss",
]  # fmt: skip


def mse_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Any = None,
) -> Any:  # fmt: skip
    """Return the mean of the squared differences (input − target)².

    The derivative with respect to the input is 2 (input − target) / n for n elements ("mean").

    Args:
        input: predictions.
        target: targets.
        size_average: deprecated; use reduction.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".
        weight: must be None.

    Shape:
        input (*), target (*) → (), or (*) with "none".

    Returns:
        The loss.

    Raises:
        NotImplementedError: weight is given.
        RuntimeError: the shapes do not broadcast.
        ValueError: the reduction is unknown.

    Example:
        >>> F.mse_loss(torch.tensor([1.0, 2.0]), torch.zeros(2)).item()
        2.5

    Source: PyTorch's page `torch.nn.functional.mse_loss`.
    """
    refuse("mse_loss", weight=weight is not None)
    a, b = broadcast_pair("mse_loss", input, target)
    return F.mse_loss(a, b, reduction_enum(reduction, size_average, reduce))


def l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Any = None,
) -> Any:  # fmt: skip
    """Return the mean of the absolute differences |input − target|."""
    refuse("l1_loss", weight=weight is not None)
    a, b = broadcast_pair("l1_loss", input, target)
    return reduced((a - b).abs(), reduction_enum(reduction, size_average, reduce))


def smooth_l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Any:  # fmt: skip
    """Return `d² / (2 beta)` where the difference |d| is smaller than `beta`, else `|d| - beta / 2`."""
    a, b = broadcast_pair("smooth_l1_loss", input, target)
    how = reduction_enum(reduction, size_average, reduce)
    if beta == 0.0:
        return reduced((a - b).abs(), how)
    if not beta >= 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return F.smooth_l1_loss(a, b, how, beta)


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Return `d² / 2` where the difference |d| is smaller than `delta`, else `delta · (|d| - delta / 2)`."""
    refuse("huber_loss", weight=weight is not None)
    a, b = broadcast_pair("huber_loss", input, target)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return F.huber_loss(a, b, reduction_enum(reduction), delta)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the binary cross entropy of probabilities: −(t · log x + (1 − t) · log(1 − x)).

    The logarithms are at least −100. The derivative with respect to x is (x − t) / (x · (1 − x)) / n for n
    elements ("mean").

    Args:
        input: probabilities.
        target: targets between 0 and 1.
        weight: weight of each element; it broadcasts with the input.
        size_average: deprecated; use reduction.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input (*), target (*) → (), or (*) with "none".

    Returns:
        The loss.

    Raises:
        ValueError: input and target have different shapes.
        RuntimeError: an element of the input is not between 0 and 1.

    Example:
        >>> F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0])).item()
        0.6931471824645996

    Source: PyTorch's page `torch.nn.functional.binary_cross_entropy`.
    """
    how = reduction_enum(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    if target.dtype is not input.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.title} but expected {input.dtype.title}")
    if weight is not None:
        weight = broadcast(target, weight)[1]
    check_constant("binary_cross_entropy", weight=weight)
    return F.binary_cross_entropy(input, target, weight, how)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", pos_weight: Any = None,
) -> Any:  # fmt: skip
    """Return the binary cross entropy of logits, without overflow.

    It is `binary_cross_entropy` of sigmoid(x). Without weights the derivative with respect to x is
    (sigmoid(x) − t) / n for n elements ("mean").

    Args:
        input: logits.
        target: targets between 0 and 1.
        weight: weight of each element; it broadcasts with the input.
        size_average: deprecated; use reduction.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".
        pos_weight: weight of positive targets; it broadcasts with the input.

    Shape:
        input (*), target (*) → (), or (*) with "none".

    Returns:
        The loss.

    Raises:
        ValueError: input and target have different shapes.

    Example:
        >>> F.binary_cross_entropy_with_logits(torch.tensor([0.0]), torch.tensor([1.0])).item()
        0.6931471824645996

    Source: PyTorch's page `torch.nn.functional.binary_cross_entropy_with_logits`.
    """
    how = reduction_enum(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    check_constant("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    if target.dtype.category == 0:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if input.dtype.category > target.dtype.category:
        told = f"{input.dtype.title} can't be cast to the desired output type {target.dtype.title}"
        raise RuntimeError(f"result type {told}")
    return F.binary_cross_entropy_with_logits(input, target, weight, pos_weight, how)


def kl_div(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", log_target: bool = False,
) -> Any:  # fmt: skip
    """Return `target · (log(target) - input)` of log probabilities `input`; `log_target`: of both."""
    if size_average is None and reduce is None and reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=3,
        )
    how = SUM if reduction == "batchmean" else reduction_enum(reduction, size_average, reduce)
    for t in (input, target):
        if not t.is_floating_point():
            kind = "Complex" if t.is_complex() else "Integral"
            raise RuntimeError(f"kl_div: {kind} inputs not supported.")
    last = target - input if log_target else target * input
    losses = target.exp() * last if log_target else F.xlogy(target, target) - last
    loss = reduced(losses, how)
    return loss / input.shape[0] if reduction == "batchmean" and input.ndim else loss
