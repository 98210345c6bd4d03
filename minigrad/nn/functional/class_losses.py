"""Losses that pick a class, or several, by number or by probability."""

from __future__ import annotations

from typing import Any

from ...core import F
from ...core.dtypes import kind_name
from ...core.tensor_state import TensorBase
from ...ops.half_precision import MEAN, NONE, SUM
from .constants import check_constant
from .losses import number

__all__ = ["cross_entropy", "nll_loss"]


def check_weight(weight: Any, classes: int) -> None:
    """RuntimeError with PyTorch's text unless there is a weight for each class."""
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight.shape)}"
        )


def of_vectors(input: Any, target: Any, weight: Any, how: int, ignore_index: int) -> Any:
    """Return the loss of scores (N, C) or (C,)."""
    check_constant("nll_loss_forward", weight=weight)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input.ndim > 1 and input.shape[0] != (target.shape[0] if target.ndim else 1):
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)}, target: {list(target.shape)})")
    check_weight(weight, input.shape[-1])
    return F.nll_loss_forward(input, target, weight, how, ignore_index)[0]


def of_pictures(input: Any, target: Any, weight: Any, how: int, ignore_index: int) -> Any:
    """Return the loss of scores (N, C, H, W) and classes (N, H, W)."""
    check_constant("nll_loss2d_forward", weight=weight)
    if target.ndim != 3:
        raise RuntimeError(
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{target.ndim}"
        )
    if (input.shape[0], *input.shape[2:]) != tuple(target.shape):
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}")
    check_weight(weight, input.shape[1])
    return F.nll_loss2d_forward(input, target, weight, how, ignore_index)[0]


def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the negative log-probability of the target classes, reduced.

    Args:
        input: log-probabilities of shape (N, C) or (N, C, …).
        target: int64 class indices of shape (N) or (N, …).
        weight: a factor for each class; a mean is divided by the sum of the factors.
        ignore_index: a target that is skipped.
        reduction: "mean", "sum" or "none". size_average and reduce are the old form of it.
    Shape: `()`, or that of `target` for reduction "none".
    Returns: a new tensor.
    Raises: ValueError if the batch sizes differ. IndexError for a class that does not exist.
    Derivative: `-g / n` at the target classes, else 0, for "mean" over n targets.
    Source: torch.nn.functional.nll_loss

    >>> F.nll_loss(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]))
    tensor(1.)
    """
    how = number(reduction, size_average, reduce)
    if input.ndim < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {input.ndim})")
    if input.ndim != 1 and input.shape[0] != (target.shape[0] if target.ndim else None):
        found = target.shape[0] if target.ndim else "()"
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({found})."
        )
    if input.ndim <= 2:
        return of_vectors(input, target, weight, how, ignore_index)
    if input.ndim == 4:
        return of_pictures(input, target, weight, how, ignore_index)
    n, c, *rest = input.shape
    if target.shape[1:] != input.shape[2:]:
        raise RuntimeError(f"Expected target size {[n, *rest]}, got {list(target.shape)}")
    depth = (1, -1) if input.numel() else (0, 0)
    flat, classes = input.contiguous().view(n, c, *depth), target.contiguous().view(n, *depth)
    loss = of_pictures(flat, classes, weight, how, ignore_index)
    return loss.view(n, *rest) if how == NONE else loss


def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Return the cross-entropy of scores and target classes: `nll_loss` of `log_softmax`.

    Args:
        input: scores (logits) of shape (C), (N, C) or (N, C, …).
        target: class indices of shape (), (N) or (N, …), or probabilities of the shape of `input`.
        weight: a factor for each class.
        ignore_index: a target that is skipped.
        reduction: "mean", "sum" or "none". size_average and reduce are the old form of it.
        label_smoothing: the part of the probability that is spread over all classes, from 0 to 1.
    Shape: `()`, or that of `target` for reduction "none".
    Returns: a new tensor.
    Raises: TypeError if `input` or `target` is not a tensor. RuntimeError for `label_smoothing` above 1.
    Derivative: `g * (softmax(input) - onehot(target)) / n` for "mean" over n targets.
    Source: torch.nn.functional.cross_entropy

    >>> F.cross_entropy(torch.tensor([[0.0, 0.0]]), torch.tensor([1]))
    tensor(0.6931)
    """
    how = number(reduction, size_average, reduce)
    for at, (name, value) in enumerate((("input", input), ("target", target)), 1):
        if not isinstance(value, TensorBase):
            wanted = f"argument '{name}' (position {at}) must be Tensor"
            raise TypeError(f"cross_entropy_loss(): {wanted}, not {kind_name(value)}")
    axis = 0 if input.ndim == 1 else 1
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if input.shape == target.shape:
        if not target.is_floating_point():
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.title}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return of_probabilities(input, target, weight, how, label_smoothing, axis)
    logs = input.log_softmax(axis)
    if label_smoothing <= 0.0:
        return nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=WORD[how])
    return smoothed(logs, target, weight, how, ignore_index, label_smoothing, axis)


WORD = {NONE: "none", MEAN: "mean", SUM: "sum"}


def in_place(weight: Any, ndim: int, axis: int) -> Any:
    """Return the weights of classes in a shape that broadcasts with scores."""
    return weight.view([weight.numel() if d == axis else 1 for d in range(ndim)]) if ndim > 1 else weight


def of_probabilities(
    input: Any, target: Any, weight: Any, how: int, label_smoothing: float, axis: int
) -> Any:
    """Return the cross entropy of probabilities that are aimed at."""
    classes = input.shape[axis]
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}"
        )
    logs = input.log_softmax(axis)
    if label_smoothing > 0.0:
        target = F.add_scalar(F.mul_scalar(target, 1 - label_smoothing), label_smoothing / classes)
    losses = logs * target
    if weight is not None:
        losses = losses * in_place(weight, input.ndim, axis)
    if how == NONE:
        return -losses.sum(axis)
    total = -losses.sum()
    if how == SUM:
        return total
    return F.div_scalar(total, input.numel() // classes) if input.numel() else total * float("nan")


def smoothed(
    logs: Any, target: Any, weight: Any, how: int, ignore_index: int, label_smoothing: float, axis: int
) -> Any:
    """Return the cross entropy where every class gets an equal part of `label_smoothing`."""
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=WORD[how])
    weights = None if weight is None else weight.view([-1 if d == axis else 1 for d in range(logs.ndim)])
    smooth = -(logs if weights is None else logs * weights).sum(axis)
    ignored = target == ignore_index
    smooth.masked_fill_(ignored, 0.0)
    if how == MEAN:
        used = ~ignored
        count = used if weight is None else weight.gather(0, target.masked_select(used).flatten())
        smooth = smooth.sum() / count.sum()
    elif how == SUM:
        smooth = smooth.sum()
    share = label_smoothing / logs.shape[axis]
    spread = F.mul_scalar(smooth, share)
    return F.mul_scalar(loss, 1 - label_smoothing) + spread
