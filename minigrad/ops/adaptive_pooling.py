"""Pooling to a given output size: the mean and the maximum of each part."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..core import F, differentiable, zeros
from .checks import refuse
from .kernels import wide
from .max_pooling import argmax, max_pool_backward, taken
from .shape import show_sizes


def bounds(n: int, count: int) -> tuple[Any, Any]:
    """Where the parts of `n` elements begin and end; they may overlap by one."""
    parts = np.arange(count)
    return parts * n // count, -(-(parts + 1) * n // count)


def parts(size: Any, count: Any) -> Any:
    """For each part of the last dimensions: its place in the result, and its place in the input."""
    along = [[np.s_[a:b] for a, b in zip(*bounds(n, c))] for n, c in zip(size, count)]
    for place in np.ndindex(*count):
        yield (..., *place), (..., *(slices[i] for slices, i in zip(along, place)))


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
    refuse(x, "biuc", "adaptive_avg_pool2d" if k == 2 else "adaptive_avg_pool3d_cpu")


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
    out = np.empty((*self.shape[:-k], *output_size), self.dtype)
    for place, part in parts(self.shape[-k:], output_size):
        out[place] = self[part].mean(axis=tuple(range(-k, 0)))
    return out


@wide
def shares(grad_output: Any, self: Any, k: int) -> Any:
    """Return the kernel of their gradient."""
    out = np.zeros(self.shape, grad_output.dtype)
    for place, part in parts(self.shape[-k:], grad_output.shape[-k:]):
        into = out[part]
        into += (grad_output[place] / prod(into.shape[-k:]))[(..., *(None,) * k)]
    return out


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

    show_sizes(backward, "grad_output", *range(-1, -k - 1, -1))


declare_mean(2)
declare_mean(3)


def parts_max(x: Any, output_size: Any) -> Any:
    """Return the largest element of each part of every plane, and its place in the flattened plane."""
    k = len(output_size)
    size, lead = x.shape[-k:], x.shape[:-k]
    values = np.empty((*lead, *output_size), x.dtype)
    indices = np.empty(values.shape, np.int64)
    numbers = np.arange(prod(size)).reshape(size)
    for place, part in parts(size, output_size):
        elements = x[part].reshape((*lead, -1))
        where = argmax(elements, -1)
        values[place] = np.take_along_axis(elements, where[..., None], -1)[..., 0]
        indices[place] = numbers[part].ravel()[where]
    return values, indices


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
    refuse(x, "biuc", name if k == 2 else name + "_cpu")


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
        return parts_max(self, output_size)

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
