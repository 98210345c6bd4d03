"""Pooling by parts instead of windows, the way back from pooling, and pooling by norms, as modules."""

from __future__ import annotations

from typing import Any

from .. import functional
from ..module import Module
from .activation import Applied
from .convolution import repeated


class AdaptiveMaxPool(Applied):
    """The greatest of each of a given number of parts."""

    settings = ("output_size", "return_indices")

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def extra_repr(self) -> str:
        """The number of parts."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(AdaptiveMaxPool):
    """The greatest of each of `output_size` parts of ([N,] C, L)."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(AdaptiveMaxPool):
    """The greatest of each of `output_size` parts of ([N,] C, H, W); None keeps a size."""

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(AdaptiveMaxPool):
    """The greatest of each of `output_size` parts of ([N,] C, D, H, W); None keeps a size."""

    function = "adaptive_max_pool3d"


class FractionalMaxPool(Applied):
    """The greatest of windows at random places."""

    settings = ("kernel_size", "output_size", "output_ratio", "return_indices", "_random_samples")
    dims = 0

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        name = type(self).__name__
        if self.dims == 3 and min(repeated(kernel_size, 3)) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.kernel_size, self.return_indices = repeated(kernel_size, self.dims), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else repeated(output_size, self.dims)
        self.output_ratio = output_ratio
        if output_ratio is not None:
            is_one = isinstance(output_ratio, (int, float))
            self.output_ratio = (output_ratio,) * self.dims if is_one else tuple(output_ratio)
            if not all(0 < ratio < 1 for ratio in self.output_ratio):
                raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def extra_repr(self) -> str:
        """Nothing, as in PyTorch."""
        return ""


class FractionalMaxPool2d(FractionalMaxPool):
    """The greatest of `output_size` windows at random places of ([N,] C, H, W), or of as many as
    `output_ratio` says.
    """

    function, dims = "fractional_max_pool2d", 2


class FractionalMaxPool3d(FractionalMaxPool):
    """The greatest of `output_size` windows at random places of ([N,] C, D, H, W), or of as many as
    `output_ratio` says.
    """

    function, dims = "fractional_max_pool3d", 3


class MaxUnpool(Module):
    """The way back from pooling."""

    function = ""
    dims = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        stride = kernel_size if stride is None else stride
        self.kernel_size, self.stride, self.padding = (
            repeated(n, self.dims) for n in (kernel_size, stride, padding)
        )

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """The elements at `indices`, the places that pooling gave; 0 elsewhere."""
        how = (self.kernel_size, self.stride, self.padding, output_size)
        return getattr(functional, self.function)(input, indices, *how)

    def extra_repr(self) -> str:
        """The settings of windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(MaxUnpool):
    """Elements of ([N,] C, L) put where the greatest ones were before `MaxPool1d`."""

    function, dims = "max_unpool1d", 1


class MaxUnpool2d(MaxUnpool):
    """Elements of ([N,] C, H, W) put where the greatest ones were before `MaxPool2d`."""

    function, dims = "max_unpool2d", 2


class MaxUnpool3d(MaxUnpool):
    """Elements of ([N,] C, D, H, W) put where the greatest ones were before `MaxPool3d`."""

    function, dims = "max_unpool3d", 3


class LPPool(Applied):
    """The norm of each window."""

    settings = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode


class LPPool1d(LPPool):
    """The `norm_type`-norm of each window of ([N,] C, L)."""

    function = "lp_pool1d"


class LPPool2d(LPPool):
    """The `norm_type`-norm of each window of ([N,] C, H, W)."""

    function = "lp_pool2d"


class LPPool3d(LPPool):
    """The `norm_type`-norm of each window of ([N,] C, D, H, W)."""

    function = "lp_pool3d"
