"""Picking parts of a tensor."""

from __future__ import annotations

import numpy as np

from ..op import F, differentiable
from ..storage import Geometry, laid_out, strided


@differentiable(
    self=lambda g, self_sym_sizes, dim, index: F.select_backward(g, self_sym_sizes, dim, index),
    view=True,
    linear=True,
)
def select(self, dim, index):
    """The part at `index` along `dim`, which goes away."""
    n = self.shape[dim]
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {n}")
    return self[(np.s_[:],) * dim + (index, ...)]


@differentiable(
    grad_output=lambda g, dim, index: F.select(g, dim, index), node="SelectBackwardBackward0", linear=True
)
def select_backward(grad_output, input_sizes, dim, index):
    """Zeros of shape `input_sizes` with `grad_output` at `index` along `dim`."""
    out = np.zeros(input_sizes, grad_output.dtype)
    out[(np.s_[:],) * dim + (index,)] = grad_output
    return out


@differentiable(
    self=lambda g, self_sym_sizes, dim, start, end, step: F.slice_backward(
        g, self_sym_sizes, dim, start, end, step
    ),
    view=True,
    linear=True,
)
def slice(self, dim, start, end, step):
    """Every `step`-th part from `start` up to `end` along `dim`."""
    return self[(np.s_[:],) * dim + (np.s_[start:end:step],)]


@differentiable(
    grad_output=lambda g, dim, start, end, step: F.slice(g, dim, start, end, step),
    node="SliceBackwardBackward0",
    linear=True,
)
def slice_backward(grad_output, input_sizes, dim, start, end, step):
    """Zeros of shape `input_sizes` with `grad_output` in the slice."""
    out = np.zeros(input_sizes, grad_output.dtype)
    out[(np.s_[:],) * dim + (np.s_[start:end:step],)] = grad_output
    return out


@differentiable(
    self=lambda g, self_sym_sizes, self_sym_strides, size, stride, storage_offset: F.put_strided(
        g, self_sym_sizes, self_sym_strides, size, stride, storage_offset
    ),
    view=True,
    linear=True,
)
def as_strided(self, size, stride, storage_offset):
    """The part of the tensor's memory that has this shape, these strides and this offset, all in elements."""
    return strided(self, Geometry(tuple(size), tuple(stride), storage_offset))


@differentiable(
    grad_output=lambda g, sizes, strides, size, stride, storage_offset: F.take_strided(
        g, sizes, strides, size, stride, storage_offset
    ),
    node="AsStridedBackwardBackward0",
    linear=True,
)
def put_strided(grad_output, sizes, strides, size, stride, storage_offset):
    """Zeros of shape `sizes`, lying as `strides` says, with `grad_output` added to the part that `as_strided`
    shows.
    """
    out = laid_out(np.zeros(sizes, grad_output.dtype), sizes, strides)
    np.add.at(strided(out, Geometry(size, stride, storage_offset)), (), grad_output)
    return out


@differentiable(
    self=lambda g, sizes, strides, size, stride, storage_offset: F.put_strided(
        g, sizes, strides, size, stride, storage_offset
    ),
    node="AsStridedBackward0",
    linear=True,
)
def take_strided(self, sizes, strides, size, stride, storage_offset):
    """A copy of the part that `as_strided` shows of a tensor that lies as `strides` says."""
    return strided(laid_out(self, sizes, strides), Geometry(size, stride, storage_offset)).copy()
