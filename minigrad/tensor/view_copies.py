"""Copies of what views show, as functions: `permute_copy` and its like."""

from __future__ import annotations

from typing import Any

from .. import modes
from ..dtypes import dtype as dtype_class
from ..op import F
from ..ops import view_copies as vc
from ..ops.shape import place
from ..tensor_base import TensorBase
from .operands import is_whole
from .views import strided_place, view_dtype, whole_of


def refuse_complex(name: str, input: Any) -> None:
    """RuntimeError with PyTorch's text for complex numbers that need a gradient."""
    if input._data.dtype.kind == "c" and input.requires_grad and modes.is_grad_enabled():
        raise RuntimeError(
            f"{name} does not support automatic differentiation for outputs with complex dtype."
        )


def as_strided_copy(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """A copy of a part of the memory by shape, strides and offset, all in elements."""
    return vc.as_strided_copied(input, *strided_place(input, size, stride, storage_offset))


def detach_copy(input: Any) -> Any:
    """A copy outside the graph."""
    return F.clone(input.detach())


def expand_copy(input: Any, size: Any, *, implicit: bool = False) -> Any:
    """A copy, repeated along new or one-element dimensions; -1 keeps a dimension."""
    return vc.expand_copied(input, tuple(size))


def narrow_copy(input: Any, dim: int, start: int, length: int) -> Any:
    """A copy of `length` parts from `start` on along `dim`."""
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if dim >= input.ndim:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this "
            "error message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    n = input._data.shape[place(dim, input.ndim)]
    start = whole_of(start)
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    first = start + n if start < 0 else start
    if length < 0 or first + length > n:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({n}).")
    return vc.narrow_copied(input, dim, start, length)


def permute_copy(input: Any, dims: Any) -> Any:
    """A copy with the dimensions in another order."""
    return vc.permute_copied(input, tuple(dims))


def select_copy(input: Any, dim: int, index: Any) -> Any:
    """A copy of the part at `index` along `dim`, which goes away."""
    refuse_complex("select_copy", input)
    return vc.select_copied(input, dim, whole_of(index))


def slice_copy(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """A copy of every `step`-th part from `start` up to `end` along `dim`."""
    refuse_complex("slice_copy", input)
    return vc.slice_copied(input, dim, start, end, step)


def split_with_sizes_copy(input: Any, split_sizes: Any, dim: int = 0) -> Any:
    """Copies of the parts of the given sizes along `dim`."""
    return vc.split_with_sizes_copied(input, tuple(split_sizes), dim)


def squeeze_copy(input: Any, dim: Any = None) -> Any:
    """A copy with dimension `dim`, those of several, or all, taken away if of size 1."""
    if dim is None:
        return vc.squeeze_all_copied(input)
    return vc.squeeze_dim_copied(input, dim) if is_whole(dim) else vc.squeeze_dims_copied(input, tuple(dim))


def view_copy(input: Any, size: Any) -> Any:
    """A copy in another shape, or of the memory read as another dtype."""
    if isinstance(size, dtype_class):
        return F.clone(view_dtype(input, size))
    return vc.view_copied(input, tuple(size))


class ViewCopies(TensorBase):
    """The one such copy that is a method."""

    __slots__ = ()

    narrow_copy = narrow_copy
