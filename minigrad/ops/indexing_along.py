"""Parts along one dimension, chosen by a vector of indices: `index_select` and the ops that write there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import RAW, F, differentiable
from ..core.dtypes import of, whole
from ..core.tensor_state import wrap
from .arithmetic import scaled
from .copy import fitting
from .indices import LONG, WHOLE, along, check_inside, check_kind, copied, raised
from .shape import place


@differentiable(
    self=lambda g, self_sym_sizes, dim, index: F.into_zeros(g, self_sym_sizes, "index_add", dim, index, g, 1),
    linear=True,
    forms="function method",
    out="same",
)
def index_select(self, dim, index):
    """Return a copy of the parts along `dim` at the places `index`, a vector of whole numbers."""
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    check_kind(index, WHOLE, "index_select(): Expected dtype int32 or int64 for index")
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


def show_source_dim(op: Any) -> None:
    """Let the nodes of an op show how many dimensions its `source` has, as PyTorch's do."""
    op.node._saved_source_dim = property(lambda node: len(node._saved_source.shape))


def check_added(name: str, self: Any, dim: int, index: Any, source: Any) -> None:
    """The errors of PyTorch for arguments of `index_add` that do not fit."""
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{of(index).title} and size: {list(index.shape)}"
        )
    check_kind(index, WHOLE, f"{name}(): Expected dtype int32/int64 for index but got: {{}}")
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"{name}(): self ({of(self).title}) and source ({of(source).title}) must have the same scalar "
            "type"
        )
    count = source.shape[dim] if source.ndim > dim else 1
    if source.ndim == self.ndim and index.size != count:
        raise RuntimeError(
            f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim): ({count}), "
            f"for dim: {dim}"
        )
    if source.ndim and cut(self.shape, dim) != cut(source.shape, dim):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {list(self.shape)} source.shape = {list(source.shape)}"
        )


def cut(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    """Return a shape without one dimension."""
    return shape[:dim] + shape[dim + 1 :]


def lined_up(source: Any, ndim: int) -> Any:
    """`source` with as many dimensions as what it is written to, at least one."""
    return source if source.ndim else source.reshape((1,) * max(ndim, 1))


def factor(alpha: Any, dtype: Any) -> Any:
    """Return a number to multiply arrays of `dtype` by."""
    return whole(alpha, dtype) if dtype.kind in "iub" else dtype.type(fitting(alpha, dtype))


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
    check_added("index_add_", self, dim, index, source)
    out = copied(self)
    n = out.shape[dim]
    text = f"index {{}} is out of bounds for dimension {dim} with size {n}"
    check_inside(index, 0, n, text, RuntimeError)
    added = lined_up(source, self.ndim)
    np.add.at(out, along(dim, raised(index)), added if alpha == 1 else added * factor(alpha, self.dtype))
    return out.reshape(self.shape)[()]


show_source_dim(index_add.op)


@differentiable(
    self=lambda g, dim, index: F.index_fill(g, dim, index, 0),
    jvp=lambda self_t, dim, index: F.index_fill(self_t, dim, index, 0),
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


@differentiable(
    self=lambda g, dim, index: F.index_fill(g, dim, index, 0),
    value=lambda g, dim, index: F.sum_all(F.index_select(g, dim, each_once(index))),
    node="IndexFillBackward1",
    linear=True,
)
def index_fill_tensor(self, dim, index, value):
    """Return the same with the one element of `value`, which gets a gradient too."""
    if value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return index_fill.op.kernel(self, dim, index, value.item())
