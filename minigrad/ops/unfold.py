"""Windows that slide over images: `unfold` (im2col) and `fold` (col2im)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import F, differentiable
from ..core.dtypes import of

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


def blocks(size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Pair:
    """How many windows there are, one below the other and side by side."""
    high, wide = (
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel_size, dilation, padding, stride)
    )
    return high, wide


def windows(image: Any, count: Pair, kernel_size: Pair, dilation: Pair, stride: Pair) -> Any:
    """Return the windows of a padded image, shape (N, C, kernel…, windows…), on its memory."""
    n, c, h, w = image.strides
    (dh, dw), (sh, sw) = dilation, stride
    shape = (*image.shape[:2], *kernel_size, *count)
    return as_strided(image, shape, (n, c, h * dh, w * dw, h * sh, w * sw))


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
    count = blocks(self.shape[-2:], kernel_size, dilation, padding, stride)
    if min(count) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(self.shape[-2:])}, kernel_size={kernel_size}, "
            f"dilation={dilation}, padding={padding}, calculated shape of the array of sliding blocks as "
            f"{count}, but its components must be at least one."
        )
    images = self.reshape((-1, *self.shape[-3:]))
    (ph, pw), rows = padding, images.shape[1] * kernel_size[0] * kernel_size[1]
    padded = np.pad(images, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    columns = windows(padded, count, kernel_size, dilation, stride)
    return columns.reshape((*self.shape[:-3], rows, count[0] * count[1])).copy()


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
    count = blocks(output_size, kernel_size, dilation, padding, stride)
    columns = self.reshape((-1, *self.shape[-2:]))
    channels = columns.shape[1] // (kernel_size[0] * kernel_size[1])
    (ph, pw), (h, w) = padding, output_size
    image = np.zeros((len(columns), channels, h + 2 * ph, w + 2 * pw), self.dtype)
    # a window at a time would be many; the same element of all windows never meets itself
    parts = columns.reshape((len(columns), channels, *kernel_size, *count))
    for i in range(kernel_size[0]):
        for j in range(kernel_size[1]):
            top, left = i * dilation[0], j * dilation[1]
            rows = np.s_[top : top + count[0] * stride[0] : stride[0]]
            sides = np.s_[left : left + count[1] * stride[1] : stride[1]]
            image[:, :, rows, sides] += parts[:, :, i, j]
    return image[:, :, ph : ph + h, pw : pw + w].reshape((*self.shape[:-2], channels, h, w)).copy()


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
    high, wide = blocks(output_size, kernel_size, dilation, padding, stride)
    if columns != high * wide:
        raise RuntimeError(
            f"Given output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, "
            f"padding={padding}, stride={stride}, expected size of input's dimension {at + 1} to match the "
            f"calculated number of sliding blocks {high} * {wide} = {high * wide}, but got "
            f"input.size({at + 1})={columns}."
        )
