"""The memory of a tensor: storages, resizing, and in-place views."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import modes
from ..core.devices import CPU, unfilled
from ..core.public import public, shown_as
from ..core.storage import Geometry, address, root, strided, strides_of
from ..core.tensor_state import TensorBase, share
from ..creation.arguments import sizes
from ..inplace.in_place import in_place_view
from ..ops import views as forms
from ..ops.checks import is_whole
from . import views


def resize(t: TensorBase, shape: tuple[int, ...]) -> None:
    """Give `t` another shape, in row-major order from its first element on: in the memory that is there if it
    is enough, else in new memory that starts with the old elements.
    """
    storage = share(t)
    data, count = t._data, math.prod(shape)
    whole = root(data)
    there = whole.size - (address(data) - address(whole)) // data.itemsize if whole.size else 0
    if count > there:
        grown = np.zeros(count, data.dtype)
        grown[:there] = strided(data, Geometry((there,), (1,), 0))
        data = grown
    t._data = strided(data, Geometry(shape, strides_of(np.empty(shape, data.dtype)), 0))
    storage.version += 1


class Memory(TensorBase):
    """Views and their bases; `t_()`, `unsqueeze_()`, … which change how a tensor shows its memory.

    The latter count as changes of the memory, although no number changes, and neither the base of a view nor
    its other views follow.
    """

    __slots__ = ()

    @property
    def _base(self) -> Any:
        """The tensor of which this is a view, None if it is none."""
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        """Return whether an op made this tensor as a view of another."""
        return self._view is not None

    @public("function")
    def is_inference(self) -> bool:
        """Return whether this tensor was made in inference mode: it is outside any graph for good."""
        return self._inference

    @shown_as(lambda self, *sizes, memory_format=None: None)
    def resize_(self, *size: Any, memory_format: Any = None) -> Any:
        """Give the tensor another shape, and more memory if it needs it; RuntimeError if it requires grad."""
        shape = sizes("resize_", size)
        if self.requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        modes.repeat_for_each()
        resize(self, shape)
        if memory_format is not None:
            self._data = unfilled(shape, self._data.dtype, memory_format)
        return self

    @shown_as(lambda self, source=None, storage_offset=0, size=None, stride=None: None)
    def set_(self, *args: Any, **kwargs: Any) -> Any:
        """Always RuntimeError: a tensor keeps its memory; `x.data = y` gives it that of another."""
        raise RuntimeError("minigrad has no set_(): assign to .data to give a tensor other memory")

    def t_(self) -> Any:
        """Transpose the matrix in place and return the tensor.

        Args: none.
        Shape: (n, m) → (m, n).
        Returns: the tensor itself.
        Raises: RuntimeError for more than two dimensions.
        Derivative: `g.t()`.
        Source: torch.Tensor.t_

        >>> torch.tensor([[1, 2], [3, 4]]).t_()
        tensor([[1, 3],
                [2, 4]])
        """
        return in_place_view(forms.t_, self)

    def transpose_(self, dim0: int, dim1: int) -> Any:
        """`self = self.transpose(dim0, dim1)`."""
        return in_place_view(forms.transpose_, self, dim0, dim1)

    swapdims_ = transpose_

    def swapaxes_(self, axis0: int, axis1: int) -> Any:
        """`self = self.swapaxes(axis0, axis1)`."""
        return in_place_view(forms.transpose_, self, axis0, axis1)

    def unsqueeze_(self, dim: int) -> Any:
        """Add a dimension of size 1 in place and return the tensor.

        Args:
            dim: the position of the new dimension.
        Shape: that of the tensor with a 1 at `dim`.
        Returns: the tensor itself.
        Raises: IndexError if `dim` is out of range.
        Derivative: `g.squeeze(dim)`.
        Source: torch.Tensor.unsqueeze_

        >>> torch.tensor([1, 2]).unsqueeze_(1)
        tensor([[1],
                [2]])
        """
        return in_place_view(forms.unsqueeze_, self, dim)

    @shown_as(lambda self, dim=None: None)
    def squeeze_(self, dim: Any = None, *more: Any) -> Any:
        """`self = self.squeeze(dim)`."""
        if dim is None:
            return in_place_view(forms.squeeze_, self)
        if is_whole(dim) and not more:
            return in_place_view(forms.squeeze_dim_, self, dim)
        return in_place_view(forms.squeeze_dims_, self, (dim, *more) if more else tuple(dim))

    @public("function")
    def as_strided_(self, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
        """`self = self.as_strided(size, stride, storage_offset)`."""
        return in_place_view(
            forms.as_strided_, self, *views.strided_place(self, size, stride, storage_offset)
        )


class UntypedStorage:
    """The memory of a tensor, and of all that share it, as bytes."""

    device = CPU

    def __init__(self, array: np.ndarray) -> None:
        self._memory = root(array)

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        return address(self._memory)

    def nbytes(self) -> int:
        """Return how many bytes there are."""
        return self._memory.nbytes

    size = __len__ = nbytes
