"""Unfold and Fold: windows of images as columns, and back."""

from __future__ import annotations

from typing import Any

from .applied import Applied

__all__ = ["Fold", "Unfold"]


class Unfold(Applied):
    """Layer that returns the windows of images ([N,] C, H, W) as columns."""

    function = "unfold"
    settings = ("kernel_size", "dilation", "padding", "stride")

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride


class Fold(Applied):
    """Layer that adds windows, given as columns, at their positions in images of size `output_size`."""

    function = "fold"
    settings = ("output_size", "kernel_size", "dilation", "padding", "stride")

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride
