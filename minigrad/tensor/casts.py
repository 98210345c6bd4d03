"""Conversions between dtypes and memory formats."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, devices, dtypes
from ..core.devices import check_device, contiguous_format, preserve_format, unfilled_like
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..ops.checks import must_be_tensor
from .explained import explained
from .reductions import flag

NO_BFLOAT16 = "minigrad has no bfloat16: NumPy has no such dtype"
DIMENSIONS = {"channels_last": 4, "channels_last_3d": 5}
NO_COMPLEX32 = "minigrad has no complex32: NumPy has no such dtype"


def asked(
    device: Any = None, dtype: Any = None, non_blocking: Any = False, copy: Any = False, *,
    memory_format: Any = None,
) -> tuple[Any, bool, Any]:  # fmt: skip
    """Return dtype, whether to copy, and the order of the memory that is asked for."""
    check_device(device)
    flag(non_blocking)
    if dtype is not None and not isinstance(dtypes.given(dtype), dtypes.dtype):
        raise TypeError("dtype must be a dtype")
    return dtypes.given(dtype), flag(copy), format_of(memory_format)


def parsed(*args: Any, **kwargs: Any) -> tuple[Any, bool, Any]:
    """Return what the arguments of `to` ask for; a tensor stands for its dtype."""
    if not args and "tensor" in kwargs:
        args = (kwargs.pop("tensor"),)
    first = dtypes.of(args[0]._data) if args and isinstance(args[0], TensorBase) else args and args[0]
    if isinstance(dtypes.given(first), dtypes.dtype):
        return asked(None, first, *args[1:], **kwargs)
    return asked(*args, **kwargs)


target = explained(parsed, "to", known="Tensor.to")


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


def converted(t: Any, kind: Any, copy: bool, order: Any) -> Any:
    """Return a tensor in a dtype and an order in memory: itself if it is so already, unless `copy`."""
    own = dtypes.of(t._data)
    if (kind is None or kind is own) and not copy and is_laid(t._data, order):
        return t
    return F.to(t, (kind or own).numpy, order)


def is_in_format(t: Any, order: Any) -> bool:
    """Return whether a tensor lies in memory as `order` says; False if it has not the dimensions for it."""
    return DIMENSIONS.get(order.name) in (None, t._data.ndim) and is_laid(t._data, order)


def cast(name: str, kind: Any) -> Any:
    """Return the method for one dtype."""

    def convert(self: Any, *, memory_format: Any = None) -> Any:
        return converted(self, kind, False, format_of(memory_format))

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
        return converted(self, *target(*args, **kwargs))

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
        return converted(self, kind_named(dtype), False, None)

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
        return converted(self, dtypes.of(other._data), False, None)


def kind_named(name: Any) -> Any:
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
    must_be_tensor("is_nonzero", input)
    return bool(input)
