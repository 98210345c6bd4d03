"""Checks of arguments and dtypes, with PyTorch's errors, and what functions of two operands share.

An invalid argument raises an error here. PyTorch's texts for arguments of wrong types come from
`tensor.argument_errors`, which looks at the arguments of a public function that failed.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import check_device, check_layout
from ..core.dtypes import dtype, kind_name, of
from ..core.public import publish
from ..core.tensor_state import TensorBase, numbers

# ─── Checks of dtypes and arguments, with PyTorch's errors, and what functions of two operands share


BOOL, COMPLEX = 0, 3  # categories of dtypes


def not_implemented(name: str, kind: dtype) -> NotImplementedError:
    """PyTorch's error for a dtype that a kernel does not have."""
    return NotImplementedError(f"\"{name}\" not implemented for '{kind.title}'")


def refuse(x: Any, unfit: str, name: str) -> None:
    """Raise PyTorch's error for an array of a kind in `unfit`, letters of NumPy's, that a kernel has not."""
    if x.dtype.kind in unfit:
        raise not_implemented(name, of(x))


def same_dtype(a: Any, b: Any, text: str) -> None:
    """RuntimeError with PyTorch's text unless both have one dtype; `{0}` and `{1}` in it are the dtypes."""
    if a.dtype != b.dtype:
        raise RuntimeError(text.format(of(a), of(b)))


def of_kind(x: Any, kinds: str, text: str) -> None:
    """RuntimeError with PyTorch's text unless the dtype of `x` is of one of these kinds, letters of NumPy's;
    `{0}` in the text is the dtype.
    """
    if x.dtype.kind not in kinds:
        raise RuntimeError(text.format(of(x)))


def check_images(x: Any, k: int, filled: int | None = None) -> None:
    """RuntimeError unless `x` is a sample with channels and `k` more dimensions, or a batch of them. The last
    `filled` sizes, by default all but that of the batch, must not be 0.
    """
    if x.ndim not in (k + 1, k + 2) or 0 in x.shape[x.ndim - (k + 1 if filled is None else filled) :]:
        raise RuntimeError(
            f"Expected {k + 1}D or {k + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(x.shape)}"
        )


def check_steps(padding: Any, **positive: Any) -> None:
    """RuntimeError unless no padding is negative, and the sizes and steps of windows are positive."""
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got {list(padding)}")
    for name, sizes in positive.items():
        if min(sizes) <= 0:
            raise RuntimeError(f"{name} should be greater than zero, but got {list(sizes)}")


def refuses(text: str, *unfit: Any, error: type[Exception] = NotImplementedError) -> Any:
    """A check that refuses dtypes, or categories of them (see `dtypes.dtype`): complex numbers unless told
    otherwise. `{}` in the text is the word for the dtype.
    """
    refused = set(unfit or (COMPLEX,))

    def check(kinds: list[dtype]) -> None:
        for kind in kinds:
            if kind in refused or kind.category in refused:
                raise error(text.format(kind.title))

    return check


def only(categories: str, name: str) -> Any:
    """A check that refuses, in PyTorch's words for a missing kernel, operands whose strongest dtype is not of
    these `categories`, letters of NumPy's kinds.
    """

    def check(kinds: list[dtype]) -> None:
        kind = max(kinds, key=lambda k: k.category)
        if kind.numpy.kind not in categories:
            raise not_implemented(name, kind)

    return check


def each(*checks: Any) -> Any:
    """A check that makes several, one after the other."""

    def check(kinds: list[dtype]) -> None:
        for one in checks:
            one(kinds)

    return check


no_clamp = refuses("clamp is not supported for complex types")


def must_be(kind: type, where: str, name: str, value: Any, place: int) -> None:
    """TypeError with PyTorch's text unless an argument is an integer, or any real number for `float`."""
    fits = (
        isinstance(value, (int, float, np.floating))
        if kind is float
        else is_integer(value)
        if kind is int
        else isinstance(value, kind)
    )
    if not fits:
        given = type(value).__name__
        raise TypeError(
            f"{where}(): argument '{name}' (position {place}) must be {kind.__name__}, not {given}"
        )


def must_be_tensor(where: str, value: Any, place: int = 1, name: str = "input") -> None:
    """TypeError with PyTorch's text unless an argument is a tensor."""
    if not isinstance(value, TensorBase):
        kind = kind_name(value)
        raise TypeError(f"{where}(): argument '{name}' (position {place}) must be Tensor, not {kind}")


NUMBERS = (int, float, complex, np.generic)


def is_integer(x: Any) -> bool:
    """Return whether `x` is an integer, no bool."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def invalid_arguments(name: str, /, *args: Any, **kwargs: Any) -> TypeError:
    """PyTorch's error for arguments that none of a function's forms takes."""
    named = (f"{k}={dtypes.kind_name(v)}" for k, v in kwargs.items())
    given = ", ".join([*map(dtypes.kind_name, args), *named])
    if kwargs and not args:
        given += ", "  # as PyTorch writes it
    return TypeError(f"{name}() received an invalid combination of arguments - got ({given})")


def check_tensors(op: Any, values: Any, first: int = 1, name: str = "") -> None:
    """TypeError with PyTorch's text unless all `values` are tensors; `first` is the place of the first."""
    for at, (argument, value) in enumerate(zip(op.params, values), first):
        if not isinstance(value, TensorBase):
            argument = "input" if argument == "self" else argument
            wanted = f"argument '{argument}' (position {at}) must be Tensor"
            raise TypeError(f"{name or op.name}(): {wanted}, not {dtypes.kind_name(value)}")


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


def options(name: str, dtype: Any, layout: Any = None, device: Any = None, pin_memory: bool = False) -> Any:
    """The dtype asked for, or None, once everything else that tensors are made with is what there is."""
    dtype = dtype_of(name, dtype)
    check_layout(layout)
    check_device(device)
    if pin_memory:
        raise RuntimeError("pin_memory=True requires a CUDA or other accelerator backend")
    return dtype


def is_integer_like(n: Any) -> bool:
    """Return whether `n` counts as an integer: a number or a tensor, but no bool."""
    if isinstance(n, TensorBase):
        return n._data.size == 1 and n._data.dtype.kind in "iu"
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def as_integer(n: Any) -> int:
    """An argument as an integer; TypeError if it is none."""
    if isinstance(n, bool):
        raise TypeError("expected an integer, not a bool")
    return operator.index(n)


def integers(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Integers that were given one by one, or as one sequence; TypeError if nothing was given."""
    if not given:
        raise TypeError("expected integers, or a sequence of them")
    one = len(given) == 1 and isinstance(given[0], (tuple, list))
    return tuple(map(as_integer, given[0] if one else given))


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
    return as_shape(name, given[0] if is_sequence else given)


def as_shape(name: str, size: Iterable[Any]) -> tuple[int, ...]:
    """The shape that a sequence of integers tells; RuntimeError for a negative one."""
    shape = tuple(map(as_integer, size))
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
        raise RuntimeError(f"value cannot be converted to type {C_NAMES[dtype.name]} without overflow")
    return np.int64(real).astype(dtype) if dtype.kind in "iu" else real


# ─── Reductions (sums, means, products, truth) and cumulative sums and products


def flag(given: Any) -> bool:
    """`given`; TypeError unless it is a bool."""
    if not isinstance(given, bool):
        raise TypeError("expected a bool")
    return given


def numpys(dtype: Any) -> Any:
    """Return the NumPy dtype of `dtype`; None as it is."""
    return None if dtype is None else dtypes.as_dtype(dtype).numpy


def kind_of(item: Any) -> dtypes.dtype:
    """Return the dtype that one item of a sequence asks for."""
    if isinstance(item, TensorBase):
        return dtypes.of(item._data)
    return dtypes.of(item) if isinstance(item, np.generic) else dtypes.of_number(item)


def conversion_error(item: Any, whole: Any = ()) -> Exception:
    """PyTorch's error for an item of `whole` that is no number."""
    if isinstance(item, str | bytes):
        return TypeError(f"new(): invalid data type '{type(item).__name__}'")
    if isinstance(item, TensorBase):
        if is_of_integers(whole):
            return TypeError("only integer tensors of a single element can be converted to an index")
        return ValueError("only one element tensors can be converted to Python scalars")
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
