"""Functions of one element. See `op_case`."""

from __future__ import annotations

from typing import Any

from op_case import Case


def one(name: str, low: float = -2.0, high: float = 2.0, **how: Any) -> Case:
    """The function of this name, of numbers between `low` and `high`."""

    def call(L: Any, a: Any) -> Any:
        for part in name.split("."):
            L = getattr(L, part)
        return L(a)

    return Case(name, call, ((2, 3),), low, high, **how)


def real(name: str, low: float = -2.0, high: float = 2.0, **how: Any) -> Case:
    """The same, of real numbers only."""
    return one(name, low, high, numbers="real", **how)


ELEMENTARY: list[Case] = [
    one("acos", -0.9, 0.9),
    one("asin", -0.9, 0.9),
    one("atan"),
    one("acosh", 1.1, 3),
    one("asinh"),
    one("atanh", -0.9, 0.9),
    one("tan", -1, 1),
    one("sinh"),
    one("cosh"),
    one("exp2"),
    one("expm1"),
    one("log1p", 0.1, 2),
    one("log2", 0.1, 2),
    one("log10", 0.1, 2),
    one("rsqrt", 0.1, 2),
    one("square"),
    real("logit", 0.1, 0.9),
    Case("logit of bounds", lambda L, a: a.logit(0.2), ([0.1, 0.3, 0.6, 0.9],), numbers="real"),
    real("erf"),
    real("erfc"),
    real("erfinv", -0.9, 0.9),
    real("special.ndtr"),
    real("lgamma", 0.3, 12, twice=False, forward=False),  # PyTorch's trigamma has nine digits
    Case("polygamma", lambda L, a: L.polygamma(2, a), ((3,),), numbers="real"),
    real("ceil", smooth=False),
    real("floor", smooth=False),
    real("trunc", smooth=False),
    real("round", smooth=False),
    Case("round decimals", lambda L, a: a.round(decimals=1), ((3,),), smooth=False, numbers="real"),
    real("frac", smooth=False),
    Case(
        "nan_to_num",
        lambda L, a: L.nan_to_num(a, 1.5, posinf=3.0),
        ([float("nan"), float("inf"), 1.0, -float("inf")],),
        smooth=False,
        numbers="real",
    ),
]

ELEMENTARY_PLAIN: list[Case] = [
    *(real(f"is{name}", smooth=False) for name in ("finite", "inf", "nan", "real")),
]
