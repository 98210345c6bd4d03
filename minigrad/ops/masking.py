"""Elements chosen by a mask: `where`, `masked_fill`, `masked_select`, `nonzero`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, check_broadcast, differentiable
from ..core.dtypes import of
from .copy import fitting


@differentiable(
    self=lambda g, mask: F.masked_fill(g, mask, 0),
    jvp=lambda self_t, mask: F.masked_fill(self_t, mask, 0),
    broadcasts=True,
)
def masked_fill(self, mask, value):
    """Return `value` where `mask` holds, else `self`."""
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {of(mask).c_name}"
        )
    check_broadcast(mask.shape, self.shape)
    return np.where(mask, self.dtype.type(fitting(value, self.dtype)), self)[()]


@differentiable(
    self=lambda g, mask: F.masked_fill(g, mask, 0),
    value=lambda g, mask: F.sum_all(F.masked_select(g, mask)),
    node="MaskedFillBackward1",
    linear=True,
    broadcasts=True,
)
def masked_fill_tensor(self, mask, value):
    """Return the same with the one element of `value`, which gets a gradient too."""
    return masked_fill.op.kernel(self, mask, value.item())


def shape_together(self: Any, mask: Any) -> tuple[int, ...]:
    """Return the shape to which tensor and mask broadcast."""
    return np.broadcast_shapes(self.shape, mask.shape)


def together(mask: Any, self: Any) -> tuple[Any, Any]:
    """Mask and tensor, broadcast to each other."""
    check_broadcast(mask.shape, self.shape)
    shape = shape_together(self, mask)
    return np.broadcast_to(mask, shape), np.broadcast_to(self, shape)


@differentiable(
    self=lambda g, self, mask: F.into_zeros(g, shape_together(self, mask), "masked_scatter", mask, g),
    broadcasts=True,
    linear=True,
    forms="function method",
    out="same",
)
def masked_select(self, mask):
    """Return the elements where `mask` holds, as a vector; both are broadcast."""
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    mask, self = together(mask, self)
    return self[mask]


@differentiable(
    self=lambda g, mask: F.masked_fill(g, mask, 0),
    source=lambda g, mask, source_sym_sizes: F.masked_scatter_backward(g, mask, source_sym_sizes),
    broadcasts=True,
    linear=True,
    forms="function method method_",
    out="",
)
def masked_scatter(self, mask, source):
    """Return `self` with the elements of `source`, one after the other, where `mask` holds."""
    if self.dtype != source.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{of(self).title} and {of(source).title}"
        )
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {of(mask).title}"
        )
    mask, self = together(mask, self)
    count = np.count_nonzero(mask)
    if source.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out = self.copy()
    out[mask] = source.reshape(-1)[:count]
    return out


@differentiable(
    grad_output=lambda g, mask: F.into_zeros(g, mask.shape, "masked_scatter", mask, g), linear=True
)
def masked_scatter_backward(grad_output, mask, sizes):
    """Return the elements of `grad_output` where `mask` holds, one after the other in zeros of
    shape `sizes`.
    """
    mask, grad_output = together(mask, grad_output)
    out = np.zeros(sizes, grad_output.dtype)
    chosen = grad_output[mask]
    out.reshape(-1)[: chosen.size] = chosen
    return out


@differentiable()
def nonzero(self):
    """Return the places of the elements that are not 0, a row of indices for each (int64)."""
    return np.argwhere(self)


@differentiable(
    self=lambda g, condition: F.where(condition, g, 0.0),
    other=lambda g, condition: F.where(condition, 0.0, g),
    elementwise=True,
    linear=True,
    forms="",
)
def where(condition, self, other):
    """Return `self` where `condition` holds, else `other`."""
    if not isinstance(condition, np.ndarray) and np.ndim(self) == 0 == np.ndim(other):
        chosen = self if condition else other
        return chosen if isinstance(chosen, np.generic) else np.result_type(self, other).type(chosen)
    out = np.where(condition, self, other)
    return out.astype(np.result_type(self, other), copy=False)[()]
