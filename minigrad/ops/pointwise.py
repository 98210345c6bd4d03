"""Elementary functions: exponential, logarithm, sine, absolute value, sign, tanh and sigmoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable, itself, zeros
from .checks import only, refuses
from .kernels import elementwise, wide


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
    check=only("iufc", "abs_cpu"),
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
    check=refuses(
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
    ),
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


@wide
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
