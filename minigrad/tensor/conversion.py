"""What a tensor is as Python and NumPy see it: shape, numbers, text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, dialect, dtypes, modes
from ..core.devices import contiguous_format
from ..core.public import public
from ..core.tensor_state import CONJUGATE, TensorBase, numbers, share
from ..creation.arguments import whole
from ..creation.data import TO_SCALAR
from ..left_out import missing
from ..ops import shape as sh
from .casts import is_in_format
from .printing import describe
from .size import Size


class Conversion(TensorBase):
    """To Python, to NumPy, to other dtypes, to text."""

    __slots__ = ()

    @property
    def shape(self) -> Size:
        """Sizes of all dimensions."""
        return Size(self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        """Return the shape of the tensor, or its size along one dimension.

        Args:
            dim: the dimension; None for all.
        Shape: any.
        Returns: a `torch.Size`, or an integer for `dim`.
        Raises: IndexError if there is no dimension `dim`.
        Source: torch.Tensor.size

        >>> torch.ones(2, 3).size()
        torch.Size([2, 3])
        """
        if dim is None:
            return self.shape
        return self._data.shape[sh.place(whole(dim), self._data.ndim)]

    @property
    def dtype(self) -> dtypes.dtype:
        """The data type."""
        return dtypes.of(self._data)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._data.ndim

    def dim(self) -> Any:
        """Return the number of dimensions.

        Args: none.
        Shape: any.
        Returns: an integer.
        Raises: nothing.
        Source: torch.Tensor.dim

        >>> torch.ones(2, 3).dim()
        2
        """
        return self._data.ndim

    @public("function")
    def numel(self) -> int:
        """Return the number of elements.

        Args: none.
        Shape: any.
        Returns: an integer.
        Raises: nothing.
        Source: torch.Tensor.numel

        >>> torch.ones(2, 3).numel()
        6
        """
        return self._data.size

    def item(self) -> Any:
        """Return the only element as a Python number, which carries no gradient history.

        Args: none.
        Shape: any with one element.
        Returns: an int, float, bool or complex.
        Raises: RuntimeError unless the tensor has exactly one element.
        Source: torch.Tensor.item

        >>> torch.tensor([2.5]).item()
        2.5
        """
        refuse_example(self, ITEM)
        if self._data.size != 1:
            raise RuntimeError(f"a Tensor with {self._data.size} elements cannot be converted to Scalar")
        return given_out(self, "item", numbers(self).item())

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers.

        Args: none.
        Shape: any.
        Returns: a list, or a number for a 0-dim tensor.
        Raises: nothing.
        Source: torch.Tensor.tolist

        >>> torch.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        refuse_example(self, NO_STORAGE)
        return given_out(self, "item", numbers(self).tolist())

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """Return the tensor as a NumPy array that shares its memory.

        Args:
            force: whether to detach the tensor first if it requires a gradient.
        Shape: that of the tensor.
        Returns: an array; writing into it changes the tensor.
        Raises: RuntimeError if the tensor requires a gradient and `force` is False.
        Source: torch.Tensor.numpy

        >>> torch.tensor([1, 2]).numpy()
        array([1, 2])
        """
        if self.requires_grad and not force and modes.is_grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        refuse_example(self, NO_STORAGE)
        if self._bits and force:
            return given_out(self, "numpy", numbers(self))
        if self._bits:
            bit, name = ("conjugate", "conj") if self._bits & CONJUGATE else ("negative", "neg")
            raise RuntimeError(
                f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{name}().numpy() "
                "instead."
            )
        share(self)
        return given_out(self, "numpy", self._data)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return array if dtype is None and not copy else np.array(array, dtype=dtype)

    def to_numpy(self) -> np.ndarray:
        """Return what `numpy` gives. Matplotlib asks for the whole array by this name; else it asks element
        by element.
        """
        return self.numpy()

    __array_priority__ = 1000

    def __bool__(self) -> bool:
        refuse_example(self, CONTROL_FLOW)
        if self._data.size != 1:
            what = "no values" if self._data.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return answered(self, bool(numbers(self).item()))

    def __float__(self) -> float:
        value = float(real_number(only(self), "double"))
        if self.requires_grad:
            dialect.warn(TO_SCALAR)
        return given_out(self, "item", value)

    def __int__(self) -> int:
        return answered(self, int(real_number(only(self), "int64_t")))

    def __complex__(self) -> complex:
        return answered(self, complex(only(self)))

    def __index__(self) -> int:
        if self._data.size != 1 or self._data.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return answered(self, int(self._data.item()))

    def clone(self) -> Any:
        """Return a copy of the tensor, through which gradients flow.

        Args: none.
        Shape: the same as that of the tensor.
        Returns: a new tensor.
        Raises: nothing.
        Derivative: `g`.
        Source: torch.Tensor.clone

        >>> torch.tensor([1, 2]).clone()
        tensor([1, 2])
        """
        return F.clone(self)

    def contiguous(self, *, memory_format: Any = contiguous_format) -> Any:
        """Return the tensor with its memory in row-major order: itself if it is so already, else a copy.

        Args:
            memory_format: another order of the memory.
        Shape: the same as that of the tensor.
        Returns: the tensor or a copy.
        Raises: TypeError if `memory_format` is none.
        Derivative: `g`.
        Source: torch.Tensor.contiguous

        >>> torch.ones(2, 3).t().contiguous().stride()
        (2, 1)
        """
        if is_in_format(self, memory_format):
            return self
        if memory_format is contiguous_format:
            return F.clone(self, "C")
        return F.to(self, self._data.dtype, memory_format)

    def element_size(self) -> Any:
        """Return bytes per element."""
        return self._data.itemsize

    def __repr__(self) -> str:
        return describe(self)

    def __getattr__(self, name: str) -> Any:
        """What is not there: an AttributeError, which says so of a method that minigrad leaves out."""
        if name[0] != "_" and not hasattr(type(self), name):
            raise missing("Tensor", name)
        return object.__getattribute__(self, name)


ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
    "Tensor, please try to rewrite what you're doing with other operations. If error is occurring somewhere "
    "inside PyTorch internals, please file a bug report."
)


CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't "
    "support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)


EITHER = (
    "vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to use a Tensor in "
    "some data-dependent control flow or (3) encountering this error in PyTorch internals. For (1): we don't "
    "support vmap over calling .item() on a Tensor, please try to rewrite what you're doing with other "
    "operations. For (2): we don't support data-dependent control flow in vmap yet, please file an issue at "
    "https://github.com/pytorch/pytorch/issues . For (3): please file an issue."
)


NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"


def refuse_example(t: TensorBase, text: str) -> None:
    """RuntimeError inside `func.vmap` for a tensor that depends on the example: its numbers are those of
    all.
    """
    if modes.active and any(batch.open for batch in t._batched):
        inner = modes.state.transforms[-1] != "vmap" and text != NO_STORAGE
        raise RuntimeError(EITHER if inner else text)


def given_out(t: TensorBase, how: str, value: Any) -> Any:
    """`value`, the numbers of `t` as Python or NumPy has them: observers are notified."""
    modes.notify("left", t, how, value)
    return value


def answered(t: TensorBase, value: Any) -> Any:
    """`value`, which Python's own conversion of `t` gives, as in `if t:`: observers are notified."""
    modes.notify("answered", t, value)
    return value


def only(t: TensorBase) -> Any:
    """Return the one element; PyTorch's error for more."""
    refuse_example(t, ITEM)
    if t._data.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return numbers(t).item()


def real_number(value: Any, kind: str) -> Any:
    """Return a number without an imaginary part; RuntimeError with PyTorch's text if it has one."""
    if not isinstance(value, complex):
        return value
    if value.imag:
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    return value.real
