"""Pooling to a given output size: the mean and the maximum of each part."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..core import F, differentiable, zeros
from ..core.dtypes import of
from .half_precision import not_implemented, wide
from .max_pooling import argmax, max_pool_backward, taken


def bounds(n: int, count: int) -> tuple[Any, Any]:
    """Where the parts of `n` elements begin and end; they may overlap by one."""
    parts = np.arange(count)
    return parts * n // count, -(-(parts + 1) * n // count)


def added(x: Any, axis: int, count: int) -> Any:
    """Return the sums of the parts along `axis`."""
    start, end = bounds(x.shape[axis], count)
    x = np.moveaxis(x, axis, 0)
    sums = [np.add.reduce(x[a:b], axis=0) for a, b in zip(start, end)]
    return np.moveaxis(np.stack(sums) if sums else x[:0], 0, axis)


def shared(g: Any, axis: int, n: int) -> Any:
    """Return the transpose of `added`."""
    start, end = bounds(n, g.shape[axis])
    g = np.moveaxis(g, axis, 0)
    out = np.zeros((n, *g.shape[1:]), g.dtype)
    for i, (a, b) in enumerate(zip(start, end)):
        out[a:b] += g[i]
    return np.moveaxis(out, 0, axis)


def lengths(size: Any, count: Any) -> Any:
    """How many elements each part has."""
    made: Any = np.ones(())
    for n, c in zip(size, count):
        start, end = bounds(n, c)
        made = np.multiply.outer(made, end - start)
    return made


def check(x: Any, k: int, output_size: Any) -> None:
    """RuntimeError with PyTorch's text for shapes that cannot be pooled."""
    if len(output_size) != k:
        raise RuntimeError(f"adaptive_avg_pool{k}d: output_size must be {k}")
    if min(output_size) < 0:
        told = ", ".join(map(str, output_size[:2])) + "".join(f",{n}" for n in output_size[2:])
        raise RuntimeError(
            f"adaptive_avg_pool{k}d: elements of output_size must be greater than or equal to 0 but "
            f"received {{{told}}}"
        )
    if x.ndim not in (k + 1, k + 2):
        raise RuntimeError(
            f"adaptive_avg_pool{k}d(): Expected {k + 1}D or {k + 2}D tensor, but got {list(x.shape)}"
        )
    for i in range(x.ndim - k, x.ndim):
        if not x.shape[i]:
            raise RuntimeError(
                f"adaptive_avg_pool{k}d(): Expected input to have non-zero size for non-batch dimensions, "
                f"but input has sizes {list(x.shape)} with dimension {i} being empty"
            )
    if x.dtype.kind != "f":
        raise not_implemented("adaptive_avg_pool2d" if k == 2 else "adaptive_avg_pool3d_cpu", of(x))


def check_not_empty(x: Any, name: str, told: str, end: str, what: str = "input") -> None:
    """RuntimeError with PyTorch's text for a sample without elements."""
    for i in range(1, x.ndim):
        if not x.shape[i]:
            raise RuntimeError(
                f"{name}(): Expected {what} to have non-zero size for non-batch dimensions, but {told}"
                f"{list(x.shape)} with dimension {i} being empty{end}"
            )


@wide
def parts_mean(self: Any, output_size: Any) -> Any:
    """Return the kernel of the means of parts along the last dimensions."""
    k = len(output_size)
    total = self
    for i, count in enumerate(output_size):
        total = added(total, self.ndim - k + i, count)
    return np.ascontiguousarray(total) / lengths(self.shape[-k:], output_size).astype(self.dtype)


@wide
def shares(grad_output: Any, self: Any, k: int) -> Any:
    """Return the kernel of their gradient."""
    size, count = self.shape[-k:], grad_output.shape[-k:]
    g = grad_output / lengths(size, count).astype(grad_output.dtype)
    for i, n in enumerate(size):
        g = shared(g, g.ndim - k + i, n)
    return np.ascontiguousarray(g)


def size_from_end(i: int) -> Any:
    """What reads the `i`-th size from the end of the gradient that a node saved."""
    return lambda node: node._raw_grad_output_sym_sizes[-i]


def show_sizes(node: Any, k: int) -> None:
    """PyTorch's node shows the last sizes of the gradient one by one."""
    del node._saved_grad_output_sym_sizes
    for i in range(1, k + 1):
        name = f"_saved_grad_output_sym_argsize_minus_{i}"
        setattr(node, name, property(size_from_end(i)))


def declare_mean(k: int) -> None:
    """Declare the means of parts of the last `k` dimensions, and their gradient."""
    title, node = f"_adaptive_avg_pool{k}d", f"AdaptiveAvgPool{k}DBackward"

    @differentiable(
        name=title,
        self=lambda g, self: getattr(F, title + "_backward")(g, self),
        linear=True,
        node=node + "0",
    )
    def pool(self, output_size):
        """Return the mean of each of `output_size` parts."""
        check(self, k, output_size)
        return parts_mean(self, output_size)

    @differentiable(
        name=title + "_backward",
        grad_output=lambda g, grad_output_sym_sizes: getattr(F, title)(g, grad_output_sym_sizes[-k:]),
        self=zeros,
        linear=True,
        node=node + "Backward0",
    )
    def backward(grad_output, self):
        """Return the gradient: equal shares for all elements of a part."""
        check_not_empty(grad_output, title[1:] + "_backward", "grad_output has sizes ", "", "grad_output")
        return shares(grad_output, self, k)

    show_sizes(backward.op.node, k)


declare_mean(2)
declare_mean(3)


def in_flat(windows: Any, size: Any) -> Any:
    """Return the places of all windows in the flattened input, shape (windows, elements of one).

    `windows` are, for each dimension, the places along it: (windows, elements).
    """
    k = len(size)
    total: Any = 0
    for i, (along, n) in enumerate(zip(windows, size)):
        shape = [1] * (2 * k)
        shape[i], shape[k + i] = along.shape
        total = total * n + along.reshape(shape)
    return total.reshape((prod(total.shape[:k]), prod(total.shape[k:])))


def max_of_windows(x: Any, windows: Any) -> Any:
    """Return the largest element of each window of every plane, and its place in the flattened plane."""
    k = len(windows)
    size, lead = x.shape[-k:], x.shape[:-k]
    shape = (*lead, *(len(along) for along in windows))
    if 0 in shape:
        return np.empty(shape, x.dtype), np.empty(shape, np.int64)
    places = in_flat(windows, size)
    flat = x.reshape((prod(lead), prod(size)))
    elements = flat[:, places]
    where = argmax(elements, 2)[..., None]
    index = np.take_along_axis(np.broadcast_to(places, elements.shape), where, 2)[..., 0]
    return np.take_along_axis(flat, index, 1).reshape(shape), index.reshape(shape)


def even(n: int, count: int) -> Any:
    """Return the places of even parts: the shorter ones end with their last element once more."""
    start, end = bounds(n, count)
    longest = np.max(end - start, initial=0)
    return np.minimum(start[:, None] + np.arange(longest), end[:, None] - 1)


def check_adaptive(x: Any, k: int, output_size: Any) -> None:
    """PyTorch's errors of `adaptive_max_pool2d` and `adaptive_max_pool3d`."""
    name = f"adaptive_max_pool{k}d"
    if x.ndim not in (k + 1, k + 2):
        raise RuntimeError(f"{name}(): Expected {k + 1}D or {k + 2}D tensor, but got: {list(x.shape)}")
    check_not_empty(x, name, "input has sizes ", "")
    if len(output_size) != k:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {k}")
    if min(output_size) < 0:
        shape = [*x.shape[:-k], *output_size]
        negative = next(n for n in output_size if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {shape}")
    if x.dtype.kind != "f":
        raise not_implemented(name if k == 2 else name + "_cpu", of(x))


def declare_max(k: int) -> None:
    """Declare adaptive pooling of the last `k` dimensions, and its gradient."""
    title, node = f"adaptive_max_pool{k}d", f"AdaptiveMaxPool{k}DBackward"

    @differentiable(
        name=title,
        self=lambda grads, self, result1: getattr(F, title + "_backward")(grads[0], self, result1),
        node=node + "0",
        several=("result0", "result1"),
        constants=("result1",),
    )
    def pool(self, output_size):
        """Return the largest of each of `output_size` parts, and its place in the flattened input."""
        check_adaptive(self, k, output_size)
        return max_of_windows(self, [even(n, c) for n, c in zip(self.shape[-k:], output_size)])

    @differentiable(
        name=title + "_backward",
        grad_output=lambda g, indices: taken(g, indices, k),
        self=lambda g: F.zeros_like(g),  # not `zeros`, as in `pooling`
        linear=True,
        node=node + "Backward0",
    )
    def backward(grad_output, self, indices):
        """Return the gradient: that of each largest element, where it came from."""
        check_not_empty(grad_output, title + "_backward", "grad_output has sizes ", "", "grad_output")
        return max_pool_backward(grad_output, self, k, indices)


for k in (2, 3):
    declare_max(k)
