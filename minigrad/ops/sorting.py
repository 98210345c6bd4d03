"""Sorting, the largest few elements, unique elements and medians."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import differentiable
from .checks import refuse
from .kernels import no_derivative
from .max_min import SELECTED, evenly, put_back, refuse_empty, selected_vjp
from .shape import place


def in_order(self: Any, front: int, descending: bool) -> Any:
    """The indices that sort `self` along `front`; equal elements stay in order, and NaN is the largest."""
    if not descending:
        return np.argsort(self, axis=front, kind="stable")
    from_behind = np.argsort(np.flip(self, front), axis=front, kind="stable")
    return np.flip(self.shape[front] - 1 - from_behind, front)


def sorted_kernel(self: Any, dim: int = -1, descending: bool = False) -> tuple[Any, Any]:
    """Return the elements in order along `dim`, and where they were."""
    front = place(dim, self.ndim)
    if self.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if not self.ndim:
        return self, np.int64(0)
    indices = in_order(self, front, descending)
    return np.take_along_axis(self, indices, front), np.ascontiguousarray(indices)


def taken_vjp(grads: Any, self_sym_sizes: Any, dim: int, indices: Any) -> Any:
    """Pass the gradient of each value to where it came from."""
    return put_back(grads[0], self_sym_sizes, dim, indices, True)


TAKEN: dict[str, Any] = {"self": taken_vjp, "several": ("values", "indices")}


@differentiable(kernel=sorted_kernel, **TAKEN)
def sort(self, dim=-1, descending=False):
    """Return the elements in order along `dim`, and where they were; NaN counts as the largest."""


@differentiable(kernel=sorted_kernel, node="SortBackward1", **TAKEN)
def sort_stable(self, dim=-1, descending=False):
    """Return `sort` for which it was asked whether equal elements keep their order (they always do)."""


@differentiable(**TAKEN)
def topk(self, k, dim=-1, largest=True, sorted=True):
    """Return the `k` largest (or smallest) elements along `dim` in order, and where they were."""
    front = place(dim, self.ndim)
    if not 0 <= k <= (self.shape[front] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.dtype.kind in "cb":
        kind = "bool" if self.dtype.kind == "b" else "complex"
        raise RuntimeError(f"{' ' * (kind == 'complex')}topk does not support {kind} dtypes on CPU")
    if not self.ndim:
        return self, np.int64(0)
    indices = in_order(self, front, largest).take(range(k), front)
    return np.take_along_axis(self, indices, front), indices


@differentiable(
    **no_derivative("_unique2", "self") | {"node": "Unique2Backward0"},
    several=("result0", "inverse", "counts"),
)
def unique2(self):
    """Return the different elements in order, for each element its place among them, and how often each
    occurs.
    """
    refuse(self, "c", "unique")
    values, inverse, counts = np.unique(self, return_inverse=True, return_counts=True, equal_nan=False)
    return values, np.asarray(inverse, np.int64).reshape(self.shape), counts.astype(np.int64)


def middle(self: Any, axis: int) -> Any:
    """Index of the lower median along `axis`, which stays; of the first NaN where there is one."""
    order = np.argsort(self, axis=axis, kind="stable")
    indices = np.take(order, [max(self.shape[axis] - 1, 0) // 2], axis)
    missing = np.isnan(self)
    return np.where(missing.any(axis, keepdims=True), missing.argmax(axis, keepdims=True), indices)


@differentiable(self=evenly, node="MedianBackward0")
def median_all(self):
    """Return the lower median of all elements; NaN of none."""
    refuse(self, "bc", "median_cpu")
    if self.size == 0:
        return self.dtype.type(np.nan if self.dtype.kind == "f" else np.iinfo(self.dtype).min)
    flat = np.ravel(self)
    return flat[middle(flat, 0)[0]]


@differentiable(self=selected_vjp, node="MedianBackward1", several=SELECTED)
def median_dim(self, dim, keepdim=False):
    """Return the lower median along `dim`, and its index."""
    axis = place(dim, self.ndim)
    refuse_empty(self, (axis,), "median()")
    refuse(self, "bc", "median_out")
    if self.ndim == 0:
        return self, np.int64(0)
    indices = middle(self, axis)
    values = np.take_along_axis(self, indices, axis)
    return (values, indices) if keepdim else (values.squeeze(axis), indices.squeeze(axis))
