"""What the functions that make tensors are told: sizes, dtypes, numbers, with PyTorch's errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import check_device, check_layout, layout, strided
from ..core.shown_signature import shown_as
from ..core.tensor_state import TensorBase, numbers
from ..ops import copy as copies

# What PyTorch documents of a function that takes a size as numbers or as one sequence.
OF_SIZE = shown_as(
    lambda *size, dtype=None, layout=strided, device=None, pin_memory=False, requires_grad=False: None
)
OF_SIZE_RANDOM = shown_as(
    lambda *size, generator=None, dtype=None, layout=strided, device=None, pin_memory=False,
    requires_grad=False: None
)  # fmt: skip

OF_PYTHON = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


def kind_name(x: Any) -> str:
    """What PyTorch's errors call the type of an argument."""
    return "Tensor" if isinstance(x, TensorBase) else dtypes.kind_name(x)


def mismatch(name: str, *given: Any) -> TypeError:
    """Return the error for arguments that no form of a function takes."""
    kinds = ", ".join(map(kind_name, given))
    return TypeError(f"{name}() received an invalid combination of arguments - got ({kinds})")


def dtype_of(name: str, dtype: Any) -> dtypes.dtype | None:
    """`dtype`, which may be one of Python's types, or None."""
    dtype = OF_PYTHON.get(dtype, dtype) if isinstance(dtype, type) else dtype
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {kind_name(dtype)}")
    return dtype


def options(name: str, dtype: Any, layout_: Any = None, device: Any = None, pin_memory: bool = False) -> Any:
    """The dtype asked for, or None, once everything else that tensors are made with is what there is."""
    dtype = dtype_of(name, dtype)
    if layout_ is not None and not isinstance(layout_, layout):
        raise TypeError(f"{name}(): argument 'layout' must be torch.layout, not {kind_name(layout_)}")
    check_layout(layout_)
    check_device(device)
    if pin_memory:
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is "
            "available on this system."
        )
    return dtype


def is_whole(n: Any) -> bool:
    """Return whether `n` counts as an integer: a number or a tensor, but no bool."""
    if isinstance(n, TensorBase):
        return n._data.size == 1 and n._data.dtype.kind in "iu"
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def whole(name: str, argument: str, position: int, value: Any) -> int:
    """Return an integer argument; TypeError for anything else."""
    if not is_whole(value):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be int, not {kind_name(value)}"
        )
    return int(value)


def sizes(name: str, given: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """Return a shape that was given as numbers, as one sequence or by the name `size`."""
    if size is not None:
        if given:
            raise TypeError(f"{name}() got multiple values for argument 'size'")
        given = (size,)
    if not given:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    if isinstance(given[0], (tuple, list)):
        if len(given) > 1:
            raise TypeError(f"{name}() takes 1 positional argument but {len(given)} were given")
        return shape_of(name, given[0])
    if is_whole(given[0]):
        return shape_of(name, given)
    raise TypeError(
        f"{name}(): argument 'size' (position 1) must be tuple of ints, not {kind_name(given[0])}"
    )


def shape_of(name: str, size: Any, position: int = 1) -> tuple[int, ...]:
    """A shape that is one argument; TypeError for what is no sequence of integers, RuntimeError for negative
    ones.
    """
    wrong = None if isinstance(size, (tuple, list)) else size
    if wrong is not None:
        raise TypeError(
            f"{name}(): argument 'size' (position {position}) must be tuple of ints, not {kind_name(wrong)}"
        )
    for i, n in enumerate(size):
        if not is_whole(n):
            raise wrong_size(name, position, i, n)
    shape = tuple(int(n) for n in size)
    if any(n < 0 for n in shape):
        if name == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        wrong = next(n for n in shape if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {wrong}: {list(shape)}")
    return shape


def wrong_size(name: str, position: int, i: int, n: Any) -> TypeError:
    """Return the error for what is no integer in a shape."""
    if i == 0:
        text = (
            f"(position {position}) must be tuple of ints, but found element of type {kind_name(n)} at pos 0"
        )
    else:
        text = (
            f'failed to unpack the object at pos {i + 1} with error "type must be tuple of ints,but got '
            f'{kind_name(n)}"'
        )
    return TypeError(f"{name}(): argument 'size' {text}")


def number(name: str, argument: str, position: int, value: Any) -> Any:
    """Return a Python number, also of a 0-dim tensor that needs no gradient."""
    if isinstance(value, TensorBase) and value._data.ndim == 0 and not value.requires_grad:
        return numbers(value).item()
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Number, not {kind_name(value)}"
        )
    return value


def fitted(value: Any, dtype: dtypes.dtype) -> Any:
    """A Python number as an element of `dtype` holds it: RuntimeError where PyTorch says that it does not
    fit, OverflowError for integers of more than 64 bits.
    """
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")
    if dtype.category == 0:
        return bool(value)
    if isinstance(value, complex) and dtype.category < 3:
        check_fits(not value.imag, dtype)
        value = value.real
    if dtype.category == 1:
        limits = np.iinfo(dtype.numpy)
        low = -int(limits.max) if limits.min == 0 and isinstance(value, int) else int(limits.min)
        check_fits(not math.isnan(value) and low <= value <= int(limits.max), dtype)
        return int(value) % (int(limits.max) + 1) if limits.min == 0 else int(value)
    if dtype.category == 2 and math.isfinite(value):
        check_fits(abs(value) <= float(np.finfo(dtype.numpy).max), dtype)
    return value


def check_fits(fits: bool, dtype: dtypes.dtype) -> None:
    """RuntimeError with PyTorch's text for a number that does not fit."""
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {copies.C_NAMES[dtype.name]} without overflow")
