"""Windows that slide over the last dimensions: what convolution and pooling share, `unfold` and `fold`."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import F, calls
from .checks import check_images, check_steps, refuse, same_dtype
from .kernels import linear_op
from .shape import show_sizes

Sizes = tuple[int, ...]


def reach(kernel: Sizes, dilation: Sizes) -> Sizes:
    """How many elements windows span."""
    return tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))


def places(
    size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool = False
) -> Sizes:
    """How many windows there are along each dimension; with `ceil_mode` the last may reach over the end."""

    def along(n: int, span: int, s: int, p: int) -> int:
        count = (n + 2 * p - span + (s - 1 if ceil_mode else 0)) // s + 1
        return count - 1 if ceil_mode and (count - 1) * s >= n + p else count

    return tuple(map(along, size, reach(kernel, dilation), stride, padding))


def seen(x: Any, kernel: Sizes, stride: Sizes, dilation: Sizes, count: Sizes) -> Any:
    """Return the windows of a padded array, shape (…, kernel, count), on its memory."""
    k = len(kernel)
    steps = x.strides[-k:]
    inside = (n * d for n, d in zip(steps, dilation))
    apart = (n * s for n, s in zip(steps, stride))
    shape, strides = (*x.shape[:-k], *kernel, *count), (*x.strides[:-k], *inside, *apart)
    return as_strided(x, shape, strides, writeable=False)


@lru_cache(64)  # what depends on sizes alone takes as long as a small image, and a network has few sizes
def by_place(kernel: Sizes, stride: Sizes, dilation: Sizes, count: Sizes) -> Any:
    """For each place in a window two indices of what is there in all windows: in an array (…, kernel, count)
    of windows, and in the padded array.
    """
    along = (
        [(i, slice(i * d, i * d + s * (c - 1) + 1, s)) for i in range(k)]
        for k, s, d, c in zip(kernel, stride, dilation, count)
    )
    found = [tuple(zip(*pairs)) for pairs in product(*along)]
    return [((..., *place, *(np.s_[:],) * len(kernel)), (..., *there)) for place, there in found]


@lru_cache(64)
def whole_size(
    size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, count: Sizes
) -> Sizes:
    """Return the sizes of an array with its border, in which `count` windows have room."""
    return tuple(
        max(n + 2 * p, r + s * (c - 1))
        for n, p, r, s, c in zip(size, padding, reach(kernel, dilation), stride, count)
    )


def padded(x: Any, before: Sizes, whole: Sizes, value: Any = 0) -> Any:
    """`x` with `value` around it: `before` along its last dimensions, and behind it up to sizes `whole`; `x`
    itself if nothing comes around it.
    """
    lead, sizes = x.shape[: x.ndim - len(whole)], x.shape[x.ndim - len(whole) :]
    if sizes == whole:
        return x
    out: Any = np.full((*lead, *whole), value, x.dtype)
    out[(..., *(np.s_[b : b + n] for n, b in zip(sizes, before)))] = x
    return out


def put_together(
    parts: Any, size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> Any:
    """The transpose of `seen` after `padded`: windows of shape (…, kernel, count) added in their places in
    zeros of `size`.
    """
    k = len(size)
    count = parts.shape[-k:]
    lead = parts.shape[: -2 * k]
    whole = whole_size(size, kernel, stride, padding, dilation, count)
    out: Any = np.zeros((*lead, *whole), parts.dtype)
    for part, there in by_place(kernel, stride, dilation, count):
        into = out[there]
        np.add(into, parts[part], out=into)
    if whole == size and not any(padding):
        return out
    inside = tuple(np.s_[p : p + n] for p, n in zip(padding, size))
    return out[(..., *inside)]


# ── what pooling and convolution refuse
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_windows(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    """Return the number of windows; RuntimeError with PyTorch's text if a window does not fit."""
    k = len(kernel)
    check_steps(padding, kernel_size=kernel, stride=stride, dilation=dilation)
    for p, n, d in zip(padding, kernel, dilation):
        if p > ((n - 1) * d + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={n} and dilation={d}"
            )
    check_images(x, k)
    count = places(x.shape[-k:], kernel, stride, padding, dilation, ceil_mode)
    if min(count) < 1:
        given, made = ("x".join(map(str, (x.shape[-k - 1], *sizes))) for sizes in (x.shape[-k:], count))
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({made}). Output size is too small"
        )
    return count


def check_adaptive(x: Any, k: int, kind: str, output_size: Any) -> None:
    """PyTorch's errors for what cannot be divided into `output_size` parts."""
    name = f"adaptive_{kind}_pool{k}d"
    check_images(x, k, k if kind == "avg" else x.ndim - 1)
    if len(output_size) != k or min(output_size) < 0:
        raise RuntimeError(f"{name}: output_size must be {k} sizes, but got {list(output_size)}")
    refuse(x, "biuc", name if k == 2 else name + "_cpu")


def check_shapes(x: Any, weight: Any, bias: Any, transposed: bool, groups: int) -> None:
    """RuntimeError with PyTorch's text for shapes that do not go together."""
    shape = list(weight.shape)
    if len(weight) < groups or len(weight) % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{shape}] instead"
        )
    wanted = shape[0] if transposed else shape[1] * groups
    if x.shape[1] != wanted:
        raise RuntimeError(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {shape}, expected "
            f"input{list(x.shape)} to have {wanted} channels, but got {x.shape[1]} channels instead"
        )
    made = shape[1] * groups if transposed else shape[0]
    if bias is not None and tuple(bias.shape) != (made,):
        told = f"transposed=1, weight of size {shape}" if transposed else f"weight of size {shape}"
        raise RuntimeError(
            f"Given {told}, expected bias to be 1-dimensional with {made} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )


def check_window(x: Any, weight: Any, padding: Any, dilation: Any) -> None:
    """RuntimeError with PyTorch's text for a window that is wider than the padded input."""
    have = [n + 2 * p for n, p in zip(x.shape[2:], padding)]
    need = reach(weight.shape[2:], dilation)
    if any(n < k for n, k in zip(have, need)):
        first, second = (" x ".join(map(str, sizes)) for sizes in (have, need))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({first}). Kernel size: ({second}). Kernel size "
            "can't be greater than actual input size"
        )


def check_sizes(x: Any, kernel: Sizes, made: Sizes) -> None:
    """RuntimeError with PyTorch's text for an input, a window or a result (of sizes `made`) without elements.
    Where there are no samples or no channels, nothing is computed, and sizes may be 0.
    """
    samples, channels, *sizes = x.shape
    if not (samples and channels):
        if min(made) < 0:
            shape = [samples, channels, *made]
            raise RuntimeError(f"Trying to create tensor with negative dimension {min(made)}: {shape}")
        return
    flat = (1,) * (len(sizes) == 1)  # one dimension is computed as two
    if not x.size:
        shape = [samples, channels, *flat, *sizes]
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}"
        )
    if 0 in kernel:
        shown = " kernel_height: {} kernel_width: {}" if len(sizes) < 3 else ": {} x {} x {} (TxHxW)"
        shown = shown.format(*flat, *kernel)
        raise RuntimeError(f"kernel size should be greater than zero, but got{shown}")
    if min(made) < 1:
        given, found = (" x ".join(map(str, (*flat, *shape))) for shape in (sizes, made))
        raise RuntimeError(
            f"Given input size per channel: ({given}). Calculated output size per channel: ({found}). Output "
            "size is too small"
        )


def check_output_padding(stride: Any, dilation: Any, output_padding: Any) -> None:
    """RuntimeError with PyTorch's text unless output padding is smaller than stride or dilation."""
    if any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation)):
        told = f"output padding {output_padding}, stride {stride} and dilation {dilation}"
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {told}")


def check_kinds(x: Any, weight: Any, bias: Any, transposed: bool) -> None:
    """PyTorch's errors for dtypes that differ, or that there is no convolution of."""
    if bias is not None:
        same_dtype(x, bias, "Input type ({0.c_name}) and bias type ({1.c_name}) should be the same")
    same_dtype(x, weight, "expected scalar type {0.title} but found {1.title}")
    deep = x.ndim == 5
    if transposed and x.dtype != np.int64:
        refuse(x, "biu", f"slow_conv_transpose{3 if deep else 2}d_out_cpu")
    refuse(x, "b", "compute_columns3d" if deep else "slow_conv2d_cpu")


# ── unfold and fold
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@linear_op(
    self=lambda g, self_sym_sizes, kernel_size, dilation, padding, stride: F.col2im(
        g, self_sym_sizes[-2:], kernel_size, dilation, padding, stride
    )
)
def im2col(self, kernel_size, dilation, padding, stride):
    """Return the windows of images of shape (N, C, H, W) or (C, H, W) as columns."""
    refuse(self, "iu", "im2col_out_cpu")
    check_steps(padding, kernel_size=kernel_size, dilation=dilation, stride=stride)
    check_images(self, 2)
    count = places(self.shape[-2:], kernel_size, stride, padding, dilation)
    if min(count) < 1:
        blocks = f"calculated shape of the array of sliding blocks as {count}"
        raise RuntimeError(f"Given input of size {list(self.shape)}, {blocks}, which must be at least 1")
    images = self.reshape((-1, *self.shape[-3:]))
    rows, whole = images.shape[1] * prod(kernel_size), [n + 2 * p for n, p in zip(self.shape[-2:], padding)]
    columns = seen(padded(images, padding, tuple(whole)), kernel_size, stride, dilation, count)
    return columns.reshape((*self.shape[:-3], rows, prod(count))).copy()


show_sizes(im2col, "self", -1, -2)


@linear_op(self=calls("im2col", "kernel_size", "dilation", "padding", "stride"))
def col2im(self, output_size, kernel_size, dilation, padding, stride):
    """Return images of size `output_size` to which the windows in the columns are added in their places."""
    check_steps(padding, kernel_size=kernel_size, dilation=dilation, stride=stride)
    check_images(self, 1)
    count = places(output_size, kernel_size, stride, padding, dilation)
    rows, columns = self.shape[-2:]
    if rows % prod(kernel_size) or columns != prod(count):
        raise RuntimeError(
            f"Expected columns of C · {prod(kernel_size)} elements for {prod(count)} windows of "
            f"output_size={output_size}, but got input of size {list(self.shape)}"
        )
    channels = rows // prod(kernel_size)
    parts = self.reshape((-1, channels, *kernel_size, *count))
    image = put_together(parts, output_size, kernel_size, stride, padding, dilation)
    return image.reshape((*self.shape[:-2], channels, *output_size)) + self.dtype.type(0)  # no -0.0
