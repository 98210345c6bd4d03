"""Sums and means."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..op import F, differentiable
from .shape import place


def over(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions named by `dim` (an int, a tuple or None for all), counted from the front; IndexError if
    out of range.
    """
    dims = range(ndim) if dim is None or dim == () else (dim,) if isinstance(dim, int) else dim
    result = tuple(place(d, ndim) for d in dims)
    if len(set(result)) < len(result):
        twice = next(d for d in result if result.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return result if ndim else ()


def restore(g: Any, sizes: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """A reduced gradient, given back the dimensions it lost and expanded to `sizes`."""
    if not keepdim and sizes:
        for d in dim if len(dim) == 1 else sorted(over(dim, len(sizes))):
            g = F.unsqueeze(g, d)
    return F.expand(g, sizes)


def total(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Sum in the dtype PyTorch sums in: integers and bools as int64."""
    dtype: Any = np.int64 if self.dtype.kind in "biu" else self.dtype
    reduce: Any = np.add.reduce
    return reduce(self, over(dim, self.ndim), dtype, None, keepdim)


@differentiable(
    self=lambda g, self_sym_sizes: F.expand(g, self_sym_sizes), node="SumBackward0", kernel=total, linear=True
)
def sum_all(self):
    """Sum of all elements."""


@differentiable(
    self=lambda g, self_sym_sizes, dim, keepdim: restore(g, self_sym_sizes, dim, keepdim),
    node="SumBackward1",
    kernel=total,
    linear=True,
)
def sum_dim(self, dim, keepdim):
    """Sum over some dimensions."""


@differentiable(
    self=lambda g, self_sym_sizes: F.div_scalar(F.expand(g, self_sym_sizes), prod(self_sym_sizes)),
    node="MeanBackward0",
    linear=True,
)
def mean_all(self):
    """Mean of all elements."""
    return np.add.reduce(self, axis=None) / self.dtype.type(self.size)


def mean_vjp(g: Any, self_sym_sizes: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """The gradient spread over the elements that the mean was taken of."""
    count = prod(self_sym_sizes[d] for d in over(dim, len(self_sym_sizes)))
    return F.div_scalar(restore(g, self_sym_sizes, dim, keepdim), count)


@differentiable(self=mean_vjp, node="MeanBackward1", linear=True)
def mean_dim(self, dim, keepdim):
    """Mean over some dimensions."""
    axes = over(dim, self.ndim)
    count = prod(self.shape[d] for d in axes)
    return np.add.reduce(self, axis=axes, keepdims=keepdim) / self.dtype.type(count)


@differentiable()
def argmax(self):
    """Index of the greatest element of the flattened tensor (int64)."""
    if self.dtype.kind == "c":
        raise RuntimeError("argmax(): does not support complex input")
    return np.int64(np.argmax(self))
