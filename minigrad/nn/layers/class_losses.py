"""Losses that pick a class, or several, and of sequences of classes, as modules."""

from __future__ import annotations

from typing import Any

from .loss import Loss


class Weighted(Loss):
    """A loss with a weight for each class, which is part of the module's state."""

    settings: tuple[str, ...] = ("weight",)

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class BCELoss(Weighted):
    """Binary cross entropy of probabilities."""

    function = "binary_cross_entropy"


class BCEWithLogitsLoss(Weighted):
    """Binary cross entropy of logits, positive examples weighted by `pos_weight`."""

    function, settings = "binary_cross_entropy_with_logits", ("weight", "pos_weight")

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Any = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)


class NLLLoss(Weighted):
    """Minus the input at the target's class; targets of `ignore_index` do not count."""

    function, settings = "nll_loss", ("weight", "ignore_index")

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class CrossEntropyLoss(Weighted):
    """−log softmax at the target's class, or against probabilities of the classes."""

    function, settings = "cross_entropy", ("weight", "ignore_index", "label_smoothing")

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing


class MultiLabelSoftMarginLoss(Weighted):
    """Binary cross entropy of several labels at once."""

    function = "multilabel_soft_margin_loss"


class MultiLabelMarginLoss(Loss):
    """Hinge loss over all pairs of a target label and another."""

    function = "multilabel_margin_loss"


class MultiMarginLoss(Weighted):
    """Hinge loss of the target's class against the others."""

    function, settings = "multi_margin_loss", ("p", "margin", "weight")

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.ndim != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D instead"
            )
        self.p, self.margin = p, margin


class CTCLoss(Loss):
    """Minus the logarithm of the probability that a sequence spells its target: see `functional.ctc_loss`."""

    function, settings = "ctc_loss", ("blank", "zero_infinity")

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity
