"""Unfold and Fold: windows of images as columns, and back."""

from __future__ import annotations

from .function_layers import FunctionLayer as Applied

__all__ = ["Fold", "Unfold"]


class Unfold(Applied, function="unfold"):
    """Layer that returns the windows of images ([N,] C, H, W) as columns."""


class Fold(Applied, function="fold"):
    """Layer that adds windows, given as columns, at their positions in images of size `output_size`."""
