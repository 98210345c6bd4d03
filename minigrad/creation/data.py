"""Tensors from numbers, sequences, arrays and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes, modes
from ..modes import quiet
from ..tensor_base import TensorBase, check_can_require_grad, mark_inference, numbers, wrap
from .arguments import options, sizes

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
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
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
    t = wrap(to_numpy(data, options("tensor", dtype, None, device, pin_memory)))
    if requires_grad:
        check_can_require_grad(t._data)
        t._acc = True
    return announce(t, data) if modes.active else t


def leaf(data: Any, requires_grad: bool = False, source: Any = None) -> Any:
    """A new leaf on raw data that nobody else has, made from `source`."""
    t = wrap(data[()])
    if requires_grad:
        check_can_require_grad(data)
        t._acc = True
    return announce(t, source) if modes.active else t


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


TAKEN = (list, tuple, str, np.ndarray, TensorBase)


def constructed(args: tuple[Any, ...], dtype: dtypes.dtype) -> Any:
    """What PyTorch's old constructors make: of integers a tensor of that shape, else one of the data."""
    if args and all(isinstance(n, int) and not isinstance(n, bool) for n in args):
        return leaf(np.zeros(sizes("new", args), dtype.numpy))
    data = args[0] if args else ()
    if len(args) > 1 or isinstance(data, (bool, float, complex)):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return tensor(data if isinstance(data, TAKEN) else list(data), dtype=dtype)


def constructor(dtype: dtypes.dtype) -> Any:
    """The old constructor for one dtype."""

    def construct(*args: Any) -> Any:
        return constructed(args, dtype)

    construct.__name__ = construct.__qualname__ = f"{dtype.title}Tensor"
    construct.__doc__ = f"PyTorch's old way to make a tensor of {dtype.name}: of a sequence, or of a size."
    return construct


ByteTensor, CharTensor, ShortTensor = map(constructor, (dtypes.uint8, dtypes.int8, dtypes.int16))
IntTensor, LongTensor, BoolTensor = map(constructor, (dtypes.int32, dtypes.int64, dtypes.bool_))
HalfTensor, FloatTensor, DoubleTensor = map(constructor, (dtypes.float16, dtypes.float32, dtypes.float64))
