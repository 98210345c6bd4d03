"""Pooling layers."""

from __future__ import annotations

from typing import Any

from .applied import Applied

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d",
]  # fmt: skip


class MaxPool(Applied):
    """Base class of max pooling layers."""

    settings = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.settings[:-1])


class MaxPool1d(MaxPool):
    """Layer that takes the maximum of each window of ([N,] C, L)."""

    function = "max_pool1d"


class MaxPool2d(MaxPool):
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

    function = "max_pool2d"


class MaxPool3d(MaxPool):
    """Layer that takes the maximum of each window of ([N,] C, D, H, W)."""

    function = "max_pool3d"


class AvgPool(Applied):
    """Base class of average pooling layers."""

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(AvgPool):
    """Layer that takes the mean of each window of ([N,] C, L)."""

    function = "avg_pool1d"
    settings = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        stride = kernel_size if stride is None else stride
        self.kernel_size, self.stride, self.padding = (
            (n,) if isinstance(n, int) else tuple(n) for n in (kernel_size, stride, padding)
        )
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad


class AvgPool2d(AvgPool):
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

    function = "avg_pool2d"
    settings = (*AvgPool1d.settings, "divisor_override")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override


class AvgPool3d(AvgPool2d):
    """Layer that takes the mean of each window of ([N,] C, D, H, W)."""

    function = "avg_pool3d"


class AdaptiveAvgPool(Applied):
    """Base class of adaptive average pooling layers."""

    settings = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(AdaptiveAvgPool):
    """Layer that takes the means of `output_size` parts of ([N,] C, L)."""

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(AdaptiveAvgPool):
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

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(AdaptiveAvgPool):
    """Layer that takes the means of `output_size` parts of ([N,] C, D, H, W); None keeps a size."""

    function = "adaptive_avg_pool3d"


class AdaptiveMaxPool(Applied):
    """Base class of adaptive max pooling layers."""

    settings = ("output_size", "return_indices")

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(AdaptiveMaxPool):
    """Layer that takes the maximum of each of `output_size` parts of ([N,] C, L)."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(AdaptiveMaxPool):
    """Layer that takes the maximum of each of `output_size` parts of ([N,] C, H, W); None keeps a size."""

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(AdaptiveMaxPool):
    """Layer that takes the maximum of each of `output_size` parts of ([N,] C, D, H, W); None keeps a size."""

    function = "adaptive_max_pool3d"
