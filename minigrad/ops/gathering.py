"""Elements read and written along one dimension: `index_select`, `gather`, `scatter`; `where`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..core import RAW, F, check_broadcast, differentiable, rename
from ..core.dtypes import of, result_type
from ..core.guards import NUMBERS, check_same_dtype, check_tensor
from ..core.public import public
from ..core.tensor_state import TensorBase, Tensors, numbers, wrap
from ..inplace.in_place import in_place
from ..left_out import without
from . import copies, indexing
from .arguments import choice, fitting
from .arithmetic import scale_by_alpha, times
from .indexing import (
    LONG,
    WHOLE,
    along_dimension,
    at_least_1d_array,
    check_inside,
    check_kind,
    refuse_batched,
    writable_copy,
)
from .kernels import linear_op, picking
from .shapes import place

# ─── Elements read and written along one dimension: `index_select`, `gather`, `scatter`


def check_vector(name: str, index: Any) -> None:
    """IndexError, or RuntimeError for the dtype, unless an index is a vector or number that is whole."""
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector")
    check_kind(index, WHOLE, f"{name}(): Expected dtype int32 or int64 for index")


@picking(
    self=lambda g, self_sym_sizes, dim, index: F.into_zeros(g, self_sym_sizes, "index_add", dim, index, g, 1)
)
def index_select(self, dim, index):
    """Return a copy of the parts along `dim` at the places `index`, a vector of whole numbers."""
    check_vector("index_select", index)
    dim = place(dim, self.ndim)
    if self.ndim == 0 and index.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )
    whole = at_least_1d_array(self)
    n = whole.shape[dim]
    if dim == 1:  # for which PyTorch has a kernel of its own
        text = f"INDICES element is out of DATA bounds, id={{}} axis_dim={n}"
        check_inside(index, 0, n, text, RuntimeError)
    else:
        check_inside(index, 0, n, "index out of range in self")
    out = whole.take(at_least_1d_array(index), axis=dim)
    return out if self.ndim else out.reshape(())[()]


def selected_gradient(g: Any, dim: int, index: Any, source: Any) -> Any:
    """Return the gradient of what was written along `dim` at `index`."""
    if not source.shape:
        return F.index_select(g, dim, F.squeeze_dim(index, 0))
    return F.expand(F.index_select(g, dim, index), source.shape)


@differentiable(
    name="index_add",
    self=lambda g: g,
    source=lambda g, dim, index, source, alpha: scale_by_alpha(
        selected_gradient(g, dim, index, source), alpha
    ),
    jvp=lambda self_t, source_t, dim, index, alpha: F.index_add(
        self_t, dim, index, scale_by_alpha(source_t, alpha), 1
    ),
)
def index_add_op(self, dim, index, source, alpha=1):
    """Return `self` with `alpha` times the parts of `source` along `dim` added at the places `index`."""
    dim = place(dim, self.ndim)
    check_vector("index_add_", index)
    text = "index_add_(): self ({0.title}) and source ({1.title}) must have the same scalar type"
    check_same_dtype(self, source, text)
    needed = (*self.shape[:dim], index.size, *self.shape[dim + 1 :]) if self.ndim else source.shape
    fits = source.shape == needed if source.ndim else self.ndim or index.size == 1
    if not fits:
        raise RuntimeError(f"index_add_(): expected source of shape {list(needed)}, not {list(source.shape)}")
    out = writable_copy(self)
    check_range(index, dim, out.shape[dim])
    added = source if source.ndim else source.reshape((1,) * out.ndim)
    if alpha != 1:
        added = times(added, fitting(alpha, self.dtype))
    np.add.at(out, along_dimension(dim, at_least_1d_array(index)), added)
    return out.reshape(self.shape)[()]


# PyTorch's node shows how many dimensions `source` has
index_add_op.op.node._saved_source_dim = property(lambda node: len(node._saved_source.shape))


@differentiable(
    name="index_fill",
    self=lambda g, dim, index: F.index_fill(g, dim, index, 0),
)
def index_fill_op(self, dim, index, value):
    """Return `self` with `value` in the parts along `dim` at the places `index`, which may count from the
    end.
    """
    check_kind(index, LONG, "index_fill_(): Expected dtype int64 for index.", IndexError)
    if isinstance(value, complex) and self.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    dim = place(dim, self.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    out = writable_copy(self)
    n = out.shape[dim]
    check_inside(index, -n, n, f"index {{}} is out of bounds for dimension {dim} with size {n}")
    out[along_dimension(dim, at_least_1d_array(index))] = value
    return out.reshape(self.shape)[()]


def each_once(index: Any) -> Any:
    """Return a vector of indices without repetitions."""
    return np.unique(index) if isinstance(index, RAW) else wrap(np.unique(index._data))


@linear_op(
    self=lambda g, dim, index: F.index_fill(g, dim, index, 0),
    value=lambda g, dim, index: F.sum_all(F.index_select(g, dim, each_once(index))),
    node="IndexFillBackward1",
)
def index_fill_tensor(self, dim, index, value):
    """Return the same with the one element of `value`, which gets a gradient too."""
    if value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return index_fill_op.op.kernel(self, dim, index, value.item())


def grid(index: Any, dim: int) -> tuple[Any, ...]:
    """Return the NumPy index of the places `index` along `dim`, its own places along all other dimensions."""
    ndim = index.ndim
    return tuple([index if d == dim else places_along(n, d, ndim) for d, n in enumerate(index.shape)])


@functools.lru_cache(64)
def places_along(n: int, dim: int, ndim: int) -> Any:
    """The positions 0, …, n - 1 along one of `ndim` dimensions, which must not be modified."""
    return np.arange(n).reshape((*(1,) * dim, n, *(1,) * (ndim - 1 - dim)))


def check_range(index: Any, dim: int, size: int) -> None:
    """RuntimeError with PyTorch's text unless all indices are of a dimension of this size."""
    text = f"index {{}} is out of bounds for dimension {dim} with size {size}"
    check_inside(index, 0, size, text, RuntimeError)


@picking(
    self=lambda g, self, dim, index, sparse_grad: F.into_zeros(g, self.shape, "scatter_add", dim, index, g)
)
def gather(self, dim, index, sparse_grad=False):
    """Return the elements at `index` along `dim`: result[i][j] = input[index[i][j]][j] for dim 0.

    Args:
        input: a tensor of any shape.
        dim: the dimension to index.
        index: an int64 tensor with as many dimensions as `input`.
        sparse_grad: accepted and ignored.
    Shape: that of `index`.
    Returns: a new tensor.
    Raises: RuntimeError if an index is out of range or the number of dimensions differs.
    Derivative: `g` added into zeros at `index`.
    Source: torch.gather

    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    dim = place(dim, self.ndim)
    check_index_sizes("gather", self, dim, index)
    if not index.size:
        return np.zeros(index.shape, self.dtype)
    whole, where = at_least_1d_array(self), at_least_1d_array(index)
    check_range(where, dim, whole.shape[dim])
    return whole[grid(where, dim)].reshape(index.shape)[()]


# ── written
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_index_sizes(name: str, self: Any, dim: int, index: Any, src: Any = None) -> None:
    """RuntimeError with PyTorch's text unless `index` fits what is written to, and `src` if it is one."""
    if src is not None:
        check_same_dtype(self, src, "scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return
    check_kind(index, WHOLE, f"{name}(): Expected dtype int32/int64 for index")
    for other, tensor in (("self", self), ("src", src)):
        if tensor is not None and max(tensor.ndim, 1) != max(index.ndim, 1):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {other} tensor")
    sizes, own = index.shape or (1,), self.shape or (1,)
    theirs = sizes if src is None else src.shape or (1,)
    for d, n in enumerate(sizes):
        if (n > own[d] and d != dim) or n > theirs[d]:
            told = "self" if src is None else f"src {list(src.shape)} and self"
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than {told} {list(self.shape)} apart "
                f"from dimension {dim}"
            )


def scatter_into(self: Any, dim: int, index: Any, src: Any, number: Any = None, adds: bool = False) -> Any:
    """A copy of `self` with the part of `src` that is as large as `index`, or a number, put or added at the
    places `index` along `dim`.
    """
    dim = place(dim, self.ndim)
    check_index_sizes("scatter", self, dim, index, src)
    out = writable_copy(self)
    if index.size:
        where = at_least_1d_array(index)
        check_range(where, dim, out.shape[dim])
        values = number if src is None else at_least_1d_array(src)[tuple(np.s_[:n] for n in where.shape)]
        if adds:
            np.add.at(out, grid(where, dim), values)
        else:
            out[grid(where, dim)] = values
    return out.reshape(self.shape)[()]


@linear_op(
    self=lambda g, dim, index: F.scatter_value(g, dim, index, 0),
    src=lambda g, dim, index: F.gather(g, dim, index),
    node="ScatterBackward0",
)
def scatter_src(self, dim, index, src):
    """Return `self` with the elements of `src` at the places `index` along `dim`."""
    return scatter_into(self, dim, index, src)


@differentiable(
    self=lambda g, dim, index: F.scatter_value(g, dim, index, 0),
    node="ScatterBackward1",
)
def scatter_value(self, dim, index, value):
    """Return `self` with a number at the places `index` along `dim`."""
    value = value if index.size else 0  # what is not written need not fit
    return scatter_into(self, dim, index, None, self.dtype.type(fitting(value, self.dtype)))


rename(scatter_src, "scatter")
rename(scatter_value, "scatter")


@linear_op(name="scatter_add", self=lambda g: g, src=lambda g, dim, index: F.gather(g, dim, index))
def scatter_add_op(self, dim, index, src):
    """Return `self` with the elements of `src` added at the places `index` along `dim`."""
    return scatter_into(self, dim, index, src, adds=True)


# ─── Elements gathered and scattered by tensors of indices, and chosen by masks


# ── the op that PyTorch takes
# ─────────────────────────────────────────────────────────────────────────────────────────────────


ASK = "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."


def filler(name: str, value: Any, of_number: Any, of_tensor: Any) -> Any:
    """Return the op that fills with a number, or that which fills with a tensor of one."""
    if isinstance(value, NUMBERS):
        return of_number
    if value._data.ndim:
        raise RuntimeError(
            f"{name}_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._data.ndim} dimension(s)."
        )
    return of_tensor


def scatterer(src: Any, value: Any, reduce: Any) -> tuple[Any, Any]:
    """Return the op of `scatter`, and its last argument."""
    if reduce is not None:
        raise without("scatter", "reduce")
    given = value if src is None else src
    op = scatter_src if isinstance(given, TensorBase) else scatter_value
    return op, given


def check_scatter_gradient(result: Any, index: Any, src: Any) -> Any:
    """`result`; the gradient of a `src` that is larger than `index` does not fit it, which is found out when
    it is sent.
    """
    node = result._fn
    if isinstance(src, TensorBase) and node is not None and src._data.shape != index._data.shape:
        node._extra_made.unpacks = True
    return result


def check_index_list(indices: Any) -> Tensors:
    """The indices of `index_put`; TypeError unless they are a list of tensors."""
    if not isinstance(indices, (tuple, list)) or not all(isinstance(i, TensorBase) for i in indices):
        raise TypeError("indices must be a tuple of tensors")
    return Tensors(indices)


# ── functions
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public("function method function_ method_")
@choice
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Return a copy with `values`, broadcast, at `indices` (a tuple of tensors), or with them added there."""
    return indexing.index_put, (input, check_index_list(indices), values, accumulate)


@public("function method method_", out="same")
@choice
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Return a copy with `alpha` times the parts of `source` along `dim` added at the places `index`."""
    return index_add_op, (input, dim, index, source, alpha)


@public("function method method_")
@choice
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """Return a copy with `value` in the parts along `dim` at the places `index`."""
    call = filler("index_fill", value, index_fill_op, index_fill_tensor)
    return call, (input, dim, index, value)


@public("function method method_")
@choice
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """Return a copy of `input` with `value` where `mask` is true.

    Args:
        input: a tensor of any shape.
        mask: a boolean tensor that broadcasts with `input`.
        value: a number or a 0-dim tensor.
    Shape: the broadcast shape of `input` and `mask`.
    Returns: a new tensor.
    Raises: RuntimeError if `mask` is not boolean or does not broadcast.
    Derivative: `g` where `mask` is false, else 0; `value` receives the sum of the rest.
    Source: torch.masked_fill

    >>> torch.tensor([1.0, 2.0]).masked_fill(torch.tensor([True, False]), 0.0)
    tensor([0., 2.])
    """
    call = filler("masked_fill", value, copies.masked_fill, copies.masked_fill_tensor)
    return call, (input, mask, value)


@public(out="same")
def scatter(
    input: Any, dim: int, index: Any, src: Any = None, value: Any = None, *, reduce: str | None = None
) -> Any:
    """Return a copy in which `src` or `value` is written at `index` along `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension to index.
        index: an int64 tensor with as many dimensions as `input`.
        src: a tensor at least as large as `index`.
        value: a number to write, if there is no `src`.
        reduce: "add" or "multiply" to combine old and new elements.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if an index is out of range or the sizes do not fit.
    Derivative: `g` with 0 at `index` for `input`, `g.gather(dim, index)` for `src`.
    Source: torch.scatter

    >>> torch.zeros(1, 3).scatter(1, torch.tensor([[2, 0]]), 5.0)
    tensor([[5., 0., 5.]])
    """
    op, given = scatterer(src, value, reduce)
    return check_scatter_gradient(op(input, dim, index, given), index, given)


@public(out="same")
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """Return a copy with the elements of `src` added at the places `index` along `dim`."""
    return check_scatter_gradient(scatter_add_op(input, dim, index, src), index, src)


@public(out="same")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not 0.

    Args:
        input: a tensor of any shape.
        as_tuple: whether to return one index tensor for each dimension.
    Shape: (n, d) for n such elements of a tensor of d dimensions.
    Returns: an int64 tensor, or a tuple of d vectors.
    Raises: nothing of its own.
    Source: torch.nonzero

    >>> torch.tensor([0, 3, 0, 4]).nonzero()
    tensor([[1],
            [3]])
    """
    check_tensor("nonzero", input)
    refuse_batched(input, f"Attempted to vmap over aten::nonzero. {ASK}")
    if not as_tuple:
        return copies.nonzero(input)
    return F.unbind(copies.nonzero(input if input._data.ndim else F.unsqueeze(input, 0)), 1)


@public()
def argwhere(input: Any) -> Any:
    """Return the places of the elements that are not 0, a row of indices for each."""
    return nonzero(input)


@public("function", out="same")
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Return `input` where `condition` is true, else `other`; of `condition` alone, its indices.

    Args:
        condition: a boolean tensor.
        input: a tensor or a number.
        other: a tensor or a number.
    Shape: the broadcast shape of all three.
    Returns: a new tensor; of `condition` alone a tuple of index tensors, one for each dimension.
    Raises: RuntimeError if `condition` is not boolean or the shapes do not broadcast.
    Derivative: `g` where `condition` is true for `input`, elsewhere for `other`.
    Source: torch.where

    >>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    if input is None and other is None:
        refuse_batched(condition, f"Attempted to vmap over aten::where. {ASK}")
        return nonzero(condition, as_tuple=True)
    tensors = [x for x in (input, other) if isinstance(x, TensorBase)]
    condition = as_mask(condition)
    for t in tensors:
        check_broadcast(condition._data.shape, t._data.shape)
    if not tensors:
        number = result_type(input, other).type
        input, other = wrap(number(input)), wrap(number(other))
    return F.where(condition, input, other)


def as_mask(condition: Any) -> Any:
    """Return a condition as bools; RuntimeError with PyTorch's text for other numbers than bytes."""
    kind = of(condition._data)
    if kind.name == "uint8":
        return wrap(numbers(condition) != 0)
    if kind.name != "bool":
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind.title}"
        )
    return condition


# ── methods
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public("method", name="where")
def where_method(self, condition: Any, other: Any) -> Any:
    """Return the tensor where `condition` is true, else `other`.

    Args:
        condition: a boolean tensor.
        other: a tensor or a number.
    Shape: the broadcast shape of all three.
    Returns: a new tensor.
    Raises: RuntimeError if `condition` is not boolean or the shapes do not broadcast.
    Derivative: `g` where `condition` is true for the tensor, elsewhere for `other`.
    Source: torch.Tensor.where

    >>> torch.tensor([1.0, 2.0]).where(torch.tensor([True, False]), 0.0)
    tensor([1., 0.])
    """
    return where(condition, self, other)


@public("method")
def scatter_(
    self, dim: int, index: Any, src: Any = None, value: Any = None, *, reduce: str | None = None
) -> Any:
    """Write `src` or `value` at `index` along `dim` in place and return the tensor.

    Args:
        dim: the dimension to index.
        index: an int64 tensor with as many dimensions as the tensor.
        src: a tensor at least as large as `index`.
        value: a number to write, if there is no `src`.
        Shape: that of the tensor.
    Returns: the tensor itself.
    Raises: RuntimeError if the tensor is a leaf that requires a gradient. RuntimeError if an index is out
        of range.
    Derivative: `g` with 0 at `index` for the tensor, `g.gather(dim, index)` for `src`.
    Source: torch.Tensor.scatter_

    >>> torch.zeros(1, 3).scatter_(1, torch.tensor([[2, 0]]), 5.0)
    tensor([[5., 0., 5.]])
    """
    op, given = scatterer(src, value, reduce)
    return check_scatter_gradient(in_place(op.op, self, dim, index, given), index, given)


@public("method")
def scatter_add_(self, dim: int, index: Any, src: Any) -> Any:
    """Add the elements of `src` at the places `index` along `dim`."""
    return check_scatter_gradient(in_place(scatter_add_op.op, self, dim, index, src), index, src)
