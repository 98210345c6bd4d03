"""Tensors from numbers, sequences, arrays and tensors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import F, dialect, dtypes, modes
from ..core.guards import NUMBERS, check_holds_complex, check_sizes, overflow_error, unpacking_error
from ..core.modes import quiet
from ..core.public import public
from ..core.storage import BorrowedMemory
from ..core.tensor_state import TensorBase, check_can_require_grad, mark_inference, numbers, share, wrap
from ..ops.arguments import check_options, conversion_error, dtype_of, kind_of

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "tensor",
    "as_tensor",
    "asarray",
    "from_numpy",
]


# ─── Tensors from numbers, sequences, arrays and tensors


LISTS = (list, tuple, Sequence)  # the first two tell most without asking the abstract class
_ONE = {d: d.numpy.type(1) for d in dtypes.ALL if d.category == 2}
BIG = 6e4  # what every floating-point dtype can hold: no overflow that NumPy would warn of


def announce(t: Any, data: Any = None) -> Any:
    """Tell observers of a tensor that was made from `data`; in inference mode it is an inference tensor."""
    if modes.active:
        if modes.state.inference:
            mark_inference(t)
        modes.notify("created", t, data)
    return t


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Any:
    """Return a copy of `data` as a leaf tensor.

    Args:
        data: a number, nested lists, a NumPy array or a tensor.
        dtype: the dtype; by default the one that the numbers suggest.
        device: the CPU.
        requires_grad: whether gradients are computed for it.
        pin_memory: accepted and ignored.
    Shape: that of `data`.
    Returns: a new leaf.
    Raises: ValueError if nested lists have different lengths. RuntimeError for what is not a number.
    Source: torch.tensor

    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    if data.__class__ is float and dtype is None and device is None and -BIG < data < BIG:
        t = wrap(_ONE[dtypes._default] * data)
        if requires_grad:
            t._acc = True
        return announce(t, data) if modes.active else t
    check_options(None, device, pin_memory)
    return leaf(to_numpy(data, dtype_of("tensor", dtype)), requires_grad, data)


def leaf(data: Any, requires_grad: bool = False, source: Any = None) -> Any:
    """Return a new leaf on raw data that nobody else has, made from `source`."""
    t = wrap(data if data.ndim else data[()])
    if requires_grad:
        check_can_require_grad(data)
        t._acc = True
    return announce(t, source) if modes.active else t


def to_numpy(data: Any, dtype: dtypes.dtype | None) -> Any:
    """`data` as a new NumPy array or scalar of the dtype PyTorch would choose."""
    if data.__class__ is list and dtype is None and data and is_of_floats(data):
        return quiet(np.array, data, dtypes._default.numpy)
    if isinstance(data, TensorBase):
        dialect.warn_of_dialect(COPY)
        data = numbers(data)
    elif isinstance(data, np.ndarray):
        check_array(data)
    if isinstance(data, (np.ndarray, np.generic)):
        return np.array(data, dtype=(dtype or dtypes.of(data)).numpy)
    if isinstance(data, NUMBERS):
        kind = (dtype or dtypes.of_number(data)).numpy
        if isinstance(data, complex):
            check_holds_complex(kind)
        return quiet(whole_numbers([data], kind).astype, kind)[0]
    if not isinstance(data, LISTS) or isinstance(data, (str, bytes)):
        raise conversion_error(data)
    shape = nested_shape(data)
    flat = list(flatten_nested(data, len(shape), data if dtype is None or dtype.category < 2 else 0.5))
    if dtype is None:
        dtype = max(
            map(kind_of, flat), key=lambda d: (d.category, d.itemsize), default=dtypes.get_default_dtype()
        )
    if any(isinstance(d, (complex, np.complexfloating)) for d in flat):
        check_holds_complex(dtype.numpy)
    if any(isinstance(d, TensorBase) and d.requires_grad for d in flat):
        dialect.warn_of_dialect(TO_SCALAR)
    values = [numbers(d).item() if isinstance(d, TensorBase) else d for d in flat]
    return quiet(whole_numbers(values, dtype.numpy).astype, dtype.numpy).reshape(shape)


def is_of_floats(data: list[Any]) -> bool:
    """Return whether a list, or each of several lists of one length, holds Python's floats only."""
    rows = data if data[0].__class__ is list else [data]
    count = len(rows[0])
    return all(row.__class__ is list and len(row) == count and set(map(type, row)) == {float} for row in rows)


TO_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
COPY = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)


def check_array(array: np.ndarray) -> None:
    """PyTorch's errors for an array that no tensor can show: of another dtype, byte order or direction."""
    if not array.dtype.isnative or any(step < 0 for step in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, or its byte order is not that of this "
            "machine, which tensors do not support. Make a copy of your array with array.copy()."
        )
    dtypes.of(array)


def whole_numbers(values: list[Any], kind: np.dtype) -> np.ndarray:
    """Python numbers as an array; PyTorch's errors for integers that are too great for the dtype."""
    try:
        found = np.array(values)
        if found.dtype.kind == "O" or found.dtype == np.uint64:
            raise OverflowError
    except OverflowError:
        raise unpacking_error() from None
    if kind.kind in "iu" and found.dtype.kind in "iu" and kind != np.int64 and found.size:
        limits = np.iinfo(kind)
        low = limits.min or -limits.max
        if not low <= found.min() <= found.max() <= limits.max:
            raise overflow_error(kind.name)
    return found


def nested_shape(data: Any) -> tuple[int, ...]:
    """Shape of nested sequences; ValueError where they are ragged."""
    shape: list[int] = []
    level = [data]
    while level and isinstance(level[0], (*LISTS, np.ndarray)) and not isinstance(level[0], (str, bytes)):
        n = len(level[0])
        for item in level:
            if not isinstance(item, (*LISTS, np.ndarray)):
                raise TypeError("not a sequence")
            if len(item) != n:
                raise ValueError(f"expected sequence of length {n} at dim {len(shape)} (got {len(item)})")
        shape.append(n)
        level = [x for item in level for x in item]
    if level and isinstance(level[0], str):
        raise ValueError(f"too many dimensions '{type(level[0]).__name__}'")
    return tuple(shape)


def flatten_nested(data: Any, depth: int, whole: Any) -> Any:
    """The items of sequences nested `depth` deep; an error for what is not a number."""
    if depth:
        for item in data:
            yield from flatten_nested(item, depth - 1, whole)
    elif isinstance(data, NUMBERS) or (isinstance(data, TensorBase) and data._data.size == 1):
        yield data
    else:
        raise conversion_error(data, whole)


TAKEN = (list, tuple, str, np.ndarray, TensorBase)


def construct(args: tuple[Any, ...], dtype: dtypes.dtype) -> Any:
    """What PyTorch's old constructors make: of integers a tensor of that shape, else one of the data."""
    is_shape = len(args) == 1 and isinstance(args[0], tuple) and hasattr(args[0], "numel")
    if is_shape or (args and all(isinstance(n, int) and not isinstance(n, bool) for n in args)):
        return leaf(np.zeros(check_sizes(args[0] if is_shape else args), dtype.numpy))
    data = args[0] if args else ()
    if len(args) > 1:
        raise TypeError("new() received an invalid combination of arguments")
    if isinstance(data, TensorBase):
        return F.alias(data)
    if isinstance(data, (bool, float, complex, dict)) or data is None:
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return tensor(data if isinstance(data, TAKEN) else list(data), dtype=dtype)


class tensortype(type):
    """The class of PyTorch's old constructors: `isinstance(x, torch.FloatTensor)` asks for the dtype."""

    dtype: dtypes.dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and dtypes.of(instance._data) is cls.dtype

    def __call__(cls, *args: Any) -> Any:
        found = dtypes.of(args[0]._data) if args and isinstance(args[0], TensorBase) else cls.dtype
        if found is not cls.dtype:
            raise TypeError(f"expected a tensor of {cls.dtype} (got {found})")
        return construct(args, cls.dtype)


def constructor(dtype: dtypes.dtype) -> Any:
    """Return the old constructor for one dtype."""
    doc = f"PyTorch's old way to make a tensor of {dtype.name}: of a sequence, or of a size."
    own = {"__doc__": doc, "__module__": "minigrad", "dtype": dtype, "__slots__": ()}
    return tensortype(f"{dtype.title}Tensor", (), own)


ByteTensor = constructor(dtypes.uint8)
IntTensor, LongTensor, BoolTensor = map(constructor, (dtypes.int32, dtypes.int64, dtypes.bool_))
HalfTensor, FloatTensor, DoubleTensor = map(constructor, (dtypes.float16, dtypes.float32, dtypes.float64))


# ─── Tensors on the memory of NumPy's arrays


@public("function")
def from_numpy(array: np.ndarray) -> Any:
    """Return a tensor that shares its memory with a NumPy array.

    Args:
        array: the array, of a dtype that tensors have.
    Shape: that of the array.
    Returns: a leaf; writing into it changes the array.
    Raises: TypeError if `array` is not a NumPy array or has another dtype.
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
    t = wrap(array if array.base is None else np.asarray(BorrowedMemory(array)))
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
    check_options(None, device)
    return tensor_from(data, dtype_of("as_tensor", dtype))


@public("function")
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Any:
    """Return `obj` as a tensor: without a copy where there can be one (`copy=True` forces, `False` forbids
    it).

    Arrays share their memory. RuntimeError or ValueError where a copy is
    forbidden and needed.
    """
    check_options(None, device)
    kind = dtype_of("asarray", dtype)
    source = from_numpy(obj) if isinstance(obj, np.ndarray) else obj
    found = tensor_from(source, kind)
    if copy is False and found is not source:
        kind_name = dtypes.kind_name(source)
        raise ValueError(f"can't alias {kind_name} into a tensor of dtype '{found.dtype.title}'.")
    found = F.clone(found) if copy and found is source else found
    return found.requires_grad_() if requires_grad else found


def tensor_from(data: Any, kind: dtypes.dtype | None) -> Any:
    """`as_tensor` of checked arguments."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if not isinstance(data, TensorBase):
        return tensor(data, dtype=kind)
    return data if kind is None or dtypes.of(data._data) is kind else F.to(data, kind.numpy)
