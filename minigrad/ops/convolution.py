"""Convolution in one to three dimensions, its transpose, and the windows that slide over an image.

With x̂ the windows of the padded input x, as columns, and W the weight, a row for each output channel:

    y = W x̂,   x̄ = put_together(Wᵀ ȳ),   W̄ = ȳ x̂ᵀ

for each group of channels. The transposed convolution is the map from ȳ to x̄.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product as cartesian
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import F, calls, differentiable, jointly
from ..core.guards import check_images, check_same_dtype, check_sizes, check_steps, refuse
from .arithmetic import plus
from .kernels import by_one_op, first_gradient, in_float32, linear_op
from .shapes import show_sizes

# ─── Windows that slide over the last dimensions: what convolution and pooling share, `unfold` and `fold`


Sizes = tuple[int, ...]


def reach(kernel: Sizes, dilation: Sizes) -> Sizes:
    """How many elements windows span."""
    return tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))


def window_positions(
    size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool = False
) -> Sizes:
    """How many windows there are along each dimension; with `ceil_mode` the last may reach over the end."""

    def along(n: int, span: int, s: int, p: int) -> int:
        count = (n + 2 * p - span + (s - 1 if ceil_mode else 0)) // s + 1
        return count - 1 if ceil_mode and (count - 1) * s >= n + p else count

    return tuple(map(along, size, reach(kernel, dilation), stride, padding))


def sliding_windows(x: Any, kernel: Sizes, stride: Sizes, dilation: Sizes, count: Sizes) -> Any:
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
    found = [tuple(zip(*pairs)) for pairs in cartesian(*along)]
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


def pad_around(x: Any, before: Sizes, whole: Sizes, value: Any = 0) -> Any:
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
    """The transpose of `sliding_windows` after `pad_around`: windows of shape (…, kernel, count) added in
    their places in zeros of `size`.
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
    count = window_positions(x.shape[-k:], kernel, stride, padding, dilation, ceil_mode)
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
    refuse(x, name if k == 2 else name + "_cpu")


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


def check_window_sizes(x: Any, kernel: Sizes, made: Sizes) -> None:
    """RuntimeError with PyTorch's text for an input, a window or a result (of sizes `made`) without elements.
    Where there are no samples or no channels, nothing is computed, and sizes may be 0.
    """
    samples, channels, *sizes = x.shape
    if not (samples and channels):
        check_sizes((samples, channels, *made))
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
        check_same_dtype(x, bias, "Input type ({0.c_name}) and bias type ({1.c_name}) should be the same")
    check_same_dtype(x, weight)
    deep = x.ndim == 5
    if transposed:
        refuse(x, "slow_conv_transpose3d_out_cpu" if deep else "slow_conv_transpose2d_out_cpu")
    refuse(x, "compute_columns3d" if deep else "slow_conv2d_cpu")


# ── unfold and fold
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@linear_op(
    self=lambda g, self_sym_sizes, kernel_size, dilation, padding, stride: F.col2im(
        g, self_sym_sizes[-2:], kernel_size, dilation, padding, stride
    )
)
def im2col(self, kernel_size, dilation, padding, stride):
    """Return the windows of images of shape (N, C, H, W) or (C, H, W) as columns."""
    refuse(self, "im2col_out_cpu")
    check_steps(padding, kernel_size=kernel_size, dilation=dilation, stride=stride)
    check_images(self, 2)
    count = window_positions(self.shape[-2:], kernel_size, stride, padding, dilation)
    if min(count) < 1:
        blocks = f"calculated shape of the array of sliding blocks as {count}"
        raise RuntimeError(f"Given input of size {list(self.shape)}, {blocks}, which must be at least 1")
    images = self.reshape((-1, *self.shape[-3:]))
    rows, whole = images.shape[1] * prod(kernel_size), [n + 2 * p for n, p in zip(self.shape[-2:], padding)]
    columns = sliding_windows(pad_around(images, padding, tuple(whole)), kernel_size, stride, dilation, count)
    return columns.reshape((*self.shape[:-3], rows, prod(count))).copy()


show_sizes(im2col, "self", -1, -2)


@linear_op(self=calls("im2col", "kernel_size", "dilation", "padding", "stride"))
def col2im(self, output_size, kernel_size, dilation, padding, stride):
    """Return images of size `output_size` to which the windows in the columns are added in their places."""
    check_steps(padding, kernel_size=kernel_size, dilation=dilation, stride=stride)
    check_images(self, 1)
    count = window_positions(output_size, kernel_size, stride, padding, dilation)
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


# ─── Convolution in one to three dimensions, and its transpose, as products of matrices of windows


# ── the three products
# ─────────────────────────────────────────────────────────────────────────────────────────────────
#
# Arrays of the shape (N, C, sizes…) are laid out with one more dimension at the end: (N, C, sizes…, 1), or
# (1, C, sizes…, N). Windows are one wide along it. With the samples at the end all of them are one product of
# matrices, and what is copied or added is N times as long at a stretch: on 32 images of 6×6 (8 to 16
# channels) 2 times as fast forward, 2.2 and 2.4 times for the gradients by weight and by input.

NARROW = 16  # fewer windows along the last dimension, and the two transpositions of that pay


def turns(samples: int, shape: Any, width: int, narrow: int = NARROW) -> bool:
    """Whether to lay out the samples at the end, for weights of this shape and `width` windows along the last
    dimension.
    """
    return samples > 1 and width < narrow and prod(shape[2:]) > 1


def lay_samples(x: Any, turned: bool) -> Any:
    """`x` with its samples at the end if `turned`, else with a dimension of 1 there."""
    return np.ascontiguousarray(x.transpose(*range(1, x.ndim), 0))[None] if turned else x[..., None]


def unlay_samples(y: Any, turned: bool) -> Any:
    """`lay_samples` undone."""
    return np.ascontiguousarray(y[0].transpose(-1, *range(y.ndim - 2))) if turned else y[..., 0]


def columns(x: Any, kernel: Any, count: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The windows of `x`, laid out, as columns: (1 or N, groups, channels · kernel elements, windows)."""
    kernel, count = (*kernel, 1), (*count, x.shape[-1])
    stride, padding, dilation = (*stride, 1), (*padding, 0), (*dilation, 1)
    whole = whole_size(x.shape[2:], kernel, stride, padding, dilation, count)
    windows = sliding_windows(pad_around(x, padding, whole), kernel, stride, dilation, count)
    return windows.reshape((len(x), groups, x.shape[1] // groups * prod(kernel), prod(count)))


def group_channels(y: Any, groups: int) -> Any:
    """Channels by groups, the places of windows in one dimension."""
    return y.reshape((len(y), groups, y.shape[1] // groups, prod(y.shape[2:])))


@in_float32
def matrix_product(a: Any, b: Any) -> Any:
    """Return a matrix product, rounded once."""
    return a @ b


def window_rows(weight: Any, groups: int) -> Any:
    """Return the weight as a matrix for each group."""
    return weight.reshape((groups, len(weight) // groups, prod(weight.shape[1:])))


def slide_weight(
    x: Any, weight: Any, count: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """y: the weight at the first `count` places of the input."""
    turned = turns(len(x), weight.shape, count[-1])
    x = lay_samples(x, turned)
    made = window_rows(weight, groups) @ columns(
        x, weight.shape[2:], count, stride, padding, dilation, groups
    )
    return unlay_samples(made.reshape((len(x), len(weight), *count, x.shape[-1])), turned)


def spread(y: Any, weight: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """x̄, its last dimensions of `size`: each element of ȳ times the weight, put where the window was."""
    # with many samples this pays for wide images too: 1.2 times as fast on 32 of 28×28
    turned = turns(len(y), weight.shape, y.shape[-1], max(NARROW, len(y)))
    y = lay_samples(y, turned)
    parts = matrix_product(np.swapaxes(window_rows(weight, groups), -1, -2), group_channels(y, groups))
    channels, kernel = weight.shape[1] * groups, (*weight.shape[2:], 1)
    parts = parts.reshape((len(y), channels, *kernel, *y.shape[2:]))
    how = ((*stride, 1), (*padding, 0), (*dilation, 1))
    return unlay_samples(put_together(parts, (*size, y.shape[-1]), kernel, *how), turned)


def correlate(x: Any, y: Any, shape: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """W̄, of `shape`: how input and ȳ go together."""
    count = y.shape[2:]
    turned = turns(len(x), shape, count[-1])
    x, y = lay_samples(x, turned), lay_samples(y, turned)
    seen_by = columns(x, shape[2:], count, stride, padding, dilation, groups)
    made = group_channels(y, groups) @ np.swapaxes(seen_by, -1, -2)
    return np.add.reduce(made, axis=0).reshape(shape)


# ── the op
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@in_float32
def add_bias(x: Any, weight: Any, bias: Any, count: Any, *how: Any) -> Any:
    """y plus the bias, rounded once."""
    out = slide_weight(x, weight, count, *how)
    return out if bias is None else np.add(out, column(bias, x.ndim), out=out)


def column(bias: Any, ndim: int) -> Any:
    """Return the bias in a shape that broadcasts to all places."""
    return bias.reshape((-1, *(1,) * (ndim - 2)))


def transposed_size(
    x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, output_padding: Any
) -> Any:
    """Return the size that a transposed convolution gives."""
    span = reach(weight.shape[2:], dilation)
    return tuple(
        (n - 1) * s - 2 * p + r + o
        for n, s, p, r, o in zip(x.shape[2:], stride, padding, span, output_padding)
    )


def convolution_jvp(
    input_t, weight_t, bias_t, input, weight, bias, stride, padding, dilation, transposed, output_padding,
    groups,
):  # fmt: skip
    """`x ∗ Ẇ + ḃ + ẋ ∗ W`."""
    how = (stride, padding, dilation, transposed, output_padding, groups)
    moved = F.convolution(input, weight_t, None if bias is None else bias_t, *how)
    return F.convolution(input_t, weight, None, *how) + moved


@differentiable(
    **by_one_op(
        "convolution_backward",
        "input weight bias",
        "input weight bias_sym_sizes_opt stride padding dilation transposed output_padding groups",
    ),
    jvp=convolution_jvp,
)
def convolution(
    input, weight, bias=None, stride=(1,), padding=(0,), dilation=(1,), transposed=False, output_padding=(0,),
    groups=1, bias_sym_sizes_opt=(0,),
):  # fmt: skip
    """Return the windows of `input` (N, C, …) times `weight` (channels out, C / groups, …) plus `bias`;
    transposed: each element of `input` times `weight` (C, channels out / groups, …), put where its window
    was.
    """
    check_steps((*padding, *output_padding), stride=stride, dilation=dilation, groups=(groups,))
    check_shapes(input, weight, bias, transposed, groups)
    if transposed:
        check_output_padding(stride, dilation, output_padding)
    else:
        check_window(input, weight, padding, dilation)
    check_kinds(input, weight, bias, transposed)
    how = (stride, padding, dilation, groups)
    kernel = weight.shape[2:]
    if not transposed:
        count = window_positions(input.shape[2:], kernel, stride, padding, dilation)
        check_window_sizes(input, kernel, count)
        return add_bias(input, weight, bias, count, *how)
    sizes = transposed_size(input, weight, stride, padding, dilation, output_padding)
    check_window_sizes(input, kernel, sizes)
    out = spread(input, weight, sizes, *how)
    return out if bias is None else out + column(bias, input.ndim)


# ── its gradients
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def convolution_double_backward(
    grads, wanted, dilation, grad_output, groups, input, output_padding, padding, stride, transposed, weight,
):  # fmt: skip
    """What comes back to ȳ: `x̿ ∗ W + x ∗ W̿ + b̿`; to x: the gradient of a convolution by W̿; to W: that of
    a
    convolution of x̿.
    """
    how = (stride, padding, dilation, transposed, output_padding, groups)
    of_input, of_weight, bias = map(first_gradient, grads)
    to_g = to_x = to_weight = None
    if wanted[0]:
        pairs = [] if of_input is None else [(of_input, weight)]
        pairs += [] if of_weight is None else [(input, of_weight)]
        for x, w in pairs or [(F.zeros_like(input), F.zeros_like(weight))]:
            to_g = plus(to_g, F.convolution(x, w, bias if to_g is None else None, *how))
    if wanted[1] and of_weight is not None:
        mask = (True, False, False)
        to_x = F.convolution_backward(grad_output, input, of_weight, (0,), *how, mask)[0]
    if wanted[2] and of_input is not None:
        mask = (False, True, False)
        to_weight = F.convolution_backward(grad_output, of_input, weight, (0,), *how, mask)[1]
    return to_g, to_x, to_weight


@differentiable(**jointly(convolution_double_backward, "grad_output", "input", "weight"), several=True)
@in_float32
def convolution_backward(
    grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
    output_mask,
):  # fmt: skip
    """Return the gradients of input, weight and bias of `convolution`, those that `output_mask` asks for."""
    how = (stride, padding, dilation, groups)
    of_x = of_weight = of_bias = np.empty(0, grad_output.dtype)
    if output_mask[0]:
        of_x = (slide_weight if transposed else spread)(grad_output, weight, input.shape[2:], *how)
    if output_mask[1]:
        pair = (grad_output, input) if transposed else (input, grad_output)
        of_weight = correlate(*pair, weight.shape, *how)
    if output_mask[2]:
        of_bias = np.add.reduce(grad_output, axis=(0, *range(2, grad_output.ndim)))
    return of_x, of_weight, of_bias
