"""Modified Bessel functions of the first kind.

Up to 30 by the power series, whose terms are all positive; beyond by the asymptotic one, which has all digits
there. Both are computed without the factor `exp(|x|)`, which is put back at the end. What a vjp subtracts it
computes first, as PyTorch does, which gives its nodes their ages.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from ..op import F
from ..op.registry import RAW
from ..tensor_base import TensorBase
from .elementwise import function, no_kernel, special

FAR = 30.0


def scaled(order: int, x: Any) -> Any:
    """`exp(-|x|) · I(x)` of order 0 or 1."""
    size = np.abs(x)
    found = np.where(
        size > FAR, asymptotic(order, np.maximum(size, FAR)), by_powers(order, np.minimum(size, FAR))
    )
    return np.copysign(found, x) if order else found


def by_powers(order: int, x: Any) -> Any:
    """`exp(-x) · Σ (x/2)^(2k + n) / (k! (k + n)!)`."""
    term = (x / 2) ** order
    total = term
    for k in range(1, 80):
        term = term * (x / 2) ** 2 / (k * (k + order))
        total = total + term
    return total * np.exp(-x)


def asymptotic(order: int, x: Any) -> Any:
    """`1 / √(2πx) · (1 - (4n² - 1) / 8x + (4n² - 1)(4n² - 9) / 2!(8x)² - …)`."""
    term = np.ones_like(x)
    total = term
    for k in range(1, 26):
        term = -term * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        total = total + term
    return total / np.sqrt(2 * pi * x)


@function(self=lambda g, self: g * F.special_i1(self), check=no_kernel("i0_vml_cpu"))
def i0(self):
    """Modified Bessel function of order 0."""
    return special_i0e.op.kernel(self) * np.exp(np.abs(self))


def i0e_vjp(g: Any, self: Any, result: Any) -> Any:
    """`g · (e⁻ˣ I₁(x) - sgn(x) e⁻ˣ I₀(x))`."""
    less = F.sgn(self) * result
    return g * (F.special_i1e(self) - less)


@special(
    self=i0e_vjp,
    node="SpecialI0EBackward0",
    check=no_kernel("i0e_cpu"),
)
def special_i0e(self):
    """Modified Bessel function of order 0, times `exp(-|x|)`."""
    return scaled(0, self)


def smallest_step(x: Any) -> float:
    """The distance from 1 to the next number of the dtype of `x`."""
    value = x._data if isinstance(x, TensorBase) else x if isinstance(x, RAW) else x.value
    return float(np.finfo(value.dtype).eps)


def i1_vjp(g: Any, self: Any, result: Any) -> Any:
    """`g · (I₀(x) - I₁(x) / x)`, and `g/2` at 0."""
    step = smallest_step(self)
    large = F.gt(F.abs(self), step)
    x = F.where(large, self, step)
    less = result * F.reciprocal(x)
    return g * F.where(large, F.i0(x) - less, 0.5)


def i1e_vjp(g: Any, self: Any, result: Any) -> Any:
    """The same with the factor `exp(-|x|)` differentiated too."""
    step = smallest_step(self)
    large = F.gt(F.abs(self), step)
    x = F.where(large, self, step)
    inverse = F.reciprocal(x)
    less = result * (F.sgn(x) + inverse)
    return g * F.where(large, F.special_i0e(x) - less, 0.5)


@function(self=i1_vjp, node="SpecialI1Backward0", check=no_kernel("i1_cpu"))
def special_i1(self):
    """Modified Bessel function of order 1."""
    return special_i1e.op.kernel(self) * np.exp(np.abs(self))


@special(self=i1e_vjp, node="SpecialI1EBackward0", check=no_kernel("i1e_cpu"))
def special_i1e(self):
    """Modified Bessel function of order 1, times `exp(-|x|)`."""
    return scaled(1, self)
