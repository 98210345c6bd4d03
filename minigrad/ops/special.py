"""Special functions that NumPy does not have.

SciPy computes them, which is an optional extra; only the logarithm of the gamma function is Python's own.
What a vjp subtracts it computes first, as PyTorch does, which gives its nodes their ages.
"""

from __future__ import annotations

import math
from typing import Any

from ..core import F, rename
from ..core.dtypes import of
from ..core.public import public
from .elementwise import must_be, no_kernel, one_by_one, special
from .half_precision import not_implemented


def by_scipy(name: str, *args: Any) -> Any:
    """Return the function `name` of `scipy.special`, in double precision."""
    try:
        from scipy import special as functions
    except ImportError as error:
        raise ImportError(
            f'SciPy computes special functions such as {name}: pip install "minigrad-viz[scipy]"'
        ) from error
    return getattr(functions, name)(*args)


# ── modified Bessel functions of the first kind
# ─────────────────────────────────────────────────────────────────────────────────────────────────


# ── the gamma function
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def log_gamma(x: float) -> float:
    """ln |Γ(x)|, infinite at the poles and where it is too large."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


@special(
    self=lambda g, self: g * F.digamma(self),
    check=no_kernel("lgamma_vml_cpu"),
    forms="function method method_",
)
def lgamma(self):
    """Natural logarithm of the absolute value of the gamma function."""
    return one_by_one(log_gamma)(self)


@special(
    self=lambda g, self: g * F.polygamma_of(self, 1),
    check=no_kernel("digamma"),
    forms="function method method_",
)
def digamma(self):
    """Derivative of the logarithm of the gamma function."""
    return by_scipy("psi", self)


@special(self=lambda g, self, n: g * F.polygamma_of(self, n + 1), node="PolygammaBackward0", forms="")
def polygamma_of(self, n):
    """Return the `n`-th derivative of the digamma function of each element."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return by_scipy("polygamma", n, self)


@public("function", out="cast")
def polygamma(n: Any, input: Any) -> Any:
    """Return the `n`-th derivative of the digamma function; RuntimeError for a negative `n`."""
    must_be(int, "polygamma", "n", n, 1)
    refuse_complex_polygamma(n, input)
    return polygamma_of(input, n)


def refuse_complex_polygamma(n: Any, input: Any) -> None:
    """NotImplementedError with PyTorch's text for a tensor of complex numbers."""
    if n >= 0 and input._data.dtype.kind == "c":
        raise not_implemented(("digamma", "trigamma", "polygamma")[min(n, 2)], of(input._data))


rename(polygamma_of, "polygamma")


# ── incomplete gamma functions
# ─────────────────────────────────────────────────────────────────────────────────────────────────
