"""Losses of classes, which have a weight for each class."""

from __future__ import annotations

import warnings
from typing import Any

from .loss_base import Loss

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "NLLLoss", "NLLLoss2d"]


class Weighted(Loss):
    """Base class of losses with a weight for each class, which is a buffer."""

    settings: tuple[str, ...] = ("weight",)

    def __init__(
        self, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class BCELoss(Weighted):
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

    function = "binary_cross_entropy"


class BCEWithLogitsLoss(Weighted):
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

    function, settings = "binary_cross_entropy_with_logits", ("weight", "pos_weight")

    def __init__(
        self, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
        reduction: str = "mean", pos_weight: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)


class NLLLoss(Weighted):
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

    function, settings = "nll_loss", ("weight", "ignore_index")

    def __init__(
        self, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


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


class CrossEntropyLoss(Weighted):
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

    function, settings = "cross_entropy", ("weight", "ignore_index", "label_smoothing")

    def __init__(
        self, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
        reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
