"""What functions of two operands share: who may be a number, and PyTorch's errors for what may not."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.public import publish
from ..core.tensor_state import TensorBase

NUMBERS = (int, float, complex, np.generic)


def is_whole(x: Any) -> bool:
    """Return whether `x` is an integer, no bool."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def invalid(name: str, *args: Any, **kwargs: Any) -> TypeError:
    """PyTorch's error for arguments that none of a function's forms takes."""
    named = (f"{k}={dtypes.kind_name(v)}" for k, v in kwargs.items())
    given = ", ".join([*map(dtypes.kind_name, args), *named])
    if kwargs:
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
    if isinstance(alpha, bool) and kind.category > 0:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, complex) and kind.category < 3:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if isinstance(alpha, float) and kind.category < 2:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")


def of_kinds(name: str, self: Any, other: Any, tensors: Any, number: Any = None, first: Any = None) -> Any:
    """The op for two operands: for two tensors, for a tensor and a `number`, or for a number `first`."""
    if isinstance(self, TensorBase):
        if isinstance(other, TensorBase):
            return tensors
        if number is not None and isinstance(other, NUMBERS):
            return number
    elif first is not None and isinstance(self, NUMBERS) and isinstance(other, TensorBase):
        return first
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
