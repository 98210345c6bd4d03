"""The methods that show a tensor's memory in another way."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..core.devices import contiguous_format
from ..core.dtypes import dtype as dtype_class
from ..core.guards import refuse
from ..core.public import public, shown_as
from ..core.storage import strides_of
from ..core.tensor_state import TensorBase, share
from ..left_out import without
from ..ops import shapes as sh
from ..ops import views
from ..ops import views as vw
from .conversion import is_in_format


class Views(TensorBase):
    """The same memory, seen in another way."""

    __slots__ = ()

    @shown_as(lambda self, *shape, size=None, dtype=None: None)
    def view(self, size: Any = None, *, dtype: Any = None) -> Any:
        """Return the same memory in another shape.

        Args:
            shape: the new sizes, one by one or in a tuple; one may be -1.
            size: the same by name.
            dtype: not supported: NotImplementedError if it is given, also instead of a shape.
        Shape: the given one.
        Returns: a view: it shares its memory with the tensor.
        Raises: RuntimeError if the shape does not fit the elements or their layout in memory.
        Derivative: `g` in the shape of the tensor.
        Source: torch.Tensor.view

        >>> torch.arange(4).view(2, 2)
        tensor([[0, 1],
                [2, 3]])
        """
        if dtype is not None or isinstance(size, dtype_class):
            raise without("view", "dtype")
        return sh.view(self, size)

    @shown_as(lambda self, *shape: None)
    def reshape(self, shape: Any) -> Any:
        """Return the elements in another shape: a view where that is possible, else a copy.

        Args:
            shape: the new sizes, one by one or in a tuple; one may be -1.
        Shape: the given one.
        Returns: a view or a new tensor.
        Raises: RuntimeError if the shape does not hold the same number of elements.
        Derivative: `g` in the shape of the tensor.
        Source: torch.Tensor.reshape

        >>> torch.arange(4).reshape(2, -1)
        tensor([[0, 1],
                [2, 3]])
        """
        return sh.reshape(self, shape)

    def view_as(self, other: Any) -> Any:
        """Return the same memory in the shape of `other`.

        Args:
            other: a tensor with the same number of elements.
        Shape: that of `other`.
        Returns: a view: it shares its memory with the tensor.
        Raises: RuntimeError if the number of elements differs.
        Derivative: `g` in the shape of the tensor.
        Source: torch.Tensor.view_as

        >>> torch.arange(4).view_as(torch.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
        """
        return sh.view(self, other._data.shape)

    def reshape_as(self, other: Any) -> Any:
        """Return the same numbers in the shape of `other`."""
        return sh.reshape(self, other._data.shape)

    def expand_as(self, other: Any) -> Any:
        """Return the tensor expanded to the shape of `other`, without a copy.

        Args:
            other: a tensor to whose shape this one broadcasts.
        Shape: that of `other`.
        Returns: a view: it shares its memory with the tensor.
        Raises: RuntimeError if the shape does not broadcast.
        Derivative: the sum of `g` over the expanded dimensions.
        Source: torch.Tensor.expand_as

        >>> torch.tensor([1, 2]).expand_as(torch.ones(2, 2))
        tensor([[1, 2],
                [1, 2]])
        """
        return sh.expand(self, other._data.shape)

    @shown_as(lambda self, *size: None)
    def expand(self, size: Any, *, implicit: bool = False) -> Any:
        """Return the tensor expanded along dimensions of size 1 or new ones, without a copy.

        Args:
            size: the new sizes, one by one or in a tuple; -1 keeps a size.
        Shape: the given one.
        Returns: a view: it shares its memory with the tensor.
        Raises: RuntimeError if a size other than 1 changes.
        Derivative: the sum of `g` over the expanded dimensions.
        Source: torch.Tensor.expand

        >>> torch.tensor([1, 2]).expand(2, 2)
        tensor([[1, 2],
                [1, 2]])
        """
        return sh.expand(self, size)

    @public("function")
    def broadcast_to(self, size: Any) -> Any:
        """Expanded to `size`."""
        return sh.expand(self, size)

    @public("function")
    def select(self, dim: int, index: Any) -> Any:
        """Select `index` along `dim` and remove that dimension.

        Args:
            dim: the dimension.
            index: which part, counted from 0; a negative number counts from the end.
        Shape: that of the tensor without `dim`.
        Returns: a view: it shares its memory with the tensor.
        Raises: IndexError if `index` or `dim` is out of range.
        Derivative: `g` at `index`, else 0.
        Source: torch.select

        >>> torch.tensor([[1, 2], [3, 4]]).select(0, 1)
        tensor([3, 4])
        """
        return F.select(self, dim, views.whole_of(index))

    def squeeze(self, dim: Any = None) -> Any:
        return squeeze(self, dim)

    def unfold(self, dimension: int, size: int, step: int) -> Any:
        """Return all windows of `size` elements along a dimension, as a new last dimension.

        Args:
            dimension: the dimension.
            size: how many elements a window has.
            step: the distance between the starts of two windows.
        Shape: (…, n, …) → (…, (n - size) // step + 1, …, size).
        Returns: a view: it shares its memory with the tensor.
        Raises: RuntimeError if a window is longer than the dimension.
        Derivative: `g` added at the elements of each window.
        Source: torch.Tensor.unfold

        >>> torch.arange(4).unfold(0, 2, 1)
        tensor([[0, 1],
                [1, 2],
                [2, 3]])
        """
        return vw.unfold(self, dimension, size, step)

    @shown_as(lambda self, *dims: None)
    def permute(self, dims: Any) -> Any:
        """Return the tensor with its dimensions in another order.

        Args:
            dims: the old dimensions in their new order, one by one or in a tuple.
        Shape: the sizes in that order.
        Returns: a view: it shares its memory with the tensor.
        Raises: RuntimeError if a dimension is missing or occurs twice.
        Derivative: `g` with the dimensions in their old order.
        Source: torch.Tensor.permute

        >>> torch.ones(2, 3, 4).permute(2, 0, 1).shape
        torch.Size([4, 2, 3])
        """
        return sh.permute(self, dims)

    def stride(self, dim: int | None = None) -> Any:
        """Return how many elements of the memory lie between neighbors along each dimension.

        Args:
            dim: one dimension; None for all.
        Shape: any.
        Returns: a tuple of integers, or one for `dim`.
        Raises: IndexError if there is no dimension `dim`.
        Source: torch.Tensor.stride

        >>> torch.ones(2, 3).stride()
        (3, 1)
        """
        steps = strides_of(self._data)
        return steps if dim is None else steps[sh.place(dim, len(steps))]

    def is_contiguous(self, *, memory_format: Any = contiguous_format) -> bool:
        """Return whether the elements lie in memory in row-major order.

        Args:
            memory_format: another order to test for.
        Shape: any.
        Returns: True or False.
        Raises: TypeError if `memory_format` is none.
        Source: torch.Tensor.is_contiguous

        >>> torch.ones(2, 3).t().is_contiguous()
        False
        """
        return is_in_format(self, memory_format)

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        share(self)
        return self._data.__array_interface__["data"][0]

    def nelement(self) -> int:
        """Return the number of elements; another name of `numel`.

        Args: none.
        Shape: any.
        Returns: an integer.
        Raises: nothing.
        Source: torch.Tensor.nelement

        >>> torch.ones(2, 3).nelement()
        6
        """
        return self._data.size

    def storage_offset(self) -> int:
        """Return the index in the memory of its base at which the tensor begins.

        Args: none.
        Shape: any.
        Returns: an integer.
        Raises: nothing.
        Source: torch.Tensor.storage_offset

        >>> torch.arange(4)[2:].storage_offset()
        2
        """
        return views.offset_of(self)


@public()
def positive(input: Any) -> Any:
    """Return the tensor itself; RuntimeError for bools."""
    refuse(input._data, "positive")
    return input


@public("function")
def squeeze(input: Any, dim: Any = None) -> Any:
    """Return the tensor without its dimensions of size 1.

    Args:
        input: a tensor of any shape.
        dim: the dimension or dimensions to remove if their size is 1; None for all.
    Shape: that of `input` without these.
    Returns: a view: it shares its memory with `input`.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g` in the shape of `input`.
    Source: torch.squeeze

    >>> torch.squeeze(torch.ones(1, 2, 1)).shape
    torch.Size([2])
    """
    if dim is None:
        return vw.squeeze_all(input)
    return vw.squeeze_dim(input, dim) if isinstance(dim, int) else vw.squeeze_dims(input, dim)


Views.squeeze.__doc__ = squeeze.__doc__
