"""Padding layers."""

from __future__ import annotations

from typing import Any

from .. import functional
from .module import Module

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


class Pad(Module):
    """Base class of layers that add borders along the last `dims` dimensions.

    `padding` is one width, or those before and after along the last dimension, then the one before, and so
    on.
    """

    _shown = "padding"
    dims = 0
    mode = ""

    def __init_subclass__(cls, dims: int = 0, mode: str = "") -> None:
        super().__init_subclass__()
        cls.dims, cls.mode = dims or cls.dims, mode or cls.mode

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Any) -> Any:
        """Return the input with its borders."""
        return functional.pad(input, self.padding, self.mode)


class ConstantPad(Pad):
    """Base class of layers that add borders of one value."""

    _shown = "padding= value="

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        """Return the input with its borders."""
        return functional.pad(input, self.padding, "constant", self.value)


class ConstantPad1d(ConstantPad, dims=1):
    """Layer that adds borders of `value` along the last dimension."""


class ConstantPad2d(ConstantPad, dims=2):
    """Layer that adds borders of `value` along the last two dimensions."""


class ConstantPad3d(ConstantPad, dims=3):
    """Layer that adds borders of `value` along the last three dimensions."""


class ZeroPad(ConstantPad):
    """Base class of layers that add borders of zeros."""

    _shown = "padding"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)


class ZeroPad1d(ZeroPad, dims=1):
    """Layer that adds borders of zeros along the last dimension."""


class ZeroPad2d(ZeroPad, dims=2):
    """Layer that adds borders of zeros along the last two dimensions."""


class ZeroPad3d(ZeroPad, dims=3):
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


class CircularPad(Pad):
    """Base class of layers that fill borders with the elements of the opposite end."""

    mode = "circular"

    def forward(self, input: Any) -> Any:
        """Return the input with its borders; raise ValueError for another number of dimensions."""
        k = self.dims
        if input.dim() not in (k + 1, k + 2):
            raise ValueError(f"expected {k + 1}D or {k + 2}D input (got {input.ndim}D input)")
        return super().forward(input)


class CircularPad1d(CircularPad, dims=1):
    """Layer that fills borders with the elements of the opposite end, of ([N,] C, W)."""


class CircularPad2d(CircularPad, dims=2):
    """Layer that fills borders with the elements of the opposite end, of ([N,] C, H, W)."""


class CircularPad3d(CircularPad, dims=3):
    """Layer that fills borders with the elements of the opposite end, of ([N,] C, D, H, W)."""
