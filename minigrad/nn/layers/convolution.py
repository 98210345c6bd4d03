"""Convolutions whose kernels are learned, and their transposes."""

from __future__ import annotations

import math
from typing import Any

from .. import functional, init
from ..module import Module
from .linear import empty


def repeated(value: Any, dims: int) -> tuple[int, ...]:
    """A number for each dimension."""
    return (value,) * dims if isinstance(value, int) else tuple(value)


class Convolving(Module):
    """Weight and bias of a convolution of `dims` dimensions by the function called `function`. They begin
    uniform within ±1/√(channels in / groups · kernel elements).
    """

    dims = 0
    function = ""
    is_transposed = False

    def _learn(self, in_channels: int, out_channels: int, groups: int, bias: bool, dtype: Any) -> None:
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        first, second = (in_channels, out_channels) if self.is_transposed else (out_channels, in_channels)
        self.weight = empty(first, second // groups, *self.kernel_size, dtype=dtype)
        if bias:
            self.bias = empty(out_channels, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            inputs = math.prod(self.weight.shape[1:])
            if inputs:
                bound = 1 / math.sqrt(inputs)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """The settings, those that are as usual left out."""
        told = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        usual = {
            "padding": (0,) * self.dims,
            "dilation": (1,) * self.dims,
            "output_padding": (0,) * self.dims,
            "groups": 1,
        }
        for name, value in usual.items():
            if getattr(self, name) != value:
                told += f", {name}={getattr(self, name)}"
        return told if self.bias is not None else told + ", bias=False"


class Conv(Convolving):
    """A convolution of any number of dimensions."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if padding_mode != "zeros":
            raise NotImplementedError("minigrad pads with zeros only: pad the input by nn.functional.pad")
        self.kernel_size, self.stride = repeated(kernel_size, self.dims), repeated(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else repeated(padding, self.dims)
        self.dilation, self.output_padding = repeated(dilation, self.dims), (0,) * self.dims
        self._check_padding()
        self._learn(in_channels, out_channels, groups, bias, dtype)

    def _check_padding(self) -> None:
        if not isinstance(self.padding, str):
            return
        if self.padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {self.padding!r}, should be one of {{'valid', 'same'}}")
        if self.padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")

    def forward(self, input: Any) -> Any:
        """The kernels at each place of the input."""
        return getattr(functional, self.function)(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )


class Conv1d(Conv):
    """Kernels that slide along a line: ([N,] channels in, L) to ([N,] channels out, places)."""

    dims, function = 1, "conv1d"


class Conv2d(Conv):
    """Kernels that slide over an image: ([N,] channels in, H, W) to ([N,] channels out, places)."""

    dims, function = 2, "conv2d"


class Conv3d(Conv):
    """Kernels that slide through a volume: ([N,] channels in, D, H, W) to ([N,] channels out, places)."""

    dims, function = 3, "conv3d"


class ConvTranspose(Convolving):
    """A transposed convolution of any number of dimensions."""

    is_transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        sizes = (kernel_size, stride, padding, dilation, output_padding)
        self.kernel_size, self.stride, self.padding, self.dilation, self.output_padding = (
            repeated(n, self.dims) for n in sizes
        )
        self._learn(in_channels, out_channels, groups, bias, dtype)

    def forward(self, input: Any) -> Any:
        """Each element of the input times the kernels, added up where the windows lie."""
        how = (self.stride, self.padding, self.output_padding, self.groups, self.dilation)
        return getattr(functional, self.function)(input, self.weight, self.bias, *how)


class ConvTranspose1d(ConvTranspose):
    """The transpose of `Conv1d`, from its results' shape to that of its inputs."""

    dims, function = 1, "conv_transpose1d"


class ConvTranspose2d(ConvTranspose):
    """The transpose of `Conv2d`, from its results' shape to that of its inputs."""

    dims, function = 2, "conv_transpose2d"


class ConvTranspose3d(ConvTranspose):
    """The transpose of `Conv3d`, from its results' shape to that of its inputs."""

    dims, function = 3, "conv_transpose3d"
