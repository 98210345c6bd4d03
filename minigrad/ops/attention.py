"""The softmax of attention."""

from __future__ import annotations

import numpy as np

from ..core import F, differentiable
from .shape import place
from .softmax import softmax, softmax_jvp


@differentiable(
    self=lambda g, result, dim: F._softmax_backward_data(g, result, dim),
    jvp=softmax_jvp,
    node="SafeSoftmaxBackward0",
)
def _safe_softmax(self, dim):
    """Return `softmax`, but 0 along a `dim` whose elements are all -inf, where it would be NaN."""
    shares = softmax.op.kernel(self, dim)
    if not np.isnan(np.add.reduce(shares, axis=None)):
        return shares
    masked = np.all(np.isneginf(self), axis=place(dim, self.ndim), keepdims=True)
    return np.where(masked, self.dtype.type(0), shares)
