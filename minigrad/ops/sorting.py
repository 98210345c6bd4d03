"""Sorting, medians, unique elements; truth, counts and histograms; the trace."""

from __future__ import annotations

from math import isfinite, prod
from typing import Any

import numpy as np

from ..core import F, composite, differentiable
from ..core.dtypes import of
from ..core.op import RAW
from ..core.tensor_state import wrap
from .checks import refuse
from .kernels import linear_op, no_derivative
from .max_min import SELECTED, along, evenly, put_back, selected_vjp
from .reduction import over, wide
from .shape import place


def in_order(self: Any, front: int, descending: bool) -> Any:
    """The indices that sort `self` along `front`; equal elements stay in order, and NaN is the largest."""
    if not descending:
        return np.argsort(self, axis=front, kind="stable")
    from_behind = np.argsort(np.flip(self, front), axis=front, kind="stable")
    return np.flip(self.shape[front] - 1 - from_behind, front)


LARGE = 4096  # from this size on it is worth finding the elements that come first


def first_in_order(self: Any, k: int, front: int, descending: bool) -> Any:
    """The first `k` of these indices. In large arrays only the elements that come first are sorted, which
    takes a fifth of the time for 5 of 1,000; but all of them if others equal the last of these, or if these
    have a NaN.
    """
    n = self.shape[front]
    if self.size >= LARGE and 0 < k <= n // 4:
        last = n - k if descending else k - 1
        limit = np.partition(self, last, front).take([last], front)
        chosen = self >= limit if descending else self <= limit
        if chosen.sum(front).max(initial=k) == k == chosen.sum(front).min(initial=k):
            rows = np.moveaxis(chosen, front, -1)
            places = np.moveaxis(rows.nonzero()[-1].reshape(*rows.shape[:-1], k), -1, front)
            order = in_order(np.take_along_axis(self, places, front), front, descending)
            return np.take_along_axis(places, order, front)
    return in_order(self, front, descending).take(range(k), front)


def sorted_kernel(self: Any, dim: int = -1, descending: bool = False) -> tuple[Any, Any]:
    """Return the elements in order along `dim`, and where they were."""
    front = place(dim, self.ndim)
    if self.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if not self.ndim:
        return self.copy(), np.int64(0)
    indices = in_order(self, front, descending)
    return np.take_along_axis(self, indices, front), np.ascontiguousarray(indices)


def taken_vjp(grads, self_sym_sizes, dim, indices):
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
        return self.copy(), np.int64(0)
    indices = first_in_order(self, k, front, largest)
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


def middle(self: Any, axis: int, keepdims: bool = True) -> Any:
    """Index of the lower median along `axis`, which stays; of the first NaN where there is one."""
    order = np.argsort(self, axis=axis, kind="stable")
    indices = np.take(order, [max(self.shape[axis] - 1, 0) // 2], axis)
    missing = np.isnan(self)
    return np.where(missing.any(axis, keepdims=True), missing.argmax(axis, keepdims=True), indices)


def nothing(dtype: Any) -> Any:
    """NaN in a dtype, as C++ converts it: by way of the smallest int32, or int64."""
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    wide = np.int64 if dtype == np.int64 else np.int32
    return np.asarray(np.iinfo(wide).min, wide).astype(dtype)[()]


@differentiable(self=evenly, node="MedianBackward0")
def median_all(self):
    """Return the lower median of all elements; NaN of none."""
    if self.size == 0:
        return nothing(self.dtype)
    refuse(self, "bc", "median_cpu")
    flat = np.ravel(self)
    return flat[middle(flat, 0)[0]]


@differentiable(
    self=selected_vjp,
    node="MedianBackward1",
    several=SELECTED,
    kernel=along(middle, "median", "bc", "out"),
)
def median_dim(self, dim, keepdim=False):
    """Return the lower median along `dim`, and its index."""


def truth(ufunc: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    """`all` and `any` over some dimensions; of uint8 numbers as uint8, as in PyTorch."""
    axes = None if dim is None else over(dim, self.ndim) if dim != () else ()
    out = ufunc.reduce(self != 0, axis=axes, keepdims=keepdim)
    return out.astype(np.uint8) if self.dtype == np.uint8 else out


@differentiable()
def all(self, dim=None, keepdim=False):
    """Return whether all elements are true (not 0), over some dimensions (all for None)."""
    return truth(np.logical_and, self, dim, keepdim)


@differentiable()
def any(self, dim=None, keepdim=False):
    """Return whether some element is true (not 0), over some dimensions (all for None)."""
    return truth(np.logical_or, self, dim, keepdim)


@differentiable()
def count_nonzero(self, dim=None):
    """Return how many elements are not 0, over some dimensions (all for None)."""
    return np.add.reduce(self != 0, axis=over(dim, self.ndim), dtype=np.int64)


@differentiable(forms="function method", out="")
def bincount(self, weights=None, minlength=0):
    """Return how often each number from 0 on occurs in a vector of integers, or the sum of its weights."""
    fits = self.ndim == 1 and self.dtype.kind in "iu" and not np.any(self < 0)
    if not fits and (self.size or self.ndim != 1):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0 or (weights is not None and weights.shape != self.shape):
        raise RuntimeError("minlength should be >= 0, weights should have the same length as input")
    out = np.bincount(self.astype(np.int64), weights, minlength)
    if weights is None or not self.size:
        return out.astype(np.int64)
    return out.astype(np.float32 if weights.dtype == np.float32 else np.float64)


def limits(self: Any, bins: int, low: Any, high: Any, name: str, room: float) -> tuple[Any, Any]:
    """Where the bins begin and end: at the extremes if none are given, with `room` to both sides if these are
    equal.
    """
    if bins <= 0 or low > high:
        raise RuntimeError(f"{name}: bins must be > 0 and min <= max, but got {bins}, {low} and {high}")
    if low == high and self.size:
        low, high = self.min(), self.max()
    if low == high:
        low, high = low - room, high + room
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low:g}, {high:g}] is not finite")
    return low, high


@differentiable(several=True)
def histogram(self, bins, range=None, weight=None, density=False):
    """Return the sums of weights (1 by default) of the elements in each bin, and the edges of the bins."""
    if self.dtype.kind != "f" or self.dtype == np.float16:
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{of(self).title}'")
    edges: Any = bins if isinstance(bins, RAW) else even_edges(self, bins, range)
    weights = None if weight is None else weight.astype(np.float64)  # exact sums of them
    sums, _ = np.histogram(self, edges, weights=weights, density=density)
    return sums.astype(self.dtype), edges


def even_edges(self: Any, bins: int, range: Any) -> Any:
    """Return the edges of equal bins over `range`, or between the extremes."""
    low, high = range or ((0, 0) if self.size else (0, 1))
    low, high = limits(self, bins, low, high, "torch.histogram", 0.5)
    return np.linspace(low, high, bins + 1, dtype=self.dtype)


@differentiable(forms="function method", out="same")
def histc(self, bins=100, min=0, max=0):
    """Return how many elements lie in each of `bins` equal bins between `min` and `max`, or between the
    extremes.
    """
    low, high = limits(self, bins, min, max, "torch.histc", 1)
    x = np.ravel(self)
    x, low, high = x[(x >= low) & (x <= high)], x.dtype.type(low), x.dtype.type(high)
    places: Any = (x - low) * x.dtype.type(bins) / (high - low)  # in their own precision, as PyTorch does
    return np.bincount(np.minimum(places.astype(np.int64), bins - 1), minlength=bins).astype(self.dtype)


# ── the trace
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def put_on_diagonal(g: Any, sizes: tuple[int, ...]) -> Any:
    """Return the gradient on the diagonal, put there as PyTorch does."""
    flat = F.zeros_of(g, (prod(sizes),))
    return F.view(F.index_fill_tensor(flat, 0, F.on_diagonal(g, sizes), g), sizes)


@composite
def on_diagonal(g: Any, sizes: tuple[int, ...]) -> Any:
    """Where the diagonal of a matrix lies in its elements, in a row; a tensor if `g` is one."""
    n, m = sizes
    places = np.arange(min(n, m)) * (m + 1)
    return places if isinstance(g, RAW) else wrap(places)


@linear_op(self=lambda g, self_sym_sizes: put_on_diagonal(g, self_sym_sizes), forms="function method", out="")
def trace(self):
    """Return the sum of the main diagonal of a matrix.

    Args:
        input: a matrix.
    Shape: (n, m) → ().
    Returns: a new tensor.
    Raises: RuntimeError if `input` is no matrix.
    Derivative: `g` on the diagonal, else 0.
    Source: torch.trace

    >>> torch.trace(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(5.)
    """
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    refuse(self, "b", "trace")
    kind = np.int64 if self.dtype.kind in "iu" else wide(self.dtype)
    out = np.trace(self, dtype=kind)
    return np.asarray(out).astype(self.dtype if self.dtype == np.float16 else kind)[()]
