"""Sums, means and products; truth and counts."""

from __future__ import annotations

from math import prod as product
from typing import Any

import numpy as np

from ..core import F, composite, differentiable, dtypes, is_symbol
from ..core.dtypes import FAST_ARRAYS
from ..core.guards import invalid_arguments, refuse
from ..core.op import RAW
from ..core.public import public
from ..core.tensor_state import wrap
from .arguments import numpys
from .copies import dtype_of_value, to
from .kernels import linear_op
from .shapes import place

# ─── Sums, means and products


def over(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions named by `dim` (an int, a tuple or None for all), counted from the front; IndexError if
    out of range.
    """
    dims = range(ndim) if dim is None or dim == () else (dim,) if isinstance(dim, int) else dim
    result = tuple([place(d, ndim) for d in dims])
    if len(result) > 1 and len(set(result)) < len(result):
        twice = next(d for d in result if result.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return result if ndim else ()


def count_of(sizes: tuple[int, ...], dim: Any) -> int:
    """How many elements of a tensor of shape `sizes` are reduced to one."""
    return product([sizes[d] for d in over(dim, len(sizes))])


def unsqueeze_reduced(g: Any, dim: Any, ndim: int) -> Any:
    """A reduced gradient, given back the dimensions it lost, one after the other as PyTorch does; without
    dimensions as it is.
    """
    dims = (dim,) if isinstance(dim, int) else dim or ()
    for d in dims if len(dims) == 1 else sorted(place(d, ndim) for d in dims):
        g = F.unsqueeze(g, d)
    return g


def restore(g: Any, sizes: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """Return a reduced gradient, given back the dimensions it lost and expanded to `sizes`."""
    return F.expand(g if keepdim or not sizes else unsqueeze_reduced(g, dim, len(sizes)), sizes)


def cast(self: Any, dtype: Any) -> Any:
    """`self` in the dtype that was asked for, if one was."""
    return self if dtype is None or self.dtype == dtype else to.op.kernel(self, dtype)


def accumulation_dtype(dtype: Any) -> Any:
    """The dtype in which numbers of `dtype` are added or multiplied: int64 for integers and bools; float16 is
    too narrow.
    """
    return np.int64 if dtype.kind in "biu" else np.float32 if dtype == np.float16 else dtype


def to_result_dtype(out: Any, dtype: Any) -> Any:
    """Return a result of `accumulation_dtype` numbers in the dtype that PyTorch gives for `dtype`."""
    return out.astype(dtype) if dtype == np.float16 else out


def real_of(self: Any) -> Any:
    """Return the dtype of real parts."""
    return self.real.dtype


def fold(ufunc: Any, x: Any, axes: Any, keepdim: bool, dtype: Any = None) -> Any:
    """All elements along `axes` put together by `ufunc`, in `dtype`."""
    return ufunc.reduce(x, axes, dtype, None, keepdim)


def total(ufunc: Any, self: Any, axes: Any, keepdim: bool, dtype: Any) -> Any:
    """Sum or product over `axes`, in the dtype that was asked for or else in that which PyTorch uses."""
    if dtype is None and self.dtype in FAST_ARRAYS:
        return fold(ufunc, self, axes, keepdim)
    self = cast(self, dtype)
    out = fold(ufunc, self, axes, keepdim, accumulation_dtype(self.dtype))
    return to_result_dtype(out, self.dtype) if dtype is None else out.astype(dtype, copy=False)


def filled_rows(g: Any, sizes: tuple[int, ...]) -> Any:
    """For each number of `g` an array of this shape that is filled with it."""
    return np.broadcast_to(g.reshape(-1, *(1 for _ in sizes)), (len(g), *sizes))


@linear_op(
    self=lambda g, self_sym_sizes: F.expand(g, self_sym_sizes),
    rows={"self": lambda g, self_sym_sizes: filled_rows(g, self_sym_sizes)},
    node="SumBackward0",
)
def sum_all(self, dtype=None):
    """Return the sum of all elements."""
    return total(np.add, self, None, False, dtype)


@linear_op(
    self=lambda g, self_sym_sizes, dim, keepdim: restore(g, self_sym_sizes, dim, keepdim), node="SumBackward1"
)
def sum_dim(self, dim, keepdim, dtype=None):
    """Return the sum over some dimensions."""
    return total(np.add, self, over(dim, self.ndim), keepdim, dtype)


def average(self: Any, axes: Any, keepdim: bool, dtype: Any) -> Any:
    """Mean over `axes`."""
    self = cast(self, dtype)
    out = total(np.add, self, axes, keepdim, np.dtype(np.float32) if self.dtype == np.float16 else None)
    return to_result_dtype(out / out.dtype.type(self.size / out.size if out.size else 1), self.dtype)


@linear_op(
    self=lambda g, self_sym_sizes, self_sym_numel: F.div_scalar(F.expand(g, self_sym_sizes), self_sym_numel),
    node="MeanBackward0",
)
def mean_all(self, dtype=None):
    """Return the mean of all elements."""
    return average(self, None, False, dtype)


def mean_vjp(g, self_sym_sizes, self_sym_numel, dim, keepdim):
    """Return the gradient spread over the elements that the mean was taken of. PyTorch's node shows their
    number in the whole tensor.
    """
    return F.div_scalar(restore(g, self_sym_sizes, dim, keepdim), count_of(self_sym_sizes, dim))


@linear_op(self=mean_vjp, node="MeanBackward1")
def mean_dim(self, dim, keepdim, dtype=None):
    """Return the mean over some dimensions."""
    return average(self, over(dim, self.ndim), keepdim, dtype)


# ── without NaN
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def nansum_vjp(g, self, dim, keepdim):
    """Return the gradient of a sum, and 0 where there is NaN."""
    numbers = F.logical_not(F.ne(self, self))
    return restore(F.like(g, self), self.shape, dim, keepdim) * numbers


@composite
def like(g: Any, other: Any) -> Any:
    """`g` in the dtype of `other`."""
    if is_symbol(other) or dtype_of_value(g) == dtype_of_value(other):
        return g
    return F.to(g, dtype_of_value(other))


@differentiable(name="nansum", self=nansum_vjp)
def nansum_op(self, dim, keepdim, dtype=None):
    """Return the sum over some dimensions (all for None) in which NaN counts as 0."""
    refuse(self, "nansum")
    known = np.where(np.isnan(self), self.dtype.type(0), self) if self.dtype.kind == "f" else self
    return total(np.add, known, over(dim, self.ndim), keepdim, dtype)


# ── products
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def prod_backward(g: Any, self: Any, result: Any, dim: int | None) -> Any:
    """`g · result / self`; where a factor is 0, the product of the others (along `dim`, None for all)."""
    if is_symbol(self):
        return g * (result / self)
    if np.all(self if isinstance(self, RAW) else self._data):
        return g * F.conj(result / self)
    if dim is not None:
        return product_of_others(g, self, dim)
    return F.reshape(product_of_others(g, F.reshape(self, (-1,)), 0), self.shape)


def product_of_others(g: Any, self: Any, dim: int) -> Any:
    """`g` times the product of the elements before and after each, along `dim`, as PyTorch composes it."""
    n = self.shape[dim]
    if n == 1:
        return F.expand(g, self.shape)
    one = F.ones_like(F.slice(self, dim, 0, 1, 1))
    before = F.cumprod(F.cat([one, F.slice(self, dim, 0, n - 1, 1)], dim), dim)
    after = F.cumprod(F.cat([one, F.flip(F.slice(self, dim, 1, n, 1), (dim,))], dim), dim)
    return g * F.conj(before * F.flip(after, (dim,)))


def prod_dim_vjp(g, self, result, dim, keepdim):
    """See `prod_backward`."""
    if not self.shape:
        return g
    if not keepdim:
        g, result = F.unsqueeze(g, dim), F.unsqueeze(result, dim)
    return F.prod_backward(g, self, result, place(dim, len(self.shape)))


@differentiable(
    self=lambda g, self, result: F.prod_backward(g, self, result, None) if self.shape else g,
    complexes=True,
    node="ProdBackward0",
)
def prod_all(self, dtype=None):
    """Return the product of all elements."""
    return total(np.multiply, self, None, False, dtype)


@differentiable(self=prod_dim_vjp, complexes=True, node="ProdBackward1")
def prod_dim(self, dim, keepdim, dtype=None):
    """Return the product along a dimension."""
    return total(np.multiply, self, over(dim, self.ndim), keepdim, dtype)


# ─── Reductions (sums, means, products, truth) and cumulative sums and products


NOT_GIVEN: Any = object()


def is_of_all(name: str, input: Any, dim: Any, keepdim: Any) -> bool:
    """Return whether no `dim` was given; TypeError in PyTorch's words for a `keepdim` without one."""
    if dim is not NOT_GIVEN:
        return False
    if keepdim is not False:
        raise invalid_arguments(name, input, keepdim=keepdim)
    return True


@public(out="dtype")
def sum(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum of all elements, or the sums over `dim`; integers and booleans give int64.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        dtype: the dtype in which the result is computed.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g`, expanded to the shape of `input`.
    Source: torch.sum

    >>> torch.sum(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([4., 6.])
    """
    if is_of_all("sum", input, dim, keepdim):
        return sum_all(input, numpys(dtype))
    return sum_dim(input, dim or (), keepdim, numpys(dtype))


@public(out="dtype")
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum in which NaN counts as 0, of all elements or over the dimensions `dim`."""
    if input._data.dtype.kind in "biu":
        return sum(input, dim, keepdim, dtype=dtype)
    return nansum_op(input, dim, keepdim, numpys(dtype))


@public(out="dtype")
def mean(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean of all elements, or the means over `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        dtype: the dtype in which the result is computed.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`. RuntimeError for integers without `dtype`.
    Derivative: `g / n`, expanded, for n elements per mean.
    Source: torch.mean

    >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([2., 3.])
    """
    kind = dtypes.of(input._data) if dtype is None else dtype
    if kind.category < 2:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype must be "
            f"either a floating point or complex dtype. Got: {kind.title}"
        )
    if is_of_all("mean", input, dim, keepdim):
        return mean_all(input, numpys(dtype))
    return mean_dim(input, dim or (), keepdim, numpys(dtype))


@public(out="cast")
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean of what is not NaN, of all elements or over the dimensions `dim`; RuntimeError for
    integers.
    """
    kind = dtypes.of(input._data)
    if kind.category < 2:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {kind.title}"
        )
    over = () if dim is None else dim
    count = sum(F.eq(input.detach(), input.detach()), over, keepdim)
    return F.div(nansum(input, dim, keepdim, dtype=dtype), count)


@public(out="dtype")
def prod(input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the product of all elements, or the products along `dim`.

    Args:
        input: a tensor of any shape.
        dim: one dimension; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        dtype: the dtype in which the result is computed.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g * result / x`, computed without the division where an element is 0.
    Source: torch.prod

    >>> torch.prod(torch.tensor([2.0, 3.0, 4.0]))
    tensor(24.)
    """
    if is_of_all("prod", input, dim, keepdim):
        return prod_all(input, numpys(dtype))
    if dim is None:
        raise invalid_arguments("prod", input, dim=dim)
    return prod_dim(input, dim, keepdim, numpys(dtype))


@public(out="cast")
def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether all elements are true, that is not 0, overall or over `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a boolean tensor (uint8 for uint8).
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.all

    >>> torch.all(torch.tensor([[True, False], [True, True]]), dim=1)
    tensor([False,  True])
    """
    return all_op(input, dim, keepdim)


@public(out="cast")
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether at least one element is true, that is not 0, overall or over `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a boolean tensor (uint8 for uint8).
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.any

    >>> torch.any(torch.tensor([[True, False], [True, True]]), dim=1)
    tensor([True, True])
    """
    return any_op(input, dim, keepdim)


@public()
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """Return how many elements are not 0, of all or over the dimensions `dim`."""
    return count_nonzero_op(input, dim)


# ─── Sorting, medians, unique elements; truth, counts and histograms; the trace


def truth(ufunc: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    """`all_op` and `any_op` over some dimensions; of uint8 numbers as uint8, as in PyTorch."""
    axes = None if dim is None else over(dim, self.ndim) if dim != () else ()
    out = ufunc.reduce(self != 0, axis=axes, keepdims=keepdim)
    return out.astype(np.uint8) if self.dtype == np.uint8 else out


@differentiable(name="all")
def all_op(self, dim=None, keepdim=False):
    """Return whether all elements are true (not 0), over some dimensions (all for None)."""
    return truth(np.logical_and, self, dim, keepdim)


@differentiable(name="any")
def any_op(self, dim=None, keepdim=False):
    """Return whether some element is true (not 0), over some dimensions (all for None)."""
    return truth(np.logical_or, self, dim, keepdim)


@differentiable(name="count_nonzero")
def count_nonzero_op(self, dim=None):
    """Return how many elements are not 0, over some dimensions (all for None)."""
    return np.add.reduce(self != 0, axis=over(dim, self.ndim), dtype=np.int64)


# ── the trace
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def put_on_diagonal(g: Any, sizes: tuple[int, ...]) -> Any:
    """Return the gradient on the diagonal, put there as PyTorch does."""
    flat = F.zeros_of(g, (product(sizes),))
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
    Raises: RuntimeError if `input` is not a matrix.
    Derivative: `g` on the diagonal, else 0.
    Source: torch.trace

    >>> torch.trace(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(5.)
    """
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    refuse(self, "trace")
    kind = np.int64 if self.dtype.kind in "iu" else accumulation_dtype(self.dtype)
    out = np.trace(self, dtype=kind)
    return np.asarray(out).astype(self.dtype if self.dtype == np.float16 else kind)[()]
