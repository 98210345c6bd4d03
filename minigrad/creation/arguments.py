"""Checks of the arguments of functions that create tensors: sizes, dtypes, numbers.

An invalid argument raises an error here. PyTorch's texts for arguments of wrong types come from
`tensor.argument_errors`, which looks at the arguments of a public function that failed.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import check_device, check_layout
from ..core.tensor_state import TensorBase, numbers
from ..ops import copy as copies


def dtype_of(name: str, dtype: Any) -> dtypes.dtype | None:
    """`dtype`, which may be one of Python's types, or None."""
    dtype = dtypes.given(dtype)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {dtypes.kind_name(dtype)}")
    return dtype


def options(name: str, dtype: Any, layout: Any = None, device: Any = None, pin_memory: bool = False) -> Any:
    """The dtype asked for, or None, once everything else that tensors are made with is what there is."""
    dtype = dtype_of(name, dtype)
    check_layout(layout)
    check_device(device)
    if pin_memory:
        raise RuntimeError("pin_memory=True requires a CUDA or other accelerator backend")
    return dtype


def is_whole(n: Any) -> bool:
    """Return whether `n` counts as an integer: a number or a tensor, but no bool."""
    if isinstance(n, TensorBase):
        return n._data.size == 1 and n._data.dtype.kind in "iu"
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def whole(n: Any) -> int:
    """An argument as an integer; TypeError if it is none."""
    if isinstance(n, bool):
        raise TypeError("expected an integer, not a bool")
    return operator.index(n)


def integers(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Integers that were given one by one, or as one sequence; TypeError if nothing was given."""
    if not given:
        raise TypeError("expected integers, or a sequence of them")
    one = len(given) == 1 and isinstance(given[0], (tuple, list))
    return tuple(map(whole, given[0] if one else given))


def dims(dim: Any) -> tuple[int, ...] | None:
    """One integer or a sequence of them as a tuple; None as it is."""
    return None if dim is None else integers((dim,))


def sizes(name: str, given: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """The shape that was given as numbers, as one sequence, or by the keyword `size`."""
    if size is not None:
        given = (*given, size)
    is_sequence = len(given) == 1 and isinstance(given[0], (tuple, list))
    if not given or (size is not None and not is_sequence):
        raise TypeError(f"{name}(): expected one size")
    return shape_of(name, given[0] if is_sequence else given)


def shape_of(name: str, size: Iterable[Any]) -> tuple[int, ...]:
    """The shape that a sequence of integers tells; RuntimeError for a negative one."""
    shape = tuple(map(whole, size))
    if any(n < 0 for n in shape):
        if name == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        wrong = next(n for n in shape if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {wrong}: {list(shape)}")
    return shape


def number(value: Any) -> Any:
    """An argument as a Python number; TypeError if it is none."""
    if isinstance(value, TensorBase) and value._data.ndim == 0 and not value.requires_grad:
        return numbers(value).item()
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"expected a number, not {dtypes.kind_name(value)}")
    return value


def fitted(value: Any, dtype: dtypes.dtype) -> Any:
    """A Python number as an element of `dtype` holds it: RuntimeError where PyTorch says that it does not
    fit, OverflowError for integers of more than 64 bits.
    """
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")
    if dtype.category == 0:
        return bool(value)
    value = copies.fitting(value, dtype.numpy)
    return int(value) if dtype.category == 1 else value
