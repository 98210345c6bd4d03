"""Average pooling in two and three dimensions."""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import Any

import numpy as np

from ..core import F, differentiable, zeros
from ..core.dtypes import of
from .checks import not_implemented
from .kernels import wide
from .max_pooling import MANY, check_pool, window_sizes
from .sliding import by_place, padded, put_together, seen, whole_size


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
    """Return the quotient; of integers without what is behind the point."""
    if total.dtype.kind == "f":
        return total / by.astype(total.dtype)
    return np.sign(total) * np.sign(by) * (np.abs(total) // np.abs(by))


def added(x: Any, kernel: Any, stride: Any, dilation: Any, count: Any) -> Any:
    """The sum of each window: of what is at one place of all windows after the other (for 2×2 15 times as
    fast as window by window) unless these are large.
    """
    if prod(kernel) > MANY:
        lead = x.ndim - len(kernel)
        windows = seen(x, kernel, stride, dilation, count)
        return np.add.reduce(windows, axis=tuple(range(lead, lead + len(kernel))))
    total: Any = None
    for _, there in by_place(kernel, stride, dilation, count):
        total = np.array(x[there], order="C") if total is None else np.add(total, x[there], out=total)
    return total


def declare(k: int) -> None:
    """Declare the mean of windows over the last `k` dimensions, and its gradient."""
    title, node = f"avg_pool{k}d", f"AvgPool{k}DBackward"

    def vjp(g, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return getattr(F, title + "_backward")(g, self, *how)

    def twice(g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return getattr(F, title)(g, *how)

    @differentiable(name=title, self=vjp, linear=True, node=node + "0")
    @wide
    def pool(
        self, kernel_size, stride=(), padding=(0,) * k, ceil_mode=False, count_include_pad=True,
        divisor_override=None,
    ):  # fmt: skip
        """Return the mean of each window."""
        stride = window_sizes(kernel_size, stride)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        ones = (1,) * k
        count = check_pool(f"avg_pool{k}d", self, kernel_size, stride, padding, ones, ceil_mode)
        if self.dtype.kind != "f" and self.dtype != np.int64:
            raise not_implemented("avg_pool2d" if k == 2 else "avg_pool3d_out_frame", of(self))
        size = self.shape[-k:]
        whole = whole_size(size, kernel_size, stride, padding, ones, count)
        total = added(padded(self, padding, whole), kernel_size, stride, ones, count)
        return divided(
            total, divisors(size, kernel_size, stride, padding, count, count_include_pad, divisor_override)
        )

    @differentiable(
        name=title + "_backward", grad_output=twice, self=zeros, linear=True, node=node + "Backward0"
    )
    @wide
    def backward(
        grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    ):
        """Return the gradient: equal shares for all elements of a window."""
        stride = window_sizes(kernel_size, stride)
        size, count = self.shape[-k:], grad_output.shape[-k:]
        share = divided(
            grad_output,
            divisors(size, kernel_size, stride, padding, count, count_include_pad, divisor_override),
        )
        lead = share.shape[:-k]
        parts = np.broadcast_to(share.reshape((*lead, *(1,) * k, *count)), (*lead, *kernel_size, *count))
        return put_together(parts, size, kernel_size, stride, padding, (1,) * k)


declare(2)
declare(3)
