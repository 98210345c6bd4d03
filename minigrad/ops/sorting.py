"""The largest and the smallest element, sorting, medians, unique elements."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from .. import return_types
from ..core import F, composite, differentiable, is_symbol
from ..core.guards import check_has_dimensions, invalid_arguments, refuse
from ..core.op import RAW
from ..core.public import public
from ..core.tensor_state import TensorBase
from .copies import dtype_of_value
from .gathering import grid
from .kernels import no_derivative
from .reductions import NOT_GIVEN, is_of_all, over
from .shapes import place

# ─── The largest and the smallest element


def refuse_empty(self: Any, dims: tuple[int, ...], name: str) -> None:
    """IndexError with PyTorch's text, which begins with `name`, for a dimension without elements."""
    for d in dims if self.ndim else ():
        if self.shape[d] == 0:
            raise IndexError(f"{name}: Expected reduction dim {d} to have non-zero size.")


# ── how gradients are divided
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def put_back(g: Any, sizes: tuple[int, ...], dim: int, indices: Any, keepdim: bool) -> Any:
    """Return the gradient of values selected along `dim`: `g` at their indices, and 0 elsewhere."""
    if not keepdim and sizes:
        g, indices = F.unsqueeze(g, dim), F.unsqueeze(indices, dim)
    if isinstance(g, RAW) and sizes:  # saves softmax by hand a tenth of its time
        out = np.zeros(sizes, g.dtype)
        out[grid(indices, place(dim, len(sizes)))] = g
        return out
    return F.scatter_src(F.zeros_of(g, sizes), dim, indices, g)


def full(reduced: Any, ndim: int, dim: Any, keepdim: bool) -> Any:
    """What was reduced, with the lost dimensions as ones, viewed at once as PyTorch does."""
    if keepdim or (not reduced.shape and is_symbol(reduced)):
        return reduced  # in a formula, a number needs no dimensions
    sizes, lost = list(reduced.shape), over(dim, ndim) if dim != () else ()
    for d in sorted(lost):
        sizes.insert(d, 1)
    return F.reshape(reduced, tuple(sizes))


@composite
def count_in(mask: Any, dim: Any, g: Any) -> Any:
    """How often `mask` holds along `dim` (all for ()), which stays; for arrays in the dtype of `g`."""
    count = F.sum_all(mask) if dim is None else F.sum_dim(mask, dim, True)
    return F.to(count, dtype_of_value(g)) if isinstance(g, RAW) else count


def share_out(g: Any, mask: Any, dim: Any) -> Any:
    """`g` in equal shares where `mask` holds."""
    return (g / F.count_in(mask, dim, g)) * mask


def amax_vjp(g, self, result, dim, keepdim):
    """Equal shares for all elements that are the extreme."""
    ndim = len(self.shape)
    mask = F.eq(full(result, ndim, dim, keepdim), self)
    return share_out(full(g, ndim, dim, keepdim), mask, dim)


def evenly(g: Any, self: Any, result: Any) -> Any:
    """Equal shares for all elements that equal the one result; NaN equals NaN."""
    if isinstance(self, RAW):
        equal = self == result if result == result else self != self
        return np.where(equal, g / g.dtype.type(np.count_nonzero(equal)), g.dtype.type(0))
    mask = F.eq(self, result)
    if is_symbol(self):
        return share_out(g, mask, None)
    both = F.logical_and(F.ne(self, self), F.ne(result, result))
    mask = F.logical_or(mask, both)
    return F.masked_fill_tensor(F.zeros_of(g, self.shape), mask, g / F.count_in(mask, None, g))


# ── the extremes
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def reduce_extreme(ufunc: Any, self: Any, dim: Any, keepdim: bool, name: str, kernel: str) -> Any:
    """Return an extreme over some dimensions; NaN if there is one."""
    if self.size == 0 and (dim is None or dim == ()):
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
            "dim with the 'dim' argument."
        )
    axes = over(dim, self.ndim)
    refuse_empty(self, axes, f"{name}()")
    if self.size:
        refuse(self, kernel)
    return ufunc.reduce(self, axis=axes, keepdims=keepdim)


@differentiable(name="amax", self=amax_vjp)
def amax_op(self, dim=(), keepdim=False):
    """Return the largest element over some dimensions (all for ()); its gradient is divided evenly."""
    return reduce_extreme(np.maximum, self, dim, keepdim, "amax", "max_values_cpu")


@differentiable(name="amin", self=amax_vjp)
def amin_op(self, dim=(), keepdim=False):
    """Return the smallest element over some dimensions (all for ()); its gradient is divided evenly."""
    return reduce_extreme(np.minimum, self, dim, keepdim, "amin", "min_values_cpu")


def of_all(ufunc: Any, name: str, kernel_name: str) -> Any:
    """Return the kernel of an extreme of all elements."""
    return lambda self: reduce_extreme(ufunc, self, None, False, name, kernel_name)


@differentiable(self=evenly, node="MaxBackward1", kernel=of_all(np.maximum, "max", "max_all"))
def max_all(self):
    """Return the largest of all elements; its gradient is divided evenly."""


@differentiable(self=evenly, node="MinBackward1", kernel=of_all(np.minimum, "min", "min_all"))
def min_all(self):
    """Return the smallest of all elements; its gradient is divided evenly."""


def extreme_along(position: Any, name: str, kernel_name: str) -> Any:
    """The kernel of an element along one dimension, with its index, which `position` finds."""

    def kernel(self: Any, dim: Any, keepdim: bool = False) -> Any:
        front = place(dim, self.ndim)
        refuse_empty(self, (front,), f"{name}()")
        refuse(self, kernel_name)
        if self.ndim == 0:
            return self.copy(), np.int64(0)
        indices = position(self, axis=front, keepdims=True)
        values = np.take_along_axis(self, indices, front)
        return (values, indices) if keepdim else (values.squeeze(front), indices.squeeze(front))

    return kernel


def selected_vjp(grads, self_sym_sizes, dim, indices, keepdim):
    """Pass the gradient of each value to where it came from."""
    return put_back(grads[0], self_sym_sizes, dim, indices, keepdim)


SELECTED = ("values", "indices")


@differentiable(
    self=selected_vjp,
    node="MaxBackward0",
    several=SELECTED,
    kernel=extreme_along(np.argmax, "max", "max_cpu"),
)
def max_dim(self, dim, keepdim=False):
    """Return the largest element along `dim`, and its index."""


@differentiable(
    self=selected_vjp,
    node="MinBackward0",
    several=SELECTED,
    kernel=extreme_along(np.argmin, "min", "min_cpu"),
)
def min_dim(self, dim, keepdim=False):
    """Return the smallest element along `dim`, and its index."""


def position(self: Any, dim: Any, keepdim: bool, name: str) -> Any:
    """`argmax` and `argmin`: the first of equal ones, or of NaN."""
    refuse(self, name)
    if dim is None and self.size == 0:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    axis = None if dim is None else place(dim, self.ndim)
    refuse_empty(self, () if axis is None else (axis,), f"{name}()")
    if self.ndim == 0:
        return np.int64(0)
    return getattr(np, name)(self, axis=axis, keepdims=keepdim)


@differentiable(forms="function method", out="same")
def argmax(self, dim=None, keepdim=False):
    """Return the index of the maximum, in the flattened tensor or along `dim`.

    Args:
        input: a tensor of any shape.
        dim: one dimension; None for the flattened tensor.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: an int64 tensor; of several equal elements the first index.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.argmax

    >>> torch.argmax(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
    tensor([1, 0])
    """
    return position(self, dim, keepdim, "argmax")


@differentiable(forms="function method", out="same")
def argmin(self, dim=None, keepdim=False):
    """Return the index of the minimum, in the flattened tensor or along `dim`.

    Args:
        input: a tensor of any shape.
        dim: one dimension; None for the flattened tensor.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: an int64 tensor; of several equal elements the first index.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.argmin

    >>> torch.argmin(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
    tensor([0, 1])
    """
    return position(self, dim, keepdim, "argmin")


# ─── Sorting, medians, unique elements; truth, counts and histograms; the trace


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
    refuse(self, "sort")
    if not self.ndim:
        return self.copy(), np.int64(0)
    indices = in_order(self, front, descending)
    return np.take_along_axis(self, indices, front), np.ascontiguousarray(indices)


def taken_vjp(grads, self_sym_sizes, dim, indices):
    """Pass the gradient of each value to where it came from."""
    return put_back(grads[0], self_sym_sizes, dim, indices, True)


TAKEN: dict[str, Any] = {"self": taken_vjp, "several": ("values", "indices")}


@differentiable(name="sort", kernel=sorted_kernel, **TAKEN)
def sort_op(self, dim=-1, descending=False):
    """Return the elements in order along `dim`, and where they were; NaN counts as the largest."""


@differentiable(kernel=sorted_kernel, node="SortBackward1", **TAKEN)
def sort_stable(self, dim=-1, descending=False):
    """Return `sort_op` for which it was asked whether equal elements keep their order (they always do)."""


@differentiable(name="topk", **TAKEN)
def topk_op(self, k, dim=-1, largest=True, sorted=True):
    """Return the `k` largest (or smallest) elements along `dim` in order, and where they were."""
    front = place(dim, self.ndim)
    if not 0 <= k <= (self.shape[front] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    refuse(self, "topk")
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
    refuse(self, "unique")
    values, inverse, counts = np.unique(self, return_inverse=True, return_counts=True, equal_nan=False)
    return values, np.asarray(inverse, np.int64).reshape(self.shape), counts.astype(np.int64)


@differentiable(
    **no_derivative("unique_dim", "self") | {"node": "UniqueDimBackward0"},
    several=("result0", "inverse", "counts"),
)
def unique_dim(self, dim):
    """Return the different parts along `dim` in order, the index of each part among them, and the counts."""
    check_has_dimensions(self.ndim)
    front = place(dim, self.ndim)
    refuse(self, "unique_dim")
    if 0 in self.shape:
        if self.shape[front] or self.shape.count(0) > 1:
            raise RuntimeError(
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
            )
        return self.copy(), np.empty(0, np.int64), np.empty(0, np.int64)
    values, inverse, counts = np.unique(
        self, return_inverse=True, return_counts=True, axis=front, equal_nan=False
    )
    return values, np.asarray(inverse, np.int64).reshape(-1), counts.astype(np.int64)


def middle(self: Any, axis: int, keepdims: bool = True) -> Any:
    """Index of the lower median along `axis`, which stays; of the first NaN where there is one."""
    order = np.argsort(self, axis=axis, kind="stable")
    indices = np.take(order, [builtins.max(self.shape[axis] - 1, 0) // 2], axis)
    missing = np.isnan(self)
    return np.where(missing.any(axis, keepdims=True), missing.argmax(axis, keepdims=True), indices)


def middle_of_numbers(self: Any, axis: int, keepdims: bool = True) -> Any:
    """Index of the lower median along `axis`, which stays, of what is not NaN."""
    order = np.argsort(self, axis=axis, kind="stable")  # NaN last
    known = self.shape[axis] - np.isnan(self).sum(axis, keepdims=True)
    return np.take_along_axis(order, np.maximum(known - 1, 0) // 2, axis)


def nan_as_integer(dtype: Any) -> Any:
    """NaN in a dtype, as C++ converts it: through the smallest int32, or int64."""
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    wide = np.int64 if dtype == np.int64 else np.int32
    return np.asarray(np.iinfo(wide).min, wide).astype(dtype)[()]


def median_of(position: Any) -> Any:
    """The kernel of the median of all elements, whose index `position` finds; NaN of none."""

    def kernel(self: Any) -> Any:
        if self.size == 0:
            return nan_as_integer(self.dtype)
        refuse(self, "median_cpu")
        flat = np.ravel(self)
        return flat[position(flat, 0)[0]]

    return kernel


@differentiable(self=evenly, node="MedianBackward0", kernel=median_of(middle))
def median_all(self):
    """Return the lower median of all elements; NaN of none."""


@differentiable(self=evenly, node="NanmedianBackward0", kernel=median_of(middle_of_numbers))
def nanmedian_all(self):
    """Return the lower median of all elements that are not NaN; NaN of none."""


@differentiable(
    self=selected_vjp,
    node="MedianBackward1",
    several=SELECTED,
    kernel=extreme_along(middle, "median", "median_out"),
)
def median_dim(self, dim, keepdim=False):
    """Return the lower median along `dim`, and its index."""


@differentiable(
    self=selected_vjp,
    node="NanmedianBackward1",
    several=SELECTED,
    kernel=extreme_along(middle_of_numbers, "median", "median_out"),
)
def nanmedian_dim(self, dim, keepdim=False):
    """Return the lower median along `dim` of what is not NaN, and its index."""


# ─── Sorting, the largest few elements, unique elements, maxima, minima and medians


def sort_by_overload(input: Any, dim: int, descending: bool, stable: Any) -> Any:
    """Values and indices, by the overload that PyTorch takes: one of its own where `stable` is given."""
    op = sort_op if stable is NOT_GIVEN else sort_stable
    return op(input, dim, descending)


@public(out="same")
def sort(input: Any, dim: int = -1, descending: bool = False, *, stable: Any = NOT_GIVEN) -> Any:
    """Return the elements in order along `dim`, with their indices; NaN counts as the largest.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        descending: whether the largest comes first.
        stable: whether equal elements keep their order; they do in any case.
    Shape: the same as that of `input`.
    Returns: the named tuple (values, indices).
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g` moved back to the indices.
    Source: torch.sort

    >>> torch.sort(torch.tensor([3.0, 1.0, 2.0])).indices
    tensor([1, 2, 0])
    """
    return return_types.sort(*sort_by_overload(input, dim, descending, stable))


@public(out="same")
def argsort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """Return the indices that put the elements in order along `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        descending: whether the largest comes first.
        stable: whether equal elements keep their order; they do in any case.
    Shape: the same as that of `input`.
    Returns: an int64 tensor.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.argsort

    >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    return sort_by_overload(input, dim, descending, stable)[1]


@public(out="same")
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the `k` largest elements along `dim`, with their indices.

    Args:
        input: a tensor of any shape.
        k: how many.
        dim: the dimension.
        largest: whether the largest or the smallest are returned.
        sorted: whether they are in order; they are in any case.
    Shape: that of `input` with size `k` at `dim`.
    Returns: the named tuple (values, indices).
    Raises: IndexError if there is no dimension `dim`. RuntimeError if `k` is out of range.
    Derivative: `g` moved back to the indices, else 0.
    Source: torch.topk

    >>> torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2).values
    tensor([3., 2.])
    """
    return return_types.topk(*topk_op(input, k, dim, largest, sorted))


@public()
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the different elements in ascending order, or the different parts along `dim`.

    Args:
        input: a tensor of any shape.
        sorted: accepted; the result is sorted in any case.
        return_inverse: whether to return the index of each element in the result as well.
        return_counts: whether to return how often each occurs as well.
        dim: the dimension whose parts are compared; None for single elements.
    Shape: (n,) for n different elements; with `dim` that of `input` with size n at `dim`.
    Returns: a tensor, or a tuple with what was requested.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.unique

    >>> torch.unique(torch.tensor([3, 1, 3]))
    tensor([1, 3])
    """
    values, inverse, counts = unique2(input) if dim is None else unique_dim(input, operator.index(dim))
    more = [t for t, asked in ((inverse, return_inverse), (counts, return_counts)) if asked]
    return (values, *more) if more else values


def extreme(name: str, every: Any, along: Any, input: Any, dim: Any, keepdim: Any, other: Any) -> Any:
    """What `max` and `min` do by their arguments."""
    if isinstance(dim, TensorBase):
        dim, other = NOT_GIVEN, dim
    if other is not None:
        return getattr(F, name + "imum")(input, other)
    if is_of_all(name, input, dim, keepdim):
        return every(input)
    if dim is None:
        raise invalid_arguments(name, input, dim=dim)
    kind = getattr(return_types, name)
    return kind(*along(input, dim, keepdim))


@public(out="same")
def max(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the maximum of all elements, or along `dim` the maximum values with their indices.

    Args:
        input: a tensor of any shape.
        dim: one dimension, or a tensor, for which the result is that of `maximum`; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        other: a tensor, for the result of `maximum`.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a tensor; with `dim` the named tuple (values, indices).
    Raises: IndexError if there is no dimension `dim`. RuntimeError if `input` is empty and no `dim` is given.
    Derivative: without `dim`, `g` divided evenly among the equal largest elements; with `dim`, `g` at the
        index, else 0.
    Source: torch.max

    >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).values
    tensor([5., 7.])
    """
    return extreme("max", max_all, max_dim, input, dim, keepdim, other)


@public(out="same")
def min(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the minimum of all elements, or along `dim` the minimum values with their indices.

    Args:
        input: a tensor of any shape.
        dim: one dimension, or a tensor, for which the result is that of `minimum`; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        other: a tensor, for the result of `minimum`.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a tensor; with `dim` the named tuple (values, indices).
    Raises: IndexError if there is no dimension `dim`. RuntimeError if `input` is empty and no `dim` is given.
    Derivative: without `dim`, `g` divided evenly among the equal smallest elements; with `dim`, `g` at the
        index, else 0.
    Source: torch.min

    >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).values
    tensor([1., 2.])
    """
    return extreme("min", min_all, min_dim, input, dim, keepdim, other)


@public(out="same")
def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Return the largest element over the dimensions `dim`, all for (); the gradient is divided evenly."""
    return amax_op(input, dim or (), keepdim)


@public(out="same")
def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Return the smallest element over the dimensions `dim`, all for (); the gradient is divided evenly."""
    return amin_op(input, dim or (), keepdim)


@public(out="same")
def median(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False) -> Any:
    """Return the lower median of all elements, or along `dim` (values, indices)."""
    if is_of_all("median", input, dim, keepdim):
        return median_all(input)
    return return_types.median(*median_dim(input, dim, keepdim))


@public(out="same")
def nanmedian(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False) -> Any:
    """Return the lower median of what is not NaN, of all elements, or along `dim` with the indices.

    Args:
        input: a tensor of any shape.
        dim: the dimension; without it all elements.
        keepdim: whether the reduced dimension stays, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a tensor; with `dim` the named tuple (values, indices).
    Raises: IndexError if there is no dimension `dim`. NotImplementedError if `input` is boolean or complex.
    Derivative: without `dim`, `g` divided evenly among the equal elements; with `dim`, `g` at the index.
    Source: torch.nanmedian

    >>> torch.nanmedian(torch.tensor([3.0, float("nan"), 1.0, 2.0]))
    tensor(2.)
    """
    if is_of_all("nanmedian", input, dim, keepdim):
        return nanmedian_all(input)
    return return_types.nanmedian(*nanmedian_dim(input, dim, keepdim))
