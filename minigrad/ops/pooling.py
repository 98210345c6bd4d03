"""Pooling in two and three dimensions: the greatest element or the mean of each window.

An input has the shape ([N,] C, sizes…); pooling in one dimension is that in two, of height 1.
"""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import Any

import numpy as np

from ..dtypes import of
from ..op import F, differentiable
from .halves import not_implemented, wide
from .sliding import padded, put_together, reach, seen

# ── windows
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def places(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    """How many windows there are along each dimension; with `ceil_mode` the last may reach over the end."""

    def along(n: int, span: int, s: int, p: int) -> int:
        count = (n + 2 * p - span + (s - 1 if ceil_mode else 0)) // s + 1
        return count - 1 if ceil_mode and (count - 1) * s >= n + p else count

    return tuple(map(along, size, reach(kernel, dilation), stride, padding))


def window_sizes(kernel: Any, stride: Any) -> Any:
    """The steps of windows: their size if nothing else is said."""
    return tuple(stride) or tuple(kernel)


def shown(x: Any, k: int, sizes: Any) -> str:
    """The shape of a sample, its last dimensions of `sizes`, as PyTorch writes it."""
    return "x".join(map(str, (x.shape[-k - 1], *sizes)))


def check_pool(
    name: str, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """The number of windows; RuntimeError with PyTorch's text if a window does not fit."""
    k = len(kernel)
    if 0 in stride:
        raise RuntimeError("stride should not be zero")
    if min(padding) < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {min(padding)}")
    for p, n, d in zip(padding, kernel, dilation):
        if p > ((n - 1) * d + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={n} and dilation={d}"
            )
    letters = "HW" if k == 2 else "THW"
    for what, values in (("kernel size", kernel), ("stride", stride), ("dilation", dilation)):
        if min(values) <= 0:
            short = {"kernel size": "k", "stride": "d", "dilation": "dilation"}[what]
            told = " ".join(f"{short}{letter}: {n}" for letter, n in zip(letters, values))
            raise RuntimeError(f"{what} should be greater than zero, but got {told}")
    check_rank(x, k, name)
    count = places(x.shape[-k:], kernel, stride, padding, dilation, ceil_mode)
    if min(count) < 1:
        raise RuntimeError(
            f"Given input size: ({shown(x, k, x.shape[-k:])}). Calculated output size: "
            f"({shown(x, k, count)}). Output size is too small"
        )
    return count


def check_rank(x: Any, k: int, name: str) -> None:
    """RuntimeError with PyTorch's text unless the input is a sample or a batch, of some elements each."""
    is_ranked = x.ndim in (k + 1, k + 2)
    if k == 2 and (not is_ranked or 0 in x.shape[-3:]):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(x.shape)}"
        )
    if not is_ranked:
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    for n in x.shape[-k - 1 :]:
        if not n:  # PyTorch tells the size of the dimension, not its number
            raise RuntimeError(
                f"{name}(): Expected input's non-batch dimensions to have positive length, but input has a "
                f"shape of {list(x.shape)} and non-batch dimension {n} has length zero!"
            )


# ── the greatest
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def greatest(flat: Any, axis: int) -> Any:
    """Where the greatest element is: the first of equal ones, but the last NaN, as in PyTorch."""
    where = np.argmax(flat, axis=axis)
    if flat.dtype.kind != "f":
        return where
    bad = np.isnan(flat)
    last = flat.shape[axis] - 1 - np.argmax(np.flip(bad, axis), axis=axis)
    return np.where(np.any(bad, axis=axis), last, where)


def in_input(where: Any, size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Places in windows as places in the flattened input; those in the border move on into it."""
    k = len(size)
    index = np.zeros_like(where)
    for i, inside in enumerate(np.unravel_index(where, kernel)):
        starts = np.arange(where.shape[i - k]) * stride[i] - padding[i]
        at = inside + 0 * where
        at = at * dilation[i] + starts.reshape((-1, *(1,) * (k - 1 - i)))
        at = np.where(at < 0, at % dilation[i], at)
        index = index * size[i] + at
    return index


def pool_greatest(
    self: Any, kernel_size: Any, stride: Any = (), padding: Any = (), dilation: Any = (),
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The kernel of `max_pool2d_with_indices` and `max_pool3d_with_indices`."""
    k = len(kernel_size)
    stride = window_sizes(kernel_size, stride)
    name = f"max_pool{k}d_with_indices_out_cpu_template"
    count = check_pool(name, self, kernel_size, stride, padding, dilation, ceil_mode)
    if self.dtype.kind in "bc":
        raise not_implemented(f"max_pool{k}d", of(self))
    lowest = -np.inf if self.dtype.kind == "f" else np.iinfo(self.dtype).min
    size, span = self.shape[-k:], reach(kernel_size, dilation)
    whole = tuple(
        max(n + 2 * p, r + s * (c - 1)) for n, p, r, s, c in zip(size, padding, span, stride, count)
    )
    windows = seen(padded(self, padding, whole, lowest), kernel_size, stride, dilation, count)
    lead = self.shape[:-k]
    flat = windows.reshape((*lead, prod(kernel_size), *count))
    where = greatest(flat, len(lead))
    values = np.take_along_axis(flat, np.expand_dims(where, len(lead)), len(lead)).squeeze(len(lead))
    return values, in_input(where, size, kernel_size, stride, padding, dilation)


def put_greatest(grad_output: Any, self: Any, k: int, indices: Any) -> Any:
    """Zeros like `self` with each gradient added where the greatest element was."""
    size = self.shape[-k:]
    lead = prod(self.shape[:-k])
    out = np.zeros((lead, prod(size)), grad_output.dtype)
    flat = indices.reshape((lead, prod(indices.shape[-k:])))
    np.add.at(out, (np.arange(lead)[:, None], flat), grad_output.reshape(flat.shape))
    return out.reshape(self.shape)


def taken(x: Any, indices: Any, k: int) -> Any:
    """The elements of `x`, its last `k` dimensions flattened, at `indices`."""
    shape = tuple(indices.shape)
    lead = shape[:-k]
    flat = F.reshape(x, (*lead, prod(x.shape[-k:])))
    return F.reshape(F.gather(flat, -1, F.reshape(indices, (*lead, prod(shape[-k:])))), shape)


def greatest_vjp(k: int) -> Any:
    """The gradient of each greatest element goes to where it came from."""
    name = f"max_pool{k}d_with_indices_backward"

    def vjp(grads, self, kernel_size, stride, padding, dilation, ceil_mode, result1):
        how = (kernel_size, stride, padding, dilation, ceil_mode, result1)
        return getattr(F, name)(grads[0], self, *how)

    return vjp


def greatest_jvp(k: int) -> Any:
    """The tangents where the greatest elements were."""

    def jvp(self_t, result1):
        return taken(self_t, result1, k), F.zeros_like(result1)

    return jvp


GREATEST: dict[str, Any] = {
    "several": ("result0", "result1"),
    "constants": ("result1",),
    "kernel": pool_greatest,
}


@differentiable(self=greatest_vjp(2), jvp=greatest_jvp(2), node="MaxPool2DWithIndicesBackward0", **GREATEST)
def max_pool2d_with_indices(self, kernel_size, stride=(), padding=(0, 0), dilation=(1, 1), ceil_mode=False):
    """The greatest element of each window, and its place in the flattened input."""


@differentiable(self=greatest_vjp(3), jvp=greatest_jvp(3), node="MaxPool3DWithIndicesBackward0", **GREATEST)
def max_pool3d_with_indices(
    self, kernel_size, stride=(), padding=(0, 0, 0), dilation=(1, 1, 1), ceil_mode=False
):
    """The greatest element of each window, and its place in the flattened input."""


@differentiable(
    grad_output=lambda g, indices: taken(g, indices, 2),
    self=lambda g: F.zeros_like(g),
    node="MaxPool2DWithIndicesBackwardBackward0",
    linear=True,
)
def max_pool2d_with_indices_backward(
    grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices
):
    """The gradient of `max_pool2d_with_indices`."""
    return put_greatest(grad_output, self, 2, indices)


@differentiable(
    grad_output=lambda g, indices: taken(g, indices, 3),
    self=lambda g: F.zeros_like(g),
    node="MaxPool3DWithIndicesBackwardBackward0",
    linear=True,
)
def max_pool3d_with_indices_backward(
    grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices
):
    """The gradient of `max_pool3d_with_indices`."""
    return put_greatest(grad_output, self, 3, indices)


# ── the mean
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def divisors(
    size: Any, kernel: Any, stride: Any, padding: Any, count: Any, is_padded: bool, divisor: int | None
) -> Any:
    """How many elements each window has, those in the border among them if `is_padded`; or `divisor`."""
    if divisor is not None:
        return np.full(count, divisor)

    def along(n: int, k: int, s: int, p: int, c: int) -> Any:
        start = np.arange(c) * s - p
        end = np.minimum(start + k, n + p)
        return end - start if is_padded else np.minimum(end, n) - np.maximum(start, 0)

    return np.maximum(reduce(np.multiply.outer, map(along, size, kernel, stride, padding, count)), 1)


def divided(total: Any, by: Any) -> Any:
    """The quotient; of integers without what is behind the point."""
    if total.dtype.kind == "f":
        return total / by.astype(total.dtype)
    return np.sign(total) * np.sign(by) * (np.abs(total) // np.abs(by))


@wide
def pool_mean(
    self: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor_override: Any,
) -> Any:  # fmt: skip
    """The kernel of `avg_pool2d` and `avg_pool3d`."""
    k = len(kernel_size)
    stride = window_sizes(kernel_size, stride)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    ones = (1,) * k
    count = check_pool(f"avg_pool{k}d", self, kernel_size, stride, padding, ones, ceil_mode)
    if self.dtype.kind != "f" and self.dtype != np.int64:
        raise not_implemented("avg_pool2d" if k == 2 else "avg_pool3d_out_frame", of(self))
    size = self.shape[-k:]
    whole = tuple(
        max(n + 2 * p, r + s * (c - 1)) for n, p, r, s, c in zip(size, padding, kernel_size, stride, count)
    )
    windows = seen(padded(self, padding, whole), kernel_size, stride, ones, count)
    lead = self.ndim - k
    total = np.add.reduce(windows, axis=tuple(range(lead, lead + k)))
    return divided(
        total, divisors(size, kernel_size, stride, padding, count, count_include_pad, divisor_override)
    )


@wide
def spread_mean(
    grad_output: Any, self: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: Any,
) -> Any:  # fmt: skip
    """The kernel of `avg_pool2d_backward` and `avg_pool3d_backward`."""
    k = len(kernel_size)
    stride = window_sizes(kernel_size, stride)
    size, count = self.shape[-k:], grad_output.shape[-k:]
    share = divided(
        grad_output, divisors(size, kernel_size, stride, padding, count, count_include_pad, divisor_override)
    )
    lead = share.shape[:-k]
    parts = np.broadcast_to(share.reshape((*lead, *(1,) * k, *count)), (*lead, *kernel_size, *count))
    return put_together(parts, size, kernel_size, stride, padding, (1,) * k)


def mean_vjp(k: int) -> Any:
    """Each gradient goes to all elements of its window in equal shares."""
    name = f"avg_pool{k}d_backward"

    def vjp(g, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return getattr(F, name)(g, self, *how)

    return vjp


def mean_backward_jvp(k: int) -> Any:
    """The gradient of the tangent; that of the input makes no difference."""
    name = f"avg_pool{k}d_backward"

    def jvp(
        grad_output_t, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    ):
        how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return getattr(F, name)(grad_output_t, self, *how)

    return jvp


def mean_twice(k: int) -> Any:
    """The gradient of a gradient: the mean again."""
    name = f"avg_pool{k}d"

    def vjp(g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return getattr(F, name)(
            g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )

    return vjp


@differentiable(self=mean_vjp(2), linear=True, node="AvgPool2DBackward0", kernel=pool_mean)
def avg_pool2d(
    self, kernel_size, stride=(), padding=(0, 0), ceil_mode=False, count_include_pad=True,
    divisor_override=None,
):  # fmt: skip
    """The mean of each window."""


@differentiable(self=mean_vjp(3), linear=True, node="AvgPool3DBackward0", kernel=pool_mean)
def avg_pool3d(
    self, kernel_size, stride=(), padding=(0, 0, 0), ceil_mode=False, count_include_pad=True,
    divisor_override=None,
):  # fmt: skip
    """The mean of each window."""


@differentiable(
    grad_output=mean_twice(2),
    self=lambda g: F.zeros_like(g),
    jvp=mean_backward_jvp(2),
    node="AvgPool2DBackwardBackward0",
    kernel=spread_mean,
)
def avg_pool2d_backward(
    grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    """The gradient of `avg_pool2d`."""


@differentiable(
    grad_output=mean_twice(3),
    self=lambda g: F.zeros_like(g),
    jvp=mean_backward_jvp(3),
    node="AvgPool3DBackwardBackward0",
    kernel=spread_mean,
)
def avg_pool3d_backward(
    grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    """The gradient of `avg_pool3d`."""
