"""Elements read and written along one dimension: `index_select`, `gather`, `scatter`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import RAW, F, differentiable, rename
from ..core.tensor_state import wrap
from .arithmetic import scaled, times
from .checks import same_dtype
from .copy import fitting
from .index import LONG, WHOLE, along, check_inside, check_kind, copied, raised
from .kernels import linear_op, picking
from .shape import place


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
    whole = raised(self)
    check_inside(index, 0, whole.shape[dim], "index out of range in self")
    out = whole.take(raised(index), axis=dim)
    return out if self.ndim else out.reshape(())[()]


def selected(g: Any, dim: int, index: Any, source: Any) -> Any:
    """Return the gradient of what was written along `dim` at `index`."""
    if not source.shape:
        return F.index_select(g, dim, F.squeeze_dim(index, 0))
    return F.expand(F.index_select(g, dim, index), source.shape)


@differentiable(
    self=lambda g: g,
    source=lambda g, dim, index, source, alpha: scaled(selected(g, dim, index, source), alpha),
    jvp=lambda self_t, source_t, dim, index, alpha: F.index_add(
        self_t, dim, index, scaled(source_t, alpha), 1
    ),
)
def index_add(self, dim, index, source, alpha=1):
    """Return `self` with `alpha` times the parts of `source` along `dim` added at the places `index`."""
    dim = place(dim, self.ndim)
    check_vector("index_add_", index)
    text = "index_add_(): self ({0.title}) and source ({1.title}) must have the same scalar type"
    same_dtype(self, source, text)
    needed = (*self.shape[:dim], index.size, *self.shape[dim + 1 :]) if self.ndim else source.shape
    fits = source.shape == needed if source.ndim else self.ndim or index.size == 1
    if not fits:
        raise RuntimeError(f"index_add_(): expected source of shape {list(needed)}, not {list(source.shape)}")
    out = copied(self)
    check_range(index, dim, out.shape[dim])
    added = source if source.ndim else source.reshape((1,) * out.ndim)
    if alpha != 1:
        added = times(added, fitting(alpha, self.dtype))
    np.add.at(out, along(dim, raised(index)), added)
    return out.reshape(self.shape)[()]


# PyTorch's node shows how many dimensions `source` has
index_add.op.node._saved_source_dim = property(lambda node: len(node._saved_source.shape))


@differentiable(
    self=lambda g, dim, index: F.index_fill(g, dim, index, 0),
)
def index_fill(self, dim, index, value):
    """Return `self` with `value` in the parts along `dim` at the places `index`, which may count from the
    end.
    """
    check_kind(index, LONG, "index_fill_(): Expected dtype int64 for index.", IndexError)
    if isinstance(value, complex) and self.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    dim = place(dim, self.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    out = copied(self)
    n = out.shape[dim]
    check_inside(index, -n, n, f"index {{}} is out of bounds for dimension {dim} with size {n}")
    out[along(dim, raised(index))] = value
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
    return index_fill.op.kernel(self, dim, index, value.item())


def grid(index: Any, dim: int) -> tuple[Any, ...]:
    """Return the NumPy index of the places `index` along `dim`, its own places along all other dimensions."""
    ones, sizes = (1,) * index.ndim, index.shape
    return tuple(
        index if d == dim else np.arange(n).reshape((*ones[:d], n, *ones[d + 1 :]))
        for d, n in enumerate(sizes)
    )


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
    check_sizes("gather", self, dim, index)
    if not index.size:
        return np.zeros(index.shape, self.dtype)
    whole, where = raised(self), raised(index)
    check_range(where, dim, whole.shape[dim])
    return whole[grid(where, dim)].reshape(index.shape)[()]


# ── written
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_sizes(name: str, self: Any, dim: int, index: Any, src: Any = None) -> None:
    """RuntimeError with PyTorch's text unless `index` fits what is written to, and `src` if it is one."""
    if src is not None:
        same_dtype(self, src, "scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return
    check_kind(index, WHOLE, f"{name}(): Expected dtype int32/int64 for index")
    for other, tensor in (("self", self), ("src", src)):
        if tensor is not None and max(tensor.ndim, 1) != max(index.ndim, 1):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {other} tensor")
    sizes = raised(index).shape
    own, theirs = raised(self).shape, sizes if src is None else raised(src).shape
    if any((d != dim and n > own[d]) or n > theirs[d] for d, n in enumerate(sizes)):
        told = "self" if src is None else f"src {list(src.shape)} and self"
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than {told} {list(self.shape)} apart from "
            f"dimension {dim}"
        )


def written(self: Any, dim: int, index: Any, src: Any, number: Any = None, adds: bool = False) -> Any:
    """A copy of `self` with the part of `src` that is as large as `index`, or a number, put or added at the
    places `index` along `dim`.
    """
    dim = place(dim, self.ndim)
    check_sizes("scatter", self, dim, index, src)
    out = copied(self)
    if index.size:
        where = raised(index)
        check_range(where, dim, out.shape[dim])
        values = number if src is None else raised(src)[tuple(np.s_[:n] for n in where.shape)]
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
    return written(self, dim, index, src)


@differentiable(
    self=lambda g, dim, index: F.scatter_value(g, dim, index, 0),
    node="ScatterBackward1",
)
def scatter_value(self, dim, index, value):
    """Return `self` with a number at the places `index` along `dim`."""
    value = value if index.size else 0  # what is not written need not fit
    return written(self, dim, index, None, self.dtype.type(fitting(value, self.dtype)))


rename(scatter_src, "scatter")
rename(scatter_value, "scatter")


@linear_op(self=lambda g: g, src=lambda g, dim, index: F.gather(g, dim, index))
def scatter_add(self, dim, index, src):
    """Return `self` with the elements of `src` added at the places `index` along `dim`."""
    return written(self, dim, index, src, adds=True)
