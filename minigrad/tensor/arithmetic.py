"""Operators and elementwise methods, out of place and in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inplace import in_place
from ..op import F, operator_of
from ..ops import arithmetic as ar
from ..ops import binary, powers
from ..ops import pointwise as pw
from ..tensor_base import TensorBase, wrap
from .operands import check_alpha, of_kinds


def power(self: Any, exponent: Any) -> Any:
    """Each element to the power of a number or of another tensor's element; or a number to such powers."""
    call = of_kinds("pow", self, exponent, powers.pow_tensor, powers.pow_scalar, powers.pow_base)
    if isinstance(exponent, np.generic):
        exponent = exponent.item()
    return call(self, exponent)


OPERANDS = (TensorBase, int, float, complex, np.generic)


def declined(other: Any) -> Any:
    """NotImplemented for an operand that is no tensor and no number: Python then asks the other side.

    Called while an error is handled, which it raises again if the operand is not at fault.
    """
    if isinstance(other, OPERANDS):
        raise
    return NotImplemented


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input + alpha · other`."""
    if alpha == 1 and alpha is not True:
        return ar.add(input, other)
    check_alpha("add", alpha, input, other)
    return ar.add_scaled(input, other, alpha)


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input - alpha · other`."""
    if alpha == 1 and alpha is not True:
        return ar.sub(input, other)
    check_alpha("sub", alpha, input, other)
    return ar.sub_scaled(input, other, alpha)


class Arithmetic(TensorBase):
    """`+ - * / ** @`-free arithmetic of tensors; `@` is in `Algebra`."""

    __slots__ = ()

    @operator_of(ar.add)
    def __add__(self, other: Any) -> Any:
        try:
            return ar.add(self, other)
        except TypeError:
            return declined(other)

    __radd__ = __add__

    @operator_of(ar.sub)
    def __sub__(self, other: Any) -> Any:
        try:
            return ar.sub(self, other)
        except TypeError:
            return declined(other)

    @operator_of(ar.rsub)
    def __rsub__(self, other: Any) -> Any:
        if isinstance(other, TensorBase):
            return binary.rsub_tensor(self, other)
        try:
            return ar.rsub(self, other)
        except TypeError:
            return declined(other)

    @operator_of(ar.mul)
    def __mul__(self, other: Any) -> Any:
        try:
            return ar.mul(self, other)
        except TypeError:
            return declined(other)

    __rmul__ = __mul__

    @operator_of(ar.div)
    def __truediv__(self, other: Any) -> Any:
        try:
            return ar.div(self, other)
        except TypeError:
            return declined(other)

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return self.reciprocal() * other
        try:
            return ar.mul(self.reciprocal(), other)
        except TypeError:
            return declined(other)

    __div__, __rdiv__ = __truediv__, __rtruediv__

    @operator_of(powers.pow_scalar)
    def __pow__(self, exponent: Any) -> Any:
        try:
            return power(self, exponent)
        except TypeError:
            return declined(exponent)

    def __rpow__(self, base: Any) -> Any:
        return power(base, self) if isinstance(base, OPERANDS) else NotImplemented

    __neg__ = ar.neg

    def __pos__(self) -> Any:
        return self.positive()  # type: ignore[attr-defined]

    def __abs__(self) -> Any:
        return pw.abs(self)

    add, sub = add, sub
    subtract = sub

    def mul(self, other: Any) -> Any:
        """Product, element by element."""
        return ar.mul(self, other)

    multiply = mul

    def pow(self, exponent: Any) -> Any:
        """Each element to the power of a number or of another tensor's element."""
        return power(self, exponent)

    def neg(self) -> Any:
        """The negative of each element."""
        return ar.neg(self)

    def reciprocal(self) -> Any:
        """`1 / self`."""
        return ar.reciprocal(self)

    def exp(self) -> Any:
        """e to the power of each element."""
        return pw.exp(self)

    def log(self) -> Any:
        """Natural logarithm of each element."""
        return pw.log(self)

    def sqrt(self) -> Any:
        """Square root of each element."""
        return pw.sqrt(self)

    def sin(self) -> Any:
        """Sine of each element, in radians."""
        return pw.sin(self)

    def cos(self) -> Any:
        """Cosine of each element, in radians."""
        return pw.cos(self)

    def tanh(self) -> Any:
        """Hyperbolic tangent of each element."""
        return pw.tanh(self)

    def sigmoid(self) -> Any:
        """Logistic function of each element."""
        return pw.sigmoid(self)

    def relu(self) -> Any:
        """The greater of each element and 0."""
        return pw.relu(self)

    def abs(self) -> Any:
        """Absolute value of each element."""
        return pw.abs(self)

    absolute = abs

    def sign(self) -> Any:
        """Sign of each element; NotImplementedError for complex numbers."""
        return pw.sign(self)


class Comparison(TensorBase):
    """Comparisons, element by element; their results are bool tensors without a graph."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        try:
            return F.eq(self, other)
        except TypeError:
            return F.eq(self, wrap(other)) if isinstance(other, np.ndarray) else declined(other)

    def __ne__(self, other: object) -> Any:
        try:
            return F.ne(self, other)
        except TypeError:
            return F.ne(self, wrap(other)) if isinstance(other, np.ndarray) else declined(other)

    def __lt__(self, other: Any) -> Any:
        return F.lt(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return F.le(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return F.gt(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return F.ge(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __invert__(self) -> Any:
        if self._data.dtype.kind not in "biu":
            raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
        return F.bitwise_not(self)


def operator_in_place(method: Any) -> Any:
    """The operator for a method in place, which leaves an operand that is no tensor and no number to it."""

    def operate(self: Any, other: Any) -> Any:
        try:
            return method(self, other)
        except TypeError:
            return declined(other)

    return operate


class InPlace(TensorBase):
    """Ops that write into the tensor. See Note [Views and in-place]."""

    __slots__ = ()

    def add_(self, other: Any, *, alpha: Any = 1) -> Any:
        """`self += alpha · other`."""
        if alpha == 1:
            return in_place(ar.add.op, self, other)
        check_alpha("add", alpha, self, other)
        return in_place(ar.add_scaled.op, self, other, alpha)

    def sub_(self, other: Any, *, alpha: Any = 1) -> Any:
        """`self -= alpha · other`."""
        if alpha == 1:
            return in_place(ar.sub.op, self, other)
        check_alpha("sub", alpha, self, other)
        return in_place(ar.sub_scaled.op, self, other, alpha)

    subtract_ = sub_

    def mul_(self, other: Any) -> Any:
        """`self *= other`."""
        return in_place(ar.mul.op, self, other)

    multiply_ = mul_

    def pow_(self, exponent: Any) -> Any:
        """`self **= exponent`."""
        return in_place(
            (powers.pow_tensor if isinstance(exponent, TensorBase) else powers.pow_scalar).op, self, exponent
        )

    __iadd__, __isub__, __imul__ = map(operator_in_place, (add_, sub_, mul_))
    __ipow__ = pow_

    def neg_(self) -> Any:
        """`self = -self`, in place."""
        return in_place(ar.neg.op, self)

    def exp_(self) -> Any:
        """Exponential, in place."""
        return in_place(pw.exp.op, self)

    def log_(self) -> Any:
        """Natural logarithm, in place."""
        return in_place(pw.log.op, self)

    def sqrt_(self) -> Any:
        """Square root, in place."""
        return in_place(pw.sqrt.op, self)

    def sin_(self) -> Any:
        """Sine, in place."""
        return in_place(pw.sin.op, self)

    def cos_(self) -> Any:
        """Cosine, in place."""
        return in_place(pw.cos.op, self)

    def reciprocal_(self) -> Any:
        """`self = 1 / self`, in place."""
        return in_place(ar.reciprocal.op, self)

    def abs_(self) -> Any:
        """Absolute value, in place; RuntimeError for complex numbers."""
        if self._data.dtype.kind == "c":
            raise RuntimeError("In-place abs is not supported for complex tensors.")
        return in_place(pw.abs.op, self)

    absolute_ = abs_

    def sgn_(self) -> Any:
        """`self = self.sgn()`, in place."""
        return in_place(pw.sgn.op, self)

    def sign_(self) -> Any:
        """Sign, in place; NotImplementedError for complex numbers."""
        return in_place(pw.sign.op, self)

    def tanh_(self) -> Any:
        """Hyperbolic tangent, in place."""
        return in_place(pw.tanh.op, self)

    def sigmoid_(self) -> Any:
        """Logistic function, in place."""
        return in_place(pw.sigmoid.op, self)

    def relu_(self) -> Any:
        """Positive part, in place."""
        return in_place(pw.relu.op, self)

    def copy_(self, src: Any) -> Any:
        """Write `src`, broadcast and converted, into the tensor."""
        return in_place(F.copy.op, self, src)

    def fill_(self, value: Any) -> Any:
        """Write one value into every element."""
        return in_place((F.fill_tensor if isinstance(value, TensorBase) else F.fill).op, self, value)

    def zero_(self) -> Any:
        """Write 0 into every element."""
        return in_place(F.zero.op, self)
