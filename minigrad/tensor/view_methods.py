"""The methods that show a tensor's memory in another way."""

from __future__ import annotations

from typing import Any

from ..devices import contiguous_format
from ..dtypes import dtype as dtype_class
from ..op import F
from ..ops import shape as sh
from ..ops import views as vw
from ..storage import strides_of
from ..tensor_base import TensorBase, share
from . import views
from .casts import is_in_format
from .operands import is_whole


class Views(TensorBase):
    """The same memory, seen in another way."""

    __slots__ = ()

    def view(self, *shape: Any, size: Any = None, dtype: Any = None) -> Any:
        """The same memory in another shape, or read as another dtype."""
        kind = shape[0] if len(shape) == 1 and isinstance(shape[0], dtype_class) else dtype
        if kind is not None:
            return views.view_dtype(self, kind)
        return sh.view(self, views.sizes_of("view", shape if size is None else (size,)))

    def reshape(self, *shape: Any) -> Any:
        """The same numbers in another shape; a view where that is possible."""
        return sh.reshape(self, views.sizes_of("reshape", shape))

    def view_as(self, other: Any) -> Any:
        """The same memory in the shape of `other`."""
        return sh.view(self, other._data.shape)

    def reshape_as(self, other: Any) -> Any:
        """The same numbers in the shape of `other`."""
        return sh.reshape(self, other._data.shape)

    def expand_as(self, other: Any) -> Any:
        """Expanded to the shape of `other`."""
        return sh.expand(self, other._data.shape)

    def expand(self, *size: Any, **named: Any) -> Any:
        """Repeated along one-element or new dimensions, without a copy."""
        return sh.expand(self, views.sizes_of("expand", (named["size"],) if named else size))

    def unsqueeze(self, dim: int) -> Any:
        """A dimension of size 1 put in at `dim`."""
        return sh.unsqueeze(self, dim)

    def broadcast_to(self, size: Any) -> Any:
        """Expanded to `size`."""
        return sh.expand(self, tuple(size))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Any:
        """The dimensions from `start_dim` to `end_dim` as one."""
        return views.flatten(self, start_dim, end_dim)

    def unflatten(self, dim: int, sizes: Any) -> Any:
        """One dimension as several."""
        return views.unflatten(self, dim, sizes)

    def ravel(self) -> Any:
        """One dimension; a view of a contiguous copy."""
        return views.ravel(self)

    def squeeze(self, dim: Any = None) -> Any:
        """Dimension `dim`, those of several, or all, taken away if of size 1."""
        return squeeze(self, dim)

    def select(self, dim: int, index: Any) -> Any:
        """The part at `index` along `dim`, which goes away."""
        return F.select(self, dim, views.whole_of(index))

    def narrow(self, dim: int, start: Any, length: int) -> Any:
        """`length` parts from `start` on along `dim`."""
        return views.narrow(self, dim, start, length)

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
        """The elements whose index in `dim2` is that in `dim1` plus `offset`, along a new last dimension."""
        return vw.diagonal(self, offset, dim1, dim2)

    def diag_embed(self, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
        """Matrices with the last dimension on their diagonal."""
        return vw.diag_embed(self, offset, dim1, dim2)

    def unfold(self, dimension: int, size: int, step: int) -> Any:
        """All windows of `size` along a dimension, `step` apart."""
        return vw.unfold(self, dimension, size, step)

    def as_strided(self, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
        """A part of the memory by shape, strides and offset, all in elements."""
        return views.as_strided_view(self, size, stride, storage_offset)

    def permute(self, *dims: Any, **named: Any) -> Any:
        """Dimensions in another order."""
        dims = (named["dims"],) if named else dims
        return sh.permute(self, tuple(dims[0]) if len(dims) == 1 and not is_whole(dims[0]) else dims)

    def transpose(self, dim0: int, dim1: int) -> Any:
        """Two dimensions exchanged."""
        return sh.transpose(self, dim0, dim1)

    swapdims = transpose

    def swapaxes(self, axis0: int, axis1: int) -> Any:
        """Two dimensions exchanged."""
        return sh.transpose(self, axis0, axis1)

    def movedim(self, source: Any, destination: Any) -> Any:
        """Some dimensions moved to other places."""
        return views.movedim(self, source, destination)

    moveaxis = movedim

    def t(self) -> Any:
        """A matrix transposed."""
        return sh.t(self)

    def adjoint(self) -> Any:
        """Matrices transposed and conjugated."""
        return views.adjoint(self)

    def stride(self, dim: int | None = None) -> Any:
        """How many elements of the memory lie between neighbours, along all dimensions or one."""
        steps = strides_of(self._data)
        return steps if dim is None else steps[sh.place(dim, len(steps))]

    def is_contiguous(self, *, memory_format: Any = contiguous_format) -> bool:
        """Whether the elements lie in row-major order without gaps, or in the order of `memory_format`."""
        if memory_format is not contiguous_format:
            return is_in_format("is_contiguous", self, memory_format)
        return not self._data.ndim or self._data.flags.c_contiguous

    def data_ptr(self) -> int:
        """The address of the first element."""
        share(self)
        return self._data.__array_interface__["data"][0]

    def nelement(self) -> int:
        """Number of elements."""
        return self._data.size

    def positive(self) -> Any:
        """The tensor itself; RuntimeError for bools."""
        return positive(self)

    def storage_offset(self) -> int:
        """How many elements of the memory come before the first."""
        return views.offset_of(self)


def positive(input: Any) -> Any:
    """The tensor itself; RuntimeError for bools."""
    if input._data.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def squeeze(input: Any, dim: Any = None) -> Any:
    """Dimension `dim`, those of several, or all, taken away if of size 1."""
    if dim is None:
        return sh.squeeze_all(input)
    return sh.squeeze_dim(input, dim) if is_whole(dim) else vw.squeeze_dims(input, tuple(dim))
