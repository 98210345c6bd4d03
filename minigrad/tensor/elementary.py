"""Functions of one element as methods, out of place and in place."""

from __future__ import annotations

from typing import Any

from ..inplace import in_place
from ..ops import arithmetic, bessel, circular, exponential, gamma, normal, rounding
from ..tensor_base import TensorBase


def in_place_of(op: Any) -> Any:
    """The method that writes an op's result into the tensor."""

    def method(self: Any) -> Any:
        return in_place(op.op, self)

    method.__name__ = method.__qualname__ = op.op.name + "_"
    method.__doc__ = f"In place: {op.__doc__[0].lower()}{op.__doc__[1:]}"
    return method


class Elementary(TensorBase):
    """Circular, hyperbolic, exponential and special functions."""

    __slots__ = ()

    acos, asin, atan = circular.acos, circular.asin, circular.atan
    acosh, asinh, atanh = circular.acosh, circular.asinh, circular.atanh
    arccos, arcsin, arctan = acos, asin, atan
    arccosh, arcsinh, arctanh = acosh, asinh, atanh
    tan, sinh, cosh, sinc = circular.tan, circular.sinh, circular.cosh, circular.sinc
    deg2rad, rad2deg = circular.deg2rad, circular.rad2deg
    exp2, expm1, rsqrt, square = exponential.exp2, exponential.expm1, exponential.rsqrt, exponential.square
    log1p, log10, log2 = exponential.log1p, exponential.log10, exponential.log2
    logit = exponential.logit
    erf, erfc, erfinv = normal.erf, normal.erfc, normal.erfinv
    lgamma, digamma, mvlgamma = gamma.lgamma, gamma.digamma, gamma.mvlgamma
    i0 = bessel.i0

    def polygamma(self, n: Any) -> Any:
        """The `n`-th derivative of the digamma function; RuntimeError for a negative `n`."""
        return gamma.polygamma(n, self)


class ElementaryInPlace(TensorBase):
    """The same, written into the tensor."""

    __slots__ = ()

    acos_, asin_, atan_ = map(in_place_of, (circular.acos, circular.asin, circular.atan))
    acosh_, asinh_, atanh_ = map(in_place_of, (circular.acosh, circular.asinh, circular.atanh))
    arccos_, arcsin_, arctan_ = acos_, asin_, atan_
    arccosh_, arcsinh_, arctanh_ = acosh_, asinh_, atanh_
    tan_, sinh_, cosh_ = map(in_place_of, (circular.tan, circular.sinh, circular.cosh))
    sinc_, deg2rad_, rad2deg_ = map(in_place_of, (circular.sinc, circular.deg2rad, circular.rad2deg))
    exp2_, expm1_, rsqrt_ = map(in_place_of, (exponential.exp2, exponential.expm1, exponential.rsqrt))
    log1p_, log10_, log2_ = map(in_place_of, (exponential.log1p, exponential.log10, exponential.log2))
    erf_, erfc_, erfinv_ = map(in_place_of, (normal.erf, normal.erfc, normal.erfinv))
    lgamma_, digamma_, i0_ = map(in_place_of, (gamma.lgamma, gamma.digamma, bessel.i0))

    def square_(self) -> Any:
        """Each element times itself, in place."""
        return in_place(arithmetic.pow_scalar.op, self, 2)

    def logit_(self, eps: Any = None) -> Any:
        """`logit`, in place."""
        return in_place(exponential.logit.op, self, eps)

    def polygamma_(self, n: Any) -> Any:
        """The `n`-th derivative of the digamma function, in place."""
        return in_place(gamma.polygamma_of.op, self, n)

    def mvlgamma_(self, p: Any) -> Any:
        """Logarithm of the multivariate gamma function of dimension `p`, in place."""
        gamma.check_dimension(p)
        return in_place(gamma.mvlgamma_of.op, self, p)


class Rounding(TensorBase):
    """Rounding, parts of numbers, and what kind of number an element is."""

    __slots__ = ()

    ceil, floor, trunc, frac = rounding.ceil, rounding.floor, rounding.trunc, rounding.frac
    fix, round, frexp, nan_to_num = rounding.trunc, rounding.round, rounding.frexp, rounding.nan_to_num
    isfinite, isinf, isnan = rounding.isfinite, rounding.isinf, rounding.isnan
    isposinf, isneginf = rounding.isposinf, rounding.isneginf
    isreal, signbit = rounding.isreal, rounding.signbit

    ceil_, floor_ = map(in_place_of, (rounding.ceil, rounding.floor))
    trunc_, frac_ = map(in_place_of, (rounding.trunc, rounding.frac))
    fix_ = trunc_

    def round_(self, *, decimals: Any = None) -> Any:
        """Each element rounded, in place; see `round`."""
        if decimals is None:
            return in_place(rounding.round_whole.op, self)
        return in_place(rounding.round_decimals.op, self, decimals)

    def nan_to_num_(self, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
        """NaN and infinities replaced, in place; see `nan_to_num`."""
        return in_place(rounding.nan_to_num.op, self, nan, posinf, neginf)
