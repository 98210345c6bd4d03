"""The median, which comes of the order of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import differentiable
from ..core.dtypes import of
from .max_min import SELECTED, evenly, refuse_empty, selected_vjp
from .shape import place


def refuse(self: Any, name: str) -> None:
    """NotImplementedError with PyTorch's text for complex numbers and bools."""
    if self.dtype.kind in "cb":
        raise NotImplementedError(f"\"{name}\" not implemented for '{of(self).title}'")


def middle(self: Any, axis: int, ignore: bool) -> Any:
    """Index of the lower median along `axis`, which stays; of the first NaN where there is one, unless these
    are to `ignore`.
    """
    missing = np.isnan(self)
    known = self.shape[axis] - missing.sum(axis, keepdims=True) * ignore
    order = np.argsort(self, axis=axis, kind="stable")  # NaN last
    indices = np.take_along_axis(order, np.maximum(known - 1, 0) // 2, axis)
    if ignore:
        return indices
    return np.where(missing.any(axis, keepdims=True), missing.argmax(axis, keepdims=True), indices)


def median_of_all(self: Any, ignore: bool = False) -> Any:
    """Return the lower median of all elements; NaN of none."""
    refuse(self, "median_cpu")
    if self.size == 0:
        return self.dtype.type(np.nan if self.dtype.kind == "f" else np.iinfo(self.dtype).min)
    flat = np.ravel(self)
    return flat[middle(flat, 0, ignore)[0]]


def median_along(self: Any, dim: int, keepdim: bool = False, name: str = "median") -> tuple[Any, Any]:
    """Return the lower median along `dim`, and its index."""
    axis = place(dim, self.ndim)
    refuse_empty(self, (axis,), f"{name}()")
    refuse(self, "median_out")
    if self.ndim == 0:
        return self, np.int64(0)
    indices = middle(self, axis, name == "nanmedian")
    values = np.take_along_axis(self, indices, axis)
    return (values, indices) if keepdim else (values.squeeze(axis), indices.squeeze(axis))


@differentiable(self=evenly, node="MedianBackward0")
def median_all(self):
    """Return the lower median of all elements."""
    return median_of_all(self)


@differentiable(self=evenly, node="NanmedianBackward0")
def nanmedian_all(self):
    """Return the lower median of all elements that are not NaN."""
    return median_of_all(self, True)


@differentiable(self=selected_vjp, node="MedianBackward1", several=SELECTED)
def median_dim(self, dim, keepdim=False):
    """Return the lower median along `dim`, and its index."""
    return median_along(self, dim, keepdim)


@differentiable(self=selected_vjp, node="NanmedianBackward1", several=SELECTED)
def nanmedian_dim(self, dim, keepdim=False):
    """Return the lower median along `dim` of what is not NaN, and its index."""
    return median_along(self, dim, keepdim, "nanmedian")
