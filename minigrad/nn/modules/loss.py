"""Loss layers."""

from __future__ import annotations

import warnings
from typing import Any

from .. import functional
from ..functional.losses import legacy
from .distance import PairwiseDistance
from .module import Module

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "NLLLoss",
    "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


class Loss(Module):
    """Base class of layers that call the loss `function` of `nn.functional`.

    `reduction` is "mean", "sum" or "none"; `size_average` and `reduce` are PyTorch's deprecated flags for
    it.
    """

    function = ""
    settings: tuple[str, ...] = ()
    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = legacy(size_average, reduce)
        self.reduction = reduction

    def forward(self, *given: Any) -> Any:
        """Return the loss of predictions and targets."""
        how = {name: getattr(self, name) for name in (*self.settings, "reduction")}
        return getattr(functional, self.function)(*given, **how)


class MSELoss(Loss):
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

    function = "mse_loss"


class L1Loss(Loss):
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

    function = "l1_loss"


class SmoothL1Loss(Loss):
    """Loss that is quadratic for differences up to `beta` and linear beyond."""

    function, settings = "smooth_l1_loss", ("beta",)

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(Loss):
    """Loss that is quadratic for differences up to `delta` and linear, times delta, beyond."""

    function, settings = "huber_loss", ("delta",)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta


class KLDivLoss(Loss):
    """Loss Σ target · (log target − input) of log probabilities; with `log_target` the target is logarithmic
    too.
    """

    function, settings = "kl_div", ("log_target",)

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
        log_target: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class PoissonNLLLoss(Loss):
    """Negative log likelihood of counts; the rate is e^input, or the input without `log_input`."""

    function, settings = "poisson_nll_loss", ("log_input", "full", "eps")

    def __init__(
        self, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-8,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps


class GaussianNLLLoss(Loss):
    """Negative log likelihood of normally distributed targets with given variances."""

    function, settings = "gaussian_nll_loss", ("full", "eps")

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps


class Margin(Loss):
    """Base class of losses with a margin."""

    settings = ("margin",)

    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(Margin):
    """Loss that is x for the target 1 and max(0, margin − x) for the target −1."""

    function = "hinge_embedding_loss"

    def __init__(self, margin: float = 1.0, *args: Any, **kwargs: Any) -> None:
        super().__init__(margin, *args, **kwargs)


class CosineEmbeddingLoss(Margin):
    """Loss that is 1 − cos for the target 1 and max(0, cos − margin) for the target −1."""

    function = "cosine_embedding_loss"


class MarginRankingLoss(Margin):
    """Loss max(0, −y · (x₁ − x₂) + margin)."""

    function = "margin_ranking_loss"


class TripletMarginLoss(Loss):
    """Loss max(0, distance to the positive − distance to the negative + margin)."""

    function, settings = "triplet_margin_loss", ("margin", "p", "eps", "swap")

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
        size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        must_be_positive(self, margin)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap


class TripletMarginWithDistanceLoss(Loss):
    """TripletMarginLoss with a distance function of your own."""

    function, settings = "triplet_margin_with_distance_loss", ("distance_function", "margin", "swap")

    def __init__(
        self, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        must_be_positive(self, margin)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap


def must_be_positive(loss: Loss, margin: float) -> None:
    """Raise ValueError unless the margin is greater than 0."""
    if margin <= 0:
        raise ValueError(f"{type(loss).__name__}: expected margin to be greater than 0, got {margin} instead")


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
