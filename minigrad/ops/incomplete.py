"""The incomplete gamma functions, and the zeta function of two variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import float16
from ..op import F, differentiable
from .elementwise import BOOL, COMPLEX, INTEGER, no_kernel, one_by_one
from .gamma import hurwitz, log_gamma
from .halves import wide

MOST = 5000  # terms; more than a thousand are needed only where both arguments are about a million


def from_below(a: Any, x: Any) -> Any:
    """`Σ x^k / (a (a+1) … (a+k))`."""
    term = 1 / a
    total = term
    for k in range(1, MOST):
        term = term * x / (a + k)
        total = total + term
        if np.all(np.abs(term) <= np.abs(total) * 1e-17):
            break
    return total


def from_above(a: Any, x: Any) -> Any:
    """The continued fraction `1 / (x + 1 - a - 1(1 - a) / (x + 3 - a - …))`, by Lentz's method."""
    tiny = 1e-300
    b = x + 1 - a
    c = np.full_like(b, 1 / tiny)
    d = 1 / np.where(b == 0, tiny, b)
    total = d
    for k in range(1, MOST):
        weight = -k * (k - a)
        b = b + 2
        d = 1 / safe(weight * d + b, tiny)
        c = safe(b + weight / c, tiny)
        total = total * c * d
        if np.all(np.abs(c * d - 1) <= 1e-16):
            break
    return total


def safe(x: Any, tiny: float) -> Any:
    """`x`, with a very small number in the place of 0."""
    return np.where(x == 0, tiny, x)


def fractions(a: Any, x: Any) -> tuple[Any, Any]:
    """The integral of `t^(a-1) exp(-t)` from 0 to x, and from x, as parts of the whole; NaN outside of the
    domain.
    """
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    bad = (a < 0) | (x < 0) | ((a == 0) & (x == 0)) | np.isnan(a) | np.isnan(x) | (np.isinf(a) & np.isinf(x))
    full, empty = (a == 0) | np.isinf(x), (x == 0) | np.isinf(a)
    plain = ~(bad | full | empty)
    a, x = np.where(plain, a, 1.0), np.where(plain, x, 1.0)
    scale = np.exp(a * np.log(x) - x - one_by_one(log_gamma)(a))
    low = x < a + 1
    below = scale * from_below(np.where(low, a, 1.0), np.where(low, x, 1.0))
    above = scale * from_above(np.where(low, 1.0, a), np.where(low, 2.0, x))
    lower, upper = np.where(low, below, 1 - above), np.where(low, 1 - below, above)
    ends = np.where(full, 1.0, 0.0)
    parts = ((lower, ends), (upper, 1 - ends))
    first, second = (np.where(bad, np.nan, np.where(plain, value, end)) for value, end in parts)
    return first, second


def by_fractions(part: int) -> Any:
    """The kernel that gives one of the two."""

    def kernel(self: Any, other: Any) -> Any:
        kind = np.result_type(self, other)
        return fractions(self, other)[part].astype(kind)[()]

    return wide(kernel)


def refuse(name: str) -> Any:
    """A vjp where PyTorch has none."""

    def vjp(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return vjp


def density(self: Any, other: Any) -> Any:
    """`exp((a - 1) · ln x - x - ln Γ(a))`."""
    return F.exp(F.sub_scalar(self, 1) * F.log(other) - other - F.lgamma(self))


@differentiable(
    self=refuse("igamma: input"),
    other=lambda g, self, other: g * density(self, other),
    kernel=by_fractions(0),
    elementwise=True,
    check=no_kernel("igamma_cpu", BOOL, INTEGER, COMPLEX),
)
def igamma(self, other):
    """The regularised lower incomplete gamma function: the integral of `t^(self-1) exp(-t)` from 0 to `other`
    as a part of that to infinity.
    """


def igammac_vjp(g: Any, self: Any, other: Any) -> Any:
    """Minus that of `igamma`; the density first, as PyTorch does, which gives its nodes their ages."""
    slope = density(self, other)
    return F.neg(g) * slope


@differentiable(
    self=refuse("igammac: input"),
    other=igammac_vjp,
    kernel=by_fractions(1),
    elementwise=True,
    check=no_kernel("igammac_cpu", BOOL, INTEGER, COMPLEX),
)
def igammac(self, other):
    """The regularised upper incomplete gamma function: 1 - `igamma`."""


# ── zeta
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def zeta_kernel(self: Any, other: Any) -> Any:
    """Σ (other + k)^-self."""
    kind = np.result_type(*(x.dtype for x in (self, other) if hasattr(x, "dtype")))
    s, q = (np.asarray(x, np.float64) for x in (self, other))
    return np.asarray(hurwitz(s, q)).astype(kind)[()]


ZETA: dict[str, Any] = {
    "kernel": zeta_kernel,
    "elementwise": True,
    "floating": True,
    "check": no_kernel("zeta_cpu", float16, COMPLEX),
}


def zeta_vjp(g: Any, self: Any, other: Any) -> Any:
    """`-g · s · ζ(s + 1, q)`; the last factor first, as PyTorch does, which gives its node its age."""
    slope = F.special_zeta(F.add_scalar(self, 1.0), other)
    return g * F.neg(self) * slope


@differentiable(
    self=refuse("zeta"),
    other=zeta_vjp,
    **ZETA,
)
def special_zeta(self, other):
    """Hurwitz's zeta function: the sum of `(other + k)^-self` over all k ≥ 0."""


def number_zeta_vjp(g: Any, self: Any, other: Any) -> Any:
    """The same for a number s."""
    slope = F.zeta_of_number(self + 1.0, other)
    return F.mul_scalar(g, -self) * slope


@differentiable(
    other=number_zeta_vjp,
    node="SpecialZetaBackward1",
    **ZETA,
)
def zeta_of_number(self, other):
    """`special_zeta` of a number and a tensor."""


@differentiable(self=refuse("zeta"), node="SpecialZetaBackward2", **ZETA)
def zeta_by_number(self, other):
    """`special_zeta` of a tensor and a number."""
