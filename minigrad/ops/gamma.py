"""The gamma function and its kin: Euler's, Riemann's and Hurwitz's, each by a series.

Far out on the right they have an asymptotic series in Bernoulli numbers; closer in, their recurrence leads
there, and left of zero they are reflected. At the poles the results are PyTorch's.
"""

from __future__ import annotations

import math
from math import factorial, inf, log, nan, pi
from typing import Any

import numpy as np

from ..dtypes import of
from ..op import F, differentiable, rename
from ..tensor_base import TensorBase
from .elementwise import (
    BOOL,
    function,
    must_be,
    must_be_tensor,
    no_kernel,
    one_by_one,
    precise,
    refuses,
    special,
)
from .halves import not_implemented

# B₂, B₄ … B₂₄
BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
    854513 / 138, -236364091 / 2730,
)  # fmt: skip


def log_gamma(x: float) -> float:
    """ln |Γ(x)|, infinite at the poles and where it is too large."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return inf


@special(self=lambda g, self: g * F.digamma(self), check=no_kernel("lgamma_vml_cpu"))
def lgamma(self):
    """Natural logarithm of the absolute value of the gamma function."""
    return one_by_one(log_gamma)(self)


# ── derivatives of ln Γ
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def psi(x: Any) -> Any:
    """The digamma function of an array: NaN at the poles, but infinite at zero."""
    left = x < 0
    y = np.where(left, 1 - x, x)
    total = np.where(left, -pi / np.tan(pi * np.fmod(x, 1)), 0)
    for _ in range(10):
        small = y < 10
        total = total - np.where(small, 1 / y, 0)
        y = y + small
    total = total + np.log(y) - 0.5 / y
    for k, b in enumerate(BERNOULLI[:7], 1):
        total = total - b / (2 * k) * y ** (-2 * k)
    total = np.where(left & (x == np.trunc(x)), nan, total)
    return np.where(x == 0, np.copysign(inf, -x), total)


def trigamma(x: Any) -> Any:
    """The derivative of the digamma function, by reflection left of 1/2; in the dtype of `x`."""
    left = x < 0.5
    y = np.where(left, 1 - x, x)
    total = np.zeros_like(y)
    for _ in range(6):
        total = total + 1 / (y * y)
        y = y + 1
    square = 1 / (y * y)
    total = total + (1 + 1 / (2 * y) + square * (1 / 6 - square * (1 / 30 - square * (1 / 42)))) / y
    sine = np.sin(x.dtype.type(pi) * x)
    return np.where(left, x.dtype.type(pi * pi) / (sine * sine) - total, total)[()]


def hurwitz(s: Any, q: Any) -> Any:
    """Hurwitz's zeta function Σ (q + k)⁻ˢ of two arrays. The terms left of zero are, up to their sign, the
    difference of two such sums to the right of it.
    """
    left = np.where(q > 0, 0, np.floor(-q) + 1)  # how many terms
    beyond = (-1) ** s * (far_sum(s, -(q + (left - 1))) - far_sum(s, 1 - q))
    total = far_sum(s, q + left) + np.where(left > 0, beyond, 0)
    pole = (s == 1) | ((s > 1) & (q <= 0) & (q == np.floor(q)))
    unknown = (s < 1) | ((q <= 0) & (s != np.floor(s)))
    return np.where(pole, inf, np.where(unknown, nan, total))


def far_sum(s: Any, q: Any) -> Any:
    """The same for q > 0: nine terms, and the rest by the sum of Euler and Maclaurin."""
    total = sum((q + k) ** -s for k in range(9))
    a = q + 9
    total = total + a * a**-s / (s - 1) + a**-s / 2  # NaN for infinity, as in PyTorch
    rising, power = s, a ** (-s - 1)
    for k, b in enumerate(BERNOULLI, 1):
        total = total + b / factorial(2 * k) * rising * power
        rising = rising * (s + 2 * k - 1) * (s + 2 * k)
        power = power / (a * a)
    return total


@precise
def higher_derivative(x: Any, n: int) -> Any:
    """The `n`-th derivative of the digamma function, for n > 1."""
    return (-1) ** (n + 1) * factorial(n) * hurwitz(np.asarray(n + 1.0), x)


@special(self=lambda g, self: g * F.polygamma_of(self, 1), check=no_kernel("digamma"))
def digamma(self):
    """Derivative of the logarithm of the gamma function."""
    return psi(self)


@function(self=lambda g, self, n: g * F.polygamma_of(self, n + 1), node="PolygammaBackward0")
def polygamma_of(self, n):
    """The `n`-th derivative of the digamma function of each element."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if self.dtype.kind == "c":
        raise not_implemented(("digamma", "trigamma", "polygamma")[min(n, 2)], of(self))
    if n > 1:
        return higher_derivative(self, n)
    return trigamma(self) if n else digamma.op.kernel(self)


def polygamma(n: Any, input: Any) -> Any:
    """The `n`-th derivative of the digamma function; RuntimeError for a negative `n`."""
    must_be(int, "polygamma", "n", n, 1)
    must_be_tensor("polygamma", input, 2)
    return polygamma_of(input, n)


# ── several variables
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def steps_of(p: int) -> Any:
    """0, -1/2, -1 … for the `p` factors of the multivariate gamma function, in rising order."""
    return (np.arange(p) - (p - 1)) / 2


@differentiable()
def half_steps(self, p):
    """What is added to an element in the `p` factors of its multivariate gamma function."""
    return steps_of(p).astype(self.dtype)


def mvlgamma_vjp(g: Any, p: Any, self: Any) -> Any:
    """`g` times the sum of the digamma functions of the factors."""
    factors = F.half_steps(self, p) + F.unsqueeze(self, -1)
    return g * F.sum_dim(digamma_in_place(factors), (-1,), False)


def digamma_in_place(x: Any) -> Any:
    """The digamma function, of a tensor in its memory, as PyTorch's graph shows."""
    return F.in_place(F.digamma.op, x) if isinstance(x, TensorBase) else F.digamma(x)


def real_numbers(kinds: Any) -> None:
    """PyTorch's errors for the multivariate gamma function of bools and of complex numbers."""
    refuses("The input tensor may not be a boolean tensor.", BOOL, error=RuntimeError)(kinds)
    no_kernel("arange_cpu")(kinds)


@special(self=mvlgamma_vjp, node="MvlgammaBackward0", check=real_numbers)
def mvlgamma_of(self, p):
    """Logarithm of the multivariate gamma function of dimension `p` of each element."""
    factors = np.expand_dims(self, -1) + steps_of(p)
    return np.sum(one_by_one(log_gamma)(factors), -1) + p * (p - 1) / 4 * log(pi)


def mvlgamma(input: Any, p: Any) -> Any:
    """Logarithm of the multivariate gamma function of dimension `p`; RuntimeError unless `p` is positive."""
    check_dimension(p)
    return mvlgamma_of(input, p)


def check_dimension(p: Any) -> None:
    """TypeError or RuntimeError with PyTorch's text unless `p` is a positive integer."""
    must_be(int, "mvlgamma", "p", p, 2)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")


rename(polygamma_of, "polygamma")
rename(mvlgamma_of, "mvlgamma")
