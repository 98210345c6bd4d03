"""Loss layers."""

from __future__ import annotations

import warnings
from typing import Any

from ..functional.losses import legacy_reduction
from .function_layers import FunctionLayer

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss",
    "L1Loss", "MSELoss", "MarginRankingLoss", "NLLLoss", "NLLLoss2d", "SmoothL1Loss", "TripletMarginLoss",
]  # fmt: skip


class Loss(FunctionLayer):
    """Base class of losses; weights are buffers."""

    _shown = ""

    def _configure(self, settings: dict[str, Any]) -> None:
        for name in ("weight", "pos_weight"):
            if name in settings:
                self.register_buffer(name, settings.pop(name))
        size_average, reduce = settings.pop("size_average", None), settings.pop("reduce", None)
        if size_average is not None or reduce is not None:
            settings["reduction"] = legacy_reduction(size_average, reduce)
        super()._configure(settings)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Return the loss of the inputs, which may be given by their names in the function."""
        wanted = len(self.operands)
        if len(inputs) > wanted:
            given = f"takes {wanted + 1} positional arguments but {len(inputs) + 1} were given"
            raise TypeError(f"{type(self).__name__}.forward() {given}")
        return self._run(*inputs, **named)


class MSELoss(Loss, function="mse_loss", settings="size_average reduce reduction"):
    """Loss that returns the mean of the squared differences (input − target)².

    The derivative with respect to the input is 2 (input − target) / n for n elements ("mean"), or without /
    n.

    Args:
        size_average: deprecated; use reduction.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input (*), target (*) → (), or (*) with "none".

    Raises:
        RuntimeError: the shapes do not broadcast.
        ValueError: the reduction is unknown.

    Example:
        >>> nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0])).item()
        2.5

    Source: PyTorch's page `torch.nn.MSELoss`.
    """


class L1Loss(Loss, function="l1_loss", settings="size_average reduce reduction"):
    """Loss that returns the mean of the absolute differences |input − target|.

    The derivative with respect to the input is sign(input − target) / n for n elements ("mean").

    Args:
        size_average: deprecated; use reduction.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input (*), target (*) → (), or (*) with "none".

    Raises:
        RuntimeError: the shapes do not broadcast.
        ValueError: the reduction is unknown.

    Example:
        >>> nn.L1Loss()(torch.tensor([1.0, -2.0]), torch.tensor([0.0, 0.0])).item()
        1.5

    Source: PyTorch's page `torch.nn.L1Loss`.
    """


class SmoothL1Loss(Loss, function="smooth_l1_loss"):
    """Loss that is quadratic for differences up to `beta` and linear beyond."""


class HuberLoss(Loss, function="huber_loss", settings="reduction delta"):
    """Loss that is quadratic for differences up to `delta` and linear, times delta, beyond."""

    def _configure(self, settings: dict[str, Any]) -> None:
        super()._configure(settings)
        if not isinstance(self.delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(self.delta)}")


class KLDivLoss(Loss, function="kl_div"):
    """Loss Σ target · (log target − input) of log probabilities; with `log_target` the target is logarithmic
    too.
    """


class CosineEmbeddingLoss(Loss, function="cosine_embedding_loss", margin=0.0):
    """Loss that is 1 − cos for the target 1 and max(0, cos − margin) for the target −1."""


class MarginRankingLoss(Loss, function="margin_ranking_loss", margin=0.0):
    """Loss max(0, −y · (x₁ − x₂) + margin)."""


class TripletMarginLoss(Loss, function="triplet_margin_loss", p=2.0):
    """Loss max(0, distance to the positive − distance to the negative + margin)."""

    def _configure(self, settings: dict[str, Any]) -> None:
        super()._configure(settings)
        if self.margin <= 0:
            raise ValueError(
                f"TripletMarginLoss: expected margin to be greater than 0, got {self.margin} instead"
            )


class BCELoss(Loss, function="binary_cross_entropy"):
    """Loss that returns the binary cross entropy of probabilities.

    Each element is −weight · (t · log x + (1 − t) · log(1 − x)), with logarithms of at least −100. The
    derivative with respect to x is (x − t) / (x · (1 − x)) · weight / n for n elements ("mean").

    Args:
        weight: weight of each element; it broadcasts with the input.
        size_average: deprecated; use reduction.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input (*), target (*) → (), or (*) with "none".

    Raises:
        ValueError: input and target have different shapes.
        RuntimeError: an element of the input is not between 0 and 1.

    Example:
        >>> nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0])).item()
        0.6931471824645996

    Source: PyTorch's page `torch.nn.BCELoss`.
    """


class BCEWithLogitsLoss(Loss, function="binary_cross_entropy_with_logits"):
    """Loss that returns the binary cross entropy of logits, without overflow.

    It is `BCELoss` of sigmoid(x); pos_weight multiplies the term of the target 1. Without weights the
    derivative with respect to x is (sigmoid(x) − t) / n for n elements ("mean").

    Args:
        weight: weight of each element; it broadcasts with the input.
        size_average: deprecated; use reduction.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".
        pos_weight: weight of positive targets; it broadcasts with the input.

    Shape:
        input (*), target (*) → (), or (*) with "none".

    Raises:
        ValueError: input and target have different shapes.

    Example:
        >>> nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0])).item()
        0.6931471824645996

    Source: PyTorch's page `torch.nn.BCEWithLogitsLoss`.
    """


class NLLLoss(Loss, function="nll_loss"):
    """Loss that returns the negative log likelihood: −weight[t] · x[t] for the target class t.

    "mean" divides the sum by the sum of the weights weight[t]. The derivative with respect to x is
    −weight[t] / Σ weight[t] at the target class and 0 elsewhere.

    Args:
        weight: weight of each class (C).
        size_average: deprecated; use reduction.
        ignore_index: target class that does not count.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".

    Shape:
        input (C), (N, C) or (N, C, *) of log probabilities, target (), (N) or (N, *) of classes → (), or the
        shape of the target with "none".

    Raises:
        ValueError: input and target have different batch sizes.
        IndexError: a target is not a class.

    Example:
        >>> nn.NLLLoss()(torch.tensor([[-1.0, -2.0]]), torch.tensor([1])).item()
        2.0

    Source: PyTorch's page `torch.nn.NLLLoss`.
    """


class NLLLoss2d(NLLLoss):
    """Deprecated: `NLLLoss`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)


class CrossEntropyLoss(Loss, function="cross_entropy"):
    """Loss that returns the cross entropy of logits and target classes: −log softmax(x)[t].

    The target may also be a probability p for each class: −Σ p · log softmax(x). The derivative with respect
    to x is (softmax(x) − p) / N for N examples ("mean"), where p is 1 at the class t and 0 elsewhere.

    Args:
        weight: weight of each class (C).
        size_average: deprecated; use reduction.
        ignore_index: target class that does not count.
        reduce: deprecated; use reduction.
        reduction: "mean", "sum" or "none".
        label_smoothing: part of the target that is spread evenly over all classes.

    Shape:
        input (C), (N, C) or (N, C, *) of logits; target (), (N) or (N, *) of classes, or the shape of the
        input → (), or the shape of the target classes with "none".

    Raises:
        ValueError: input and target have different batch sizes.
        IndexError: a target is not a class.
        RuntimeError: label_smoothing is above 1, or weight has another size than C.

    Example:
        >>> nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([0])).item()
        0.6931471824645996

    Source: PyTorch's page `torch.nn.CrossEntropyLoss`; label smoothing: Szegedy et al., 2015,
    arXiv:1512.00567.
    """
