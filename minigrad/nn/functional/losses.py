"""Losses: of differences, of classes, of distances."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core import F, check_broadcast, dtypes
from ...core.guards import check_difference, check_single_target
from ...core.modes import hidden_from_observers, is_grad_enabled
from ...core.public import public
from ...core.tensor_state import TensorBase
from ...core.user_warnings import warn
from ...left_out import refuse
from ...ops import arithmetic as ar
from ...ops.kernels import MEAN, NONE, SUM

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "smooth_l1_loss",
    "cross_entropy",
    "nll_loss",
    "cosine_embedding_loss",
    "cosine_similarity",
    "margin_ranking_loss",
    "normalize",
    "pairwise_distance",
    "triplet_margin_loss",
]


# ─── Checks of arguments, with the texts of PyTorch's errors; shapes and reductions of losses


ENUM = {"none": NONE, "mean": MEAN, "elementwise_mean": MEAN, "sum": SUM}


def check_constant(function: str, **tensors: Any) -> None:
    """Raise PyTorch's RuntimeError if one of the tensors (or None) requires a gradient."""
    for name, t in tensors.items():
        if isinstance(t, TensorBase) and t.requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This "
                "input cannot have requires_grad True."
            )


def expand(name: str, value: Any, dims: int, what: str) -> tuple[int, ...]:
    """Return one number for each dimension of `what`; one number may stand for all."""
    numbers = (value,) if isinstance(value, int) else tuple(value)
    if len(numbers) not in (1, dims):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dims} values to match the {what} "
            f"dimensions, but got {name}={list(numbers)}"
        )
    return numbers * dims if len(numbers) == 1 else numbers


def legacy_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """Return the reduction that PyTorch's two old flags mean."""
    averages = size_average is None or size_average
    reduction = "none" if reduce is not None and not reduce else "mean" if averages else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
        stacklevel=2,
    )
    return reduction


def reduction_enum(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """Return the reduction as a number, as PyTorch's nodes save it; raise ValueError for an unknown one."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    if not isinstance(reduction, str) or reduction not in ENUM:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return ENUM[reduction]


def broadcast(*tensors: Any) -> Any:
    """Broadcast tensors to their common shape; return those that have it unchanged."""
    shapes = [t.shape for t in tensors]
    if all(shape == shapes[0] for shape in shapes):
        return tensors
    shape = np.broadcast_shapes(*shapes)
    return [t if t.shape == shape else t.expand(shape) for t in tensors]


def broadcast_pair(name: str, input: Any, target: Any) -> Any:
    """Broadcast both tensors of the loss `name` to their common shape, with PyTorch's warning if their shapes
    differ.
    """
    if target.size() != input.size():
        warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            name,
        )
    check_broadcast(input.shape, target.shape)
    return broadcast(input, target)


def reduce_losses(losses: Any, reduction: int) -> Any:
    """Reduce losses with the methods `mean` and `sum`."""
    if reduction == NONE:
        return losses
    return losses.mean() if reduction == MEAN else losses.sum()


# ─── Losses of continuous targets; `reduction` is "mean", "sum" or "none"


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
    return reduce_losses((a - b).abs(), reduction_enum(reduction, size_average, reduce))


def smooth_l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Any:  # fmt: skip
    """Return `d² / (2 beta)` where the difference |d| is smaller than `beta`, else `|d| - beta / 2`."""
    a, b = broadcast_pair("smooth_l1_loss", input, target)
    how = reduction_enum(reduction, size_average, reduce)
    if beta == 0.0:
        return reduce_losses((a - b).abs(), how)
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
    check_difference([target.dtype])
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
    loss = reduce_losses(losses, how)
    return loss / input.shape[0] if reduction == "batchmean" and input.ndim else loss


# ─── Losses of classes


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
    if not is_spatial:
        check_single_target(target)
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


# ─── Distances, and losses between vectors


TINY = 1e-12  # so that no length of 0 is divided by


@public("function")
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """Return the `p`-norm of `x1 - x2 + eps` over the last dimension."""
    ndim = max(x1.ndim, x2.ndim)
    return F.norm_dim(F.add_scalar(x1 - x2, eps), p, (ndim - 1,), keepdim)


def at_least(t: Any, least: float) -> Any:
    """Copy `t` with every element at least `least`; gradients pass unchanged."""
    t = t.clone()
    with hidden_from_observers(False):
        t.clamp_(min=least)
    return t


@public("function")
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """Return the cosine of the angle between vectors along a dimension.

    s = x1 · x2 / (‖x1‖ · ‖x2‖), where each norm is at least eps. The derivative with respect to x1 is
    (x2 / ‖x2‖ − s · x1 / ‖x1‖) / ‖x1‖.

    Args:
        x1: first vectors.
        x2: second vectors; they broadcast with x1.
        dim: dimension along which the vectors lie.
        eps: smallest norm that is used.

    Shape:
        (*, D, *), (*, D, *) → (*, *).

    Returns:
        The cosines.

    Raises:
        RuntimeError: the shapes do not broadcast, or the dtype is an integer.

    Example:
        >>> F.cosine_similarity(torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 1.0]])).shape
        torch.Size([1])

    Source: PyTorch's page `torch.nn.functional.cosine_similarity`.
    """
    kind = dtypes.OF_NUMPY[dtypes.result_type(x1._data, x2._data)]
    if not kind.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {kind.title}")
    check_broadcast(x1.shape, x2.shape)
    x1, x2 = broadcast(*(x if x.is_floating_point() else x.to(kind) for x in (x1, x2)))
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    lengths = [at_least(F.linalg_vector_norm(x, 2, [dim], True, None), eps) for x in (x1, x2)]
    second = x2 / lengths[1]
    return ((x1 / lengths[0]) * second).sum(dim)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """Divide vectors along a dimension by their p-norm.

    y = x / max(‖x‖, eps). For p = 2 the gradient with respect to x is (g − y · Σ g · y) / ‖x‖.

    Args:
        input: the vectors.
        p: p of the norm.
        dim: dimension along which the vectors lie.
        eps: smallest norm that is used.
        out: tensor to write the result into.

    Shape:
        (*) → (*).

    Returns:
        The normalized vectors.

    Raises:
        IndexError: the input has no such dimension.

    Example:
        >>> F.normalize(torch.tensor([[0.0, 5.0]])).tolist()
        [[0.0, 1.0]]

    Source: PyTorch's page `torch.nn.functional.normalize`.
    """
    if out is not None:
        raise RuntimeError("normalize(): out= is not supported")
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return `max(0, -target · (input1 - input2) + margin)`."""
    how = reduction_enum(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, input2: {input2.shape}, target: "
            f"{target.shape} "
        )
    difference = input1 - input2
    return reduce_losses(F.add_scalar(-target * difference, margin).clamp_min_(0), how)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return `1 - cos` for pairs of vectors with the target 1, and `max(0, cos - margin)` with -1."""
    how = reduction_enum(reduction, size_average, reduce)
    check_single_target(target)
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with "
            f"sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    product = (input1 * input2).sum(target.ndim)
    squares = [F.add_scalar((x * x).sum(target.ndim), TINY) for x in (input1, input2)]
    cosine = product / (squares[0] * squares[1]).sqrt()
    zeros = F.zeros_like(cosine)
    near = F.where(target == 1, ar.sub_op(1, cosine), zeros)
    far = F.where(target == -1, F.sub_scalar(cosine, margin).clamp_min_(0), zeros)
    return reduce_losses(near + far, how)


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return `max(0, distance to positive - distance to negative + margin)`.

    `swap` uses the distance from positive to negative if that is smaller.
    """
    how = reduction_enum(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = F.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduce_losses((F.add_scalar(near, margin) - far).clamp_min(0), how)
