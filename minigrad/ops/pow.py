"""Powers of tensors and numbers."""

from __future__ import annotations

import cmath
from math import inf, nan
from math import log as ln
from typing import Any

import numpy as np

from ..core import F
from ..core.dtypes import FAST_SCALARS
from .checks import only
from .copy import kind_of
from .kernels import elementwise


def power_of_array(base: Any, exponent: Any) -> Any:
    """Small exponents by multiplication, as PyTorch does it: NumPy, which does so for 2, 1, 0.5 and -1, is a
    hundred times slower on float32 for others.
    """
    if exponent == 3:
        return base * base * base
    if exponent == -0.5:
        return 1 / np.sqrt(base)
    return 1 / (base * base) if exponent == -2 else base**exponent


def pow_scalar_vjp(g, self, exponent):
    """`g · n · self^(n-1)`; zero for n = 0."""
    if exponent == 0:
        return F.zeros_like(g)
    return g * F.mul_scalar(F.pow_scalar(self, exponent - 1), exponent)


@elementwise(self=pow_scalar_vjp, node="PowBackward0")
def pow_scalar(self, exponent):
    """Return each element to the power of a number."""
    if self.__class__ in FAST_SCALARS:
        return self**exponent
    if self.dtype.kind == "f":
        return power_of_array(self, exponent) if self.ndim else self[()] ** exponent
    if isinstance(exponent, (int, np.integer)) and exponent < 0 and self.dtype.kind in "biu":
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return np.logical_or(self, not exponent) if self.dtype.kind == "b" else self**exponent


def power_of_arrays(base: Any, exponent: Any) -> Any:
    """`base ** exponent` of two tensors; an integer to a negative power is 0 but for bases 1 and -1, as in
    PyTorch.
    """
    if base.dtype.kind not in "iu" or not np.any(exponent < 0):
        return base**exponent
    inverse = np.where(base == 1, 1, np.where(base == -1, 1 - 2 * (exponent % 2), 0))
    return np.where(exponent < 0, inverse, base ** np.maximum(exponent, 0)).astype(base.dtype)[()]


def pow_self_vjp(g, self, exponent):
    """`g · q · x^(q-1)`, and 0 where q = 0."""
    return F.where(F.eq(exponent, 0.0), 0.0, g * (exponent * F.pow_tensor(self, F.sub_scalar(exponent, 1))))


def pow_exponent_vjp(g, self, exponent, result):
    """`g · x^q · ln x`, and 0 where x = 0 and q ≥ 0 (the power is constant there).

    The product is taken from the left, as PyTorch 1.4 did: the last digit depends on it.
    """
    constant = F.logical_and(F.eq(self, 0), F.ge(exponent, 0))
    return F.where(constant, 0.0, g * result * F.log(self))


def complex_pow_self_vjp(g, self, exponent):
    """`g · conj(q · x^(q-1))`, and 0 where q = 0."""
    slope = F.conj(exponent * F.pow_tensor(self, F.sub_scalar(exponent, 1)))
    return F.where(F.eq(exponent, 0.0), 0.0, g * slope)


def complex_pow_exponent_vjp(g, self, exponent, result):
    """`g · conj(x^q · ln x)`, and 0 where x = 0 and q is real and ≥ 0."""
    if kind_of(self) != kind_of(result):
        self = F.to(self, kind_of(result))
    slope = F.conj(result * F.log(self))
    return g * F.where(F.logical_and(F.eq(self, 0), is_positive(exponent)), 0.0, slope)


def is_positive(exponent: Any) -> Any:
    """Where exponents are real and not negative."""
    if kind_of(exponent).kind != "c":
        return F.ge(exponent, 0)
    return F.logical_and(F.eq(F.imag(exponent), 0), F.ge(F.real(exponent), 0))


def pow_jvp(self_t, exponent_t, self, exponent, result):
    """Return the sum of both derivatives with the tangents instead of gradients, composed as PyTorch does."""
    slope = exponent * F.pow_tensor(self, F.sub_scalar(exponent, 1))
    of_self = F.where(F.eq(exponent, 0.0), 0.0, F.product(self_t, slope))
    constant = F.logical_and(F.eq(self, 0), is_positive(exponent))
    base = self if kind_of(self) == kind_of(result) else F.to(self, kind_of(result))
    return of_self + F.product(exponent_t, F.where(constant, 0.0, result * F.log(base)))


@elementwise(
    self=pow_self_vjp,
    exponent=pow_exponent_vjp,
    complexes={"self": complex_pow_self_vjp, "exponent": complex_pow_exponent_vjp},
    jvp=pow_jvp,
    node="PowBackward1",
    kernel=power_of_arrays,
    check=only("iufc", "pow"),
)
def pow_tensor(self, exponent):
    """Return each element to the power of another tensor's."""


def rpow_vjp(g, self, exponent, result):
    """`g · c^x · ln c`, and 0 for c = 0 where x ≥ 0."""
    if self == 0:
        return g * F.where(F.ge(exponent, 0), 0.0, F.mul_scalar(result, -inf))
    return g * F.mul_scalar(result, ln(self) if self > 0 else nan)


def complex_rpow_vjp(g, self, exponent, result):
    """`g · conj(c^x · ln c)`, and 0 for c = 0 where x is real and ≥ 0."""
    slope = F.conj(F.mul_scalar(result, complex_ln(self)))
    if self == 0:
        slope = F.where(is_positive(exponent), 0.0, slope)
    return g * slope


def complex_ln(c: Any) -> Any:
    """Return the natural logarithm of a number, complex if it has to be."""
    if c == 0:
        return -inf
    return ln(c) if not isinstance(c, complex) and c > 0 else cmath.log(c)


@elementwise(
    exponent=rpow_vjp,
    complexes={"exponent": complex_rpow_vjp},
    node="PowBackward2",
    check=only("iufc", "pow"),
)
def pow_base(self, exponent):
    """Return a number to the power of each element."""
    return power_of_arrays(exponent.dtype.type(self), exponent)
