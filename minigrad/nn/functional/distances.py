"""Distances, and losses between vectors."""

from __future__ import annotations

from typing import Any

from ...core import F, check_broadcast, dtypes
from ...core.public import public
from ...ops import arithmetic as ar
from .losses import ENUM, WORDS, at_least, averaged, expanded, listed, number

__all__ = [
    "cosine_embedding_loss", "cosine_similarity", "hinge_embedding_loss", "margin_ranking_loss",
    "normalize", "pairwise_distance", "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip

TINY = 1e-12  # so that no length of 0 is divided by


@public("function", out=None)
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """Return the `p`-norm of `x1 - x2 + eps` over the last dimension."""
    ndim = max(x1.ndim, x2.ndim)
    return F.norm_dim(F.add_scalar(x1 - x2, eps), p, (ndim - 1,), keepdim)


@public("function", out=None)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """Return the cosine of the angle between vectors along `dim`.

    Args:
        x1, x2: tensors whose shapes broadcast.
        dim: the dimension of the vectors.
        eps: the smallest length that is divided by.
    Shape: the broadcast shape without `dim`.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast or the dtype is not floating.
    Derivative: `g * (x2 / (|x1| |x2|) - result * x1 / |x1| ** 2)` for `x1`.
    Source: torch.nn.functional.cosine_similarity

    >>> F.cosine_similarity(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
    tensor([0.7071])
    """
    kind = dtypes.OF_NUMPY[dtypes.result_type(x1._data, x2._data)]
    if not kind.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {kind.title}")
    check_broadcast(x1.shape, x2.shape)
    x1, x2 = expanded(*(x if x.is_floating_point() else x.to(kind) for x in (x1, x2)))
    lengths = [at_least(F.linalg_vector_norm(x, 2, [dim], True, None), eps) for x in (x1, x2)]
    second = x2 / lengths[1]
    return ((x1 / lengths[0]) * second).sum(dim)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """Return `input` divided by its norms along `dim`.

    Args:
        input: a tensor of any shape.
        p: the order of the norm.
        dim: the dimension of the vectors.
        eps: the smallest norm that is divided by.
        out: a tensor for the result.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `(g - result * (g * result).sum(dim)) / norm` for p = 2.
    Source: torch.nn.functional.normalize

    >>> F.normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    if out is not None:
        raise RuntimeError("normalize(): out= is not supported")
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return `-target · (input1 - input2) + margin`, but not less than 0."""
    how = number(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{listed(input1.shape)}, input2: {listed(input2.shape)}, target: {listed(target.shape)} "
        )
    difference = input1 - input2
    return averaged(F.add_scalar(-target * difference, margin).clamp_min_(0), how)


def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return `input` where the target is 1, and `margin - input`, but not less than 0, where it is -1."""
    how = number(reduction, size_average, reduce)
    zeros = F.zeros_like(input)
    far = F.where(target != 1, ar.sub(margin, input).clamp_min_(0), zeros)
    return averaged(far + F.where(target != -1, input, zeros), how)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return `1 - cos` of pairs of vectors with the target 1, and `cos - margin`, but not less than 0, with
    -1.
    """
    how = number(reduction, size_average, reduce)
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
    return averaged(near + far, how)


def check_triplet(anchor: Any, positive: Any, negative: Any) -> None:
    """RuntimeError with PyTorch's text unless all three have as many dimensions."""
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """By how much, within `margin`, the negative is nearer to the anchor than the positive; `swap`: or nearer
    to the positive.
    """
    how = number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    check_triplet(anchor, positive, negative)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = F.minimum(far, pairwise_distance(positive, negative, p, eps))
    return averaged((F.add_scalar(near, margin) - far).clamp_min(0), how)


def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Any = None, margin: float = 1.0,
    swap: bool = False, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return `triplet_margin_loss` with a distance of one's own."""
    if reduction not in WORDS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    check_triplet(anchor, positive, negative)
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = F.minimum(far, distance(positive, negative))
    return averaged((margin + near - far).clamp_min(0), ENUM[reduction])
