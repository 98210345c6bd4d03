"""The error function, the normal distribution and their inverses."""

from __future__ import annotations

import math
from math import inf, nan, pi, sqrt
from typing import Any

import numpy as np

from ..core import F, differentiable
from .elementwise import must_be_tensor, no_kernel, one_by_one, special
from .error_function import error_function

SLOPE = 2 / sqrt(pi)  # of the error function, at 0

erf_of = one_by_one(math.erf)
erfc_of = one_by_one(math.erfc)


def quantile(x: Any) -> Any:
    """The quantiles of the normal distribution."""
    from statistics import NormalDist  # which, with `fractions` and `decimal`, takes 3 ms to import

    return one_by_one(NormalDist().inv_cdf)(x)


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
    """Return the error function of each element."""
    return error_function(self)


@special(self=lambda g, self: bell(self, -SLOPE) * g, check=no_kernel("erfc_vml_cpu"))
def erfc(self):
    """1 less the error function of each element, exact where that is small."""
    return erfc_of(self)


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
    forms="function method method_",
)
def erfinv(self):
    """Return the number whose error function each element is: infinite for 1 and -1, NaN beyond."""
    return inverse_erf(self)


# ── the normal distribution
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def special_ndtr(input: Any) -> Any:
    """Return the share of the normal distribution that lies below each element."""
    must_be_tensor("special_ndtr", input)
    return F.mul_scalar(F.add_scalar(F.erf(F.mul_scalar(input, sqrt(0.5))), 1), 0.5)
