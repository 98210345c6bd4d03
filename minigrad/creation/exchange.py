"""Tensors on memory of others: NumPy's arrays, buffers, DLPack."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import dtypes
from ..devices import check_device
from ..op import F
from ..storage import Borrowed
from ..tensor_base import CONJUGATE, NEGATIVE, TensorBase, check_can_require_grad, share, wrap
from .arguments import dtype_of, options
from .data import announce, check_array, tensor


def from_numpy(array: np.ndarray) -> Any:
    """A tensor that shares its memory with `array`; TypeError unless it is an array of a supported dtype."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {dtypes.kind_name(array)})")
    check_array(array)
    if not array.flags.writeable and NOT_WRITABLE not in told:
        told.add(NOT_WRITABLE)
        warnings.warn(NOT_WRITABLE, UserWarning, stacklevel=2)
    t = wrap(array if array.base is None else np.asarray(Borrowed(array)))
    share(t)
    return announce(t, array)


told: set[str] = set()  # the warnings that were given, of which PyTorch gives each once
NOT_WRITABLE = (
    "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
    "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
    "data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
    "the rest of this program."
)


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Any:
    """A vector on the memory of a Python buffer, of `count` elements (-1: all) from byte `offset` on."""
    kind: Any = dtype_of("frombuffer", dtype)
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, size = memory.nbytes, kind.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} "
            "bytes) minus 1"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({size})"
        )
    if count * size > length - offset:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({length} bytes)"
        )
    t = from_numpy(writable(np.frombuffer(buffer, kind.numpy, count, offset)))
    if requires_grad:
        check_can_require_grad(t._data)
        t._acc = True
    return t


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor on the memory of anything that speaks DLPack, such as a tensor of another library."""
    check_device(device)
    if not hasattr(ext_tensor, "__dlpack__"):
        if type(ext_tensor).__name__ != "PyCapsule":
            raise RuntimeError(INVALID_CAPSULE)
        ext_tensor = Capsule(ext_tensor)
    if isinstance(ext_tensor, TensorBase):
        check_exported(ext_tensor)
        ext_tensor = ext_tensor.numpy()  # type: ignore[attr-defined]
    return from_numpy(writable(np.from_dlpack(ext_tensor, copy=copy)))


INVALID_CAPSULE = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
    "might have already constructed a tensor from it once."
)


def to_dlpack(tensor: Any) -> Any:
    """A capsule with which `from_dlpack` makes a tensor, once, on the memory of `tensor`."""
    return tensor.__dlpack__()


def check_exported(t: TensorBase) -> None:
    """BufferError with PyTorch's text for a tensor whose memory alone does not tell what it is."""
    if t.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if t._bits & CONJUGATE:
        raise BufferError("Can't export tensors with the conjugate bit set")
    if t._bits & NEGATIVE:
        raise BufferError("Can't export tensors with the negative bit set")


class Capsule:
    """A capsule as NumPy takes memory: from something that gives it."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **how: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def writable(array: np.ndarray) -> np.ndarray:
    """The memory of an array as memory that may be written to: NumPy marks what it gets from others as
    read-only, PyTorch does not.
    """
    return array if array.flags.writeable else np.asarray(Writable(array))


class Writable:
    """The memory of an array, as NumPy is told of memory that may be written to."""

    def __init__(self, array: np.ndarray) -> None:
        told = dict(array.__array_interface__)
        told["data"] = (told["data"][0], False)
        self.array, self.__array_interface__ = array, told


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """`data` as a tensor: a tensor itself, memory shared with an array, else a copy."""
    return taken(data, options("as_tensor", dtype, None, device))


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Any:
    """`obj` as a tensor: without a copy where there can be one (`copy=True` forces, `False` forbids it).

    Arrays, buffers and what speaks DLPack share their memory. RuntimeError or ValueError where a copy is
    forbidden and needed.
    """
    kind = options("asarray", dtype, None, device)
    found = aliased(obj, kind)
    if found is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        found = tensor(obj, dtype=kind)
    elif kind is not None and dtypes.of(found._data) is not kind:
        if copy is False:
            have = dtypes.of(found._data).title
            raise ValueError(f"can't alias tensor with dtype '{have}' into dtype '{kind.title}'.")
        found = F.to(found, kind.numpy)
    elif copy:
        found = F.clone(found)
    if requires_grad:
        return found.requires_grad_()
    return (
        found.detach() if found.requires_grad and found.is_leaf and not isinstance(obj, TensorBase) else found
    )


def aliased(obj: Any, kind: dtypes.dtype | None) -> Any:
    """A tensor on the memory of `obj`; None if that cannot be."""
    if isinstance(obj, TensorBase):
        return obj
    if isinstance(obj, np.ndarray):
        return from_numpy(obj)
    if hasattr(obj, "__dlpack__") and not isinstance(obj, np.generic):
        return from_dlpack(obj)
    if isinstance(obj, (bytes, bytearray, memoryview)):
        return frombuffer(obj, dtype=kind or dtypes.get_default_dtype())
    return None


def taken(data: Any, kind: dtypes.dtype | None) -> Any:
    """`as_tensor` of checked arguments."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if not isinstance(data, TensorBase):
        return tensor(data, dtype=kind)
    return data if kind is None or dtypes.of(data._data) is kind else F.to(data, kind.numpy)
