"""Operators of bits, and of division with rounding."""

from __future__ import annotations

from typing import Any

from ..core.tensor_state import TensorBase
from ..inplace.in_place import in_place_method
from ..ops.bits import bitwise_and, bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor
from ..ops.division import modulo, quotient
from ..ops.overloads import NUMBERS, named
from .binary import div


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
    """`& | ^ << >> // %`, and what they and `/` are in place."""

    __slots__ = ()

    __and__, __or__, __xor__ = operator(bitwise_and), operator(bitwise_or), operator(bitwise_xor)
    __rand__, __ror__, __rxor__ = reflected(bitwise_and), reflected(bitwise_or), reflected(bitwise_xor)
    __lshift__, __rshift__ = operator(bitwise_left_shift), operator(bitwise_right_shift)
    __rlshift__, __rrshift__ = reflected(bitwise_left_shift), reflected(bitwise_right_shift)
    __iand__, __ior__, __ixor__ = map(in_place_method, (bitwise_and, bitwise_or, bitwise_xor))
    __ilshift__, __irshift__ = map(in_place_method, (bitwise_left_shift, bitwise_right_shift))

    __itruediv__ = __idiv__ = in_place_method(div)
    __ifloordiv__, __imod__ = in_place_method(quotient), in_place_method(modulo)

    __floordiv__, __rfloordiv__ = operator(quotient), reflected(quotient)
    __mod__, __rmod__ = operator(modulo), reflected(modulo)
