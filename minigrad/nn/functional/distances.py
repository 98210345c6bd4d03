"""Distances, and losses between vectors."""

from __future__ import annotations

from typing import Any

from ...core import F, check_broadcast, dtypes
from ...core.modes import unobserved
from ...core.public import public
from ...ops import arithmetic as ar
from .checks import broadcast, reduced, reduction_enum

__all__ = [
    "cosine_embedding_loss", "cosine_similarity", "margin_ranking_loss", "normalize", "pairwise_distance",
    "triplet_margin_loss",
]  # fmt: skip

TINY = 1e-12  # so that no length of 0 is divided by


@public("function")
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """Return the `p`-norm of `x1 - x2 + eps` over the last dimension."""
    ndim = max(x1.ndim, x2.ndim)
    return F.norm_dim(F.add_scalar(x1 - x2, eps), p, (ndim - 1,), keepdim)


def at_least(t: Any, least: float) -> Any:
    """Copy `t` with every element at least `least`; gradients pass unchanged."""
    t = t.clone()
    with unobserved(False):
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
    return reduced(F.add_scalar(-target * difference, margin).clamp_min_(0), how)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return `1 - cos` for pairs of vectors with the target 1, and `max(0, cos - margin)` with -1."""
    how = reduction_enum(reduction, size_average, reduce)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with "
            f"sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    product = (input1 * input2).sum(target.ndim)
    squares = [F.add_scalar((x * x).sum(target.ndim), TINY) for x in (input1, input2)]
    cosine = product / (squares[0] * squares[1]).sqrt()
    zeros = F.zeros_like(cosine)
    near = F.where(target == 1, ar.sub(1, cosine), zeros)
    far = F.where(target == -1, F.sub_scalar(cosine, margin).clamp_min_(0), zeros)
    return reduced(near + far, how)


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
    return reduced((F.add_scalar(near, margin) - far).clamp_min(0), how)
