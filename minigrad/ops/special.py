"""Special functions that NumPy does not have: the error function, its inverse, and the gamma function.

SciPy computes the derivatives of the gamma function. It is an optional extra.
"""

from __future__ import annotations

import functools
import math
from math import inf, nan, pi, sqrt
from typing import Any

import numpy as np

from ..core import F, differentiable, rename
from ..core.guards import refuse
from ..core.public import public
from .kernels import declaring
from .kernels import in_float32 as wide


def by_scipy(name: str, *args: Any) -> Any:
    """Return the function `name` of `scipy.special`, in double precision."""
    try:
        from scipy import special as functions
    except ImportError as error:
        raise ImportError(
            f'SciPy computes special functions such as {name}: pip install "minigrad-viz[scipy]"'
        ) from error
    return getattr(functions, name)(*args)


def precise(kernel: Any) -> Any:
    """Return a kernel that computes in double precision and rounds once."""

    @functools.wraps(kernel)
    def run(self: Any, *others: Any) -> Any:
        return np.asarray(kernel(np.asarray(self, np.float64), *others), np.float64).astype(self.dtype)[()]

    return run


def one_by_one(function: Any) -> Any:
    """Return a function of Python's `math` on arrays."""
    on_objects = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(on_objects(x), np.float64)


# Declares a function of one real number that is computed in double precision, whatever its dtype.
special = declaring(precise, floating=True, forms="function method method_")


def log_gamma(x: float) -> float:
    """ln |Γ(x)|, infinite at the poles and where it is too large."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


@special(self=lambda g, self: g * F.digamma(self))
def lgamma(self):
    """Natural logarithm of the absolute value of the gamma function."""
    return one_by_one(log_gamma)(self)


@special(self=lambda g, self: g * F.polygamma_of(self, 1))
def digamma(self):
    """Derivative of the logarithm of the gamma function."""
    return by_scipy("psi", self)


def trigamma(x: Any) -> Any:
    """The derivative ψ' of the digamma function, in the dtype of `x` as PyTorch computes it: at a pole it is
    as large as the sine of π x is small there. By ψ'(x) = ψ'(x + 1) + 1 / x², six times, and an asymptotic
    series.
    """
    left = x < 0.5
    sine = np.sin(x * x.dtype.type(pi))
    mirrored = x.dtype.type(pi * pi) / (sine * sine)
    y = np.where(left, 1 - x, x)
    total: Any = 0
    for _ in range(6):
        total = total + 1 / (y * y)
        y = y + 1
    z = 1 / (y * y)
    total = total + (1 + 1 / (2 * y) + z * (1 / 6 - z * (1 / 30 - z * (1 / 42)))) / y
    return np.where(left, mirrored - total, total)


@differentiable(
    self=lambda g, self, n: g * F.polygamma_of(self, n + 1),
    node="PolygammaBackward0",
    forms="",
    elementwise=True,
    floating=True,
)
@wide
def polygamma_of(self, n):
    """Return the `n`-th derivative of the digamma function of each element."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 1:
        return trigamma(self)[()]
    if n == 0:
        return digamma.op.kernel(self)
    far = self == inf  # there PyTorch multiplies 0 by infinity
    return np.where(far, nan, by_scipy("polygamma", n, np.asarray(self, np.float64))).astype(self.dtype)[()]


@public("function", out="cast")
def polygamma(n: Any, input: Any) -> Any:
    """Return the `n`-th derivative of the digamma function; RuntimeError for a negative `n`."""
    refuse_complex_polygamma(n, input)
    return polygamma_of(input, n)


def refuse_complex_polygamma(n: Any, input: Any) -> None:
    """NotImplementedError with PyTorch's text for a tensor of complex numbers."""
    if n >= 0:
        refuse(input._data, ("polygamma_0", "polygamma_1", "polygamma_2")[min(n, 2)])


rename(polygamma_of, "polygamma")


SLOPE = 2 / sqrt(pi)  # of the error function, at 0

erf_of = one_by_one(math.erf)
erfc_of = one_by_one(math.erfc)


# erf(x) / x up to 4, from where on it is 1 in single precision, as a quotient of polynomials in x²: fitted by
# least squares to 1e-11 of its size. The last coefficient is the constant one.
ABOVE = (
    3.0213530962098546e-09, 7.505367751531217e-07, 2.15429397222227e-05, 0.000510677862690909,
    0.004926447674259311, 0.05799919721310697, 0.1995868699069343, 1.1283791670876866,
)  # fmt: skip
BELOW = (
    7.343305452644959e-08, 4.479855066804578e-06, 0.00011069400249576582, 0.001705301755244277,
    0.017644643240543757, 0.12147131713216004, 0.5102125910424646, 1.0,
)  # fmt: skip


FEW = 64  # fewer numbers take less time one after the other


def error_function(x: Any) -> Any:
    """The error function of each element, in the dtype of `x`, rounded once. Of float64 one number after the
    other; of narrower floats ten times as fast, in double precision, where one number in some 15,000 is
    rounded to the other side.
    """
    if x.dtype == np.float64 or x.size < FEW:
        return np.asarray(erf_of(x), np.float64).astype(x.dtype)[()]
    near = np.asarray(x, np.float64).clip(-4, 4)
    squares = near * near
    return (np.polyval(ABOVE, squares) * near / np.polyval(BELOW, squares)).astype(x.dtype)[()]


def bell(self: Any, factor: float) -> Any:
    """`factor · exp(-x²)`."""
    return F.mul_scalar(F.exp(F.neg(F.pow_scalar(self, 2))), factor)


@differentiable(
    self=lambda g, self: bell(self, SLOPE) * g,
    elementwise=True,
    floating=True,
)
def erf(self):
    """Return the error function of each element."""
    return error_function(self)


@special(forms=None, self=lambda g, self: bell(self, -SLOPE) * g)
def erfc(self):
    """1 minus the error function of each element, precise even where the result is small."""
    return erfc_of(self)


def inverse_normal(p: Any) -> Any:
    """The number below which the normal distribution has the share `p`: infinite for 0 and 1, NaN outside."""
    from statistics import NormalDist  # which, with `fractions` and `decimal`, takes 3 ms to import

    inside = (p > 0) & (p < 1)
    ends = np.where(p == 0, -inf, np.where(p == 1, inf, nan))
    return np.where(inside, one_by_one(NormalDist().inv_cdf)(np.where(inside, p, 0.5)), ends)


def inverse_erf(y: Any) -> Any:
    """The inverse of the error function: of small numbers with one step of Newton's more, which `1 - |y|` has
    not the digits for.
    """
    x = np.copysign(-inverse_normal((1 - np.abs(y)) / 2) / sqrt(2), y)
    small = np.abs(y) < 0.5
    start = np.where(small, x, 0)
    return np.where(small, start - (erf_of(start) - np.where(small, y, 0)) / SLOPE * np.exp(start * start), x)


@special(
    self=lambda g, self: F.mul_scalar(F.exp(F.pow_scalar(F.erfinv(self), 2)), sqrt(pi) / 2) * g,
)
def erfinv(self):
    """Return the number whose error function each element is: infinite for 1 and -1, NaN beyond."""
    return inverse_erf(self)


def special_ndtr(input: Any) -> Any:
    """Return the share of the normal distribution that lies below each element."""
    return F.mul_scalar(F.add_scalar(F.erf(F.mul_scalar(input, sqrt(0.5))), 1), 0.5)
