"""Trigonometric and hyperbolic functions and their inverses.

PyTorch computes what stands on the right first, which gives its nodes their ages.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from .checks import only
from .elementwise import function


def asin_slope(self: Any) -> Any:
    """`1 / √(1 - x²)`."""
    return F.rsqrt(F.add_scalar(F.neg(self) * self, 1))


def acosh_slope(self: Any) -> Any:
    """`1 / √(x² - 1)`, in two roots as complex numbers need it."""
    right = F.rsqrt(F.sub_scalar(self, 1))
    return F.rsqrt(F.add_scalar(self, 1)) * right


def asinh_slope(self: Any) -> Any:
    """`1 / √(x² + 1)`."""
    return F.rsqrt(F.add_scalar(F.pow_scalar(self, 2), 1))


@function(self=lambda g, self: g * F.neg(asin_slope(self)), also="arccos")
def acos(self):
    """Return the angle, in radians, whose cosine each element is."""
    return np.arccos(self)


@function(self=lambda g, self: g * asin_slope(self), also="arcsin")
def asin(self):
    """Return the angle, in radians, whose sine each element is."""
    return np.arcsin(self)


@function(self=lambda g, self: g / F.add_scalar(self * self, 1), also="arctan")
def atan(self):
    """Return the angle, in radians, whose tangent each element is."""
    return np.arctan(self)


@function(
    self=lambda g, self: g * F.rsqrt(F.sub_scalar(self * self, 1)),
    complexes={"self": lambda g, self: g * F.conj(acosh_slope(self))},
    also="arccosh",
)
def acosh(self):
    """Return the number whose hyperbolic cosine each element is."""
    return np.arccosh(self)


@function(self=lambda g, self: g * asinh_slope(self), also="arcsinh")
def asinh(self):
    """Return the number whose hyperbolic sine each element is."""
    return np.arcsinh(self)


def atanh_vjp(g: Any, self: Any) -> Any:
    """`g / (1 - x²)`."""
    below = F.sub(1, F.pow_scalar(self, 2))
    return F.mul_scalar(g, 1) / below


@function(self=atanh_vjp, also="arctanh")
def atanh(self):
    """Return the number whose hyperbolic tangent each element is."""
    return np.arctanh(self)


@function(self=lambda g, result: g * F.add_scalar(F.pow_scalar(result, 2), 1))
def tan(self):
    """Return the tangent of each element, in radians."""
    return np.tan(self)


@function(self=lambda g, self: g * F.cosh(self))
def sinh(self):
    """Return the hyperbolic sine of each element."""
    return np.sinh(self)


@function(self=lambda g, self: g * F.sinh(self))
def cosh(self):
    """Return the hyperbolic cosine of each element."""
    return np.cosh(self)


def inverse_square(self: Any, other: Any) -> Any:
    """1 over the squared distance of (self, other) from 0, and 0 there."""
    second = other * other  # made first, as in PyTorch, which gives its nodes their ages
    square = self * self + second
    return F.masked_fill(F.reciprocal(square), F.eq(square, 0), 0)


def atan2_self_vjp(g: Any, self: Any, other: Any) -> Any:
    """Return the gradient of the point's height."""
    inverse = inverse_square(self, other)
    return g * other * inverse


def atan2_other_vjp(g: Any, self: Any, other: Any) -> Any:
    """Return the gradient of the point's width."""
    inverse = inverse_square(self, other)
    return g * -self * inverse


@differentiable(
    self=atan2_self_vjp,
    other=atan2_other_vjp,
    elementwise=True,
    floating=True,
    check=only("biuf", "atan2_cpu"),
    numbers=False,
    forms="function method method_",
    also="arctan2",
)
def atan2(self, other):
    """Return the angle of the point (other, self) in the plane, in radians from -π to π."""
    return np.arctan2(self, other)
