"""Dropout layers."""

from __future__ import annotations

from typing import Any

from .. import functional
from .applied import Applied

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class Dropping(Applied):
    """Base class of layers that apply a random function in training."""

    settings = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        """Apply the function."""
        return getattr(functional, self.function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(Dropping):
    """Layer that sets random elements to 0 in training and returns its input in evaluation.

    In training y = m · x / (1 − p), where each m is 0 with probability p and 1 otherwise. The derivative is
    m / (1 − p).

    Args:
        p: probability of an element being set to 0.
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Raises:
        ValueError: p is not between 0 and 1.

    Example:
        >>> nn.Dropout(p=0.5).eval()(torch.ones(3)).tolist()
        [1.0, 1.0, 1.0]

    Source: PyTorch's page `torch.nn.Dropout`; Srivastava et al., JMLR 15, 2014.
    """

    function = "dropout"


class Dropout1d(Dropping):
    """Layer that sets whole random channels of (N, C, L) to 0 in training."""

    function = "dropout1d"


class Dropout2d(Dropping):
    """Layer that sets whole random channels of images to 0 in training.

    In training y = m · x / (1 − p) with one random m for each channel of each image. The derivative is
    m / (1 − p).

    Args:
        p: probability of a channel being set to 0.
        inplace: True writes the result into the input.

    Shape:
        (N, C, H, W) or (C, H, W) → the same shape.

    Raises:
        ValueError: p is not between 0 and 1.

    Example:
        >>> nn.Dropout2d(p=1.0)(torch.ones(1, 2, 3, 3)).sum().item()
        0.0

    Source: PyTorch's page `torch.nn.Dropout2d`; Tompson et al., 2014, arXiv:1411.4280.
    """

    function = "dropout2d"


class Dropout3d(Dropping):
    """Layer that sets whole random channels of (N, C, D, H, W) to 0 in training."""

    function = "dropout3d"


class AlphaDropout(Dropping):
    """Dropout that keeps mean and variance, for SELU."""

    function = "alpha_dropout"


class FeatureAlphaDropout(Dropping):
    """AlphaDropout of whole channels."""

    function = "feature_alpha_dropout"
