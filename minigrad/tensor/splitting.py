"""Splitting a tensor into views, and stacking tensors."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..ops import joining
from ..ops.checks import is_whole
from ..ops.shape import place
from .grids import atleast_1d, atleast_2d, atleast_3d


@public("function")
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Return the tensor split along `dim` into parts of a size, the last of which may be smaller.

    Args:
        input: a tensor of at least one dimension.
        split_size_or_sections: the size of each part, or a list of sizes.
        dim: the dimension.
    Shape: that of `input` with the size of the part at `dim`.
    Returns: a tuple of views.
    Raises: RuntimeError if a list of sizes does not add up.
    Derivative: the gradients of the parts, joined.
    Source: torch.split

    >>> torch.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    size = split_size_or_sections
    if is_whole(size):
        return joining.split_evenly(tensor, int(size), dim)
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not "
            f"{type(size).__name__}"
        )
    return joining.split_with_sizes(tensor, tuple(size), dim)


def chunk_size(tensor: Any, chunks: int, dim: int) -> int:
    """Return the size of each of `chunks` parts; RuntimeError in PyTorch's words."""
    if tensor._data.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return -(-tensor._data.shape[place(dim, tensor._data.ndim)] // chunks)


@public()
def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """Return the tensor split along `dim` into at most `chunks` parts of equal size.

    Args:
        input: a tensor of at least one dimension.
        chunks: how many parts.
        dim: the dimension.
    Shape: that of `input` with the size of the part at `dim`.
    Returns: a tuple of views; the last may be smaller.
    Raises: RuntimeError if `chunks` is not positive.
    Derivative: the gradients of the parts, joined.
    Source: torch.chunk

    >>> torch.arange(5).chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    size = chunk_size(input, chunks, dim)
    if not size:
        return joining.split_with_sizes(input, (0,) * chunks, dim)
    return joining.split_evenly(input, size, dim)


@public()
def unsafe_chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """Return `chunk` whose parts do not know that they share memory with the tensor."""
    size = chunk_size(input, chunks, dim)
    if not size:
        return joining.unsafe_split_with_sizes(input, (0,) * chunks, dim)
    return joining.unsafe_split(input, size, dim)


class Parts(TensorBase):
    """Views of parts of the tensor."""

    __slots__ = ()

    def split(self, split_size: Any, dim: int = 0) -> Any:
        """Return the tensor split along `dim` into parts of a size, the last of which may be smaller.

        Args:
            split_size: the size of each part, or a list of sizes.
            dim: the dimension.
        Shape: that of the tensor, but at `dim` the size of the part.
        Returns: a tuple of views.
        Raises: RuntimeError if a list of sizes does not add up.
        Derivative: the gradients of the parts, joined.
        Source: torch.Tensor.split

        >>> torch.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        """
        return split(self, split_size, dim)

    def split_with_sizes(self, split_sizes: Any, dim: int = 0) -> Any:
        """Return parts of the given sizes along `dim`."""
        return joining.split_with_sizes(self, tuple(split_sizes), dim)

    def unsafe_split_with_sizes(self, split_sizes: Any, dim: int = 0) -> Any:
        """Return `split_with_sizes` whose parts do not know that they share memory with the tensor."""
        return joining.unsafe_split_with_sizes(self, tuple(split_sizes), dim)

    def __iter__(self) -> Any:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(joining.unbind(self, 0))


def checked(tensors: Any, name: str) -> tuple[Any, ...]:
    """Return the tensors; RuntimeError in PyTorch's words where there are none."""
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tuple(tensors)


@public("function", out="cast")
def hstack(tensors: Any) -> Any:
    """Return tensors side by side: along the second dimension, vectors along their only one."""
    parts = [atleast_1d(t) for t in checked(tensors, "hstack")]
    return joining.cat(parts, 0 if parts[0].ndim == 1 else 1)


@public("function", out="cast", also="row_stack")
def vstack(tensors: Any) -> Any:
    """Return tensors one below the other, along the first dimension; a vector counts as a row."""
    return joining.cat([atleast_2d(t) for t in checked(tensors, "vstack")], 0)


@public("function", out="cast")
def dstack(tensors: Any) -> Any:
    """Return tensors one behind the other, along the third dimension."""
    return joining.cat([atleast_3d(t) for t in checked(tensors, "dstack")], 2)


@public("function", out="cast")
def column_stack(tensors: Any) -> Any:
    """Return tensors side by side; a vector or number counts as a column."""
    parts = checked(tensors, "column_stack")
    return hstack([t if t.ndim > 1 else F.reshape(t, (t._data.size, 1)) for t in parts])
