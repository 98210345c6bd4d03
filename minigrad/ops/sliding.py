"""Windows that slide over the last dimensions, in any number of them: what convolution and pooling share."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

Sizes = tuple[int, ...]


def reach(kernel: Sizes, dilation: Sizes) -> Sizes:
    """How many elements windows span."""
    return tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))


def seen(x: Any, kernel: Sizes, stride: Sizes, dilation: Sizes, count: Sizes) -> Any:
    """The windows of a padded array, shape (…, kernel, count), on its memory."""
    k = len(kernel)
    lead, steps = x.shape[:-k], x.strides[-k:]
    inside = (n * d for n, d in zip(steps, dilation))
    apart = (n * s for n, s in zip(steps, stride))
    return as_strided(x, (*lead, *kernel, *count), (*x.strides[:-k], *inside, *apart), writeable=False)


def padded(x: Any, before: Sizes, whole: Sizes, value: Any = 0) -> Any:
    """`x` with `value` around it: `before` along its last dimensions, and behind it up to sizes `whole`,
    which may also cut off.
    """
    lead = x.shape[: x.ndim - len(whole)]
    out: Any = np.full((*lead, *whole), value, x.dtype)
    sizes = x.shape[len(lead) :]
    kept = tuple(np.s_[: max(0, min(n, w - b))] for n, w, b in zip(sizes, whole, before))
    there = tuple(np.s_[b : b + max(0, min(n, w - b))] for n, w, b in zip(sizes, whole, before))
    out[(..., *there)] = x[(..., *kept)]
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
    whole = tuple(
        max(n + 2 * p, r + s * (c - 1))
        for n, p, r, s, c in zip(size, padding, reach(kernel, dilation), stride, count)
    )
    out: Any = np.zeros((*lead, *whole), parts.dtype)
    for place in product(*map(range, kernel)):
        there = tuple(
            np.s_[i * d : i * d + s * (c - 1) + 1 : s] for i, d, s, c in zip(place, dilation, stride, count)
        )
        out[(..., *there)] += parts[(..., *place, *(np.s_[:],) * k)]
    inside = tuple(np.s_[p : p + n] for p, n in zip(padding, size))
    return out[(..., *inside)]
