"""Padding layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import functional
from .module import Module

__all__ = [
    "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d",
    "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
    "ZeroPad3d",
]  # fmt: skip


class Pad(Module):
    """Base class of layers that add borders along the last `dims` dimensions.

    `padding` is one width, or those before and after along the last dimension, then the one before, and so
    on.
    """

    _shown = "padding"
    dims, mode = 0, "constant"
    value: float | None = None

    def __init_subclass__(cls, dims: int = 0, mode: str = "constant", value: float | None = None) -> None:
        super().__init_subclass__()
        cls.dims, cls.mode, cls.value = dims, mode, value

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, Iterable) else (padding,) * (2 * self.dims)

    def forward(self, input: Any) -> Any:
        """Return the input with its borders."""
        return functional.pad(input, self.padding, self.mode, self.value)


class ConstantPad(Pad):
    """Base class of layers that add borders of one value."""

    _shown = "padding= value="

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value


class ConstantPad1d(ConstantPad, dims=1):
    """Layer that adds borders of `value` along the last dimension."""


class ConstantPad2d(ConstantPad, dims=2):
    """Layer that adds borders of `value` along the last two dimensions."""


class ConstantPad3d(ConstantPad, dims=3):
    """Layer that adds borders of `value` along the last three dimensions."""


class ZeroPad1d(Pad, dims=1, value=0.0):
    """Layer that adds borders of zeros along the last dimension."""


class ZeroPad2d(Pad, dims=2, value=0.0):
    """Layer that adds borders of zeros along the last two dimensions."""


class ZeroPad3d(Pad, dims=3, value=0.0):
    """Layer that adds borders of zeros along the last three dimensions."""


class ReflectionPad1d(Pad, dims=1, mode="reflect"):
    """Layer that adds borders by mirroring, of ([N,] C, W)."""


class ReflectionPad2d(Pad, dims=2, mode="reflect"):
    """Layer that adds borders to an image by mirroring it at its edges, without repeating the edges.

    The gradient of a border element is added to the element that it copies.

    Args:
        padding: numbers of columns left and right and of rows above and below, or one number for all.

    Shape:
        (N, C, H, W) or (C, H, W) → (N, C, H + above + below, W + left + right) or without N.

    Raises:
        RuntimeError: a border is not smaller than the image along its dimension.

    Example:
        >>> nn.ReflectionPad2d((1, 1, 0, 0))(torch.tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[2.0, 1.0, 2.0, 3.0, 2.0]]]

    Source: PyTorch's page `torch.nn.ReflectionPad2d`.
    """


class ReflectionPad3d(Pad, dims=3, mode="reflect"):
    """Layer that adds borders by mirroring, of ([N,] C, D, H, W)."""


class ReplicationPad1d(Pad, dims=1, mode="replicate"):
    """Layer that fills borders with the outermost elements, of ([N,] C, W)."""


class ReplicationPad2d(Pad, dims=2, mode="replicate"):
    """Layer that fills borders with the outermost elements, of ([N,] C, H, W)."""


class ReplicationPad3d(Pad, dims=3, mode="replicate"):
    """Layer that fills borders with the outermost elements, of ([N,] C, D, H, W)."""
