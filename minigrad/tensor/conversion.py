"""Conversion of tensors: to other dtypes and devices, to Python numbers, lists and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, devices, dialect, dtypes, modes
from ..core.devices import check_device, contiguous_format, preserve_format, unfilled_like
from ..core.guards import check_tensor, index_error, number_error, overflow_error
from ..core.public import public
from ..core.tensor_state import CONJUGATE, TensorBase, numbers, share
from ..creation.data import TO_SCALAR
from ..left_out import missing
from ..ops import shapes as sh
from ..ops.copies import clone
from .binder import as_integer, with_bound_arguments
from .printing import describe
from .properties import Size

# ─── Conversions between dtypes and memory formats


NO_BFLOAT16 = "minigrad has no bfloat16: NumPy has no such dtype"
NO_COMPLEX32 = "minigrad has no complex32: NumPy has no such dtype"


def requested_conversion(
    device: Any = None, dtype: Any = None, non_blocking: bool = False, copy: bool = False, *,
    memory_format: Any = None,
) -> tuple[Any, bool, Any]:  # fmt: skip
    """Return dtype, whether to copy, and the order of the memory that is asked for."""
    check_device(device)
    return dtype, copy, format_of(memory_format)


def parse_to_arguments(*args: Any, **kwargs: Any) -> tuple[Any, bool, Any]:
    """Return what the arguments of `to` ask for; a tensor stands for its dtype."""
    if not args and "tensor" in kwargs:
        args = (kwargs.pop("tensor"),)
    first = dtypes.of(args[0]._data) if args and isinstance(args[0], TensorBase) else args and args[0]
    if isinstance(first, dtypes.dtype):
        return requested_conversion(None, first, *args[1:], **kwargs)
    return requested_conversion(*args, **kwargs)


target = with_bound_arguments(parse_to_arguments, "to", known="Tensor.to")


def format_of(order: Any) -> Any:
    """minigrad's constant for an order in memory, which may be PyTorch's."""
    return order if order is None else getattr(devices, str(order).rpartition(".")[2])


def is_laid(data: Any, order: Any) -> bool:
    """Return whether an array lies in memory as `order` says."""
    if order is None or order is preserve_format or np.ndim(data) == 0:
        return True
    if order is contiguous_format:
        return bool(data.flags.c_contiguous)
    return unfilled_like(data, data.dtype, order).strides == data.strides


def convert_dtype(t: Any, kind: Any, copy: bool, order: Any) -> Any:
    """Return a tensor in a dtype and an order in memory: itself if it is so already, unless `copy`."""
    own = dtypes.of(t._data)
    if (kind is None or kind is own) and not copy and is_laid(t._data, order):
        return t
    return F.to(t, (kind or own).numpy, order)


def is_in_format(t: Any, order: Any) -> bool:
    """Return whether a tensor lies in memory as `order` says; False if it has not the dimensions for it."""
    return (t._data.ndim == 4 or order.name != "channels_last") and is_laid(t._data, order)


def cast(name: str, kind: Any) -> Any:
    """Return the method for one dtype."""

    def convert(self: Any, *, memory_format: Any = None) -> Any:
        if memory_format is None and self._data.dtype is kind.numpy:
            return self
        return convert_dtype(self, kind, False, format_of(memory_format))

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"""Return the tensor as {kind.name}; itself if it is that already.

    Args:
        memory_format: the order of the memory, as for `contiguous`.
    Shape: the same as that of the tensor.
    Returns: the tensor or a converted copy.
    Raises: nothing of its own.
    Derivative: `g` in the dtype of the tensor.
    Source: torch.Tensor.{name}

    >>> torch.tensor([0, 2]).{name}().dtype is torch.{kind.name}
    True
    """
    return convert


class Casts(TensorBase):
    """Conversions to other dtypes as methods."""

    __slots__ = ()

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Return the tensor in another dtype or layout in memory; itself if it is so already.

        Args:
            args: `to(dtype)`, `to(device, dtype)` or `to(other)`.
            kwargs: dtype, device, tensor, non_blocking, copy (always copy) and memory_format by name.
        Shape: the same as that of the tensor.
        Returns: the tensor or a converted copy.
        Raises: RuntimeError for a device other than the CPU.
        Derivative: `g` in the dtype of the tensor.
        Source: torch.Tensor.to

        >>> torch.tensor([0, 2]).to(torch.bool)
        tensor([False,  True])
        """
        return convert_dtype(self, *target(*args, **kwargs))

    half, float = cast("half", dtypes.float16), cast("float", dtypes.float32)
    double, char = cast("double", dtypes.float64), cast("char", dtypes.int8)
    short, int = cast("short", dtypes.int16), cast("int", dtypes.int32)
    long = cast("long", dtypes.int64)
    byte, bool = cast("byte", dtypes.uint8), cast("bool", dtypes.bool_)
    cfloat, cdouble = cast("cfloat", dtypes.complex64), cast("cdouble", dtypes.complex128)

    def bfloat16(self, *, memory_format: Any = None) -> Any:
        """Always TypeError: NumPy has no such dtype."""
        raise TypeError(NO_BFLOAT16)

    def chalf(self, *, memory_format: Any = None) -> Any:
        """Always TypeError: NumPy has no such dtype."""
        raise TypeError(NO_COMPLEX32)

    def type(self, dtype: Any = None, non_blocking: Any = False) -> Any:
        """Return the name of the tensor's type, or the tensor converted to another dtype.

        Args:
            dtype: a dtype or the name of a type; None to ask.
            non_blocking: accepted and ignored.
        Shape: the same as that of the tensor.
        Returns: a string, or the tensor or a converted copy.
        Raises: ValueError for an unknown name.
        Derivative: `g` in the dtype of the tensor.
        Source: torch.Tensor.type

        >>> torch.tensor([1, 2]).type()
        'torch.LongTensor'
        """
        if dtype is None:
            return f"torch.{dtypes.of(self._data).title}Tensor"
        return convert_dtype(self, dtype_of_name(dtype), False, None)

    def type_as(self, other: Any) -> Any:
        """Return the tensor in the dtype of `other`.

        Args:
            other: a tensor.
        Shape: the same as that of the tensor.
        Returns: the tensor or a converted copy.
        Raises: TypeError if `other` is not a tensor.
        Derivative: `g` in the dtype of the tensor.
        Source: torch.Tensor.type_as

        >>> torch.tensor([1, 2]).type_as(torch.ones(1))
        tensor([1., 2.])
        """
        return convert_dtype(self, dtypes.of(other._data), False, None)


def dtype_of_name(name: Any) -> Any:
    """Return the dtype that `Tensor.type` is asked for."""
    if isinstance(name, dtypes.dtype):
        return name
    if isinstance(name, type) and not hasattr(name, "dtype"):
        raise ValueError(f"invalid type: '{name.__name__}'")
    if not isinstance(name, str) and not getattr(name, "__name__", "").endswith("Tensor"):
        raise TypeError("dtype must be a type, str, or dtype object")
    text = name if isinstance(name, str) else f"torch.{name.__name__}"
    for kind in dtypes.ALL:
        if text == f"torch.{kind.title}Tensor":
            return kind
    raise ValueError(f"invalid type: '{text}'")


@public()
def is_nonzero(input: Any) -> Any:
    """Return whether the one element is not 0; RuntimeError for more elements or none."""
    check_tensor("is_nonzero", input)
    return bool(input)


# ─── What a tensor is as Python and NumPy see it: shape, numbers, text


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
        dim = dim if dim.__class__ is int else as_integer(dim)
        return self._data.shape[sh.place(dim, self._data.ndim)]

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
        return notify_value_read(self, bool(numbers(self).item()))

    def __float__(self) -> float:
        value = float(real_number(only(self), "double"))
        if self.requires_grad:
            dialect.warn_of_dialect(TO_SCALAR)
        return given_out(self, "item", value)

    def __int__(self) -> int:
        return notify_value_read(self, int(real_number(only(self), "int64_t")))

    def __complex__(self) -> complex:
        return notify_value_read(self, complex(only(self)))

    def __index__(self) -> int:
        if self._data.size != 1 or self._data.dtype.kind not in "iub":
            raise index_error()
        return notify_value_read(self, int(self._data.item()))

    def clone(self, *, memory_format: Any = None) -> Any:
        """Return a copy of the tensor, through which gradients flow.

        Args:
            memory_format: the order of the memory; that of the tensor if it is not given.
        Shape: the same as that of the tensor.
        Returns: a new tensor.
        Raises: RuntimeError if the tensor does not have the dimensions for `memory_format`.
        Derivative: `g`.
        Source: torch.Tensor.clone

        >>> torch.tensor([1, 2]).clone()
        tensor([1, 2])
        """
        return F.clone(self) if memory_format is None else clone(self, memory_format=memory_format)

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
            return F.clone(self, contiguous_format)
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


def notify_value_read(t: TensorBase, value: Any) -> Any:
    """`value`, which Python's own conversion of `t` gives, as in `if t:`: observers are notified."""
    modes.notify("answered", t, value)
    return value


def only(t: TensorBase) -> Any:
    """Return the one element; PyTorch's error for more."""
    refuse_example(t, ITEM)
    if t._data.size != 1:
        raise number_error()
    return numbers(t).item()


def real_number(value: Any, kind: str) -> Any:
    """Return a number without an imaginary part; RuntimeError with PyTorch's text if it has one."""
    if not isinstance(value, complex):
        return value
    if value.imag:
        raise overflow_error(kind)
    return value.real
