"""Pooling layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .function_layers import FunctionLayer

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d",
    "AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d",
]  # fmt: skip

OF_MAX = "kernel_size stride padding dilation return_indices ceil_mode"


class Pool(FunctionLayer):
    """Base class of pooling layers with windows, which lie side by side if no stride is given."""

    _shown = "kernel_size= stride= padding="

    def _configure(self, settings: dict[str, Any]) -> None:
        if settings["stride"] is None:
            settings["stride"] = settings["kernel_size"]
        super()._configure(settings)


class MaxPool(Pool):
    """Base class of max pooling layers."""

    _shown = "kernel_size= stride= padding= dilation= ceil_mode="


class MaxPool1d(MaxPool, function="max_pool1d", settings=OF_MAX):
    """Layer that takes the maximum of each window of ([N,] C, L)."""


class MaxPool2d(MaxPool, function="max_pool2d", settings=OF_MAX):
    """Layer that takes the maximum of each window of an image.

    The upstream gradient goes to the maximum of each window; the other elements receive 0.

    Args:
        kernel_size: height and width of a window, or one number for both; so for the next three.
        stride: step from one window to the next; kernel_size if None.
        padding: number of rows and columns of −∞ added on each side.
        dilation: distance between the elements of a window.
        return_indices: True returns the index of each maximum in its flattened image as well.
        ceil_mode: True rounds the number of windows up instead of down.

    Shape:
        (N, C, H, W) or (C, H, W) → (N, C, Hₒ, Wₒ) or (C, Hₒ, Wₒ), where
        Hₒ = ⌊(H + 2 · padding − dilation · (kernel_size − 1) − 1) / stride⌋ + 1, and Wₒ likewise.

    Raises:
        RuntimeError: padding is more than half of kernel_size, or no window fits.

    Example:
        >>> nn.MaxPool2d(2)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])).tolist()
        [[[4.0]]]

    Source: PyTorch's page `torch.nn.MaxPool2d`.
    """


class MaxPool3d(MaxPool, function="max_pool3d", settings=OF_MAX):
    """Layer that takes the maximum of each window of ([N,] C, D, H, W)."""


class AvgPool1d(Pool, function="avg_pool1d"):
    """Layer that takes the mean of each window of ([N,] C, L)."""

    def _configure(self, settings: dict[str, Any]) -> None:
        super()._configure(settings)
        for name in ("kernel_size", "stride", "padding"):
            value = getattr(self, name)
            setattr(self, name, tuple(value) if isinstance(value, Iterable) else (value,))


class AvgPool2d(Pool, function="avg_pool2d"):
    """Layer that takes the mean of each window of an image.

    Each element of a window of n elements receives 1/n of the window's upstream gradient.

    Args:
        kernel_size: height and width of a window, or one number for both; so for the next two.
        stride: step from one window to the next; kernel_size if None.
        padding: number of rows and columns of zeros added on each side.
        ceil_mode: True rounds the number of windows up instead of down.
        count_include_pad: False leaves the added zeros out of the mean.
        divisor_override: number that divides each window's sum instead of the number of its elements.

    Shape:
        (N, C, H, W) or (C, H, W) → (N, C, Hₒ, Wₒ) or (C, Hₒ, Wₒ), where
        Hₒ = ⌊(H + 2 · padding − kernel_size) / stride⌋ + 1, and Wₒ likewise.

    Raises:
        RuntimeError: padding is more than half of kernel_size, or no window fits.

    Example:
        >>> nn.AvgPool2d(2)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])).tolist()
        [[[2.5]]]

    Source: PyTorch's page `torch.nn.AvgPool2d`.
    """


class AvgPool3d(Pool, function="avg_pool3d"):
    """Layer that takes the mean of each window of ([N,] C, D, H, W)."""


class AdaptivePool(FunctionLayer):
    """Base class of adaptive pooling layers."""

    _shown = "output_size="


class AdaptiveAvgPool1d(AdaptivePool, function="adaptive_avg_pool1d"):
    """Layer that takes the means of `output_size` parts of ([N,] C, L)."""


class AdaptiveAvgPool2d(AdaptivePool, function="adaptive_avg_pool2d"):
    """Layer that divides an image into a given number of parts and takes the mean of each.

    Output i is the mean of rows ⌊i · H / Hₒ⌋ up to ⌈(i + 1) · H / Hₒ⌉. Each element of a part of n elements
    receives 1/n of the part's upstream gradient.

    Args:
        output_size: Hₒ and Wₒ, or one number for both; None keeps the input's size.

    Shape:
        (N, C, H, W) or (C, H, W) → (N, C, Hₒ, Wₒ) or (C, Hₒ, Wₒ).

    Raises:
        ValueError: the input has too few dimensions.

    Example:
        >>> nn.AdaptiveAvgPool2d((1, None))(torch.ones(2, 3, 4, 5)).shape
        torch.Size([2, 3, 1, 5])

    Source: PyTorch's page `torch.nn.AdaptiveAvgPool2d`.
    """


class AdaptiveAvgPool3d(AdaptivePool, function="adaptive_avg_pool3d"):
    """Layer that takes the means of `output_size` parts of ([N,] C, D, H, W); None keeps a size."""


class AdaptiveMaxPool2d(AdaptivePool, function="adaptive_max_pool2d"):
    """Layer that takes the maximum of each of `output_size` parts of ([N,] C, H, W); None keeps a size."""


class AdaptiveMaxPool3d(AdaptivePool, function="adaptive_max_pool3d"):
    """Layer that takes the maxima of `output_size` parts of ([N,] C, D, H, W)."""
