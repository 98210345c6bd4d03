"""Pooling into a given number of parts: the largest element of each.

The parts are as even as can be. See `adaptive` for the means.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .adaptive import bounds, check_not_empty
from .half_precision import not_implemented
from .pooling import put_greatest, taken
from .pooling_greatest import greatest

# ── windows
# ─────────────────────────────────────────────────────────────────────────────────────────────────


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


def greatest_of(x: Any, windows: Any) -> Any:
    """Return the largest element of each window of every plane, and its place in the flattened plane."""
    k = len(windows)
    size, lead = x.shape[-k:], x.shape[:-k]
    shape = (*lead, *(len(along) for along in windows))
    if 0 in shape:
        return np.empty(shape, x.dtype), np.empty(shape, np.int64)
    places = in_flat(windows, size)
    flat = x.reshape((prod(lead), prod(size)))
    elements = flat[:, places]
    where = greatest(elements, 2)[..., None]
    index = np.take_along_axis(np.broadcast_to(places, elements.shape), where, 2)[..., 0]
    return np.take_along_axis(flat, index, 1).reshape(shape), index.reshape(shape)


def even(n: int, count: int) -> Any:
    """Return the places of even parts: the shorter ones end with their last element once more."""
    start, end = bounds(n, count)
    longest = np.max(end - start, initial=0)
    return np.minimum(start[:, None] + np.arange(longest), end[:, None] - 1)


# ── checks
# ─────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── the ops
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def declare(k: int) -> None:
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
        return greatest_of(self, [even(n, c) for n, c in zip(self.shape[-k:], output_size)])

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
        return put_greatest(grad_output, self, k, indices)


for k in (2, 3):
    declare(k)
