"""Sorting, the largest few elements, unique elements and medians."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import differentiable
from ..core.dtypes import of
from .elementwise import no_derivative
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


def unique_along(name: str, node: str) -> dict[str, Any]:
    """How an op is declared that PyTorch does not differentiate, with results that are counted by names."""
    return {**no_derivative(name, "self"), "node": node, "several": ("result0", "inverse", "counts")}


@differentiable(**unique_along("_unique2", "Unique2Backward0"))
def unique2(self):
    """Return the different elements in order, for each element its place among them, and how often each
    occurs.
    """
    refuse_complex_unique(self)
    values, inverse, counts = np.unique(self, return_inverse=True, return_counts=True, equal_nan=False)
    return values, np.asarray(inverse, np.int64).reshape(self.shape), counts.astype(np.int64)


def refuse_complex_unique(self: Any) -> None:
    """NotImplementedError with PyTorch's text for complex numbers, which have no order."""
    if self.dtype.kind == "c":
        raise NotImplementedError(f"\"unique\" not implemented for '{of(self).title}'")


@differentiable(**unique_along("unique_dim", "UniqueDimBackward0"))
def unique_dim(self, dim):
    """Return the different parts along `dim` in order, for each part its place among them, and how often each
    occurs.
    """
    front = place(dim, self.ndim)
    refuse_complex_unique(self)
    n = self.shape[front]
    if 0 in self.shape:
        if n or self.shape.count(0) > 1:
            raise RuntimeError(
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
            )
        return self.copy(), np.empty(0, np.int64), np.empty(0, np.int64)
    found, inverse, counts = np.unique(
        self, return_inverse=True, return_counts=True, axis=front, equal_nan=False
    )
    return found, np.asarray(inverse, np.int64).reshape(-1), counts.astype(np.int64)


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
