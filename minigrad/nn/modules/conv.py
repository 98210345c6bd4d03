"""Convolutions whose kernels are learned, and their transposes."""

from __future__ import annotations

import math
from typing import Any

from .. import functional, init
from .linear import empty
from .module import Module

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


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
    padding_mode = "zeros"

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
        told = told if self.bias is not None else told + ", bias=False"
        return told if self.padding_mode == "zeros" else f"{told}, padding_mode={self.padding_mode}"


class Conv(Convolving):
    """A convolution of any number of dimensions."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if padding_mode not in PADDING_MODES:
            told = ", ".join(map(repr, PADDING_MODES))
            raise ValueError(f"padding_mode must be one of {{{told}}}, but got padding_mode='{padding_mode}'")
        self.padding_mode = padding_mode
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
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = functional.pad(input, self._borders(), self.padding_mode)
            padding = 0
        return getattr(functional, self.function)(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def _borders(self) -> tuple[int, ...]:
        """The widths before and after along the last dimension, then along the last but one and so on."""
        padding: Any = self.padding
        if padding == "valid":
            return (0,) * (2 * self.dims)
        if padding != "same":
            return tuple(n for n in reversed(padding) for _ in range(2))
        total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
        return tuple(part for n in reversed(total) for part in (n // 2, n - n // 2))


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

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """Each element of the input times the kernels, added up where the windows lie; `output_size` settles
        which of the sizes that the convolution makes equal is meant.
        """
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        how = (self.stride, self.padding, extra, self.groups, self.dilation)
        return getattr(functional, self.function)(input, self.weight, self.bias, *how)

    def _extra(self, input: Any, output_size: Any) -> tuple[int, ...]:
        """The output padding that gives `output_size`; ValueError with PyTorch's text for one that none
        gives.
        """
        k = self.dims
        lead = 2 if input.ndim == k + 2 else 1
        given = list(output_size)[lead:] if len(output_size) == lead + k else list(output_size)
        if len(given) != k:
            raise ValueError(
                f"ConvTranspose{k}D: for {input.ndim}D input, output_size must have {k} or {lead + k} "
                f"elements (got {len(given)})"
            )
        least = [
            (n - 1) * s - 2 * p + d * (size - 1) + 1
            for n, s, p, d, size in zip(
                input.shape[lead:], self.stride, self.padding, self.dilation, self.kernel_size
            )
        ]
        most = [n + s - 1 for n, s in zip(least, self.stride)]
        if not all(a <= n <= b for a, n, b in zip(least, given, most)):
            raise ValueError(
                f"requested an output size of {type(output_size)(given)}, but valid sizes range from {least} "
                f"to {most} (for an input of {input.shape[2:]})"
            )
        return tuple(n - a for n, a in zip(given, least))


class ConvTranspose1d(ConvTranspose):
    """The transpose of `Conv1d`, from its results' shape to that of its inputs."""

    dims, function = 1, "conv_transpose1d"


class ConvTranspose2d(ConvTranspose):
    """The transpose of `Conv2d`, from its results' shape to that of its inputs."""

    dims, function = 2, "conv_transpose2d"


class ConvTranspose3d(ConvTranspose):
    """The transpose of `Conv3d`, from its results' shape to that of its inputs."""

    dims, function = 3, "conv_transpose3d"
