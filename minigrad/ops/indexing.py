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


def both_places(sizes: Any, strides: Any, size: Any, stride: Any, offset: int | None) -> tuple[Any, ...]:
    """How much memory an array and a part of it span together, and where each lies in it."""
    start, begin = max(0, -(offset or 0)), max(0, offset or 0)
    length = max(start + reach(sizes, strides), begin + reach(size, stride), 1)
    whole = Geometry(tuple(sizes), tuple(strides), start)
    return length, whole, Geometry(tuple(size), tuple(stride), begin)


@linear_op()
def put_strided(grad_output, sizes, strides, size, stride, storage_offset):
    """Return zeros of shape `sizes`, lying as `strides` says, with `grad_output` added to the part that
    `as_strided` shows. Where elements of the whole lie in one place, each gets an equal share.
    """
    length, whole, part = both_places(sizes, strides, size, stride, storage_offset)
    memory = np.zeros(length, grad_output.dtype)
    np.add.at(strided(memory, part), (), grad_output)
    if overlaps([(n, s) for n, s in zip(sizes, strides, strict=True) if n > 1]):
        count = np.zeros(length, grad_output.dtype)
        np.add.at(strided(count, whole), (), 1)
        memory = memory / np.where(count == 0, 1, count).astype(count.dtype)
    return strided(memory, whole)


@composite
def as_strided_backward(g: Any, sizes: Any, strides: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    """What `put_strided` gives, in the ops PyTorch uses."""
    if isinstance(g, RAW) or is_symbol(g):
        return F.put_strided(g, sizes, strides, size, stride, storage_offset)
    if not g._data.size or 0 in sizes:
        return wrap(np.zeros(sizes, g._data.dtype)[()])
    length, whole, part = both_places(sizes, strides, size, stride, storage_offset)
    kept: list[tuple[int, int]] = []
    for i in reversed(range(len(size))):
        if size[i] == 1:
            g = F.squeeze_dim(g, i)
        elif stride[i] == 0:
            g = F.sum_dim(g, (i,), False)
        else:
            kept.insert(0, (size[i], stride[i]))
    own = tuple([n for n, _ in kept]), tuple([s for _, s in kept])
    part = Geometry(*own, part.storage_offset)
    memory = wrap(np.zeros(length, g._data.dtype))
    if overlaps(kept):
        places = wrap(np.ascontiguousarray(strided(np.arange(length), part)).reshape(-1))
        F.in_place(F.index_add.op, memory, 0, places, F.reshape(g, (-1,)), 1)
    else:
        F.in_place(F.copy.op, F.as_strided(memory, *part), g)
    if overlaps([(n, s) for n, s in zip(sizes, strides, strict=True) if n > 1]):
        count = np.zeros(length, g._data.dtype)
        np.add.at(strided(count, whole), (), 1)
        F.in_place(F.div.op, memory, wrap(count))
    return F.as_strided(memory, *whole)
