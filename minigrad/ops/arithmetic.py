"""Sums, products, quotients and powers."""

from __future__ import annotations

import operator
from typing import Any

from ..core import RAW, F, differentiable, itself
from ..core.dtypes import bool_, dtype, whole
from .checks import BOOL, refuses
from .kernels import elementwise, linear_op


def no_bools(kinds: list[dtype]) -> None:
    """RuntimeError with PyTorch's text for a difference of bools."""
    if all(k is bool_ for k in kinds):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if bool_ in kinds:
        raise RuntimeError(f"Subtraction, the `-` operator, with a bool tensor is not supported. {INVERT}")


INVERT = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."


def scaled(g: Any, alpha: Any) -> Any:
    """`alpha · g`, without a step when alpha is 1."""
    return g if alpha == 1 else F.mul_scalar(g, alpha)


def plus(a: Any, b: Any) -> Any:
    """Return the sum of two gradients, each of which may be None."""
    return b if a is None else a if b is None else a + b


def times(array: Any, number: Any) -> Any:
    """Return an array times a number; among integers it wraps around, as in PyTorch."""
    is_whole = isinstance(array, RAW) and array.dtype.kind in "biu"
    return array * (whole(number, array.dtype) if is_whole else number)


@elementwise(self=lambda g: g, other=lambda g: g, kernel=operator.add, linear=True, lone_numbers=True)
def add(self, other):
    """Return the sum of two tensors, or of a tensor and a number, with broadcasting."""


@elementwise(
    self=lambda g, alpha: g,
    other=lambda g, alpha: scaled(g, alpha),
    node="AddBackward0",
    linear=True,
    lone_numbers=True,
    jvp=lambda self_t, other_t, alpha: self_t + scaled(other_t, alpha),
)
def add_scaled(self, other, alpha):
    """Return `self + alpha · other`."""
    return self + times(other, alpha)


@elementwise(self=lambda g: g, node="AddBackward1")
def add_scalar(self, other):
    """Return a tensor plus a number, as PyTorch's own formulas write it."""
    return self + other


@elementwise(
    self=lambda g: g,
    other=lambda g: F.neg(g),
    kernel=operator.sub,
    linear=True,
    check=no_bools,
    lone_numbers=True,
)
def sub(self, other):
    """Difference of two tensors, or of a tensor and a number, with broadcasting."""


@elementwise(
    self=lambda g, alpha: g,
    other=lambda g, alpha: scaled(F.neg(g), alpha),
    node="SubBackward0",
    linear=True,
    lone_numbers=True,
    jvp=lambda self_t, other_t, alpha: self_t - scaled(other_t, alpha),
    check=no_bools,
)
def sub_scaled(self, other, alpha):
    """Return `self - alpha · other`."""
    return self - times(other, alpha)


@elementwise(self=lambda g: g, node="SubBackward1")
def sub_scalar(self, other):
    """Return a tensor minus a number, as PyTorch's own formulas write it."""
    return self - other


@elementwise(self=lambda g: F.neg(g), node="RsubBackward1", check=no_bools)
def rsub(self, other):
    """Return `other - self` for a number `other`."""
    return other - self


for sum_of in (add, sub, rsub):
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
    self=lambda g, other: g / other,
    other=div_other_vjp,
    jvp=lambda self_t, other_t, other, result: (self_t - F.product(other_t, result)) / other,
    kernel=operator.truediv,
    floating=True,
    lone_numbers=True,
)
def div(self, other):
    """True quotient, element by element, with broadcasting; integers become the default float."""


@elementwise(self=itself, node="DivBackward1", linear=True)
def div_scalar(self, other):
    """Return a tensor divided by a number, as PyTorch's own formulas write it."""
    return self / other


@linear_op(
    self=itself,
    kernel=operator.neg,
    elementwise=True,
    check=refuses(
        f"Negation, the `-` operator, on a bool tensor is not supported. {INVERT}", BOOL, error=RuntimeError
    ),
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
