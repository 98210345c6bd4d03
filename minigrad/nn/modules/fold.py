"""Unfold and Fold: windows of images as columns, and back."""

from __future__ import annotations

from .function_layers import FunctionLayer

__all__ = ["Fold", "Unfold"]


class Unfold(FunctionLayer, function="unfold"):
    """Layer that returns the windows of images ([N,] C, H, W) as columns."""


class Fold(FunctionLayer, function="fold"):
    """Layer that adds windows, given as columns, at their positions in images of size `output_size`."""
