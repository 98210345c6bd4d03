"""Powers and logarithms of one element."""

from __future__ import annotations

from math import inf, nan
from math import log as ln
from typing import Any

import numpy as np

from ..op import F, composite, differentiable, rename
from ..op.registry import RAW
from .elementwise import function, must_be, must_be_tensor, no_kernel
from .halves import widened


@function(self=lambda g, result: F.mul_scalar(g * result, ln(2)))
def exp2(self):
    """2 to the power of each element."""
    return np.exp(self * ln(2)) if self.dtype.kind == "c" else np.exp2(self)


@function(self=lambda g, result: g * F.add_scalar(result, 1))
def expm1(self):
    """e to the power of each element, less 1: exact for small elements too."""
    return np.expm1(self)


@function(
    self=lambda g, self: g / F.add_scalar(self, 1),
    complexes={"self": lambda g, self: g / F.conj(F.add_scalar(self, 1))},
    node="Log1PBackward0",
)
def log1p(self):
    """Natural logarithm of each element plus 1: exact for small elements too."""
    return np.log1p(self)


@function(self=lambda g, self: g / F.mul_scalar(self, 2.3025850929940456))
def log10(self):
    """Logarithm of each element to base 10."""
    return np.log10(self)


@function(self=lambda g, self: g / F.mul_scalar(self, ln(2)))
def log2(self):
    """Logarithm of each element to base 2."""
    return np.log2(self)


def rsqrt_vjp(g: Any, result: Any) -> Any:
    """`-g y³ / 2`; the cube first, as PyTorch does, which gives its node its age."""
    cube = F.pow_scalar(result, 3)
    return F.mul_scalar(g, -0.5) * cube


def complex_rsqrt_vjp(g: Any, result: Any) -> Any:
    """`-g conj(y³) / 2`."""
    cube = F.conj(F.pow_scalar(result, 3))
    return F.mul_scalar(g, -0.5) * cube


@function(self=rsqrt_vjp, complexes={"self": complex_rsqrt_vjp})
def rsqrt(self):
    """One over the square root of each element."""
    return 1 / np.sqrt(self)


def square(input: Any) -> Any:
    """Each element times itself."""
    must_be_tensor("square", input)
    return F.pow_scalar(input, 2)


# ── of probabilities
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def logit_vjp(g: Any, self: Any, eps: Any) -> Any:
    """`g / (p (1 - p))`; outside of the bounds 0, or without any NaN."""
    low, high = (0.0, 1.0) if eps is None else (eps, 1.0 - eps)
    within = F.logical_and(F.ge(self, low), F.le(self, high))
    return F.where(within, g / (self * F.sub(1.0, self)), nan if eps is None else 0.0)


@function(self=logit_vjp, check=no_kernel("logit_cpu"))
def logit(self, eps=None):
    """`ln(p / (1 - p))` of each element, first brought into `[eps, 1 - eps]`; without `eps` NaN outside of
    `[0, 1]`.
    """
    p = self
    if eps is not None:
        must_be(float, "logit", "eps", eps, 2)
        low, high = self.dtype.type(eps), self.dtype.type(1 - eps)
        p = np.where(self < low, low, np.where(self > high, high, self))[()]
    return np.log(p / (1 - p))


@function(
    self=lambda g, self: g * F.neg(F.add_scalar(F.log(self), 1)),
    node="SpecialEntrBackward0",
    check=no_kernel("entr_cpu"),
)
def special_entr(self):
    """`-x ln x` of each element: 0 at 0 and -inf below."""
    inside = -self * np.log(np.where(self > 0, self, 1))
    return np.where(self < 0, -inf, np.where(self == 0, 0, inside)).astype(self.dtype)[()]


# ── x · ln(1 + y)
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def times_log1p(self: Any, other: Any) -> Any:
    """`x ln(1 + y)`: 0 where x is, unless y is NaN."""
    x, y = widened(self), widened(other)
    kind = np.result_type(*(a.dtype for a in (self, other) if hasattr(a, "dtype")))
    constant = np.equal(x, 0) & ~np.isnan(y)
    return np.where(constant, 0, x * np.log1p(y)).astype(kind)[()]


def xlog1py_self_vjp(g: Any, self: Any, other: Any) -> Any:
    """`g ln(1 + y)`, and 0 where the product is constant though the logarithm is not finite."""
    constant = F.logical_and(F.eq(self, 0.0), F.le(other, -1.0))
    return F.masked_fill(F.special_xlog1py(g, other), constant, 0.0)


def xlog1py_other_vjp(g: Any, self: Any, other: Any) -> Any:
    """`g x / (1 + y)`, the sum first."""
    below = F.add_scalar(other, 1)
    return g * self / below


def xlog1py_jvp(self_t: Any, other_t: Any, self: Any, other: Any) -> Any:
    """The sum of both derivatives, composed as PyTorch does."""
    below = F.add_scalar(other, 1)
    of_other = F.product(other_t, self) / below
    return xlog1py_self_vjp(self_t, self, other) + of_other


def xlog1py_of_number_vjp(g: Any, self: Any, other: Any) -> Any:
    """`g x / (1 + y)` for a number x, the sum first."""
    below = F.add_scalar(other, 1)
    return F.mul_scalar(g, self) / below


def xlog1py_with_number_vjp(g: Any, self: Any, other: Any) -> Any:
    """`g ln(1 + y)` for a number y."""
    whole = F.special_xlog1py(g, other)
    return whole if other > -1 else F.masked_fill(whole, F.eq(self, 0.0), 0.0)


@differentiable(
    self=xlog1py_self_vjp,
    other=xlog1py_other_vjp,
    jvp=xlog1py_jvp,
    node="SpecialXlog1PyBackward0",
    kernel=times_log1p,
    elementwise=True,
    floating=True,
    check=no_kernel("xlog1py_cpu"),
)
def xlog1py_tensors(self, other):
    """`x ln(1 + y)` of two tensors."""


@differentiable(
    other=xlog1py_of_number_vjp,
    node="SpecialXlog1PyBackward1",
    kernel=times_log1p,
    elementwise=True,
    floating=True,
    check=no_kernel("xlog1py_cpu"),
)
def xlog1py_of_number(self, other):
    """`x ln(1 + y)` of a number and a tensor."""


@differentiable(
    self=xlog1py_with_number_vjp,
    node="SpecialXlog1PyBackward2",
    kernel=times_log1p,
    elementwise=True,
    floating=True,
    check=no_kernel("xlog1py_cpu"),
)
def xlog1py_with_number(self, other):
    """`x ln(1 + y)` of a tensor and a number."""


def is_number(x: Any) -> bool:
    """Whether this is a number of Python's."""
    return isinstance(x, (int, float, complex)) and not isinstance(x, RAW)


@composite
def special_xlog1py(input: Any, other: Any) -> Any:
    """`input · ln(1 + other)`, with broadcasting; 0 where `input` is 0, unless `other` is NaN."""
    if hasattr(other, "__minigrad_symbol__"):
        return input * F.log1p(other)
    if is_number(input) and is_number(other):
        kinds = f"({type(input).__name__}, {type(other).__name__})"
        raise TypeError(f"special_xlog1py() received an invalid combination of arguments - got {kinds}")
    if is_number(other):
        return F.xlog1py_with_number(input, other)
    return F.xlog1py_of_number(input, other) if is_number(input) else F.xlog1py_tensors(input, other)


rename(xlog1py_tensors, "special_xlog1py")
