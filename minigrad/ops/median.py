"""What comes of the order of elements: median and k-th smallest value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import differentiable
from ..core.dtypes import of
from .max_min import SELECTED, evenly, refuse_empty, selected_vjp
from .reduction_jvps import evenly_jvp, selected_jvp
from .shape import place


def refuse(self: Any, name: str, also: str = "") -> None:
    """NotImplementedError with PyTorch's text for complex numbers, and for the kinds `also`."""
    if self.dtype.kind in "c" + also:
        raise NotImplementedError(f"\"{name}\" not implemented for '{of(self).title}'")


def taken(self: Any, front: int, indices: Any, keepdim: bool) -> tuple[Any, Any]:
    """Return the elements at `indices`, one for each row along `front`, and the indices."""
    indices = np.expand_dims(indices, front)
    values = np.take_along_axis(self, indices, front)
    return (values, indices) if keepdim else (values.squeeze(front), indices.squeeze(front))


def places_in_order(self: Any, front: int) -> Any:
    """Return the indices that sort `self` along `front`, NaN last."""
    return np.argsort(self, axis=front, kind="stable")


def middle(self: Any, ignore: bool) -> Any:
    """Index of the lower median of each row along the last dimension; of the first NaN of a row that has one,
    unless these are to `ignore`.
    """
    missing = np.isnan(self)
    known = self.shape[-1] - missing.sum(-1) if ignore else np.full(self.shape[:-1], self.shape[-1])
    k = np.maximum(known - 1, 0) // 2
    indices = np.take_along_axis(places_in_order(self, -1), k[..., None], -1)[..., 0]
    return indices if ignore else np.where(missing.any(-1), missing.argmax(-1), indices)


def median_of_all(self: Any, ignore: bool) -> Any:
    """Return the lower median of all elements; NaN of none."""
    refuse(self, "median_cpu", "b")
    if self.size == 0:
        return self.dtype.type(np.nan if self.dtype.kind == "f" else np.iinfo(self.dtype).min)
    flat = np.ravel(self)
    return flat[middle(flat, ignore)]


def median_along(self: Any, dim: int, keepdim: bool, ignore: bool, name: str) -> tuple[Any, Any]:
    """Return the lower median along `dim`, and its index."""
    front = place(dim, self.ndim)
    refuse_empty(self, (front,), f"{name}()")
    refuse(self, "median_out", "b")
    if self.ndim == 0:
        return self, np.int64(0)
    return taken(self, front, middle(np.moveaxis(self, front, -1), ignore), keepdim)


@differentiable(self=evenly, jvp=evenly_jvp, node="MedianBackward0")
def median_all(self):
    """Return the lower median of all elements."""
    return median_of_all(self, False)


@differentiable(self=evenly, jvp=evenly_jvp, node="NanmedianBackward0")
def nanmedian_all(self):
    """Return the lower median of all elements that are not NaN."""
    return median_of_all(self, True)


@differentiable(self=selected_vjp, jvp=selected_jvp, node="MedianBackward1", several=SELECTED)
def median_dim(self, dim, keepdim=False):
    """Return the lower median along `dim`, and its index."""
    return median_along(self, dim, keepdim, False, "median")


@differentiable(self=selected_vjp, jvp=selected_jvp, node="NanmedianBackward1", several=SELECTED)
def nanmedian_dim(self, dim, keepdim=False):
    """Return the lower median along `dim` of what is not NaN, and its index."""
    return median_along(self, dim, keepdim, True, "nanmedian")


@differentiable(self=selected_vjp, jvp=selected_jvp, several=SELECTED)
def kthvalue(self, k, dim=-1, keepdim=False):
    """Return the `k`-th smallest element along `dim`, and its index."""
    front = place(dim, self.ndim)
    refuse_empty(self, (front,), "kthvalue()")
    if not 1 <= k <= (self.shape[front] if self.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {front}")
    refuse(self, "kthvalue_cpu", "b")
    if self.ndim == 0:
        return self, np.int64(0)
    return taken(self, front, places_in_order(self, front).take(k - 1, front), keepdim)
