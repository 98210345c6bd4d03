"""Tensors on the memory of NumPy's arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core import F, dtypes
from ..core.public import public
from ..core.storage import Borrowed
from ..core.tensor_state import TensorBase, share, wrap
from .arguments import options
from .data import announce, check_array, tensor

__all__ = ["as_tensor", "asarray", "from_numpy"]


@public("function")
def from_numpy(array: np.ndarray) -> Any:
    """Return a tensor that shares its memory with a NumPy array.

    Args:
        array: the array, of a dtype that tensors have.
    Shape: that of the array.
    Returns: a leaf; writing into it changes the array.
    Raises: TypeError if `array` is no NumPy array or has another dtype.
    Source: torch.from_numpy

    >>> import numpy
    >>> torch.from_numpy(numpy.array([1, 2]))
    tensor([1, 2])
    """
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


@public("function")
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """Return `data` as a tensor, on the same memory where that is possible.

    Args:
        data: a tensor, an array, a number or nested lists.
        dtype, device: properties of the result.
    Shape: that of `data`.
    Returns: the tensor itself, a tensor on the array's memory, or a new leaf.
    Raises: ValueError if nested lists have different lengths.
    Source: torch.as_tensor

    >>> torch.as_tensor([1, 2])
    tensor([1, 2])
    """
    return taken(data, options("as_tensor", dtype, None, device))


@public("function")
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Any:
    """Return `obj` as a tensor: without a copy where there can be one (`copy=True` forces, `False` forbids
    it).

    Arrays share their memory. RuntimeError or ValueError where a copy is
    forbidden and needed.
    """
    kind = options("asarray", dtype, None, device)
    source = from_numpy(obj) if isinstance(obj, np.ndarray) else obj
    found = taken(source, kind)
    if copy is False and found is not source:
        kind_name = dtypes.kind_name(source)
        raise ValueError(f"can't alias {kind_name} into a tensor of dtype '{found.dtype.title}'.")
    found = F.clone(found) if copy and found is source else found
    return found.requires_grad_() if requires_grad else found


def taken(data: Any, kind: dtypes.dtype | None) -> Any:
    """`as_tensor` of checked arguments."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if not isinstance(data, TensorBase):
        return tensor(data, dtype=kind)
    return data if kind is None or dtypes.of(data._data) is kind else F.to(data, kind.numpy)
