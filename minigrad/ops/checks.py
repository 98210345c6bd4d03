"""Checks of dtypes and arguments, with PyTorch's errors, and what functions of two operands share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import dtype, kind_name, of
from ..core.public import publish
from ..core.tensor_state import TensorBase

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
        else is_whole(value)
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


def is_whole(x: Any) -> bool:
    """Return whether `x` is an integer, no bool."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def invalid(name: str, /, *args: Any, **kwargs: Any) -> TypeError:
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

    named(run, choose)
    run.choose = choose_op  # type: ignore[attr-defined]
    return run


def named(function: Any, source: Any, suffix: str = "") -> Any:
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
    raise invalid(name, self, other)


def overloaded(tensors: Any, number: Any = None, first: Any = None, *, function_: bool = False) -> Any:
    """Publish the function of two operands that calls the op for two `tensors`, for a tensor and a `number`,
    or for a number that comes `first`, under the name of the op for two tensors.
    """
    name = tensors.op.name

    def choose(input: Any, other: Any) -> Any:
        return of_kinds(name, input, other, tensors, number, first), (input, other)

    function = choice(named(choose, tensors))
    publish(function, name, "function method method_" + " function_" * function_, "cast")
    return function
