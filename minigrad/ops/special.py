"""Special functions that NumPy does not have.

SciPy computes them, which is an optional extra; only the logarithm of the gamma function is Python's own.
What a vjp subtracts it computes first, as PyTorch does, which gives its nodes their ages.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..core import F, differentiable, rename
from ..core.dtypes import of
from ..core.op import RAW
from ..core.public import public
from ..core.tensor_state import TensorBase
from .elementwise import BOOL, COMPLEX, INTEGER, must_be, must_be_tensor, no_kernel, one_by_one, special
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


def computed(name: str) -> Any:
    """Return the kernel of a function of `scipy.special`, rounded once to the dtype of its arguments."""

    @functools.wraps(by_scipy)
    def kernel(*args: Any) -> Any:
        kind = np.result_type(*(x.dtype for x in args))
        return np.asarray(by_scipy(name, *(x.astype(np.float64) for x in args))).astype(kind)[()]

    return kernel


# ── modified Bessel functions of the first kind
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@special(self=lambda g, self: g * F.special_i1(self), check=no_kernel("i0_vml_cpu"))
def i0(self):
    """Modified Bessel function of order 0."""
    return by_scipy("i0", self)


def i0e_vjp(g: Any, self: Any, result: Any) -> Any:
    """`g · (e⁻ˣ I₁(x) - sgn(x) e⁻ˣ I₀(x))`."""
    less = F.sgn(self) * result
    return g * (F.special_i1e(self) - less)


@special(self=i0e_vjp, node="SpecialI0EBackward0", check=no_kernel("i0e_cpu"), forms="")
def special_i0e(self):
    """Modified Bessel function of order 0, times `exp(-|x|)`."""
    return by_scipy("i0e", self)


def smallest_step(x: Any) -> float:
    """Return the distance from 1 to the next number of the dtype of `x`."""
    value = x._data if isinstance(x, TensorBase) else x if isinstance(x, RAW) else x.value
    return float(np.finfo(value.dtype).eps)


def i1_vjp(g: Any, self: Any, result: Any) -> Any:
    """`g · (I₀(x) - I₁(x) / x)`, and `g/2` at 0."""
    step = smallest_step(self)
    large = F.gt(F.abs(self), step)
    x = F.where(large, self, step)
    less = result * F.reciprocal(x)
    return g * F.where(large, F.i0(x) - less, 0.5)


@special(self=i1_vjp, node="SpecialI1Backward0", check=no_kernel("i1_cpu"), forms="")
def special_i1(self):
    """Modified Bessel function of order 1."""
    return by_scipy("i1", self)


def i1e_vjp(g: Any, self: Any, result: Any) -> Any:
    """Return the same with the factor `exp(-|x|)` differentiated too."""
    step = smallest_step(self)
    large = F.gt(F.abs(self), step)
    x = F.where(large, self, step)
    inverse = F.reciprocal(x)
    less = result * (F.sgn(x) + inverse)
    return g * F.where(large, F.special_i0e(x) - less, 0.5)


@special(self=i1e_vjp, node="SpecialI1EBackward0", check=no_kernel("i1e_cpu"), forms="")
def special_i1e(self):
    """Modified Bessel function of order 1, times `exp(-|x|)`."""
    return by_scipy("i1e", self)


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
    must_be_tensor("polygamma", input, 2)
    refuse_complex_polygamma(n, input)
    return polygamma_of(input, n)


def refuse_complex_polygamma(n: Any, input: Any) -> None:
    """NotImplementedError with PyTorch's text for a tensor of complex numbers."""
    if n >= 0 and input._data.dtype.kind == "c":
        raise not_implemented(("digamma", "trigamma", "polygamma")[min(n, 2)], of(input._data))


rename(polygamma_of, "polygamma")


# ── incomplete gamma functions
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def no_derivative(name: str) -> Any:
    """Return a vjp where PyTorch has none."""

    def vjp(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}: input' is not implemented.")

    return vjp


def density(self: Any, other: Any) -> Any:
    """`exp((a - 1) · ln x - x - ln Γ(a))`."""
    return F.exp(F.sub_scalar(self, 1) * F.log(other) - other - F.lgamma(self))


def igammac_vjp(g: Any, self: Any, other: Any) -> Any:
    """Minus that of `igamma`."""
    slope = density(self, other)
    return F.neg(g) * slope


@differentiable(
    self=no_derivative("igamma"),
    other=lambda g, self, other: g * density(self, other),
    kernel=computed("gammainc"),
    elementwise=True,
    check=no_kernel("igamma_cpu", BOOL, INTEGER, COMPLEX),
    forms="function method method_",
    out="",
)
def igamma(self, other):
    """Return the regularised lower incomplete gamma function: the integral of `t^(self-1) exp(-t)` from 0 to
    `other` as a part of that to infinity.
    """


@differentiable(
    self=no_derivative("igammac"),
    other=igammac_vjp,
    kernel=computed("gammaincc"),
    elementwise=True,
    check=no_kernel("igammac_cpu", BOOL, INTEGER, COMPLEX),
    forms="function method method_",
    out="",
)
def igammac(self, other):
    """Return the regularised upper incomplete gamma function: 1 - `igamma`."""
