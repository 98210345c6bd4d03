"""Max pooling in two and three dimensions; `average_pooling` has the mean.

An input has the shape ([N,] C, sizes…); pooling in one dimension is that in two, of height 1.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..core import F, differentiable
from .checks import refuse
from .sliding import by_place, padded, places, seen, whole_size

MANY = 64  # windows of more elements are looked through each by itself, unless they overlap


def argmax(flat: Any, axis: int) -> Any:
    """Where the largest element is along `axis`."""
    where = np.argmax(flat, axis=axis)
    if flat.dtype.kind != "f":
        return where
    bad = np.isnan(flat)
    if not bad.any():
        return where
    last = flat.shape[axis] - 1 - np.argmax(np.flip(bad, axis), axis=axis)
    return np.where(np.any(bad, axis=axis), last, where)


def of_windows(x: Any, kernel: Any, stride: Any, dilation: Any, count: Any) -> tuple[Any, Any]:
    """Return the largest element of each window of `x`, which has its border, and its number."""
    if prod(kernel) > MANY and prod(kernel) * prod(count) <= prod(x.shape[x.ndim - len(kernel) :]):
        return by_window(x, kernel, stride, dilation, count)
    return by_place_in_window(x, kernel, stride, dilation, count)


def by_window(x: Any, kernel: Any, stride: Any, dilation: Any, count: Any) -> tuple[Any, Any]:
    """One window after the other: one window of 28×28 takes 1/20 of the time of `by_place_in_window`."""
    axis = x.ndim - len(kernel)
    flat = seen(x, kernel, stride, dilation, count).reshape((*x.shape[:axis], prod(kernel), *count))
    number = argmax(flat, axis)
    values = np.take_along_axis(flat, np.expand_dims(number, axis), axis)
    return values.reshape(number.shape), number


def by_place_in_window(x: Any, kernel: Any, stride: Any, dilation: Any, count: Any) -> tuple[Any, Any]:
    """What is at one place of all windows after the other. The numbers of the places grow, so that the
    largest of those where an element was greater than all before it is right.
    """
    has_nan = x.dtype.kind == "f" and np.isnan(np.maximum.reduce(x, axis=None, initial=-np.inf))
    values: Any = None
    which: Any = None
    for i, (_, there) in enumerate(by_place(kernel, stride, dilation, count)):
        if values is None:
            values = np.array(x[there], order="C")
            which = np.zeros(values.shape, np.int8 if prod(kernel) <= 128 else np.int32)
            continue
        part = np.ascontiguousarray(x[there])  # pays, as it is read twice
        is_greater = (part > values) | (part != part) if has_nan else part > values
        which = np.maximum(which, is_greater.view(np.int8) * which.dtype.type(i))
        np.maximum(values, part, out=values)
    return values, which


def window_sizes(kernel: Any, stride: Any) -> Any:
    """Return the steps of windows: their size if nothing else is said."""
    return tuple(stride) or tuple(kernel)


def shown(x: Any, k: int, sizes: Any) -> str:
    """Return the shape of a sample, its last dimensions of `sizes`, as PyTorch writes it."""
    return "x".join(map(str, (x.shape[-k - 1], *sizes)))


def check_pool(
    name: str, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """Return the number of windows; RuntimeError with PyTorch's text if a window does not fit."""
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
    check_half(kernel, padding)
    size = x.shape[-k:]
    if name == "avg_pool3d" and any(n < width for n, width in zip(size, kernel)):
        image = " ".join(f"{letter}: {n}" for letter, n in zip(letters, size))
        window = " ".join(f"k{letter}: {n}" for letter, n in zip(letters, kernel))
        raise RuntimeError(f"input image ({image}) smaller than kernel size ({window})")
    count = places(x.shape[-k:], kernel, stride, padding, dilation, ceil_mode)
    if min(count) < 1:
        raise RuntimeError(
            f"Given input size: ({shown(x, k, x.shape[-k:])}). Calculated output size: "
            f"({shown(x, k, count)}). Output size is too small"
        )
    return count


def check_half(kernel: Any, padding: Any) -> None:
    """RuntimeError with PyTorch's text for padding of more than half a window, without its dilation."""
    if all(p <= n // 2 for n, p in zip(kernel, padding)):
        return
    if len(kernel) == 2:
        (kh, kw), (ph, pw) = kernel, padding
        told = f"padW = {pw}, padH = {ph}, kW = {kw}, kH = {kh}"
    else:
        (kt, kh, kw), (pt, ph, pw) = kernel, padding
        told = f"kT: {kt} kW: {kw} kH: {kh} padT: {pt} padW: {pw} padH: {ph}"
    raise RuntimeError(f"pad should be smaller than or equal to half of kernel size, but got {told}")


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
    first: Any = 0
    for n, c, s, p, d in zip(size, count, stride, padding, dilation):
        along = np.arange(-p, s * c - p, s)
        first = np.add.outer(first * n, np.where(along < 0, along % d, along))
    return first


def max_pool_backward(grad_output: Any, self: Any, k: int, indices: Any) -> Any:
    """Zeros like `self` with each gradient added where the largest element was."""
    count, planes = prod(self.shape[-k:]), prod(self.shape[:-k])
    out = np.zeros(planes * count, grad_output.dtype)
    starts = np.arange(planes).reshape((*self.shape[:-k], *(1,) * k)) * count
    np.add.at(out, (starts + indices).ravel(), grad_output.ravel())
    return out.reshape(self.shape)


def taken(x: Any, indices: Any, k: int) -> Any:
    """Return the elements of `x`, its last `k` dimensions flattened, at `indices`."""
    shape = tuple(indices.shape)
    lead = shape[:-k]
    flat = F.reshape(x, (*lead, prod(x.shape[-k:])))
    return F.reshape(F.gather(flat, -1, F.reshape(indices, (*lead, prod(shape[-k:])))), shape)


def declare(k: int) -> None:
    """Declare pooling of the last `k` dimensions, and its gradient."""
    title, node = f"max_pool{k}d_with_indices", f"MaxPool{k}DWithIndicesBackward"

    def vjp(grads, self, kernel_size, stride, padding, dilation, ceil_mode, result1):
        back = getattr(F, title + "_backward")
        return back(grads[0], self, kernel_size, stride, padding, dilation, ceil_mode, result1)

    @differentiable(
        name=title, self=vjp, node=node + "0", several=("result0", "result1"), constants=("result1",)
    )
    def pool(self, kernel_size, stride=(), padding=(0,) * k, dilation=(1,) * k, ceil_mode=False):
        """Return the largest element of each window, and its place in the flattened input."""
        stride = window_sizes(kernel_size, stride)
        name = f"max_pool{k}d_with_indices_out_cpu_template"
        count = check_pool(name, self, kernel_size, stride, padding, dilation, ceil_mode)
        refuse(self, "bc", f"max_pool{k}d")
        lowest = -np.inf if self.dtype.kind == "f" else np.iinfo(self.dtype).min
        size = self.shape[-k:]
        whole = whole_size(size, kernel_size, stride, padding, dilation, count)
        values, number = of_windows(
            padded(self, padding, whole, lowest), kernel_size, stride, dilation, count
        )
        index = starts(size, kernel_size, dilation, (0,) * k).ravel().take(number)
        index += starts(size, count, stride, padding)
        if any(padding):  # nothing is greater than the border where all is as low
            np.copyto(index, first_inside(size, count, stride, padding, dilation), where=values == lowest)
        return values, index

    @differentiable(
        name=title + "_backward",
        grad_output=lambda g, indices: taken(g, indices, k),
        self=lambda g: F.zeros_like(g),  # not `zeros`: a tangent of the input alone gives zeros, not nothing
        linear=True,
        node=node + "Backward0",
    )
    def backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
        """Return the gradient: that of each largest element, where it came from."""
        return max_pool_backward(grad_output, self, k, indices)


declare(2)
declare(3)
