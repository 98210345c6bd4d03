"""Comparisons, logic and bits, as functions, methods and operators, out of place and in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..inplace import in_place
from ..op import F
from ..ops import bits, comparing
from ..tensor_base import TensorBase, wrap
from .binary import floor_divide, remainder
from .operands import (
    NUMBERS,
    check_tensors,
    choice,
    function,
    in_place_by,
    invalid,
    method,
    method_in_place,
    named,
    of_kinds,
)

# ── comparisons
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def comparison(name: str) -> Any:
    """The function and method of a comparison, whose second operand may be a number."""
    call = getattr(F, name)

    def compare(input: Any, other: Any) -> Any:
        of_kinds(name, input, other, call, call)
        return call(input, other)

    return named(compare, call.op.kernel)


def comparison_in_place(name: str) -> Any:
    """The same in place: 1 and 0 in the tensor's own dtype."""

    def compare(self: Any, other: Any) -> Any:
        with_number, with_tensor = comparing.IN_PLACE[name]
        call = of_kinds(name + "_", self, other, with_tensor, with_number)
        return in_place(call.op, self, other)

    compare.__name__ = compare.__qualname__ = name + "_"
    compare.__doc__ = f"`{name}`, in place."
    return compare


eq, ne, lt, le, gt, ge = map(comparison, ("eq", "ne", "lt", "le", "gt", "ge"))
logical_and, logical_or, logical_xor = map(function, (F.logical_and, bits.logical_or, bits.logical_xor))


def check_alike(input: Any, other: Any) -> None:
    """RuntimeError with PyTorch's text unless both tensors have one dtype."""
    a, b = dtypes.of(input._data), dtypes.of(other._data)
    if a is not b:
        raise RuntimeError(f"{a.title} did not match {b.title}")


def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether elements differ by at most `atol + rtol · |other|`; infinities if they are equal, NaNs if
    `equal_nan`.
    """
    check_tensors(comparing.isclose.op, (input, other))
    check_alike(input, other)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance:g}")
    return comparing.isclose(input, other, rtol, atol, equal_nan)


def allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether `isclose` holds for all elements."""
    check_tensors(comparing.isclose.op, (input, other), name="allclose")
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._data))


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and the same elements."""
    check_tensors(comparing.isclose.op, (input, other), name="equal")
    return input._data.shape == other._data.shape and bool(np.all(F.eq(input, other)._data))


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Whether each of `elements` is among `test_elements` (not among them, with `invert`); one of both may be
    a number.
    """
    tensors = [isinstance(x, TensorBase) for x in (elements, test_elements)]
    if not any(tensors) or not all(isinstance(x, (TensorBase, *NUMBERS)) for x in (elements, test_elements)):
        raise invalid("isin", elements, test_elements)
    for x in (elements, test_elements):
        if isinstance(x, TensorBase) and x._data.dtype.kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {dtypes.of(x._data).title}")
    given = [x if isinstance(x, TensorBase) else wrap(np.array(x)[()]) for x in (elements, test_elements)]
    return comparing.isin(*given, invert)


class Comparing(TensorBase):
    """Comparisons and logic as methods."""

    __slots__ = ()

    eq, ne, lt, le, gt, ge = eq, ne, lt, le, gt, ge
    not_equal, less, less_equal, greater, greater_equal = ne, lt, le, gt, ge
    logical_and, logical_or, logical_xor = map(method, (F.logical_and, bits.logical_or, bits.logical_xor))
    isclose, allclose, equal = isclose, allclose, equal

    eq_, ne_, lt_, le_, gt_, ge_ = map(comparison_in_place, ("eq", "ne", "lt", "le", "gt", "ge"))
    not_equal_, less_, less_equal_, greater_, greater_equal_ = ne_, lt_, le_, gt_, ge_
    logical_and_ = method_in_place(F.logical_and)
    logical_or_, logical_xor_ = method_in_place(bits.logical_or), method_in_place(bits.logical_xor)

    def logical_not(self) -> Any:
        """Whether the element is zero."""
        return F.logical_not(self)

    def logical_not_(self) -> Any:
        """1 where the element is zero, else 0, in place."""
        return in_place(F.logical_not.op, self)


# ── bits
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def of_bits(call: Any) -> Any:
    """The function and method of an op on bits, one of whose operands may be a number."""
    name = call.op.name

    def combine(input: Any, other: Any) -> Any:
        """What the op says."""
        return of_kinds(name, input, other, call, call, call), (input, other)

    return choice(named(combine, call))


bitwise_and, bitwise_or, bitwise_xor = map(of_bits, (bits.bitwise_and, bits.bitwise_or, bits.bitwise_xor))
bitwise_left_shift, bitwise_right_shift = map(of_bits, (bits.bitwise_left_shift, bits.bitwise_right_shift))


def operator(function: Any) -> Any:
    """A function as operator: Python asks the other side about what is no tensor and no number."""

    def apply(self: Any, other: Any) -> Any:
        return function(self, other) if isinstance(other, (TensorBase, *NUMBERS)) else NotImplemented

    return named(apply, function)


def reflected(function: Any) -> Any:
    """The same with the tensor on the right."""

    def apply(self: Any, other: Any) -> Any:
        return function(other, self) if isinstance(other, (TensorBase, *NUMBERS)) else NotImplemented

    return named(apply, function)


class Bits(TensorBase):
    """`& | ^ << >> // %` and the methods for bits."""

    __slots__ = ()

    bitwise_and, bitwise_or, bitwise_xor = bitwise_and, bitwise_or, bitwise_xor
    bitwise_left_shift, bitwise_right_shift = bitwise_left_shift, bitwise_right_shift
    bitwise_and_, bitwise_or_ = in_place_by(bitwise_and), in_place_by(bitwise_or)
    bitwise_xor_ = in_place_by(bitwise_xor)
    bitwise_left_shift_ = in_place_by(bitwise_left_shift)
    bitwise_right_shift_ = in_place_by(bitwise_right_shift)

    __and__, __or__, __xor__ = operator(bitwise_and), operator(bitwise_or), operator(bitwise_xor)
    __rand__, __ror__, __rxor__ = reflected(bitwise_and), reflected(bitwise_or), reflected(bitwise_xor)
    __lshift__, __rshift__ = operator(bitwise_left_shift), operator(bitwise_right_shift)
    __rlshift__, __rrshift__ = reflected(bitwise_left_shift), reflected(bitwise_right_shift)
    __iand__, __ior__, __ixor__ = bitwise_and_, bitwise_or_, bitwise_xor_
    __ilshift__, __irshift__ = bitwise_left_shift_, bitwise_right_shift_

    __floordiv__, __rfloordiv__ = operator(floor_divide), reflected(floor_divide)
    __mod__, __rmod__ = operator(remainder), reflected(remainder)

    def bitwise_not(self) -> Any:
        """All bits of an integer inverted; of a bool, its opposite."""
        return F.bitwise_not(self)

    def bitwise_not_(self) -> Any:
        """All bits inverted, in place."""
        return in_place(F.bitwise_not.op, self)
