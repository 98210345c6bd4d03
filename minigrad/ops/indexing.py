"""Selecting parts of a tensor as views: `select`, `slice` and `as_strided`."""

from __future__ import annotations

import operator
import sys
from math import prod
from typing import Any

import numpy as np

from ..core import RAW, F, calls, composite, is_symbol
from ..core.storage import Geometry, strided
from ..core.tensor_state import wrap
from .copy import kind_of
from .kernels import linear_op, view_op
from .shape import after_rows, place

ALL = np.s_[:]
END = sys.maxsize  # where a slice ends that goes up to the end, as PyTorch notes it


@view_op(self=calls("select_backward", "self_sym_sizes", "dim", "index"))
def select(self, dim, index):
    """Select `index` along `dim` and remove that dimension."""
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    front = place(dim, self.ndim)
    n = self.shape[front]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {front}"
        )
    return self[(ALL,) * front + (index, ...)] if front else self[index, ...]


@linear_op(grad_output=lambda g, dim, index: F.select(g, dim, index))
def select_backward(grad_output, input_sizes, dim, index):
    """Return zeros of shape `input_sizes` with `grad_output` at `index` along `dim`."""
    out = np.zeros(input_sizes, grad_output.dtype)
    out[(ALL,) * (dim % out.ndim) + (index,)] = grad_output
    return out


@view_op(
    self=lambda g, self_sym_sizes, dim, start, end, step: F.slice_backward(
        g, self_sym_sizes, dim, start or 0, END if end is None else end, step
    ),
    rows={
        "self": lambda g, self_sym_sizes, dim, start, end, step: F.slice_backward(
            g, (len(g), *self_sym_sizes), after_rows(dim), start, end, step
        )
    },
)
def slice(self, dim, start, end, step):
    """Return every `step`-th part from `start` up to `end` along `dim`."""
    return self[(ALL,) * place(dim, self.ndim) + (np.s_[start:end:step],)]


@linear_op(
    grad_output=lambda g, dim, start, end, step: F.slice(g, dim, start, end, step),
    rows={"grad_output": lambda g, dim, start, end, step: F.slice(g, after_rows(dim), start, end, step)},
)
def slice_backward(grad_output, input_sizes, dim, start, end, step):
    """Return zeros of shape `input_sizes` with `grad_output` in the slice."""
    out = np.zeros(input_sizes, grad_output.dtype)
    out[(ALL,) * (dim % out.ndim) + (np.s_[start:end:step],)] = grad_output
    return out


@view_op(
    self=calls(
        "as_strided_backward", "self_sym_sizes", "self_sym_strides", "size", "stride", "storage_offset"
    )
)
def as_strided(self, size, stride, storage_offset):
    """Return the part of the tensor's memory that has this shape, these strides and this offset, all in
    elements.

    The offset counts from the tensor's first element; None stands for 0.
    """
    return strided(self, Geometry(tuple(size), tuple(stride), storage_offset or 0))


for hidden in ("sizes", "strides"):  # PyTorch's node does not show them
    delattr(as_strided.op.node, "_saved_self_sym_" + hidden)


def reach(size: Any, stride: Any) -> int:
    """How many elements of memory an array needs from its first element on."""
    return 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if prod(size) else 0


def overlaps(dims: list[tuple[int, int]]) -> bool:
    """Whether elements along dimensions of these (size, stride) may share a place, as PyTorch tells it."""
    last = 0
    for n, step in sorted(dims, key=operator.itemgetter(1)):
        if step <= last:
            return True
        last += step * (n - 1)
    return False


@composite
def as_strided_backward(g: Any, sizes: Any, strides: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    """Zeros of shape `sizes`, lying as `strides` says, with `g` added to the part that `as_strided` shows; in
    the ops PyTorch uses. Where elements of the whole lie in one place, each gets an equal share.
    """
    if is_symbol(g):
        return g.__minigrad_symbol__(as_strided_backward, (g, sizes, strides, size, stride, storage_offset))
    if 0 in g.shape or 0 in sizes:
        return F.zeros_of(g, sizes)
    start, begin = max(0, -(storage_offset or 0)), max(0, storage_offset or 0)
    length = max(start + reach(sizes, strides), begin + reach(size, stride), 1)
    kept: list[tuple[int, int]] = []
    for i in reversed(range(len(size))):
        if size[i] == 1:
            g = F.squeeze_dim(g, i)
        elif stride[i] == 0:
            g = F.sum_dim(g, (i,), False)
        else:
            kept.insert(0, (size[i], stride[i]))
    part = Geometry(tuple([n for n, _ in kept]), tuple([s for _, s in kept]), begin)
    whole = Geometry(tuple(sizes), tuple(strides), start)
    is_raw, memory = isinstance(g, RAW), F.zeros_of(g, (length,))
    if overlaps(kept):
        places = strided(np.arange(length), part).flatten()
        where, flat = places if is_raw else wrap(places), F.reshape(g, (-1,))
        memory = F.into_zeros(g, (length,), "index_add", 0, where, flat, 1)
    elif is_raw:
        strided(memory, part)[...] = g
    else:
        F.in_place(F.copy.op, F.as_strided(memory, *part), g)
    if overlaps([(n, s) for n, s in zip(sizes, strides, strict=True) if n > 1]):
        count = np.bincount(strided(np.arange(length), whole).flatten(), minlength=length)
        count = count.astype(kind_of(g))
        memory = memory / count if is_raw else F.in_place(F.div.op, memory, wrap(count))
    return F.as_strided(memory, *whole)
