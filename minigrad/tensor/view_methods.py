"""The methods that show a tensor's memory in another way."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..core.devices import contiguous_format
from ..core.dtypes import dtype as dtype_class
from ..core.public import public
from ..core.shown_signature import shown_as
from ..core.storage import strides_of
from ..core.tensor_state import TensorBase, share
from ..ops import shape as sh
from ..ops import views as vw
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

    @shown_as(lambda self, *size: None)
    def expand(self, *size: Any, **named: Any) -> Any:
        """Repeated along one-element or new dimensions, without a copy."""
        return sh.expand(self, views.sizes_of("expand", (named["size"],) if named else size))

    @public("function")
    def broadcast_to(self, size: Any) -> Any:
        """Expanded to `size`."""
        return sh.expand(self, tuple(size))

    @public("function")
    def select(self, dim: int, index: Any) -> Any:
        """The part at `index` along `dim`, which goes away."""
        return F.select(self, dim, views.whole_of(index))

    def unfold(self, dimension: int, size: int, step: int) -> Any:
        """All windows of `size` along a dimension, `step` apart."""
        return vw.unfold(self, dimension, size, step)

    @shown_as(lambda self, *dims: None)
    def permute(self, *dims: Any, **named: Any) -> Any:
        """Dimensions in another order."""
        dims = (named["dims"],) if named else dims
        return sh.permute(self, tuple(dims[0]) if len(dims) == 1 and not is_whole(dims[0]) else dims)

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

    def storage_offset(self) -> int:
        """How many elements of the memory come before the first."""
        return views.offset_of(self)


@public()
def positive(input: Any) -> Any:
    """The tensor itself; RuntimeError for bools."""
    if input._data.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@public()
def squeeze(input: Any, dim: Any = None) -> Any:
    """Dimension `dim`, those of several, or all, taken away if of size 1."""
    if dim is None:
        return sh.squeeze_all(input)
    return sh.squeeze_dim(input, dim) if is_whole(dim) else vw.squeeze_dims(input, tuple(dim))
