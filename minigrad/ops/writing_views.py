"""A copy of a tensor in which what a view would show is replaced: `select_scatter` and its like."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import F, differentiable
from ..storage import strided, strides_of
from .indexing import both_places, select
from .indexing import slice as slice_op
from .shape import place
from .views import diagonal_of


def replaced(out: Any, part: Any, src: Any) -> Any:
    """`out` with `src` in its part; RuntimeError with PyTorch's text where the shapes differ."""
    if part.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice "
            f"size = {list(part.shape)}"
        )
    part[...] = src.real if out.dtype.kind != "c" else src
    return out


def selected(array: Any, dim: int, index: int) -> Any:
    """The part at `index` as memory of the array, also if it is one number."""
    shown = select.op.kernel(array, dim, index)
    return shown if isinstance(shown, np.ndarray) else array[index, ...]


@differentiable(
    self=lambda g, dim, index, src_sym_sizes: F.select_scatter(g, F.zeros_of(g, src_sym_sizes), dim, index),
    src=lambda g, dim, index: F.select(g, dim, index),
    linear=True,
)
def select_scatter(self, src, dim, index):
    """`self` with `src` in the place of `self.select(dim, index)`."""
    out = np.array(self)
    return replaced(out, selected(out, dim, index), src)


@differentiable(
    self=lambda g, dim, start, end, step, src_sym_sizes: F.slice_scatter(
        g, F.zeros_of(g, src_sym_sizes), dim, start, end, step
    ),
    src=lambda g, dim, start, end, step: F.slice(g, dim, start, end, step),
    linear=True,
)
def slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    """`self` with `src` in the place of the slice from `start` to `end` along `dim`."""
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    out = self.copy()
    place(dim, out.ndim)
    return replaced(out, slice_op.op.kernel(out, dim, start, end, step), src)


@differentiable(
    self=lambda g, offset, dim1, dim2, src_sym_sizes: F.diagonal_scatter(
        g, F.zeros_of(g, src_sym_sizes), offset, dim1, dim2
    ),
    src=lambda g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
    linear=True,
)
def diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
    """`self` with `src` in the place of a diagonal."""
    out = self.copy()
    return replaced(out, diagonal_of(out, offset, dim1, dim2), src)


@differentiable(
    self=lambda g, size, stride, storage_offset, src_sym_sizes: F.as_strided_scatter(
        F.contiguous(g), F.zeros_of(g, src_sym_sizes), size, stride, storage_offset
    ),
    src=lambda g, size, stride, storage_offset: F.as_strided(F.contiguous(g), size, stride, storage_offset),
    linear=True,
)
def as_strided_scatter(self, src, size, stride, storage_offset=None):
    """`self` with `src` in the place of the part of its memory that `as_strided` shows."""
    if 0 in self.strides:  # what is repeated has no memory of its own
        self = np.array(self, order="C")
    length, whole, part = both_places(self.shape, strides_of(self), size, stride, storage_offset)
    memory = np.zeros(length, self.dtype)
    out = strided(memory, whole)
    out[...] = self
    replaced(memory, strided(memory, part), src)
    return out[()]


for writer in (select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter):
    # PyTorch's nodes do not show it
    del writer.op.node._saved_src_sym_sizes
