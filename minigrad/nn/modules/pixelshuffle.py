"""Layers that reorder elements."""

from __future__ import annotations

from .applied import Applied

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Applied):
    """Layer that turns channels into pixels: (*, C·r², H, W) to (*, C, H·r, W·r)."""

    function, settings = "pixel_shuffle", ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor


class PixelUnshuffle(Applied):
    """Layer that turns pixels into channels: (*, C, H·r, W·r) to (*, C·r², H, W)."""

    function, settings = "pixel_unshuffle", ("downscale_factor",)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor
