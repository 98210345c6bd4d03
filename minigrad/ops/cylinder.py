"""Bessel functions of orders 0 and 1, and Airy's function.

The oscillating ones come from their power series up to 12, and from Hankel's asymptotic series beyond, where
both have ten digits or more; those that decay from an integral over all real t of a function that dies away
so fast that the sum over equal steps is as good as the integral. PyTorch does not differentiate them.
"""

from __future__ import annotations

from math import gamma, inf, nan, pi
from typing import Any

import numpy as np

from ..dtypes import float16
from .bessel import scaled
from .elementwise import COMPLEX, no_kernel, special

FAR = 12.0
EULER = 0.5772156649015329

# ── which oscillate
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def by_powers(order: float, x: Any) -> Any:
    """`(x/2)^ν · Σ (-1)^k (x/2)^2k / (k! Γ(k + ν + 1))`."""
    term = (x / 2) ** order / gamma(order + 1)
    total = term
    for k in range(1, 40):
        term = -term * (x / 2) ** 2 / (k * (k + order))
        total = total + term
    return total


def far_parts(order: float, x: Any) -> tuple[Any, Any]:
    """The even and the odd terms of Hankel's series, times √(2 / πx)."""
    term = np.sqrt(2 / (pi * x))
    parts = [term, np.zeros_like(x)]
    for k in range(1, 25):
        term = term * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        parts[k % 2] = parts[k % 2] + (term if k % 4 < 2 else -term)
    return parts[0], parts[1]


def first_kind(order: float, x: Any) -> Any:
    """J of positive numbers."""
    even, odd = far_parts(order, np.maximum(x, FAR))
    angle = x - (2 * order + 1) * pi / 4
    far = even * np.cos(angle) - odd * np.sin(angle)
    return np.where(x > FAR, far, by_powers(order, np.minimum(x, FAR)))


def second_kind(order: int, x: Any) -> Any:
    """Y of positive numbers, order 0 or 1."""
    even, odd = far_parts(order, np.maximum(x, FAR))
    angle = x - (2 * order + 1) * pi / 4
    return np.where(
        x > FAR, even * np.sin(angle) + odd * np.cos(angle), near_second(order, np.minimum(x, FAR))
    )


def near_second(order: int, x: Any) -> Any:
    """`2/π · ln(x/2) · J(x)`, and a power series of its own."""
    harmonic = -2 * EULER + order  # ψ(k + 1) + ψ(k + n + 1)
    term = (x / 2) ** order
    total = harmonic * term
    for k in range(1, 40):
        term = -term * (x / 2) ** 2 / (k * (k + order))
        harmonic = harmonic + 1 / k + 1 / (k + order)
        total = total + harmonic * term
    pole = 2 / (pi * x) if order else 0
    return 2 / pi * np.log(x / 2) * by_powers(order, x) - total / pi - pole


def of_positive(x: Any, found: Any, at_zero: float) -> Any:
    """NaN for negative numbers, and what it is at 0."""
    return np.where(x == 0, at_zero, np.where(x < 0, nan, found))


def refuses_half(name: str) -> Any:
    """PyTorch's error for dtypes for which it has no kernel."""
    return no_kernel(name + "_cpu", float16, COMPLEX)


@special(check=refuses_half("bessel_j0"))
def special_bessel_j0(self):
    """Bessel function of the first kind of order 0."""
    return first_kind(0, np.abs(self))


@special(check=refuses_half("bessel_j1"))
def special_bessel_j1(self):
    """Bessel function of the first kind of order 1."""
    return np.copysign(1, self) * first_kind(1, np.abs(self))


@special(check=refuses_half("bessel_y0"))
def special_bessel_y0(self):
    """Bessel function of the second kind of order 0, NaN for negative numbers."""
    return of_positive(self, second_kind(0, self), -inf)


@special(check=refuses_half("bessel_y1"))
def special_bessel_y1(self):
    """Bessel function of the second kind of order 1, NaN for negative numbers."""
    return of_positive(self, second_kind(1, self), -inf)


@special(check=refuses_half("spherical_bessel_j0"))
def special_spherical_bessel_j0(self):
    """Spherical Bessel function of order 0: `sin(x) / x`, 1 at 0."""
    x = np.where(np.isinf(self), nan, self)
    return np.where(np.isinf(self), 0, np.where(self == 0, 1, np.sin(x) / np.where(self == 0, 1, x)))


# ── which grow or decay
# ─────────────────────────────────────────────────────────────────────────────────────────────────

STEP = 0.125
STEPS = 480  # up to t = 60, enough for x above 1e-24


def decaying(order: float, x: Any) -> Any:
    """`eˣ · K(x)` of positive numbers: `∫ exp(-x (cosh t - 1)) cosh(νt) dt` from 0, beyond 12 by its
    asymptotic series.
    """
    near = np.minimum(x, FAR)
    total = np.full_like(near, 0.5)
    for t in STEP * np.arange(1, STEPS):
        total = total + np.exp(-near * (np.cosh(t) - 1) + np.log(np.cosh(order * t)))
    far = np.maximum(x, FAR)
    term = np.sqrt(pi / (2 * far))
    series = term
    for k in range(1, 25):
        term = term * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * far)
        series = series + term
    return np.where(x > FAR, series, STEP * total)


@special(check=refuses_half("modified_bessel_i0"))
def special_modified_bessel_i0(self):
    """Modified Bessel function of the first kind of order 0."""
    return scaled(0, self) * np.exp(np.abs(self))


@special(check=refuses_half("modified_bessel_i1"))
def special_modified_bessel_i1(self):
    """Modified Bessel function of the first kind of order 1."""
    return scaled(1, self) * np.exp(np.abs(self))


@special(check=refuses_half("scaled_modified_bessel_k0"))
def special_scaled_modified_bessel_k0(self):
    """Modified Bessel function of the second kind of order 0, times `exp(x)`; NaN for negative numbers."""
    return of_positive(self, decaying(0, self), inf)


@special(check=refuses_half("scaled_modified_bessel_k1"))
def special_scaled_modified_bessel_k1(self):
    """Modified Bessel function of the second kind of order 1, times `exp(x)`; NaN for negative numbers."""
    return of_positive(self, decaying(1, self), inf)


@special(check=refuses_half("modified_bessel_k0"))
def special_modified_bessel_k0(self):
    """Modified Bessel function of the second kind of order 0; NaN for negative numbers."""
    return of_positive(self, decaying(0, self) * np.exp(-self), inf)


@special(check=refuses_half("modified_bessel_k1"))
def special_modified_bessel_k1(self):
    """Modified Bessel function of the second kind of order 1; NaN for negative numbers."""
    return of_positive(self, decaying(1, self) * np.exp(-self), inf)


@special(check=refuses_half("airy_ai"))
def special_airy_ai(self):
    """Airy's function Ai: Bessel functions of order 1/3 of `2/3 · |x|^(3/2)`."""
    size = np.where(self == 0, 1, np.abs(self))
    z = 2 / 3 * size**1.5
    right = np.sqrt(size / 3) / pi * decaying(1 / 3, z) * np.exp(-z)
    left = np.sqrt(size) / 3 * (first_kind(1 / 3, z) + first_kind(-1 / 3, z))
    at_zero = 1 / (3 ** (2 / 3) * gamma(2 / 3))
    return np.where(self == 0, at_zero, np.where(self > 0, right, left))
