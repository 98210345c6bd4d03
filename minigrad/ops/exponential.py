"""Powers and logarithms.

At x = 0 with y outside the domain of the logarithm, PyTorch takes 0 as the derivative of `x ln y`
with respect to x.
"""

from __future__ import annotations

from math import log as ln
from math import nan
from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.public import ALL, public
from .checks import must_be, no_kernel, only
from .elementwise import function
from .half_precision import widened
from .overloads import choice


@function(self=lambda g, result: F.mul_scalar(g * result, ln(2)))
def exp2(self):
    """Return 2 to the power of each element."""
    return np.exp(self * ln(2)) if self.dtype.kind == "c" else np.exp2(self)


@function(self=lambda g, result: g * F.add_scalar(result, 1))
def expm1(self):
    """Return e to the power of each element, less 1: exact for small elements too."""
    return np.expm1(self)


@function(self=lambda g, self: g / F.add_scalar(self, 1), node="Log1PBackward0")
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


def rsqrt_vjp(g: Any, result: Any) -> Any:
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


def logit_vjp(g: Any, self: Any, eps: Any) -> Any:
    """`g / (p (1 - p))`; outside of the bounds 0, or without any NaN."""
    low, high = (0.0, 1.0) if eps is None else (eps, 1.0 - eps)
    within = F.logical_and(F.ge(self, low), F.le(self, high))
    return F.where(within, g / (self * F.sub(1.0, self)), nan if eps is None else 0.0)


@function(self=logit_vjp, check=no_kernel("logit_cpu"))
def logit(self, eps=None):
    """Return `ln(p / (1 - p))` of each element, first brought into `[eps, 1 - eps]`; without `eps` NaN
    outside of `[0, 1]`.
    """
    p = self
    if eps is not None:
        must_be(float, "logit", "eps", eps, 2)
        low, high = self.dtype.type(eps), self.dtype.type(1 - eps)
        p = np.where(self < low, low, np.where(self > high, high, self))[()]
    return np.log(p / (1 - p))


# ── x ln y
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def log_vjp(g: Any, self: Any, other: Any) -> Any:
    """`g ln y`, and 0 where the product is constant though the logarithm is not finite."""
    constant = F.logical_and(F.eq(self, 0.0), F.le(other, 0.0))
    return F.masked_fill(F.xlogy(g, other), constant, 0.0)


@differentiable(
    self=log_vjp,
    other=lambda g, self, other: g * self / other,
    elementwise=True,
    floating=True,
    check=only("biuf", "xlogy_cpu"),
    forms="",
)
def xlogy(self, other):
    """Return `input · ln other`; 0 where `input` is 0."""
    x, y = widened(self), widened(other)
    constant = np.equal(x, 0) & ~np.isnan(y)
    return np.where(constant, 0, x * np.log(y)).astype(np.result_type(self, other))[()]
