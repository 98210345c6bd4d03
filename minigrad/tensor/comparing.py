"""Comparisons, logic and bits, as functions, methods and operators, out of place and in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, dtypes
from ..core.public import public, publish
from ..core.tensor_state import TensorBase, wrap
from ..inplace.in_place import in_place_method
from ..ops import bits
from ..ops import compare as comparing
from ..ops.pointwise import logical_and
from .binary import floor_divide, remainder
from .operands import NUMBERS, check_tensors, choice, invalid, named, of_kinds, of_tensors

# ── comparisons
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def comparison(name: str, also: str = "") -> None:
    """Publish a comparison, whose second operand may be a number: in place it leaves 1 and 0 in the tensor's
    own dtype.
    """
    call = getattr(F, name)

    def compare(input: Any, other: Any) -> Any:
        of_kinds(name, input, other, call, call)
        return call(input, other)

    def choose(self: Any, other: Any) -> Any:
        with_number, with_tensor = comparing.IN_PLACE[name]
        return of_kinds(name + "_", self, other, with_tensor, with_number).op, (self, other)

    named(compare, call.op.kernel).choose = choose
    publish(compare, name, "function method method_", "cast", also)


comparison("eq")
comparison("ne", also="not_equal")
comparison("lt", also="less")
comparison("le", also="less_equal")
comparison("gt", also="greater")
comparison("ge", also="greater_equal")
for call in (logical_and, bits.logical_or, bits.logical_xor):
    publish(of_tensors(call), call.op.name, "function method method_", out="cast")


def check_alike(input: Any, other: Any) -> None:
    """RuntimeError with PyTorch's text unless both tensors have one dtype."""
    a, b = dtypes.of(input._data), dtypes.of(other._data)
    if a is not b:
        raise RuntimeError(f"{a.title} did not match {b.title}")


@public()
def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Return whether elements differ by at most `atol + rtol * abs(other)`.

    Args:
        input, other: tensors of the same dtype whose shapes broadcast.
        rtol, atol: the relative and the absolute tolerance.
        equal_nan: whether two NaNs count as close.
    Shape: the broadcast shape of both operands.
    Returns: a boolean tensor.
    Raises: RuntimeError if the dtypes differ.
    Source: torch.isclose

    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    check_tensors(comparing.isclose.op, (input, other))
    check_alike(input, other)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance:g}")
    return comparing.isclose(input, other, rtol, atol, equal_nan)


@public()
def allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements of two tensors are close; see `isclose`.

    Args:
        input, other: tensors of the same dtype whose shapes broadcast.
        rtol, atol: the relative and the absolute tolerance.
        equal_nan: whether two NaNs count as close.
    Shape: any two shapes that broadcast.
    Returns: True or False.
    Raises: RuntimeError if the dtypes differ.
    Source: torch.allclose

    >>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]))
    True
    """
    check_tensors(comparing.isclose.op, (input, other), name="allclose")
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._data))


@public()
def equal(input: Any, other: Any) -> bool:
    """Return whether two tensors have the same shape and the same elements.

    Args:
        input, other: two tensors.
    Shape: any two shapes.
    Returns: True or False.
    Raises: TypeError if `input` or `other` is not a tensor.
    Source: torch.equal

    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    True
    """
    check_tensors(comparing.isclose.op, (input, other), name="equal")
    return input._data.shape == other._data.shape and bool(np.all(F.eq(input, other)._data))


@public("function", out="same")
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Return whether each of `elements` is among `test_elements` (not among them, with `invert`); one of both
    may be a number.
    """
    tensors = [isinstance(x, TensorBase) for x in (elements, test_elements)]
    if not any(tensors) or not all(isinstance(x, (TensorBase, *NUMBERS)) for x in (elements, test_elements)):
        raise invalid("isin", elements, test_elements)
    for x in (elements, test_elements):
        if isinstance(x, TensorBase) and x._data.dtype.kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {dtypes.of(x._data).title}")
    given = [x if isinstance(x, TensorBase) else wrap(np.array(x)[()]) for x in (elements, test_elements)]
    return comparing.isin(*given, invert)


# ── bits
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def of_bits(call: Any) -> Any:
    """Return the function and method of an op on bits, one of whose operands may be a number."""
    name = call.op.name

    def combine(input: Any, other: Any) -> Any:
        """Return what the op says."""
        return of_kinds(name, input, other, call, call, call), (input, other)

    return choice(named(combine, call))


bitwise_and, bitwise_or, bitwise_xor = map(of_bits, (bits.bitwise_and, bits.bitwise_or, bits.bitwise_xor))
bitwise_left_shift, bitwise_right_shift = map(of_bits, (bits.bitwise_left_shift, bits.bitwise_right_shift))
for function in (bitwise_and, bitwise_or, bitwise_xor, bitwise_left_shift, bitwise_right_shift):
    publish(function, function.__name__, "function method method_", out="cast")


def operator(function: Any) -> Any:
    """Return a function as operator: Python asks the other side about what is no tensor and no number."""

    def apply(self: Any, other: Any) -> Any:
        return function(self, other) if isinstance(other, (TensorBase, *NUMBERS)) else NotImplemented

    return named(apply, function)


def reflected(function: Any) -> Any:
    """Return the same with the tensor on the right."""

    def apply(self: Any, other: Any) -> Any:
        return function(other, self) if isinstance(other, (TensorBase, *NUMBERS)) else NotImplemented

    return named(apply, function)


class Bits(TensorBase):
    """`& | ^ << >> // %` and the methods for bits."""

    __slots__ = ()

    __and__, __or__, __xor__ = operator(bitwise_and), operator(bitwise_or), operator(bitwise_xor)
    __rand__, __ror__, __rxor__ = reflected(bitwise_and), reflected(bitwise_or), reflected(bitwise_xor)
    __lshift__, __rshift__ = operator(bitwise_left_shift), operator(bitwise_right_shift)
    __rlshift__, __rrshift__ = reflected(bitwise_left_shift), reflected(bitwise_right_shift)
    __iand__, __ior__, __ixor__ = map(in_place_method, (bitwise_and, bitwise_or, bitwise_xor))
    __ilshift__, __irshift__ = map(in_place_method, (bitwise_left_shift, bitwise_right_shift))

    __floordiv__, __rfloordiv__ = operator(floor_divide), reflected(floor_divide)
    __mod__, __rmod__ = operator(remainder), reflected(remainder)
