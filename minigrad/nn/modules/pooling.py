"""Pooling as modules."""

from __future__ import annotations

from typing import Any

from .activation import Applied

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d",
]  # fmt: skip


class MaxPool(Applied):
    """The largest element of each window."""

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
        """The settings of windows."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.settings[:-1])


class MaxPool1d(MaxPool):
    """The largest element of each window of ([N,] C, L)."""

    function = "max_pool1d"


class MaxPool2d(MaxPool):
    """The largest element of each window of ([N,] C, H, W)."""

    function = "max_pool2d"


class MaxPool3d(MaxPool):
    """The largest element of each window of ([N,] C, D, H, W)."""

    function = "max_pool3d"


class AvgPool(Applied):
    """The mean of each window."""

    def extra_repr(self) -> str:
        """The settings of windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(AvgPool):
    """The mean of each window of ([N,] C, L)."""

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
    """The mean of each window of ([N,] C, H, W), or its sum divided by `divisor_override`."""

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
    """The mean of each window of ([N,] C, D, H, W), or its sum divided by `divisor_override`."""

    function = "avg_pool3d"


class AdaptiveAvgPool(Applied):
    """The means of a given number of parts."""

    settings = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """The number of parts."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(AdaptiveAvgPool):
    """The means of `output_size` parts of ([N,] C, L)."""

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(AdaptiveAvgPool):
    """The means of `output_size` parts of ([N,] C, H, W); None keeps a size."""

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(AdaptiveAvgPool):
    """The means of `output_size` parts of ([N,] C, D, H, W); None keeps a size."""

    function = "adaptive_avg_pool3d"


class AdaptiveMaxPool(Applied):
    """The largest of each of a given number of parts."""

    settings = ("output_size", "return_indices")

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def extra_repr(self) -> str:
        """The number of parts."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(AdaptiveMaxPool):
    """The largest of each of `output_size` parts of ([N,] C, L)."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(AdaptiveMaxPool):
    """The largest of each of `output_size` parts of ([N,] C, H, W); None keeps a size."""

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(AdaptiveMaxPool):
    """The largest of each of `output_size` parts of ([N,] C, D, H, W); None keeps a size."""

    function = "adaptive_max_pool3d"
