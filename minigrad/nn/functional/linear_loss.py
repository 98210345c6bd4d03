"""The cross entropy of what a linear layer makes of its input."""

from __future__ import annotations

from typing import Any

from .class_losses import cross_entropy
from .products import linear


def check_layer(input: Any, weight: Any, bias: Any) -> None:
    """RuntimeError with PyTorch's text for shapes that do not go together."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.ndim}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    classes = tuple(weight.shape[:-1])
    if bias is not None and tuple(bias.shape) != classes:
        raise RuntimeError(f"expected linear_bias shape {classes}, got {tuple(bias.shape)}")
    if len(classes) > 1 and input.ndim == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched "
            f"input, (N, {input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )


def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:  # fmt: skip
    """`cross_entropy` of the scores that a linear layer of weight (C, …, features) makes of `input`
    ([N,] features). `options`, which in PyTorch save memory, make no difference.
    """
    check_layer(input, linear_weight, linear_bias)
    scores = (*input.shape[:-1], *linear_weight.shape[:-1])
    if tuple(target.shape) == scores and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if linear_weight.ndim > 2:
        linear_weight = linear_weight.reshape(-1, linear_weight.shape[-1])
        linear_bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = linear(input, linear_weight, linear_bias).reshape(scores)
    ignored = -100 if ignore_index is None else ignore_index
    how: Any = {"reduction": reduction, "ignore_index": ignored, "label_smoothing": label_smoothing}
    return cross_entropy(logits, target, weight, **how)
