"""PyTorch's argument errors of `max_pool1d`."""

from __future__ import annotations

from typing import Any

from ...ops.half_precision import not_implemented

__all__ = []


def only(value: Any, name: str, text: str) -> int:
    """Return the only number; raise PyTorch's RuntimeError for more."""
    if isinstance(value, int):
        return value
    if len(value) != 1:
        raise RuntimeError(f"max_pool1d() {name} must be {text} of size 1 but got size {len(value)}")
    return value[0]


def check_lines(input: Any) -> None:
    """Raise PyTorch's RuntimeError unless the input is ([N,] C, L) and not empty."""
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(input.shape)}"
        )


def check_line(
    input: Any, kernel_size: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> None:
    """Raise PyTorch's errors for windows along one dimension where no indices are returned."""
    for name, n in (("kernel_size", kernel_size), ("stride", stride)):
        if n <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {n}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel_size // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={padding} and "
            f"kernel_size={kernel_size}"
        )
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")
    room = input.shape[-1] + 2 * padding - dilation * (kernel_size - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if count <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    if not input.is_floating_point():
        raise not_implemented("max_pool1d_impl", input.dtype)
