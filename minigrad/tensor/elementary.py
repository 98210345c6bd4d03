"""Functions of one element as methods, out of place and in place."""

from __future__ import annotations

from typing import Any

from ..inplace import in_place
from ..ops import arithmetic, circular, exponential, normal, powers, rounding, special
from ..tensor_base import TensorBase
from .late import late


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

    negative = arithmetic.neg
    acos, asin, atan, acosh, asinh, atanh = late(circular, "acos asin atan acosh asinh atanh")
    arccos, arcsin, arctan = acos, asin, atan
    arccosh, arcsinh, arctanh = acosh, asinh, atanh
    tan, sinh, cosh, sinc, deg2rad, rad2deg = late(circular, "tan sinh cosh sinc deg2rad rad2deg")
    exp2, expm1, rsqrt, square, logit = late(exponential, "exp2 expm1 rsqrt square logit")
    log1p, log10, log2 = late(exponential, "log1p log10 log2")
    erf, erfc, erfinv = late(normal, "erf erfc erfinv")
    i0, lgamma, digamma, igamma, igammac = late(special, "i0 lgamma digamma igamma igammac")

    def polygamma(self, n: Any) -> Any:
        """The `n`-th derivative of the digamma function; RuntimeError for a negative `n`."""
        return special.polygamma(n, self)


class ElementaryInPlace(TensorBase):
    """The same, written into the tensor."""

    __slots__ = ()

    negative_ = in_place_of(arithmetic.neg)
    acos_, asin_, atan_ = late(circular, "acos asin atan", in_place_of)
    acosh_, asinh_, atanh_ = late(circular, "acosh asinh atanh", in_place_of)
    arccos_, arcsin_, arctan_ = acos_, asin_, atan_
    arccosh_, arcsinh_, arctanh_ = acosh_, asinh_, atanh_
    tan_, sinh_, cosh_ = late(circular, "tan sinh cosh", in_place_of)
    sinc_, deg2rad_, rad2deg_ = late(circular, "sinc deg2rad rad2deg", in_place_of)
    exp2_, expm1_, rsqrt_ = late(exponential, "exp2 expm1 rsqrt", in_place_of)
    log1p_, log10_, log2_ = late(exponential, "log1p log10 log2", in_place_of)
    erf_, erfc_, erfinv_ = late(normal, "erf erfc erfinv", in_place_of)
    i0_, lgamma_, digamma_ = late(special, "i0 lgamma digamma", in_place_of)

    def square_(self) -> Any:
        """Each element times itself, in place."""
        return in_place(powers.pow_scalar.op, self, 2)

    def logit_(self, eps: Any = None) -> Any:
        """`logit`, in place."""
        return in_place(exponential.logit.op, self, eps)

    def polygamma_(self, n: Any) -> Any:
        """The `n`-th derivative of the digamma function, in place."""
        return in_place(special.polygamma_of.op, self, n)

    def igamma_(self, other: Any) -> Any:
        """`igamma` in place."""
        return in_place(special.igamma.op, self, other)

    def igammac_(self, other: Any) -> Any:
        """`igammac` in place."""
        return in_place(special.igammac.op, self, other)


class Rounding(TensorBase):
    """Rounding, parts of numbers, and what kind of number an element is."""

    __slots__ = ()

    ceil, floor, trunc, frac = late(rounding, "ceil floor trunc frac")
    fix, round, nan_to_num = late(rounding, "trunc round nan_to_num")
    isfinite, isinf, isnan, isposinf = late(rounding, "isfinite isinf isnan isposinf")
    isneginf, isreal, signbit = late(rounding, "isneginf isreal signbit")

    ceil_, floor_, trunc_, frac_ = late(rounding, "ceil floor trunc frac", in_place_of)
    fix_ = trunc_

    def round_(self, *, decimals: Any = None) -> Any:
        """Each element rounded, in place; see `round`."""
        if decimals is None:
            return in_place(rounding.round_whole.op, self)
        return in_place(rounding.round_decimals.op, self, decimals)

    def nan_to_num_(self, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
        """NaN and infinities replaced, in place; see `nan_to_num`."""
        return in_place(rounding.nan_to_num.op, self, nan, posinf, neginf)
