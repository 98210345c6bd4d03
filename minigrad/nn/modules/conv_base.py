"""The base class of convolution layers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .. import init
from .linear import empty
from .module import Module

__all__ = []


def repeated(value: Any, dims: int) -> tuple[int, ...]:
    """Return one number for each dimension."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims


class ConvBase(Module):
    """Base class of convolution layers of `dims` dimensions, which call `function`.

    Weight and bias are drawn uniformly from ±1/√(channels in / groups · kernel elements).
    """

    dims = 0
    function = ""
    is_transposed = False
    padding_mode = "zeros"

    def _set_sizes(
        self, kernel_size: Any, stride: Any, padding: Any, dilation: Any, output_padding: Any
    ) -> None:
        self.kernel_size, self.stride, self.dilation, self.output_padding = (
            repeated(value, self.dims) for value in (kernel_size, stride, dilation, output_padding)
        )
        self.padding: Any = padding if isinstance(padding, str) else repeated(padding, self.dims)

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
        self.register_parameter("bias", empty(out_channels, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize weight and bias again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            inputs = math.prod(self.weight.shape[1:])
            if inputs:
                bound = 1 / math.sqrt(inputs)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        told = f"{self.in_channels}, {self.out_channels}"
        told += f", kernel_size={self.kernel_size}, stride={self.stride}"
        zeros = (0,) * self.dims
        usual = {"padding": zeros, "dilation": (1,) * self.dims, "output_padding": zeros, "groups": 1}
        told += "".join(
            f", {n}={getattr(self, n)}" for n, value in usual.items() if getattr(self, n) != value
        )
        told += "" if self.bias is not None else ", bias=False"
        return told if self.padding_mode == "zeros" else f"{told}, padding_mode={self.padding_mode}"
