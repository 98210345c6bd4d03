"""The operators of `Tensor`: `x + y`, `x < y`, `-x`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F
from ..core.elementwise import operator_of
from ..core.guards import NUMBERS, refuse
from ..core.public import public
from ..core.tensor_state import TensorBase, wrap
from ..inplace.in_place import in_place, in_place_method
from ..ops import arithmetic as ar
from ..ops import elementary as pw
from ..ops import special
from ..ops.arguments import name_like
from ..ops.arithmetic import div, pow
from ..ops.comparison import bitwise_and, bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor
from ..ops.rounding import modulo, quotient

OPERANDS = (TensorBase, *NUMBERS)


def decline(other: Any) -> Any:
    """NotImplemented for an operand that is neither a tensor nor a number: Python then asks the other side.

    Called while an error is handled, which it raises again if the operand is not at fault.
    """
    if isinstance(other, OPERANDS):
        raise
    return NotImplemented


def operator(function: Any, reflected: bool = False) -> Any:
    """Return the operator of a function of two operands; `reflected`, with the tensor on the right. It
    declines an operand that is neither a tensor nor a number.
    """

    def method(self: Any, other: Any) -> Any:
        try:
            return function(other, self) if reflected else function(self, other)
        except TypeError:
            return decline(other)

    return name_like(method, function)


def equality(function: Any, self: TensorBase, other: Any) -> Any:
    """Return a comparison that also takes NumPy's arrays."""
    try:
        return function(self, wrap(other) if isinstance(other, np.ndarray) else other)
    except TypeError:
        return decline(other)


class Arithmetic(TensorBase):
    """Operators, out of place and in place, without `@`. Comparisons give bool tensors."""

    __slots__ = ()

    __add__ = __radd__ = operator_of(ar.add_op)(operator(ar.add_op))
    __sub__ = operator_of(ar.sub_op)(operator(ar.sub_op))
    __mul__ = __rmul__ = operator_of(ar.mul)(operator(ar.mul))
    __truediv__ = operator_of(ar.div_op)(operator(ar.div_op))
    __pow__ = operator_of(ar.pow_scalar)(operator(pow))

    @operator_of(ar.rsub)
    def __rsub__(self, other: Any) -> Any:
        try:
            return ar.sub_op(other, self) if isinstance(other, TensorBase) else ar.rsub(self, other)
        except TypeError:
            return decline(other)

    def __rtruediv__(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return ar.reciprocal(self) * other
        try:
            return ar.mul(self.reciprocal(), other)
        except TypeError:
            return decline(other)

    __rdiv__ = __rtruediv__

    def __rpow__(self, base: Any) -> Any:
        return pow(base, self) if isinstance(base, OPERANDS) else NotImplemented

    __neg__ = ar.neg

    __and__, __or__, __xor__ = operator(bitwise_and), operator(bitwise_or), operator(bitwise_xor)
    __rand__, __ror__, __rxor__ = (operator(f, True) for f in (bitwise_and, bitwise_or, bitwise_xor))
    __lshift__, __rshift__ = operator(bitwise_left_shift), operator(bitwise_right_shift)
    __rlshift__, __rrshift__ = operator(bitwise_left_shift, True), operator(bitwise_right_shift, True)
    __iand__, __ior__, __ixor__ = map(in_place_method, (bitwise_and, bitwise_or, bitwise_xor))
    __ilshift__, __irshift__ = map(in_place_method, (bitwise_left_shift, bitwise_right_shift))

    __iadd__, __isub__, __imul__ = (operator(in_place_method(f)) for f in (ar.add_op, ar.sub_op, ar.mul))
    __itruediv__ = in_place_method(div)
    __ipow__ = in_place_method(pow)
    __ifloordiv__, __imod__ = in_place_method(quotient), in_place_method(modulo)

    __floordiv__, __rfloordiv__ = operator(quotient), operator(quotient, True)
    __mod__, __rmod__ = operator(modulo), operator(modulo, True)

    def __pos__(self) -> Any:
        return self.positive()  # type: ignore[attr-defined]

    def __abs__(self) -> Any:
        return pw.abs(self)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return equality(F.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return equality(F.ne, self, other)

    __lt__, __le__, __gt__, __ge__ = map(operator, (F.lt, F.le, F.gt, F.ge))

    def __invert__(self) -> Any:
        refuse(self._data, "~")
        return F.bitwise_not(self)

    def polygamma(self, n: Any) -> Any:
        """Return the `n`-th derivative of the digamma function; RuntimeError for a negative `n`."""
        return special.polygamma(n, self)

    @public("function")
    def abs_(self) -> Any:
        """Absolute value of each element, in place; RuntimeError for complex numbers."""
        refuse(self._data, "abs_")
        return in_place(pw.abs.op, self)

    absolute_ = abs_

    def polygamma_(self, n: Any) -> Any:
        """Return the `n`-th derivative of the digamma function, in place."""
        special.refuse_complex_polygamma(n, self)
        return in_place(special.polygamma_of.op, self, n)
