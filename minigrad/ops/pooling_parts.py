"""Pooling into a given number of parts: the greatest element of each.

Adaptive pooling takes parts as even as can be, fractional pooling windows of one size at random places. See
`adaptive` for the means.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..dtypes import of
from ..op import F, differentiable
from .adaptive import bounds, check_not_empty
from .halves import not_implemented
from .pooling import greatest_jvp, put_greatest, taken
from .pooling_greatest import greatest

# ── windows
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def in_flat(windows: Any, size: Any) -> Any:
    """The places of all windows in the flattened input, shape (planes or 1, windows, elements of one).

    `windows` are, for each dimension, the places along it: (planes or 1, windows, elements).
    """
    k = len(size)
    total: Any = 0
    for i, (along, n) in enumerate(zip(windows, size)):
        shape = [1] * (2 * k)
        shape[i], shape[k + i] = along.shape[1:]
        total = total * n + along.reshape((len(along), *shape))
    counts = [along.shape[1] for along in windows]
    return total.reshape((len(total), prod(counts), prod(total.shape[1 + k :])))


def greatest_of(x: Any, windows: Any) -> Any:
    """The greatest element of each window of every plane, and its place in the flattened plane."""
    k = len(windows)
    size, lead = x.shape[-k:], x.shape[:-k]
    shape = (*lead, *(along.shape[1] for along in windows))
    if 0 in shape:
        return np.empty(shape, x.dtype), np.empty(shape, np.int64)
    places = in_flat(windows, size)
    flat = x.reshape((prod(lead), prod(size)))
    elements = np.take_along_axis(flat, places.reshape((len(places), -1)), 1)
    where = greatest(elements.reshape((len(flat), *places.shape[1:])), 2)[..., None]
    index = np.take_along_axis(np.broadcast_to(places, (len(flat), *places.shape[1:])), where, 2)[..., 0]
    return np.take_along_axis(flat, index, 1).reshape(shape), index.reshape(shape)


def even(n: int, count: int) -> Any:
    """The places of even parts: the shorter ones end with their last element once more."""
    start, end = bounds(n, count)
    longest = np.max(end - start, initial=0)
    return np.minimum(start[:, None] + np.arange(longest), end[:, None] - 1)[None]


def at_random(n: int, count: int, width: int, samples: Any) -> Any:
    """The places of windows of `width` elements, which lie as the random numbers say, one of them a plane."""
    starts = np.full((len(samples), count), n - width)
    if count > 1:
        alpha = samples.dtype.type(n - width) / samples.dtype.type(count - 1)
        first = np.arange(count - 1).astype(samples.dtype) + samples[:, None]
        starts[:, :-1] = (first * alpha).astype(np.int64) - (samples * alpha).astype(np.int64)[:, None]
    return starts[..., None] + np.arange(width)


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


def check_samples(x: Any, k: int, samples: Any) -> None:
    """PyTorch's errors for the random numbers of fractional pooling."""
    if samples.dtype != x.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    if len(samples) < (len(x) if x.ndim == k + 2 else 1):
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != x.shape[-k - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != k:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {k}; got {samples.shape[2]}.")


def check_fractional(x: Any, k: int, kernel_size: Any, output_size: Any, samples: Any) -> None:
    """PyTorch's errors of `fractional_max_pool2d` and `fractional_max_pool3d`."""
    name = f"fractional_max_pool{k}d"
    ints = "tuple of Ints" if k == 2 else "tuple of three Ints"
    for what, sizes in (("kernel_size", kernel_size), ("output_size", output_size)):
        if len(sizes) != k:
            raise RuntimeError(f"{name}: {what} must either be a single Int or {ints}")
    if x.ndim not in (k + 1, k + 2):
        raise RuntimeError(f"{name}(): Expected {k + 1}D or {k + 2}D tensor, but got: {list(x.shape)}")
    check_not_empty(x, name, "got", ".")
    check_samples(x, k, samples)
    words = ("time", "height", "width")[3 - k :]
    for i in (0, 1) if k == 2 else (0, 2, 1):
        n, width = x.shape[x.ndim - k + i], kernel_size[i]
        if output_size[i] + width - 1 > n - (k == 3):  # in three dimensions PyTorch wants room
            raise RuntimeError(
                f"{name}{'_out' if k == 3 else ''}(): pool {words[i]} {width} too large relative to input "
                f"{words[i]} {n}"
            )
    if x.dtype.kind != "f":
        raise not_implemented(f"{name}_out_frame", of(x))


# ── the ops
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def declare(k: int) -> None:
    """Declare adaptive and fractional pooling of the last `k` dimensions, and their gradients."""
    adaptive, fractional = f"adaptive_max_pool{k}d", f"fractional_max_pool{k}d"

    def pool_parts(self, output_size):
        check_adaptive(self, k, output_size)
        return greatest_of(self, [even(n, c) for n, c in zip(self.shape[-k:], output_size)])

    def pool_at_random(self, kernel_size, output_size, random_samples):
        check_fractional(self, k, kernel_size, output_size, random_samples)
        planes = prod(self.shape[:-k])
        # in two dimensions the first number is of the width, in three of the depth
        order = (1, 0) if k == 2 else (0, 1, 2)
        numbers = random_samples.reshape((-1, k))[:planes, order]
        sizes = zip(self.shape[-k:], output_size, kernel_size, numbers.T)
        return greatest_of(self, [at_random(*of_dimension) for of_dimension in sizes])

    def parts_backward(grad_output, self, indices):
        check_not_empty(grad_output, adaptive + "_backward", "grad_output has sizes ", "", "grad_output")
        return put_greatest(grad_output, self, k, indices)

    def at_random_backward(grad_output, self, kernel_size, output_size, indices):
        return put_greatest(grad_output, self, k, indices)

    pool_parts.__name__, parts_backward.__name__ = adaptive, adaptive + "_backward"
    pool_at_random.__name__, at_random_backward.__name__ = fractional, fractional + "_backward"
    pool_parts.__doc__ = (
        f"The greatest of each of `output_size` parts of the last {k} dimensions, and its place."
    )
    pool_at_random.__doc__ = (
        f"The greatest of windows at random places in the last {k} dimensions, and its place."
    )
    twice: dict[str, Any] = {
        "grad_output": lambda g, indices: taken(g, indices, k),
        "self": lambda g: F.zeros_like(g),
    }
    for backward, name, node in (
        (parts_backward, adaptive, f"AdaptiveMaxPool{k}D"),
        (at_random_backward, fractional, f"FractionalMaxPool{k}D"),
    ):
        backward.__doc__ = f"The gradients of `{name}`, each put where the greatest element was."
        differentiable(**twice, linear=True, node=node + "BackwardBackward0")(backward)
    several: dict[str, Any] = {
        "several": ("result0", "result1"),
        "constants": ("result1",),
        "jvp": greatest_jvp(k),
    }
    differentiable(
        self=lambda grads, self, result1: getattr(F, adaptive + "_backward")(grads[0], self, result1),
        node=f"AdaptiveMaxPool{k}DBackward0",
        **several,
    )(pool_parts)
    differentiable(
        self=lambda grads, self, kernel_size, output_size, result1: getattr(F, fractional + "_backward")(
            grads[0], self, kernel_size, output_size, result1
        ),
        node=f"FractionalMaxPool{k}DBackward0",
        **several,
    )(pool_at_random)


for k in (2, 3):
    declare(k)
