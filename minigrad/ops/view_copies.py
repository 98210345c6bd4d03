"""What views show, as copies: `permute_copy` and its like. Each has the derivative of its view."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import F, differentiable
from . import indexing, joining, shape, views


def copy_of(view: Any) -> Any:
    """Declare the copy of what the op `view` shows; the decorated function has its name and parameters."""
    op = view.op

    def kernel(self: Any, *args: Any) -> Any:
        shown = op.kernel(np.asarray(self), *args)
        return tuple(p.copy("C") for p in shown) if op.several else shown.copy("C")[()]

    node = op.node.__name__ + "_copy"
    return differentiable(kernel=kernel, node=node, linear=True, several=op.several, **op.vjps)


@copy_of(shape.alias)
def alias_copy(self):
    """A copy of the tensor."""


@copy_of(indexing.as_strided)
def as_strided_copied(self, size, stride, storage_offset):
    """A copy of the part of the memory that has this shape, these strides and this offset."""


for hidden in ("sizes", "strides"):  # PyTorch's node does not show them
    delattr(as_strided_copied.op.node, "_saved_self_sym_" + hidden)


@copy_of(views.diagonal)
def diagonal_copy(self, offset=0, dim1=0, dim2=1):
    """A copy of the elements on a diagonal, along a new last dimension."""


@copy_of(shape.expand)
def expand_copied(self, size):
    """A copy of the tensor, repeated along new or one-element dimensions."""


@copy_of(shape.permute)
def permute_copied(self, dims):
    """A copy with the dimensions in another order."""


@copy_of(indexing.select)
def select_copied(self, dim, index):
    """A copy of the part at `index` along `dim`, which goes away."""


@copy_of(indexing.slice)
def slice_copied(self, dim, start, end, step):
    """A copy of every `step`-th part from `start` up to `end` along `dim`."""


@copy_of(joining.split_evenly)
def split_copy(self, split_size, dim=0):
    """Copies of the parts of `split_size` along `dim`, the last of which may be smaller."""


@copy_of(joining.split_with_sizes)
def split_with_sizes_copied(self, split_sizes, dim=0):
    """Copies of the parts of the given sizes along `dim`."""


@copy_of(joining.unbind)
def unbind_copy(self, dim=0):
    """Copies of all parts along `dim`, which goes away."""


@copy_of(shape.squeeze_all)
def squeeze_all_copied(self):
    """A copy with all dimensions of size 1 taken away."""


@copy_of(shape.squeeze_dim)
def squeeze_dim_copied(self, dim):
    """A copy with dimension `dim` taken away if its size is 1."""


@copy_of(views.squeeze_dims)
def squeeze_dims_copied(self, dim):
    """A copy with those of several dimensions taken away whose size is 1."""


@copy_of(shape.t)
def t_copy(self):
    """A copy of a matrix, transposed; of a vector or number as it is."""


@copy_of(shape.transpose)
def transpose_copy(self, dim0, dim1):
    """A copy with two dimensions exchanged."""


@copy_of(views.unfold)
def unfold_copy(self, dimension, size, step):
    """A copy of all windows of `size` along `dimension`, `step` apart."""


@copy_of(shape.unsqueeze)
def unsqueeze_copy(self, dim):
    """A copy with a dimension of size 1 put in at `dim`."""


@copy_of(shape.view)
def view_copied(self, size):
    """A copy in another shape."""


def narrow_vjp(g: Any, self_sym_sizes: Any, dim: int, start: int, length: int) -> Any:
    """The gradient in the place of the part, and zeros."""
    first = start + self_sym_sizes[dim] if start < 0 else start
    return F.slice_backward(g, self_sym_sizes, dim, first, first + length, 1)


@differentiable(
    self=narrow_vjp,
    node="NarrowCopyBackward0",
    linear=True,
)
def narrow_copied(self, dim, start, length):
    """A copy of `length` parts from `start` on along `dim`."""
    first = start + self.shape[dim] if start < 0 else start
    return indexing.slice.op.kernel(self, dim, first, first + length, 1).copy()
