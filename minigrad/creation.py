"""Tensors from data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dtypes, modes
from .modes import quiet
from .storage import Borrowed
from .tensor_base import TensorBase, check_can_require_grad, mark_inference, numbers, wrap

_ONE = {d: d.numpy.type(1) for d in dtypes.ALL if d.category == 2}
BIG = 6e4  # what every floating-point dtype can hold: no overflow that NumPy would warn of


def announce(t: Any, data: Any = None) -> Any:
    """Tell observers of a tensor that was made from `data`; in inference mode it is an inference tensor."""
    if modes.active:
        if modes.state.inference:
            mark_inference(t)
        for observer in modes.observers():
            observer.created(t, data)
    return t


def tensor(
    data: Any, *, dtype: dtypes.dtype | None = None, device: Any = None, requires_grad: bool = False
) -> Any:
    """A new leaf with a copy of `data`: a number, nested sequences of numbers, a NumPy array or a tensor.

    Without `dtype`, Python floats give the default dtype, ints int64, bools bool; arrays and tensors keep
    theirs. RuntimeError if `requires_grad` and the dtype is not floating point or complex.
    """
    if data.__class__ is float and dtype is None and device is None and -BIG < data < BIG:
        t = wrap(_ONE[dtypes._default] * data)
        if requires_grad:
            t._acc = True
        return announce(t, data) if modes.active else t
    check_device(device)
    t = wrap(to_numpy(data, dtype))
    if requires_grad:
        check_can_require_grad(t._data)
        t._acc = True
    return announce(t, data) if modes.active else t


def check_device(device: Any) -> None:
    """RuntimeError for any device but the CPU."""
    if device is not None and str(device) != "cpu":
        raise RuntimeError(f"minigrad runs on the CPU only; device {str(device)!r} is not available")


def to_numpy(data: Any, dtype: dtypes.dtype | None) -> Any:
    """`data` as a new NumPy array or scalar of the dtype PyTorch would choose."""
    if isinstance(data, TensorBase):
        data = numbers(data)
    if isinstance(data, (np.ndarray, np.generic)):
        dtype = dtype or dtypes.of(data)
        return (
            np.array(data, dtype=dtype.numpy)[()] if np.ndim(data) == 0 else np.array(data, dtype=dtype.numpy)
        )
    if isinstance(data, (bool, int, float, complex)):
        kind = (dtype or dtypes.of_number(data)).numpy
        if isinstance(data, complex):
            must_fit(kind)
        return quiet(np.array(data).astype, kind)[()]
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        raise refusal(data)
    shape = shape_of(data)
    flat = list(flatten(data, len(shape)))
    if dtype is None:
        dtype = max(
            map(kind_of, flat), key=lambda d: (d.category, d.itemsize), default=dtypes.get_default_dtype()
        )
    if any(isinstance(d, (complex, np.complexfloating)) for d in flat):
        must_fit(dtype.numpy)
    values = [numbers(d).item() if isinstance(d, TensorBase) else d for d in flat]
    return quiet(lambda: np.array(values).astype(dtype.numpy)).reshape(shape)


def must_fit(kind: np.dtype) -> None:
    """TypeError with PyTorch's text unless this dtype has complex numbers (or bools, for which all serve)."""
    if kind.kind == "f":
        raise TypeError("must be real number, not complex")
    if kind.kind in "iu":
        raise TypeError("'complex' object cannot be interpreted as an integer")


def kind_of(item: Any) -> dtypes.dtype:
    """The dtype that one item of a sequence asks for."""
    if isinstance(item, TensorBase):
        return dtypes.of(item._data)
    return dtypes.of(item) if isinstance(item, np.generic) else dtypes.of_number(item)


def shape_of(data: Any) -> tuple[int, ...]:
    """Shape of nested sequences; ValueError where they are ragged."""
    shape: list[int] = []
    level = [data]
    while level and isinstance(level[0], Sequence | np.ndarray) and not isinstance(level[0], str | bytes):
        n = len(level[0])
        for item in level:
            if not isinstance(item, Sequence | np.ndarray):
                raise TypeError("not a sequence")
            if len(item) != n:
                raise ValueError(f"expected sequence of length {n} at dim {len(shape)} (got {len(item)})")
        shape.append(n)
        level = [x for item in level for x in item]
    if level and isinstance(level[0], str):
        raise ValueError(f"too many dimensions '{type(level[0]).__name__}'")
    return tuple(shape)


def refusal(item: Any) -> Exception:
    """PyTorch's error for an item that is no number."""
    if isinstance(item, str | bytes):
        return TypeError(f"new(): invalid data type '{type(item).__name__}'")
    if isinstance(item, Sequence):
        return TypeError(f"must be real number, not {type(item).__name__}")
    return RuntimeError(f"Could not infer dtype of {type(item).__name__}")


def flatten(data: Any, depth: int) -> Any:
    """The items of sequences nested `depth` deep; an error for what is not a number."""
    if depth:
        for item in data:
            yield from flatten(item, depth - 1)
    elif isinstance(data, (bool, int, float, complex, np.generic)) or (
        isinstance(data, TensorBase) and data._data.size == 1
    ):
        yield data
    else:
        raise refusal(data)


def filled(value: Any, size: Any, dtype: dtypes.dtype | None, requires_grad: bool, device: Any) -> Any:
    """A leaf of shape `size` full of `value`."""
    check_device(device)
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else tuple(size)
    if any(n < 0 for n in shape):
        if value == 0:
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {next(n for n in shape if n < 0)}: "
            f"{list(shape)}"
        )
    t = wrap(np.full(shape, value, (dtype or dtypes.get_default_dtype()).numpy)[()])
    if requires_grad:
        check_can_require_grad(t._data)
        t._acc = True
    return announce(t, value)


def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None) -> Any:
    """Zeros of shape `size` (numbers or one sequence)."""
    return filled(0, size, dtype, requires_grad, device)


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None) -> Any:
    """Ones of shape `size` (numbers or one sequence)."""
    return filled(1, size, dtype, requires_grad, device)


def full(
    size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False, device: Any = None
) -> Any:
    """A tensor of shape `size` full of `fill_value`, whose type decides the dtype."""
    return filled(fill_value, (tuple(size),), dtype or dtypes.of_number(fill_value), requires_grad, device)


def arange(
    start: float,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    device: Any = None,
) -> Any:
    """Numbers from `start` (0 if only `end` is given) up to, not including, `end`."""
    if dtype is not None and dtype.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtype.title}'")
    check_device(device)
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    whole = all(isinstance(v, int) for v in (start, end, step))
    count = max(0, math.ceil((end - start) / step))
    data = (np.arange(count) * step + start).astype(
        (dtype or (dtypes.int64 if whole else dtypes.get_default_dtype())).numpy
    )
    t = wrap(data)
    if requires_grad:
        check_can_require_grad(data)
        t._acc = True
    return announce(t)


def linspace(
    start: float,
    end: float,
    steps: int,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    device: Any = None,
) -> Any:
    """`steps` numbers evenly spaced from `start` to `end`, both included."""
    check_device(device)
    t = wrap(np.linspace(start, end, steps, dtype=(dtype or dtypes.get_default_dtype()).numpy))
    if requires_grad:
        check_can_require_grad(t._data)
        t._acc = True
    return announce(t)


def from_numpy(array: np.ndarray) -> Any:
    """A tensor that shares its memory with `array`; TypeError unless it is an array of a supported dtype."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array)
    from .tensor_base import share

    t = wrap(array if array.base is None else np.asarray(Borrowed(array)))
    share(t)
    return announce(t, array)


def FloatTensor(data: Any = ()) -> Any:
    """PyTorch's old way to make a float32 tensor from a sequence."""
    return tensor(
        list(data) if not isinstance(data, (list, tuple, np.ndarray, TensorBase)) else data,
        dtype=dtypes.float32,
    )
