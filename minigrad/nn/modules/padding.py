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


class ConstantPad1d(ConstantPad):
    """Layer that adds borders of `value` along the last dimension."""

    dims = 1


class ConstantPad2d(ConstantPad):
    """Layer that adds borders of `value` along the last two dimensions."""

    dims = 2


class ConstantPad3d(ConstantPad):
    """Layer that adds borders of `value` along the last three dimensions."""

    dims = 3


class ZeroPad(ConstantPad):
    """Base class of layers that add borders of zeros."""

    _shown = "padding"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)


class ZeroPad1d(ZeroPad):
    """Layer that adds borders of zeros along the last dimension."""

    dims = 1


class ZeroPad2d(ZeroPad):
    """Layer that adds borders of zeros along the last two dimensions."""

    dims = 2


class ZeroPad3d(ZeroPad):
    """Layer that adds borders of zeros along the last three dimensions."""

    dims = 3


class ReflectionPad1d(Pad):
    """Layer that adds borders by mirroring, of ([N,] C, W)."""

    dims, mode = 1, "reflect"


class ReflectionPad2d(Pad):
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

    dims, mode = 2, "reflect"


class ReflectionPad3d(Pad):
    """Layer that adds borders by mirroring, of ([N,] C, D, H, W)."""

    dims, mode = 3, "reflect"


class ReplicationPad1d(Pad):
    """Layer that fills borders with the outermost elements, of ([N,] C, W)."""

    dims, mode = 1, "replicate"


class ReplicationPad2d(Pad):
    """Layer that fills borders with the outermost elements, of ([N,] C, H, W)."""

    dims, mode = 2, "replicate"


class ReplicationPad3d(Pad):
    """Layer that fills borders with the outermost elements, of ([N,] C, D, H, W)."""

    dims, mode = 3, "replicate"


class CircularPad(Pad):
    """Base class of layers that fill borders with the elements of the opposite end."""

    mode = "circular"

    def forward(self, input: Any) -> Any:
        """Return the input with its borders; raise ValueError for another number of dimensions."""
        k = self.dims
        if input.ndim not in (k + 1, k + 2):
            raise ValueError(f"expected {k + 1}D or {k + 2}D input (got {input.ndim}D input)")
        return super().forward(input)


class CircularPad1d(CircularPad):
    """Layer that fills borders with the elements of the opposite end, of ([N,] C, W)."""

    dims = 1


class CircularPad2d(CircularPad):
    """Layer that fills borders with the elements of the opposite end, of ([N,] C, H, W)."""

    dims = 2


class CircularPad3d(CircularPad):
    """Layer that fills borders with the elements of the opposite end, of ([N,] C, D, H, W)."""

    dims = 3
