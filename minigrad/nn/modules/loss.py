"""Loss layers."""

from __future__ import annotations

from typing import Any

from .class_losses import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, NLLLoss, NLLLoss2d
from .distance import PairwiseDistance
from .loss_base import Loss

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "NLLLoss",
    "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


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
