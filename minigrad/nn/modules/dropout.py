"""Dropout in all its forms as modules."""

from __future__ import annotations

from typing import Any

from .. import functional
from .activation import Applied

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class Dropping(Applied):
    """A function that zeroes at random while the module is training."""

    settings = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        """What the function leaves."""
        return getattr(functional, self.function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The settings."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(Dropping):
    """Zeroes each number with probability p while training, and scales the others by 1 / (1 − p)."""

    function = "dropout"


class Dropout1d(Dropping):
    """Zeroes whole channels of (N, C, L)."""

    function = "dropout1d"


class Dropout2d(Dropping):
    """Zeroes whole channels of (N, C, H, W)."""

    function = "dropout2d"


class Dropout3d(Dropping):
    """Zeroes whole channels of (N, C, D, H, W)."""

    function = "dropout3d"


class AlphaDropout(Dropping):
    """Dropout that keeps mean and spread, for SELU."""

    function = "alpha_dropout"


class FeatureAlphaDropout(Dropping):
    """AlphaDropout of whole channels."""

    function = "feature_alpha_dropout"
