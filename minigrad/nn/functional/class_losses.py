"""Losses of classes."""

from __future__ import annotations

from typing import Any

from ...core import F
from ...ops.kernels import MEAN, NONE, SUM
from .checks import check_constant, reduction_enum

__all__ = ["cross_entropy", "nll_loss"]


def check_weight(weight: Any, classes: int, prefix: str = "") -> None:
    """Raise PyTorch's RuntimeError unless there is a weight for each class."""
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"{prefix}weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {list(weight.shape)}"
        )


def nll(input: Any, target: Any, weight: Any, how: int, ignore_index: int) -> Any:
    """Return the loss of scores (N, C), (C,) or (N, C, *); all dimensions after C count as an image's."""
    shape, wanted = input._data.shape, target._data.shape
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) != 1 and shape[:1] != wanted[:1]:
        found = wanted[0] if wanted else "()"
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({found}).")
    n, c, *rest = shape if len(shape) > 1 else (1, *shape)
    is_spatial = len(shape) > 2
    if is_spatial and wanted[1:] != shape[2:]:
        raise RuntimeError(f"Expected target size {[n, *rest]}, got {list(wanted)}")
    if not is_spatial and len(wanted) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    run, name = (F.nll_loss2d_forward, "2d") if is_spatial else (F.nll_loss_forward, "")
    check_constant(f"nll_loss{name}_forward", weight=weight)
    check_weight(weight, c)
    if not is_spatial or len(rest) == 2:
        return run(input, target, weight, how, ignore_index)[0]
    depth = (1, -1) if input.numel() else (0, 0)
    flat, classes = input.contiguous().view(n, c, *depth), target.contiguous().view(n, *depth)
    loss = run(flat, classes, weight, how, ignore_index)[0]
    return loss.view(n, *rest) if how == NONE else loss


def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the negative log likelihood: −weight[t] · x[t] for the target class t.

    "mean" divides the sum by the sum of the weights weight[t]. The derivative with respect to x is
    −weight[t] / Σ weight[t] at the target class and 0 elsewhere.

    Args:
        input: log probabilities.
        target: classes.
        weight: weight of each class (C).
        size_average: deprecated; use reduction.
        ignore_index: target class that does not count.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input (C), (N, C) or (N, C, *); target (), (N) or (N, *) → (), or the shape of the target with "none".

    Returns:
        The loss.

    Raises:
        ValueError: input and target have different batch sizes.
        IndexError: a target is not a class.

    Example:
        >>> F.nll_loss(torch.tensor([[-1.0, -2.0]]), torch.tensor([1])).item()
        2.0

    Source: PyTorch's page `torch.nn.functional.nll_loss`.
    """
    how = reduction_enum(reduction, size_average, reduce)
    return nll(input, target, weight, how, ignore_index)


def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Return the cross entropy of logits and target classes: −log softmax(x)[t].

    The target may also be a probability p for each class: −Σ p · log softmax(x). The derivative with respect
    to x is (softmax(x) − p) / N for N examples ("mean"), where p is 1 at the class t and 0 elsewhere.

    Args:
        input: logits.
        target: classes, or probabilities of the classes.
        weight: weight of each class (C).
        size_average: deprecated; use reduction.
        ignore_index: target class that does not count.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".
        label_smoothing: part of the target that is spread evenly over all classes.

    Shape:
        input (C), (N, C) or (N, C, *); target (), (N) or (N, *) of classes, or the shape of the input → (),
        or the shape of the target classes with "none".

    Returns:
        The loss.

    Raises:
        ValueError: input and target have different batch sizes.
        IndexError: a target is not a class.
        RuntimeError: label_smoothing is above 1, or weight has another size than C.

    Example:
        >>> F.cross_entropy(torch.zeros(1, 2), torch.tensor([0])).item()
        0.6931471824645996

    Source: PyTorch's page `torch.nn.functional.cross_entropy`; Szegedy et al., 2015, arXiv:1512.00567.
    """
    how = reduction_enum(reduction, size_average, reduce)
    shape = input._data.shape
    axis = 0 if len(shape) == 1 else 1
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if shape == target._data.shape:
        if not target.is_floating_point():
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.title}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return cross_entropy_of_probabilities(input, target, weight, how, label_smoothing, axis)
    logs = F.log_softmax(input, axis)
    if label_smoothing <= 0.0:
        return nll(logs, target, weight, how, ignore_index)
    return smoothed_cross_entropy(logs, target, weight, how, ignore_index, label_smoothing, axis)


def broadcastable(weight: Any, ndim: int, axis: int) -> Any:
    """Reshape the weights of classes so that they broadcast with scores."""
    return weight.view([weight.numel() if d == axis else 1 for d in range(ndim)]) if ndim > 1 else weight


def cross_entropy_of_probabilities(
    input: Any, target: Any, weight: Any, how: int, label_smoothing: float, axis: int
) -> Any:
    """Return the cross entropy for target probabilities."""
    classes = input.shape[axis]
    check_weight(weight, classes, "cross_entropy: ")
    logs = input.log_softmax(axis)
    if label_smoothing > 0.0:
        target = F.add_scalar(F.mul_scalar(target, 1 - label_smoothing), label_smoothing / classes)
    losses = logs * target
    if weight is not None:
        losses = losses * broadcastable(weight, input.ndim, axis)
    if how == NONE:
        return -losses.sum(axis)
    total = -losses.sum()
    if how == SUM:
        return total
    return F.div_scalar(total, input.numel() // classes) if input.numel() else total * float("nan")


def smoothed_cross_entropy(
    logs: Any, target: Any, weight: Any, how: int, ignore_index: int, label_smoothing: float, axis: int
) -> Any:
    """Return the cross entropy with `label_smoothing` spread evenly over all classes."""
    loss = nll(logs, target, weight, how, ignore_index)
    smooth = -(logs if weight is None else logs * broadcastable(weight, logs.ndim, axis)).sum(axis)
    ignored = target == ignore_index
    smooth.masked_fill_(ignored, 0.0)
    if how == MEAN:
        used = ~ignored
        count = used if weight is None else weight.gather(0, target.masked_select(used).flatten())
        smooth = smooth.sum() / count.sum()
    elif how == SUM:
        smooth = smooth.sum()
    spread = F.mul_scalar(smooth, label_smoothing / logs.shape[axis])
    return F.mul_scalar(loss, 1 - label_smoothing) + spread
