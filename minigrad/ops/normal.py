"""The error function, the normal distribution and their inverses."""

from __future__ import annotations

import math
from math import inf, nan, pi, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from ..dtypes import float16
from ..op import F, differentiable
from .elementwise import COMPLEX, must_be_tensor, no_kernel, one_by_one, special
from .error_function import error_function

SLOPE = 2 / sqrt(pi)  # of the error function, at 0

erf_of = one_by_one(math.erf)
erfc_of = one_by_one(math.erfc)
quantile = one_by_one(NormalDist().inv_cdf)


def bell(self: Any, factor: float) -> Any:
    """`factor · exp(-x²)`."""
    return F.mul_scalar(F.exp(F.neg(F.pow_scalar(self, 2))), factor)


@differentiable(
    self=lambda g, self: bell(self, SLOPE) * g,
    check=no_kernel("erf_vml_cpu"),
    elementwise=True,
    floating=True,
)
def erf(self):
    """The error function of each element."""
    return error_function(self)


@special(self=lambda g, self: bell(self, -SLOPE) * g, check=no_kernel("erfc_vml_cpu"))
def erfc(self):
    """1 less the error function of each element, exact where that is small."""
    return erfc_of(self)


def scaled_erfc(x: Any) -> Any:
    """`exp(x²) · erfc(x)`: from 5 on by its continued fraction, since the factors overflow."""
    y = np.maximum(x, 5)
    fraction = np.zeros_like(y)
    for k in range(60, 0, -1):
        fraction = k / 2 / (y + fraction)
    return np.where(x < 5, np.exp(x * x) * erfc_of(x), 1 / (sqrt(pi) * (y + fraction)))


@special(
    self=lambda g, self, result: F.sub_scalar(F.mul_scalar(self, 2.0) * result, SLOPE) * g,
    node="SpecialErfcxBackward0",
    check=no_kernel("erfcx_cpu", COMPLEX, float16),
)
def special_erfcx(self):
    """`exp(x²) · erfc(x)` of each element."""
    return scaled_erfc(self)


def inverse_normal(p: Any) -> Any:
    """The number below which the normal distribution has the share `p`: infinite for 0 and 1, NaN outside."""
    inside = (p > 0) & (p < 1)
    ends = np.where(p == 0, -inf, np.where(p == 1, inf, nan))
    return np.where(inside, quantile(np.where(inside, p, 0.5)), ends)


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
    check=no_kernel("erfinv_vml_cpu"),
)
def erfinv(self):
    """The number whose error function each element is: infinite for 1 and -1, NaN beyond."""
    return inverse_erf(self)


# ── the normal distribution
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def special_ndtr(input: Any) -> Any:
    """The share of the normal distribution that lies below each element."""
    must_be_tensor("special_ndtr", input)
    return F.mul_scalar(F.add_scalar(F.erf(F.mul_scalar(input, sqrt(0.5))), 1), 0.5)


def ndtri_vjp(g: Any, result: Any) -> Any:
    """`g √(2π) exp(y²/2)`; the last factor first, as PyTorch does, which gives its nodes their ages."""
    steep = F.exp(F.div_scalar(F.pow_scalar(result, 2), 2))
    return F.mul_scalar(g, sqrt(2 * pi)) * steep


@special(
    self=ndtri_vjp,
    node="SpecialNdtriBackward0",
    check=no_kernel("ndtri_cpu", COMPLEX, float16),
)
def special_ndtri(self):
    """The number below which the normal distribution has the share that each element is."""
    return inverse_normal(self)


def log_ndtr_vjp(g: Any, self: Any, result: Any) -> Any:
    """`g exp(-(y + x²/2)) / √(2π)`, the last factor first."""
    density = F.exp(F.neg(result + F.div_scalar(F.pow_scalar(self, 2), 2)))
    return F.div_scalar(g, sqrt(2 * pi)) * density


@special(
    self=log_ndtr_vjp,
    node="SpecialLogNdtrBackward0",
    check=no_kernel("log_ndtr_cpu", COMPLEX, float16),
)
def special_log_ndtr(self):
    """Logarithm of the share of the normal distribution that lies below each element."""
    x = self * sqrt(0.5)
    right = np.log1p(-erfc_of(x) / 2)
    return np.where(self < -1, np.log(scaled_erfc(np.maximum(-x, 0)) / 2) - x * x, right)
