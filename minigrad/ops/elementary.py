"""Elementary functions: exponential, logarithmic, trigonometric and hyperbolic, and their inverses."""

from __future__ import annotations

from math import log as ln
from math import nan
from typing import Any

import numpy as np

from ..core import F, differentiable, itself, zeros
from ..core.guards import check_real
from ..core.public import ALL, public
from .arguments import choice
from .kernels import as_float32, elementwise, function, in_float32

# ─── Elementary functions: exponential, logarithm, sine, absolute value, sign, tanh and sigmoid


@differentiable(self=lambda g, result: g * result, elementwise=True, floating=True)
def exp(self):
    """Return e to the power of each element.

    Args:
        input: a tensor; integers become the default float.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g * result`.
    Source: torch.exp

    >>> torch.exp(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """
    return np.exp(self)


@differentiable(self=lambda g, self: g / self, elementwise=True, floating=True)
def log(self):
    """Return the natural logarithm of each element.

    Args:
        input: a tensor; integers become the default float.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g / x`.
    Source: torch.log

    >>> torch.log(torch.tensor([1.0, 2.0]))
    tensor([0.0000, 0.6931])
    """
    return np.log(self)


@differentiable(self=lambda g, result: g / F.mul_scalar(result, 2), elementwise=True, floating=True)
def sqrt(self):
    """Return the square root of each element.

    Args:
        input: a tensor; integers become the default float.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g / (2 * result)`.
    Source: torch.sqrt

    >>> torch.sqrt(torch.tensor([4.0, 2.0]))
    tensor([2.0000, 1.4142])
    """
    return np.sqrt(self)


@differentiable(self=lambda g, self: g * F.cos(self), elementwise=True, floating=True)
def sin(self):
    """Return the sine of each element, which is in radians.

    Args:
        input: a tensor; integers become the default float.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g * cos(x)`.
    Source: torch.sin

    >>> torch.sin(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
    """
    return np.sin(self)


@differentiable(self=lambda g, self: g * F.neg(F.sin(self)), elementwise=True, floating=True)
def cos(self):
    """Return the cosine of each element, which is in radians.

    Args:
        input: a tensor; integers become the default float.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `-g * sin(x)`.
    Source: torch.cos

    >>> torch.cos(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.5403])
    """
    return np.cos(self)


@differentiable(
    self=lambda g, self: g * F.sgn(self),
    complexes=True,
    elementwise=True,
    forms="function method",  # `abs_` refuses complex numbers, whose absolute values are real: see `Tensor`
    also="absolute",
)
def abs(self):
    """Return the absolute value of each element.

    Args:
        input: a tensor of any shape.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g * sign(x)`, which is 0 at 0.
    Source: torch.abs

    >>> torch.abs(torch.tensor([-1.5, 2.0]))
    tensor([1.5000, 2.0000])
    """
    return np.abs(self)


def complex_sgn_vjp(g, self, result):
    """`(g - sgn² · conj g) / 2|z|`, and 0 at 0."""
    size = F.abs(self)
    twice = F.mul_scalar(size, 2.0)
    other_way = F.conj(g)
    slope = (g - (result * result) * other_way) / twice
    return F.masked_fill(slope, F.eq(size, 0.0), 0.0)


def sgn_jvp(self_t, self, result):
    """The same: the derivative is its own adjoint. That of a real number does not change with it."""
    return complex_sgn_vjp(self_t, self, result) if result._data.dtype.kind == "c" else F.zeros_like(self_t)


@differentiable(
    self=lambda g, self, result: F.zeros_like(g),
    complexes={"self": complex_sgn_vjp},
    jvp=sgn_jvp,
    elementwise=True,
    forms="function method method_",
)
def sgn(self):
    """Return the sign of each element: -1, 0 or 1; 0 for NaN, as in PyTorch. Of a complex number z: z/|z|, or
    0.
    """
    if self.dtype.kind == "b":
        return self
    if self.dtype.kind == "c":
        return np.sign(self)
    return ((self > 0).astype(self.dtype) - (self < 0).astype(self.dtype))[()]


@differentiable(
    self=zeros,
    elementwise=True,
    kernel=sgn.op.kernel,
    forms="function method method_",
)
def sign(self):
    """Return the sign of each element: -1, 0 or 1; 0 for NaN.

    Args:
        input: a tensor of any shape.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor. NotImplementedError if it is complex.
    Derivative: 0 everywhere.
    Source: torch.sign

    >>> torch.sign(torch.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """


@differentiable(self=lambda g, result: F.tanh_backward(g, result), elementwise=True, floating=True)
def tanh(self):
    """Return the hyperbolic tangent of each element.

    Args:
        input: a tensor; integers become the default float.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g * (1 - result ** 2)`.
    Source: torch.tanh

    >>> torch.tanh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    return np.tanh(self)


@elementwise(
    grad_output=itself, output=lambda g, grad_output, output: g * (F.mul_scalar(output, -2) * grad_output)
)
def tanh_backward(grad_output, output):
    """Return `grad_output · (1 - output²)`."""
    slope = output * output
    if (
        slope.__class__ is not np.ndarray
        or slope.dtype != grad_output.dtype
        or slope.shape != grad_output.shape
    ):
        return grad_output * (1 - slope)
    np.subtract(1, slope, slope)  # in the memory that is there: half of the time for a million elements
    return np.multiply(grad_output, slope, slope)


@in_float32
def logistic(x: Any) -> Any:
    """1 / (1 + e⁻ˣ), as PyTorch computes it: 0 where e⁻ˣ is too large."""
    e = np.exp(-x)
    e += 1
    return 1 / e


@differentiable(
    self=lambda g, result: F.sigmoid_backward(g, result), elementwise=True, floating=True, kernel=logistic
)
def sigmoid(self):
    """Return the logistic function of each element, 1 / (1 + e**-x).

    Args:
        input: a tensor; integers become the default float.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g * result * (1 - result)`.
    Source: torch.sigmoid

    >>> torch.sigmoid(torch.tensor([0.0, 1.0]))
    tensor([0.5000, 0.7311])
    """


@elementwise(
    grad_output=itself,
    output=lambda g, grad_output, output: g * grad_output * F.add_scalar(F.mul_scalar(output, -2), 1),
)
def sigmoid_backward(grad_output, output):
    """Return `grad_output · output · (1 - output)`."""
    return grad_output * (output * (1 - output))


# ─── Exponential, trigonometric and hyperbolic functions, and their inverses. See also `pointwise`


@function(self=lambda g, result: F.mul_scalar(g * result, ln(2)))
def exp2(self):
    """Return 2 to the power of each element."""
    return np.exp(self * ln(2)) if self.dtype.kind == "c" else np.exp2(self)


@function(self=lambda g, result: g * F.add_scalar(result, 1))
def expm1(self):
    """Return e to the power of each element, less 1: exact for small elements too."""
    return np.expm1(self)


@function(self=lambda g, self: g / F.add_scalar(self, 1))
def log1p(self):
    """Return the natural logarithm of each element plus 1: exact for small elements too."""
    return np.log1p(self)


@function(self=lambda g, self: g / F.mul_scalar(self, 2.3025850929940456))
def log10(self):
    """Return the logarithm of each element to base 10."""
    return np.log10(self)


@function(self=lambda g, self: g / F.mul_scalar(self, ln(2)))
def log2(self):
    """Return the logarithm of each element to base 2.

    Args:
        input: a tensor; integers become the default float.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g / (x * ln 2)`.
    Source: torch.log2

    >>> torch.log2(torch.tensor([1.0, 8.0]))
    tensor([0., 3.])
    """
    return np.log2(self)


def rsqrt_vjp(g, result):
    """`-g y³ / 2`; the cube first, as PyTorch does, which gives its node its age."""
    cube = F.pow_scalar(result, 3)
    return F.mul_scalar(g, -0.5) * cube


@function(self=rsqrt_vjp)
def rsqrt(self):
    """Return 1 divided by the square root of each element.

    Args:
        input: a tensor; integers become the default float.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `-g * result ** 3 / 2`.
    Source: torch.rsqrt

    >>> torch.rsqrt(torch.tensor([4.0, 2.0]))
    tensor([0.5000, 0.7071])
    """
    return 1 / np.sqrt(self)


@public(ALL, out="cast")
@choice
def square(input: Any) -> Any:
    """Return each element multiplied by itself.

    Args:
        input: a tensor of any shape.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `2 * g * x`.
    Source: torch.square

    >>> torch.square(torch.tensor([3.0, -2.0]))
    tensor([9., 4.])
    """
    return F.pow_scalar, (input, 2)


# ── of probabilities
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def logit_vjp(g, self, eps):
    """`g / (p (1 - p))`; outside of the bounds 0, or without any NaN."""
    low, high = (0.0, 1.0) if eps is None else (eps, 1.0 - eps)
    within = F.logical_and(F.ge(self, low), F.le(self, high))
    return F.where(within, g / (self * F.sub(1.0, self)), nan if eps is None else 0.0)


@function(self=logit_vjp)
def logit(self, eps=None):
    """Return `ln(p / (1 - p))` of each element, first brought into `[eps, 1 - eps]`; without `eps` NaN
    outside of `[0, 1]`.
    """
    p = self
    if eps is not None:
        check_real("logit", "eps", eps, 2)
        low, high = self.dtype.type(eps), self.dtype.type(1 - eps)
        p = np.where(self < low, low, np.where(self > high, high, self))[()]
    return np.log(p / (1 - p))


# ── x ln y
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def log_vjp(g, self, other):
    """`g ln y`, and 0 where the product is constant though the logarithm is not finite."""
    constant = F.logical_and(F.eq(self, 0.0), F.le(other, 0.0))
    return F.masked_fill(F.xlogy(g, other), constant, 0.0)


@elementwise(
    self=log_vjp,
    other=lambda g, self, other: g * self / other,
    floating=True,
)
def xlogy(self, other):
    """Return `input · ln other`; 0 where `input` is 0."""
    x, y = as_float32(self), as_float32(other)
    constant = np.equal(x, 0) & ~np.isnan(y)
    return np.where(constant, 0, x * np.log(y)).astype(np.result_type(self, other))[()]


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
    """Return the inverse cosine of each element: an angle in radians."""
    return np.arccos(self)


@function(self=lambda g, self: g * asin_slope(self), also="arcsin")
def asin(self):
    """Return the inverse sine of each element: an angle in radians."""
    return np.arcsin(self)


@function(self=lambda g, self: g / F.add_scalar(self * self, 1), also="arctan")
def atan(self):
    """Return the inverse tangent of each element: an angle in radians."""
    return np.arctan(self)


@function(
    self=lambda g, self: g * F.rsqrt(F.sub_scalar(self * self, 1)),
    complexes={"self": lambda g, self: g * F.conj(acosh_slope(self))},
    also="arccosh",
)
def acosh(self):
    """Return the inverse hyperbolic cosine of each element."""
    return np.arccosh(self)


@function(self=lambda g, self: g * asinh_slope(self), also="arcsinh")
def asinh(self):
    """Return the inverse hyperbolic sine of each element."""
    return np.arcsinh(self)


def atanh_vjp(g, self):
    """`g / (1 - x²)`."""
    below = F.sub(1, F.pow_scalar(self, 2))
    return F.mul_scalar(g, 1) / below


@function(self=atanh_vjp, also="arctanh")
def atanh(self):
    """Return the inverse hyperbolic tangent of each element."""
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


def atan2_self_vjp(g, self, other):
    """Return the gradient of the point's height."""
    inverse = inverse_square(self, other)
    return g * other * inverse


def atan2_other_vjp(g, self, other):
    """Return the gradient of the point's width."""
    inverse = inverse_square(self, other)
    return g * -self * inverse


@differentiable(
    self=atan2_self_vjp,
    other=atan2_other_vjp,
    elementwise=True,
    floating=True,
    numbers=False,
    forms="function method method_",
    also="arctan2",
)
def atan2(self, other):
    """Return the angle of the point (other, self) in the plane, in radians from -π to π."""
    return np.arctan2(self, other)
