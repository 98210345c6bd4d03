"""Sums, products, quotients, powers, and what is made of them: `addcmul`, `addcdiv`, `lerp`."""

from __future__ import annotations

import cmath
import operator
from math import inf, nan
from math import log as ln
from typing import Any

import numpy as np

from ..core import RAW, F, differentiable, dtypes, itself
from ..core.dtypes import FAST_SCALARS, dtype, is_integer_dtype
from ..core.guards import NUMBERS, check_difference, check_operands
from ..core.public import public
from . import rounding
from .arguments import check_alpha, choice, of_kinds
from .copies import dtype_of_value
from .kernels import elementwise, in_float32, linear_op

# ─── Sums, products, quotients and powers


def scale_by_alpha(g: Any, alpha: Any) -> Any:
    """`alpha · g`, without a step when alpha is 1."""
    return g if alpha == 1 else F.mul_scalar(g, alpha)


def plus(a: Any, b: Any) -> Any:
    """Return the sum of two gradients, each of which may be None."""
    return b if a is None else a if b is None else a + b


def times(array: Any, number: Any) -> Any:
    """Return an array times a number; among integers it wraps around, as in PyTorch."""
    is_whole = isinstance(array, RAW) and array.dtype.kind in "biu"
    return array * (is_integer_dtype(number, array.dtype) if is_whole else number)


@elementwise(
    name="add", self=lambda g: g, other=lambda g: g, kernel=operator.add, linear=True, lone_numbers=True
)
def add_op(self, other):
    """Return the sum of two tensors, or of a tensor and a number, with broadcasting."""


@elementwise(
    self=lambda g, alpha: g,
    other=lambda g, alpha: scale_by_alpha(g, alpha),
    node="AddBackward0",
    linear=True,
    lone_numbers=True,
    jvp=lambda self_t, other_t, alpha: self_t + scale_by_alpha(other_t, alpha),
)
def add_scaled(self, other, alpha):
    """Return `self + alpha · other`."""
    return self + times(other, alpha)


@elementwise(self=lambda g: g, node="AddBackward1")
def add_scalar(self, other):
    """Return a tensor plus a number, as PyTorch's own formulas write it."""
    return self + other


@elementwise(
    name="sub",
    self=lambda g: g,
    other=lambda g: F.neg(g),
    kernel=operator.sub,
    linear=True,
    check=check_difference,
    lone_numbers=True,
)
def sub_op(self, other):
    """Difference of two tensors, or of a tensor and a number, with broadcasting."""


@elementwise(
    self=lambda g, alpha: g,
    other=lambda g, alpha: scale_by_alpha(F.neg(g), alpha),
    node="SubBackward0",
    linear=True,
    lone_numbers=True,
    jvp=lambda self_t, other_t, alpha: self_t - scale_by_alpha(other_t, alpha),
    check=check_difference,
)
def sub_scaled(self, other, alpha):
    """Return `self - alpha · other`."""
    return self - times(other, alpha)


@elementwise(self=lambda g: g, node="SubBackward1")
def sub_scalar(self, other):
    """Return a tensor minus a number, as PyTorch's own formulas write it."""
    return self - other


@elementwise(self=lambda g: F.neg(g), node="RsubBackward1", check=check_difference)
def rsub(self, other):
    """Return `other - self` for a number `other`."""
    return other - self


for sum_of in (add_op, sub_op, rsub):
    sum_of.op.node._saved_alpha = 1  # what PyTorch's nodes note where no other is given


@differentiable(
    self=lambda g, other: g * other,
    other=lambda g, self: g * self,
    kernel=operator.mul,
    elementwise=True,
    multilinear=True,
    lone_numbers=True,
    forms="function method method_",
    also="multiply",
)
def mul(self, other):
    """Return the product of two tensors, or of a tensor and a number, element by element.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast.
    Derivative: `g * other` for `input`, `g * input` for `other`.
    Source: torch.mul

    >>> torch.mul(torch.tensor([1.0, 2.0]), 3)
    tensor([3., 6.])
    """


@elementwise(self=itself, node="MulBackward1", linear=True)
def mul_scalar(self, other):
    """Return a tensor times a number, as PyTorch's own formulas write it."""
    return self * other


def div_other_vjp(g, self, other):
    """`-g · self / other²`; the quotient first, as PyTorch does, which gives its nodes their ages."""
    quotient = (self / other) / other
    return -g * quotient


@elementwise(
    name="div",
    self=lambda g, other: g / other,
    other=div_other_vjp,
    jvp=lambda self_t, other_t, other, result: (self_t - F.product_jvp(other_t, result)) / other,
    kernel=operator.truediv,
    floating=True,
    lone_numbers=True,
)
def div_op(self, other):
    """True quotient, element by element, with broadcasting; integers become the default float."""


@elementwise(self=itself, node="DivBackward1", linear=True)
def div_scalar(self, other):
    """Return a tensor divided by a number, as PyTorch's own formulas write it."""
    return self / other


@linear_op(
    self=itself,
    kernel=operator.neg,
    elementwise=True,
    also="negative",
)
def neg(self):
    """Return the negative of each element.

    Args:
        input: a tensor of any shape.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if `input` is boolean.
    Derivative: `-g`.
    Source: torch.neg

    >>> torch.neg(torch.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """


def reciprocal_vjp(g, result):
    """`-g / self²`; the square first, as PyTorch does, which gives its node its age."""
    square = result * result
    return -g * square


@differentiable(self=reciprocal_vjp, elementwise=True, floating=True)
def reciprocal(self):
    """Return `1 / self`."""
    return 1 / self


# ─── Powers of tensors and numbers


def power_of_array(base: Any, exponent: Any) -> Any:
    """Small exponents by multiplication, as PyTorch does it: NumPy, which does so for 2, 1, 0.5 and -1, is a
    hundred times slower on float32 for others.
    """
    if exponent == 3:
        return base * base * base
    if exponent == -0.5:
        return 1 / np.sqrt(base)
    return 1 / (base * base) if exponent == -2 else base**exponent


def pow_scalar_vjp(g, self, exponent):
    """`g · n · self^(n-1)`; zero for n = 0."""
    if exponent == 0:
        return F.zeros_like(g)
    return g * F.mul_scalar(F.pow_scalar(self, exponent - 1), exponent)


@elementwise(self=pow_scalar_vjp, node="PowBackward0")
def pow_scalar(self, exponent):
    """Return each element to the power of a number."""
    if self.__class__ in FAST_SCALARS:
        return self**exponent
    if self.dtype.kind == "f":
        return power_of_array(self, exponent) if self.ndim else self[()] ** exponent
    if isinstance(exponent, (int, np.integer)) and exponent < 0 and self.dtype.kind in "biu":
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return np.logical_or(self, not exponent) if self.dtype.kind == "b" else self**exponent


def power_of_arrays(base: Any, exponent: Any) -> Any:
    """`base ** exponent` of two tensors; an integer to a negative power is 0 except for bases 1 and -1, as in
    PyTorch.
    """
    if base.dtype.kind not in "iu" or not np.any(exponent < 0):
        return base**exponent
    inverse = np.where(base == 1, 1, np.where(base == -1, 1 - 2 * (exponent % 2), 0))
    return np.where(exponent < 0, inverse, base ** np.maximum(exponent, 0)).astype(base.dtype)[()]


def pow_self_vjp(g, self, exponent):
    """`g · q · x^(q-1)`, and 0 where q = 0."""
    return F.where(F.eq(exponent, 0.0), 0.0, g * (exponent * F.pow_tensor(self, F.sub_scalar(exponent, 1))))


def pow_exponent_vjp(g, self, exponent, result):
    """`g · x^q · ln x`, and 0 where x = 0 and q ≥ 0 (the power is constant there).

    The product is taken from the left, as PyTorch 1.4 did: the last digit depends on it.
    """
    constant = F.logical_and(F.eq(self, 0), F.ge(exponent, 0))
    return F.where(constant, 0.0, g * result * F.log(self))


def complex_pow_self_vjp(g, self, exponent):
    """`g · conj(q · x^(q-1))`, and 0 where q = 0."""
    slope = F.conj(exponent * F.pow_tensor(self, F.sub_scalar(exponent, 1)))
    return F.where(F.eq(exponent, 0.0), 0.0, g * slope)


def complex_pow_exponent_vjp(g, self, exponent, result):
    """`g · conj(x^q · ln x)`, and 0 where x = 0 and q is real and ≥ 0."""
    if dtype_of_value(self) != dtype_of_value(result):
        self = F.to(self, dtype_of_value(result))
    slope = F.conj(result * F.log(self))
    return g * F.where(F.logical_and(F.eq(self, 0), is_positive(exponent)), 0.0, slope)


def is_positive(exponent: Any) -> Any:
    """Where exponents are real and not negative."""
    if dtype_of_value(exponent).kind != "c":
        return F.ge(exponent, 0)
    return F.logical_and(F.eq(F.imag(exponent), 0), F.ge(F.real(exponent), 0))


def pow_jvp(self_t, exponent_t, self, exponent, result):
    """Return the sum of both derivatives with the tangents instead of gradients, composed as PyTorch does."""
    slope = exponent * F.pow_tensor(self, F.sub_scalar(exponent, 1))
    of_self = F.where(F.eq(exponent, 0.0), 0.0, F.product_jvp(self_t, slope))
    constant = F.logical_and(F.eq(self, 0), is_positive(exponent))
    base = self if dtype_of_value(self) == dtype_of_value(result) else F.to(self, dtype_of_value(result))
    return of_self + F.product_jvp(exponent_t, F.where(constant, 0.0, result * F.log(base)))


@elementwise(
    self=pow_self_vjp,
    exponent=pow_exponent_vjp,
    complexes={"self": complex_pow_self_vjp, "exponent": complex_pow_exponent_vjp},
    jvp=pow_jvp,
    node="PowBackward1",
    kernel=power_of_arrays,
)
def pow_tensor(self, exponent):
    """Return each element to the power of another tensor's."""


def rpow_vjp(g, self, exponent, result):
    """`g · c^x · ln c`, and 0 for c = 0 where x ≥ 0."""
    if self == 0:
        return g * F.where(F.ge(exponent, 0), 0.0, F.mul_scalar(result, -inf))
    return g * F.mul_scalar(result, ln(self) if self > 0 else nan)


def complex_rpow_vjp(g, self, exponent, result):
    """`g · conj(c^x · ln c)`, and 0 for c = 0 where x is real and ≥ 0."""
    slope = F.conj(F.mul_scalar(result, complex_ln(self)))
    if self == 0:
        slope = F.where(is_positive(exponent), 0.0, slope)
    return g * slope


def complex_ln(c: Any) -> Any:
    """Return the natural logarithm of a number, complex if it has to be."""
    if c == 0:
        return -inf
    return ln(c) if not isinstance(c, complex) and c > 0 else cmath.log(c)


@elementwise(
    exponent=rpow_vjp,
    complexes={"exponent": complex_rpow_vjp},
    node="PowBackward2",
)
def pow_base(self, exponent):
    """Return a number to the power of each element."""
    return power_of_arrays(exponent.dtype.type(self), exponent)


# ─── Functions of three operands: bounds, a sum with a product or quotient, and the point between two


def no_whole_quotients(kinds: list[dtype]) -> None:
    """RuntimeError with PyTorch's text for a quotient of integers."""
    if all(k.category < 2 for k in kinds[1:]):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: use (input + value * torch.trunc(tensor1 "
            "/ tensor2)).to(input.dtype), or floating-point tensors"
        )


@elementwise(
    name="addcmul",
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * F.mul_scalar(tensor2, value),
    tensor2=lambda g, tensor1, value: g * F.mul_scalar(tensor1, value),
)
@in_float32
def addcmul_op(self, tensor1, tensor2, value):
    """Return `self + value · tensor1 · tensor2`, element by element."""
    return self + times(tensor1, value) * tensor2


def addcdiv_vjp(g, tensor1, tensor2, value):
    """`-g · value · tensor1 / tensor2²`; the square first, as PyTorch does: that gives nodes their ages."""
    square = tensor2 * tensor2
    slope = F.mul_scalar(tensor1, value) / square
    return -g * slope


def full_like_input(like: Any, value: Any) -> Any:
    """Return a number in the shape of a tensor, which PyTorch's formula divides."""
    return F.fill(F.zeros_like(like), value)


@elementwise(
    name="addcdiv",
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (full_like_input(tensor2, value) / tensor2),
    tensor2=addcdiv_vjp,
    check=no_whole_quotients,
)
@in_float32
def addcdiv_op(self, tensor1, tensor2, value):
    """Return `self + value · tensor1 / tensor2`, element by element."""
    return self + times(tensor1, value) / tensor2


@in_float32
def interpolate(self: Any, end: Any, weight: Any) -> Any:
    """From `self` to `end`, from whichever is nearer, as PyTorch computes it."""
    way = end - self
    if weight.__class__ is float:
        return self + weight * way if abs(weight) < 0.5 else end - way * (1 - weight)
    return np.where(np.abs(weight) < 0.5, self + weight * way, end - way * (1 - weight))[()]


@elementwise(
    name="lerp",
    self=lambda g, weight: F.mul_scalar(g, 1 - weight),
    end=lambda g, weight: F.mul_scalar(g, weight),
    linear=True,
)
def lerp_op(self, end, weight):
    """Return the point between `self` and `end` that a number says: 0 is `self`, 1 is `end`."""
    return interpolate(self, end, weight)


@elementwise(
    self=lambda g, weight: g * F.sub(1, weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, self, end: g * (end - self),
    node="LerpBackward1",
)
def lerp_tensor(self, end, weight):
    """Return the point between `self` and `end` that the element of `weight` says."""
    return interpolate(self, end, weight)


# ─── Operators and elementwise methods, out of place and in place


@public("function method method_", out="cast")
@choice
def pow(input: Any, exponent: Any) -> Any:
    """Return each element of `input` to the power of `exponent`.

    Args:
        input: a tensor, or a number if `exponent` is a tensor.
        exponent: a number, or a tensor that broadcasts with `input`.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: TypeError if neither operand is a tensor. RuntimeError for integers to a negative power.
    Derivative: `g * exponent * input ** (exponent - 1)` for `input`, `g * result * log(self)` for `exponent`.
    Source: torch.pow

    >>> torch.pow(torch.tensor([2.0, 3.0]), 2)
    tensor([4., 9.])
    """
    call = of_kinds("pow", input, exponent, pow_tensor, pow_scalar, pow_base)
    if isinstance(exponent, np.generic):
        exponent = exponent.item()
    return call, (input, exponent)


@public("function method method_", out="cast")
@choice
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return `input + alpha * other`.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
        alpha: a number by which `other` is multiplied first.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast. RuntimeError if the dtype of the result cannot hold
        `alpha`.
    Derivative: `g` for `input`, `alpha * g` for `other`.
    Source: torch.add

    >>> torch.add(torch.tensor([1.0, 2.0]), 10, alpha=2)
    tensor([21., 22.])
    """
    if alpha == 1 and alpha is not True:
        return add_op, (input, other)
    check_alpha("add", alpha, input, other)
    return add_scaled, (input, other, alpha)


@public("function method method_", out="cast", also="subtract")
@choice
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return `input - alpha * other`.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
        alpha: a number by which `other` is multiplied first.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast. RuntimeError if the dtype of the result cannot hold
        `alpha`. RuntimeError for booleans.
    Derivative: `g` for `input`, `-alpha * g` for `other`.
    Source: torch.sub

    >>> torch.sub(torch.tensor([1.0, 2.0]), 10, alpha=2)
    tensor([-19., -18.])
    """
    if alpha == 1 and alpha is not True:
        return sub_op, (input, other)
    check_alpha("sub", alpha, input, other)
    return sub_scaled, (input, other, alpha)


# ─── Functions of two and three operands, as functions and methods, and the operators of integers


@public("function method method_", out="cast", also="divide true_divide")
@choice
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Return the quotient of two operands, element by element; integers give the default float.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
        rounding_mode: None for the true quotient, "floor" to round down, "trunc" to round toward zero.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast. RuntimeError for another `rounding_mode`.
    Derivative: `g / other` for `input`, `-g * input / other ** 2` for `other`; 0 if the quotient is rounded.
    Source: torch.div

    >>> torch.div(torch.tensor([7.0, -7.0]), 2, rounding_mode='floor')
    tensor([ 3., -4.])
    """
    if rounding_mode is None:
        return div_op, (input, other)
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return rounding.div_rounded, (input, other, rounding_mode)


@public("function method method_", out="cast")
@choice
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """Return the point between `input` and `end`: `input + weight · (end - input)`."""
    is_number = isinstance(weight, NUMBERS)
    expected = dtypes.of(input._data)
    for name, other in (("end", end), ("weight", weight)):
        if is_number and other is weight:
            continue
        found = dtypes.of(other._data)
        if found is not expected and not (other is weight and other._data.ndim == 0):
            raise RuntimeError(f"expected dtype {expected.c_name} for `{name}` but got dtype {found.c_name}")
    return lerp_op if is_number else lerp_tensor, (input, end, weight)


@public("function method method_", out="cast")
@choice
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Return `input + value * tensor1 * tensor2`, element by element.

    Args:
        input: a tensor of any shape.
        tensor1, tensor2: tensors that broadcast with `input`.
        value: a number.
    Shape: the broadcast shape of the three tensors.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast.
    Derivative: `g` for `input`, `g * value * tensor2` for `tensor1`, `g * value * tensor1` for `tensor2`.
    Source: torch.addcmul

    >>> torch.addcmul(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([3.0]), value=10)
    tensor([61.])
    """
    check_operands(addcmul_op.op, (input, tensor1, tensor2))
    return addcmul_op, (input, tensor1, tensor2, value)


@public("function method method_", out="cast")
@choice
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Return `input + value * tensor1 / tensor2`, element by element.

    Args:
        input: a tensor of any shape.
        tensor1, tensor2: tensors that broadcast with `input`.
        value: a number.
    Shape: the broadcast shape of the three tensors.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast.
    Derivative: `g` for `input`, `g * value / tensor2` for `tensor1`, `-g * value * tensor1 / tensor2 ** 2`
        for `tensor2`.
    Source: torch.addcdiv

    >>> torch.addcdiv(torch.tensor([1.0]), torch.tensor([6.0]), torch.tensor([3.0]), value=10)
    tensor([21.])
    """
    check_operands(addcdiv_op.op, (input, tensor1, tensor2))
    return addcdiv_op, (input, tensor1, tensor2, value)
