"""Layers that reorder elements."""

from __future__ import annotations

from .function_layers import FunctionLayer

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(FunctionLayer, function="pixel_shuffle"):
    """Layer that turns channels into pixels: (*, C·r², H, W) to (*, C, H·r, W·r)."""


class PixelUnshuffle(FunctionLayer, function="pixel_unshuffle"):
    """Layer that turns pixels into channels: (*, C, H·r, W·r) to (*, C·r², H, W)."""
