"""What functions share before an op runs: which op is meant, and numbers and options as the op takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import check_device, check_layout
from ..core.guards import NUMBERS, index_error, invalid_arguments, number_error, overflow_error
from ..core.public import publish
from ..core.tensor_state import TensorBase, numbers

# ─── Functions of two operands, and which op they call


def choice(choose: Any) -> Any:
    """Return a function, or method, that `choose` finds the op and its arguments for."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if not args and "input" in kwargs:
            args = (kwargs.pop("input"),)
        call, values = choose(*args, **kwargs)
        return call(*values)

    def choose_op(*args: Any, **kwargs: Any) -> Any:
        call, values = choose(*args, **kwargs)
        return call.op, values

    name_like(run, choose)
    run.choose = choose_op  # type: ignore[attr-defined]
    return run


def name_like(function: Any, source: Any, suffix: str = "") -> Any:
    """`function` with the name and the documentation of another."""
    function.__name__ = function.__qualname__ = source.__name__ + suffix
    function.__wrapped__ = source
    function.__doc__ = source.__doc__ if not suffix else f"`{source.__name__}`, in place: {source.__doc__}"
    return function


def check_alpha(name: str, alpha: Any, *operands: Any) -> None:
    """PyTorch's errors for a factor that the result's dtype has no place for."""
    first = getattr(operands[0], "_data", None)
    if alpha.__class__ is int or (alpha.__class__ is float and first is not None and first.dtype.kind == "f"):
        return
    if not isinstance(alpha, NUMBERS):
        raise TypeError(f"{name}(): argument 'alpha' must be Number, not {dtypes.kind_name(alpha)}")
    raws = [t._data if isinstance(t, TensorBase) else t for t in operands]
    kind = dtypes.OF_NUMPY[dtypes.result_type(*raws)]
    is_bool = isinstance(alpha, bool) and kind.category > 0
    if is_bool or dtypes.of_number(alpha).category > max(kind.category, 1):
        raise RuntimeError(f"Argument alpha={alpha} does not fit results of dtype {kind.title}.")


def of_kinds(name: str, self: Any, other: Any, tensors: Any, number: Any = None, first: Any = None) -> Any:
    """The op for two operands: for two tensors, for a tensor and a `number`, or for a number `first`."""
    if isinstance(self, TensorBase):
        if isinstance(other, TensorBase):
            return tensors
        if number is not None and isinstance(other, NUMBERS):
            return number
    elif isinstance(self, NUMBERS):
        if first is not None and isinstance(other, TensorBase):
            return first
        if tensors.op.lone_numbers and isinstance(other, NUMBERS):
            return tensors
    raise invalid_arguments(name, self, other)


def publish_overloads(tensors: Any, number: Any = None, first: Any = None, *, function_: bool = False) -> Any:
    """Publish the function of two operands that calls the op for two `tensors`, for a tensor and a `number`,
    or for a number that comes `first`, under the name of the op for two tensors.
    """
    name = tensors.op.name

    def choose(input: Any, other: Any) -> Any:
        return of_kinds(name, input, other, tensors, number, first), (input, other)

    function = choice(name_like(choose, tensors))
    publish(function, name, "function method method_" + " function_" * function_, "cast")
    return function


# ─── Checks of the arguments of functions that create tensors: sizes, dtypes, numbers


def dtype_of(name: str, dtype: Any) -> dtypes.dtype | None:
    """`dtype`, which may be one of Python's types, or None."""
    dtype = dtypes.as_dtype(dtype)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {dtypes.kind_name(dtype)}")
    return dtype


def check_options(layout: Any = None, device: Any = None, pin_memory: bool = False) -> None:
    """Raise an error unless every option of a new tensor, except the dtype, is one that minigrad has."""
    check_layout(layout)
    check_device(device)
    if pin_memory:
        raise RuntimeError("pin_memory=True requires a CUDA or other accelerator backend")


def is_integer_like(n: Any) -> bool:
    """Return whether `n` counts as an integer: a number or a tensor, but no bool."""
    if isinstance(n, TensorBase):
        return n._data.size == 1 and n._data.dtype.kind in "iu"
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def number(value: Any) -> Any:
    """An argument as a Python number; TypeError if it is none."""
    if isinstance(value, TensorBase) and value._data.ndim == 0 and not value.requires_grad:
        return numbers(value).item()
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"expected a number, not {dtypes.kind_name(value)}")
    return value


def fit_number(value: Any, dtype: dtypes.dtype) -> Any:
    """A Python number as an element of `dtype` holds it: RuntimeError where PyTorch says that it does not
    fit, OverflowError for integers of more than 64 bits.
    """
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")
    if dtype.category == 0:
        return bool(value)
    value = fitting(value, dtype.numpy)
    return int(value) if dtype.category == 1 else value


# ─── Copies, casts, fills, and elements chosen by a mask: `where`, `masked_fill`, `masked_select`,
# `nonzero`


C_NAMES = {
    "float16": "c10::Half", "float32": "float", "float64": "double", "int8": "int8_t", "int16": "int16_t",
    "int32": "int", "int64": "int64_t", "uint8": "uint8_t",
}  # fmt: skip


def fitting(value: Any, dtype: Any) -> Any:
    """A number for arrays of `dtype`, of which integers keep the lowest bits; RuntimeError with PyTorch's
    text for one without a place.
    """
    if dtype.kind in "cb":
        return value
    real = value.real if isinstance(value, complex) else value
    fits = not (isinstance(value, complex) and value.imag)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low = -int(limits.max) if limits.min == 0 and isinstance(real, int) else int(limits.min)
        fits = fits and low <= real <= int(limits.max)  # NaN does not
    elif dtype.kind == "f" and abs(real) != np.inf:
        fits = fits and not abs(real) > float(np.finfo(dtype).max)
    if not fits:
        raise overflow_error(C_NAMES[dtype.name])
    return np.int64(real).astype(dtype) if dtype.kind in "iu" else real


# ─── Reductions (sums, means, products, truth) and cumulative sums and products


def numpys(dtype: Any) -> Any:
    """Return the NumPy dtype of `dtype`; None as it is."""
    return None if dtype is None else dtypes.as_dtype(dtype).numpy


def kind_of(item: Any) -> dtypes.dtype:
    """Return the dtype that one item of a sequence asks for."""
    if isinstance(item, TensorBase):
        return dtypes.of(item._data)
    return dtypes.of(item) if isinstance(item, np.generic) else dtypes.of_number(item)


def conversion_error(item: Any, whole: Any = ()) -> Exception:
    """PyTorch's error for an item of `whole` that is not a number."""
    if isinstance(item, str | bytes):
        return TypeError(f"new(): invalid data type '{type(item).__name__}'")
    if isinstance(item, TensorBase):
        if is_of_integers(whole):
            return index_error()
        return number_error()
    if isinstance(item, Sequence):
        if is_of_integers(whole):
            return TypeError(f"'{type(item).__name__}' object cannot be interpreted as an integer")
        return TypeError(f"must be real number, not {type(item).__name__}")
    return RuntimeError(f"Could not infer dtype of {type(item).__name__}")


def is_of_integers(data: Any) -> bool:
    """Return whether all numbers in nested sequences are integers."""
    if isinstance(data, Sequence):
        return all(map(is_of_integers, data))
    return not isinstance(data, (TensorBase, *NUMBERS)) or kind_of(data).category < 2
