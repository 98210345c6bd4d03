"""Elements read and written along one dimension, each at an index of its own: `gather`, `scatter`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable, rename
from .copy import fitting
from .indices import WHOLE, check_inside, check_kind, copied, raised
from .shape import place


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


@differentiable(
    self=lambda g, self, dim, index, sparse_grad: F.into_zeros(g, self.shape, "scatter_add", dim, index, g),
    linear=True,
    forms="function method",
    out="same",
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
    if not index.size:
        return np.zeros(index.shape, self.dtype)
    check_kind(index, WHOLE, "gather(): Expected dtype int32/int64 for index")
    whole, where = raised(self), raised(index)
    if whole.ndim != where.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for d, (n, m) in enumerate(zip(where.shape, whole.shape)):
        if d != dim and n > m:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no larger "
                f"than self {list(self.shape)} apart from dimension {dim}"
            )
    check_range(where, dim, whole.shape[dim])
    return whole[grid(where, dim)].reshape(index.shape)[()]


# ── written
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_sizes(self: Any, dim: int, index: Any, src: Any) -> None:
    """RuntimeError with PyTorch's text unless `index` fits what is written to, and `src` if it is one."""
    if src is not None and src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return
    check_kind(index, WHOLE, "scatter(): Expected dtype int32/int64 for index")
    for name, tensor in (("self", self), ("src", src)):
        if tensor is not None and max(tensor.ndim, 1) != max(index.ndim, 1):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {name} tensor")
    sizes = raised(index).shape
    own, theirs = raised(self).shape, sizes if src is None else raised(src).shape
    if any((d != dim and n > own[d]) or n > theirs[d] for d, n in enumerate(sizes)):
        rest = "" if src is None else f" and to be no larger size than src {list(src.shape)}"
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart from "
            f"dimension {dim}{rest}"
        )


def written(self: Any, dim: int, index: Any, src: Any, write: Any) -> Any:
    """A copy of `self` after `write(copy, places, values)` at the places `index` along `dim`; the values are
    the part of `src` that is as large as `index`, or None.
    """
    dim = place(dim, self.ndim)
    check_sizes(self, dim, index, src)
    out = copied(self)
    if index.size:
        where = raised(index)
        check_range(where, dim, out.shape[dim])
        values = None if src is None else raised(src)[tuple(np.s_[:n] for n in where.shape)]
        write(out, grid(where, dim), values)
    return out.reshape(self.shape)[()]


def replace(out: Any, where: Any, values: Any) -> None:
    """Values instead of what is there."""
    out[where] = values


@differentiable(
    self=lambda g, dim, index: F.scatter_value(g, dim, index, 0),
    src=lambda g, dim, index: F.gather(g, dim, index),
    node="ScatterBackward0",
    linear=True,
)
def scatter_src(self, dim, index, src):
    """Return `self` with the elements of `src` at the places `index` along `dim`."""
    return written(self, dim, index, src, replace)


@differentiable(
    self=lambda g, dim, index: F.scatter_value(g, dim, index, 0),
    node="ScatterBackward1",
    jvp=lambda self_t, dim, index: F.scatter_value(self_t, dim, index, 0),
)
def scatter_value(self, dim, index, value):
    """Return `self` with a number at the places `index` along `dim`."""
    number = self.dtype.type(fitting(value, self.dtype))
    return written(self, dim, index, None, lambda out, where, _: replace(out, where, number))


rename(scatter_src, "scatter")
rename(scatter_value, "scatter")


@differentiable(self=lambda g: g, src=lambda g, dim, index: F.gather(g, dim, index), linear=True)
def scatter_add(self, dim, index, src):
    """Return `self` with the elements of `src` added at the places `index` along `dim`."""
    return written(self, dim, index, src, np.add.at)
