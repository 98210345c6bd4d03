"""Pooling over the last dimensions: the mean and the maximum of windows, or of a given number of parts.

An input has the shape ([N,] C, sizes…); pooling in one dimension is that in two, of height 1.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from math import prod
from typing import Any

import numpy as np

from ..core import F, calls, differentiable, zeros
from ..core.guards import check_images, refuse
from .convolution import by_place, check_adaptive, check_windows, pad_around, put_together, whole_size
from .kernels import in_float32, linear_op, only_first
from .shapes import show_sizes

RESULTS = only_first("result0", "result1")


def window_sizes(kernel: Any, stride: Any) -> Any:
    """Return the steps of windows: their size if nothing else is said."""
    return tuple(stride) or tuple(kernel)


# ── the mean of windows
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def divide_by_count(total: Any, size: Any, how: Any) -> Any:
    """Return sums over windows, or gradients, divided by how many elements each window has."""
    by = divisors(size, how, total.shape[-len(size) :])
    if total.dtype.kind == "f":
        return total / by.astype(total.dtype)
    return np.sign(total) * np.sign(by) * (np.abs(total) // np.abs(by))


def divisors(size: Any, how: Any, count: Any) -> Any:
    """How many elements each window has, those in the border among them if `is_padded`; or `divisor`."""
    kernel, stride, padding, is_padded, divisor = how
    if divisor is not None:
        return np.full(count, divisor)

    def along(n: int, k: int, s: int, p: int, c: int) -> Any:
        start = np.arange(c) * s - p
        end = np.minimum(start + k, n + p)
        return end - start if is_padded else np.minimum(end, n) - np.maximum(start, 0)

    return np.maximum(reduce(np.multiply.outer, map(along, size, kernel, stride, padding, count)), 1)


def declare_mean(k: int, title: str, gradient: str) -> None:
    """Declare the mean of windows over the last `k` dimensions, and its gradient."""
    ones = (1,) * k
    settings = (
        "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"
    )  # fmt: skip

    @linear_op(name=title, self=calls(gradient, "self", *settings))
    @in_float32
    def pool(
        self, kernel_size, stride=(), padding=(0,) * k, ceil_mode=False, count_include_pad=True,
        divisor_override=None,
    ):  # fmt: skip
        """Return the mean of each window."""
        stride = window_sizes(kernel_size, stride)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        count = check_windows(self, kernel_size, stride, padding, ones, ceil_mode)
        if k == 3 and any(n < width for n, width in zip(self.shape[-k:], kernel_size)):
            raise RuntimeError(f"input image {list(self.shape[-k:])} smaller than kernel size {kernel_size}")
        refuse(self, "avg_pool2d" if k == 2 else "avg_pool3d_out_frame")
        size = self.shape[-k:]
        whole = whole_size(size, kernel_size, stride, padding, ones, count)
        x = pad_around(self, padding, whole)
        first, *others = (there for _, there in by_place(kernel_size, stride, ones, count))
        total = np.array(x[first], order="C")
        for there in others:  # one place of all windows after the other
            np.add(total, x[there], out=total)
        return divide_by_count(
            total, size, (kernel_size, stride, padding, count_include_pad, divisor_override)
        )

    @linear_op(name=gradient, grad_output=calls(title, *settings), self=zeros)
    @in_float32
    def backward(
        grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    ):
        """Return the gradient: equal shares for all elements of a window."""
        stride, size = window_sizes(kernel_size, stride), self.shape[-k:]
        how = (kernel_size, stride, padding, count_include_pad, divisor_override)
        share = divide_by_count(grad_output, size, how)
        lead, count = share.shape[:-k], share.shape[-k:]
        parts = np.broadcast_to(share.reshape((*lead, *ones, *count)), (*lead, *kernel_size, *count))
        return put_together(parts, size, kernel_size, stride, padding, ones)


# ── the maximum of windows
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def maxima(x: Any, kernel: Any, stride: Any, dilation: Any, count: Any) -> tuple[Any, Any]:
    """Return the largest element of each window of `x`, which has its border, and its number in the window.

    What is at one place of all windows is looked at after the other. The numbers of the places grow, so that
    the largest of those where an element was greater than all before it is right.
    """
    first, *others = (there for _, there in by_place(kernel, stride, dilation, count))
    values = np.array(x[first], order="C")
    number = np.zeros(values.shape, np.int8 if prod(kernel) <= 128 else np.int32)
    for i, there in enumerate(others, 1):
        part = np.ascontiguousarray(x[there])  # pays, as it is read twice
        is_greater = (part > values) | (part != part)  # or NaN
        number = np.maximum(number, is_greater.view(np.int8) * number.dtype.type(i))
        np.maximum(values, part, out=values)
    return values, number


@lru_cache(16)  # a network has few shapes, and small ones take as long as what is done with them
def starts(size: Any, count: Any, stride: Any, padding: Any) -> Any:
    """Where windows begin, as places in the flattened input; in the border the numbers go on."""
    begin: Any = 0
    for n, c, s, p in zip(size, count, stride, padding):
        begin = np.add.outer(begin * n, np.arange(-p, s * c - p, s))
    begin.flags.writeable = False
    return begin


def first_inside(size: Any, count: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Return the first place of each window that is not in the border, in the flattened input."""
    along = (np.arange(-p, s * c - p, s) for c, s, p in zip(count, stride, padding))
    inside = (np.where(start < 0, start % d, start) for start, d in zip(along, dilation))
    return np.ravel_multi_index(np.ix_(*inside), size)


def put_at_maxima(grad_output: Any, self: Any, k: int, indices: Any) -> Any:
    """Zeros like `self` with each gradient added where the largest element was."""
    count, planes = prod(self.shape[-k:]), prod(self.shape[:-k])
    out = np.zeros(planes * count, grad_output.dtype)
    starts = np.arange(planes).reshape((*self.shape[:-k], *(1,) * k)) * count
    np.add.at(out, (starts + indices).ravel(), grad_output.ravel())
    return out.reshape(self.shape)


def at_maxima(k: int) -> dict[str, Any]:
    """The vjps of what puts gradients at the largest elements: the elements of `g` there."""

    def taken(g: Any, indices: Any) -> Any:
        *lead, _ = flat = (*g.shape[:-k], prod(g.shape[-k:]))
        found = F.gather(F.reshape(g, flat), -1, F.reshape(indices, (*lead, prod(indices.shape[-k:]))))
        return F.reshape(found, tuple(indices.shape))

    # not `zeros`: a tangent of the input alone gives zeros, not nothing
    return {"grad_output": taken, "self": lambda g: F.zeros_like(g), "linear": True}


def declare_maximum(k: int, title: str, gradient: str) -> None:
    """Declare the maximum of windows over the last `k` dimensions, and its gradient."""
    settings = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    @differentiable(name=title, self=calls(gradient, "self", *settings, "result1"), **RESULTS)
    def pool(self, kernel_size, stride=(), padding=(0,) * k, dilation=(1,) * k, ceil_mode=False):
        """Return the largest element of each window, and its place in the flattened input."""
        stride = window_sizes(kernel_size, stride)
        count = check_windows(self, kernel_size, stride, padding, dilation, ceil_mode)
        refuse(self, f"max_pool{k}d")
        lowest = -np.inf if self.dtype.kind == "f" else np.iinfo(self.dtype).min
        size = self.shape[-k:]
        whole = whole_size(size, kernel_size, stride, padding, dilation, count)
        values, number = maxima(
            pad_around(self, padding, whole, lowest), kernel_size, stride, dilation, count
        )
        index = starts(size, kernel_size, dilation, (0,) * k).ravel().take(number)
        index += starts(size, count, stride, padding)
        if any(padding):  # nothing is greater than the border where all is as low
            np.copyto(index, first_inside(size, count, stride, padding, dilation), where=values == lowest)
        return values, index

    @differentiable(name=gradient, **at_maxima(k))
    def backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
        """Return the gradient: that of each largest element, where it came from."""
        return put_at_maxima(grad_output, self, k, indices)


# ── of a number of parts
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def adaptive_bounds(size: Any, count: Any) -> Any:
    """For each part of the last dimensions: its place in the result, and its place in the input. Parts may
    overlap by one element.
    """
    along = [[np.s_[i * n // c : -(-(i + 1) * n // c)] for i in range(c)] for n, c in zip(size, count)]
    for place in np.ndindex(*count):
        yield (..., *place), (..., *(slices[i] for slices, i in zip(along, place)))


def declare_mean_of_parts(k: int, title: str, gradient: str) -> None:
    """Declare the means of parts of the last `k` dimensions, and their gradient."""
    last = tuple(range(-k, 0))

    @linear_op(name=title, self=calls(gradient, "self"))
    @in_float32
    def pool(self, output_size):
        """Return the mean of each of `output_size` parts."""
        check_adaptive(self, k, "avg", output_size)
        out = np.empty((*self.shape[:-k], *output_size), self.dtype)
        for place, part in adaptive_bounds(self.shape[-k:], output_size):
            out[place] = self[part].mean(axis=last)
        return out

    @linear_op(
        name=gradient,
        grad_output=lambda g, grad_output_sym_sizes: getattr(F, title)(g, grad_output_sym_sizes[-k:]),
        self=zeros,
    )
    @in_float32
    def backward(grad_output, self):
        """Return the gradient: equal shares for all elements of a part."""
        check_images(grad_output, k, grad_output.ndim - 1)
        out = np.zeros(self.shape, grad_output.dtype)
        for place, part in adaptive_bounds(self.shape[-k:], grad_output.shape[-k:]):
            into = out[part]
            into += (grad_output[place] / prod(into.shape[-k:]))[(..., *(None,) * k)]
        return out

    show_sizes(backward, "grad_output", *reversed(last))


def argmax(flat: Any) -> Any:
    """Where the largest element is along the last dimension; of several NaNs the last."""
    bad = flat != flat
    last = flat.shape[-1] - 1 - np.argmax(bad[..., ::-1], axis=-1)
    return np.where(bad.any(axis=-1), last, np.argmax(flat, axis=-1))


def declare_maximum_of_parts(k: int, title: str, gradient: str) -> None:
    """Declare the maxima of parts of the last `k` dimensions, and their gradient."""

    @differentiable(name=title, self=calls(gradient, "self", "result1"), **RESULTS)
    def pool(self, output_size):
        """Return the largest of each of `output_size` parts, and its place in the flattened input."""
        check_adaptive(self, k, "max", output_size)
        size, lead = self.shape[-k:], self.shape[:-k]
        values = np.empty((*lead, *output_size), self.dtype)
        indices = np.empty(values.shape, np.int64)
        numbers = np.arange(prod(size)).reshape(size)
        for place, part in adaptive_bounds(size, output_size):
            elements = self[part].reshape((*lead, prod(numbers[part].shape)))
            where = argmax(elements)
            values[place] = np.take_along_axis(elements, where[..., None], -1)[..., 0]
            indices[place] = numbers[part].ravel()[where]
        return values, indices

    @differentiable(name=gradient, **at_maxima(k))
    def backward(grad_output, self, indices):
        """Return the gradient: that of each largest element, where it came from."""
        check_images(grad_output, k, grad_output.ndim - 1)
        return put_at_maxima(grad_output, self, k, indices)


declare_mean(2, "avg_pool2d", "avg_pool2d_backward")
declare_mean(3, "avg_pool3d", "avg_pool3d_backward")
declare_maximum(2, "max_pool2d_with_indices", "max_pool2d_with_indices_backward")
declare_maximum(3, "max_pool3d_with_indices", "max_pool3d_with_indices_backward")
declare_mean_of_parts(2, "_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward")
declare_mean_of_parts(3, "_adaptive_avg_pool3d", "_adaptive_avg_pool3d_backward")
declare_maximum_of_parts(2, "adaptive_max_pool2d", "adaptive_max_pool2d_backward")
declare_maximum_of_parts(3, "adaptive_max_pool3d", "adaptive_max_pool3d_backward")
