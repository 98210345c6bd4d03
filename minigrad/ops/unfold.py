"""Windows that slide over images: `unfold` (im2col) and `fold` (col2im)."""

from __future__ import annotations

from math import prod
from typing import Any

from ..core import F, differentiable
from ..core.dtypes import of
from .sliding import padded, places, put_together, seen

Pair = tuple[int, int]


def check_window(kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> None:
    """RuntimeError with PyTorch's text for sizes that no window has."""
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = kernel_size, dilation, padding, stride
    if min(kernel_size) <= 0:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got kernel_height: {kh} kernel_width: {kw}"
        )
    if min(dilation) <= 0:
        raise RuntimeError(
            f"dilation should be greater than zero, but got dilation_height: {dh} dilation_width: {dw}"
        )
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {ph} pad_width: {pw}")
    if min(stride) <= 0:
        raise RuntimeError(
            f"stride should be greater than zero, but got stride_height: {sh} stride_width: {sw}"
        )


@differentiable(
    self=lambda g, self_sym_sizes, kernel_size, dilation, padding, stride: F.col2im(
        g, self_sym_sizes[-2:], kernel_size, dilation, padding, stride
    ),
    node="Im2ColBackward0",
    linear=True,
)
def im2col(self, kernel_size, dilation, padding, stride):
    """Return the windows of images of shape (N, C, H, W) or (C, H, W) as columns."""
    if self.dtype.kind in "iu":
        raise NotImplementedError(f"\"im2col_out_cpu\" not implemented for '{of(self).title}'")
    check_window(kernel_size, dilation, padding, stride)
    if self.ndim not in (3, 4) or 0 in self.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
            f"for input, but got: {list(self.shape)}"
        )
    count = places(self.shape[-2:], kernel_size, stride, padding, dilation)
    if min(count) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(self.shape[-2:])}, kernel_size={kernel_size}, "
            f"dilation={dilation}, padding={padding}, calculated shape of the array of sliding blocks as "
            f"{count}, but its components must be at least one."
        )
    images = self.reshape((-1, *self.shape[-3:]))
    rows, whole = images.shape[1] * prod(kernel_size), [n + 2 * p for n, p in zip(self.shape[-2:], padding)]
    columns = seen(padded(images, padding, tuple(whole)), kernel_size, stride, dilation, count)
    return columns.reshape((*self.shape[:-3], rows, prod(count))).copy()


image_node: Any = im2col.op.node
del image_node._saved_self_sym_sizes
image_node._saved_self_sym_argsize_minus_1 = property(lambda node: node._raw_self_sym_sizes[-1])
image_node._saved_self_sym_argsize_minus_2 = property(lambda node: node._raw_self_sym_sizes[-2])


@differentiable(
    self=lambda g, kernel_size, dilation, padding, stride: F.im2col(
        g, kernel_size, dilation, padding, stride
    ),
    node="Col2ImBackward0",
    linear=True,
)
def col2im(self, output_size, kernel_size, dilation, padding, stride):
    """Return images of size `output_size` to which the windows in the columns are added in their places."""
    check_window(kernel_size, dilation, padding, stride)
    check_columns(self, output_size, kernel_size, dilation, padding, stride)
    count = places(output_size, kernel_size, stride, padding, dilation)
    columns = self.reshape((-1, *self.shape[-2:]))
    channels = columns.shape[1] // (kernel_size[0] * kernel_size[1])
    parts = columns.reshape((len(columns), channels, *kernel_size, *count))
    image = put_together(parts, output_size, kernel_size, stride, padding, dilation)
    return image.reshape((*self.shape[:-2], channels, *output_size)) + self.dtype.type(0)  # no -0.0


def check_columns(
    self: Any, output_size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> None:
    """RuntimeError with PyTorch's text unless the columns can be windows of such an image."""
    if self.ndim not in (2, 3) or 0 in self.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
            f"dimensions for input, but got: {list(self.shape)}"
        )
    at = self.ndim - 2
    rows, columns = self.shape[-2:]
    if rows % (kernel_size[0] * kernel_size[1]):
        raise RuntimeError(
            f"Expected size of input's dimension {at} to be divisible by the product of kernel_size, but got "
            f"input.size({at})={rows} and kernel_size={kernel_size}."
        )
    high, wide = places(output_size, kernel_size, stride, padding, dilation)
    if columns != high * wide:
        raise RuntimeError(
            f"Given output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, "
            f"padding={padding}, stride={stride}, expected size of input's dimension {at + 1} to match the "
            f"calculated number of sliding blocks {high} * {wide} = {high * wide}, but got "
            f"input.size({at + 1})={columns}."
        )
