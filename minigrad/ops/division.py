"""Division with rounding, what it leaves, and divisors.

`fmod` and "trunc" round the quotient towards zero as C does, `remainder`, `floor_divide` and "floor" down as
Python does. Integers by zero raise, as in PyTorch; floating-point numbers give infinity or NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from .checks import only
from .kernels import no_derivative
from .overloads import overloaded


def check_divisor(self: Any, other: Any) -> None:
    """RuntimeError with PyTorch's text for integers by zero."""
    if np.result_type(self, other).kind in "iu" and not np.all(other):
        raise RuntimeError("ZeroDivisionError")


def divided(self: Any, other: Any, rounding_mode: Any) -> Any:
    """Return the quotient, rounded down ("floor") or towards zero ("trunc")."""
    check_divisor(self, other)
    if rounding_mode == "floor":
        return np.floor_divide(self, other)
    if np.result_type(self, other).kind == "f":
        return np.trunc(self / other)
    return (self - np.fmod(self, other)) // other


@differentiable(
    self=lambda g, other, rounding_mode: F.zeros_like(g),
    other=lambda g, self, other, rounding_mode: F.zeros_like(g),
    node="DivBackward2",
    kernel=divided,
    elementwise=True,
    check=only("iuf", "div_floor_cpu"),
    forms="",
)
def div_rounded(self, other, rounding_mode="trunc"):
    """Return the quotient, rounded down ("floor") or towards zero ("trunc")."""


def quotient_vjp(g: Any, self: Any, other: Any, rounding_mode: str) -> Any:
    """The gradient of a remainder with respect to the divisor: the quotient first, which gives nodes their
    ages.
    """
    quotient = F.div_rounded(self, other, rounding_mode)
    return -g * quotient


def truncated_rest(self: Any, other: Any) -> Any:
    """What division rounded towards zero leaves: it has the sign of `self`."""
    check_divisor(self, other)
    return np.fmod(self, other)


def floored_rest(self: Any, other: Any) -> Any:
    """What division rounded down leaves: it has the sign of `other`."""
    check_divisor(self, other)
    return np.remainder(self, other)


REST: dict[str, Any] = {"elementwise": True, "forms": ""}
TRUNCATED = {"kernel": truncated_rest, "check": only("iuf", "fmod_cpu"), **REST}
FLOORED = {"kernel": floored_rest, "check": only("iuf", "remainder_cpu"), **REST}


@differentiable(
    self=lambda g: g,
    other=lambda g, self, other: quotient_vjp(g, self, other, "trunc"),
    node="FmodBackward1",
    **TRUNCATED,
)
def fmod(self, other):
    """Return the remainder of a division that rounds toward zero; it has the sign of `input`.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast.
    Derivative: `g` for `input`, `-g * trunc(input / other)` for `other`.
    Source: torch.fmod

    >>> torch.fmod(torch.tensor([7.0, -7.0]), 3)
    tensor([ 1., -1.])
    """


@differentiable(self=lambda g: g, node="FmodBackward0", **TRUNCATED)
def fmod_number(self, other):
    """Return the same by a number."""


overloaded(fmod, fmod_number)


@differentiable(
    self=lambda g: g,
    other=lambda g, self, other: quotient_vjp(g, self, other, "floor"),
    node="RemainderBackward1",
    **FLOORED,
)
def remainder(self, other):
    """Return what division rounded down leaves, with the sign of `other`, as Python's `%`."""


@differentiable(self=lambda g: g, node="RemainderBackward0", **FLOORED)
def remainder_number(self, other):
    """Return the same by a number."""


@differentiable(**no_derivative("remainder", "other"), **FLOORED)
def remainder_of_number(self, other):
    """Return what is left of a number, divided by each element."""


modulo = overloaded(remainder, remainder_number, remainder_of_number)


@differentiable(
    **no_derivative("floor_divide", "self", "other"),
    elementwise=True,
    check=only("iuf", "div_floor_cpu"),
    forms="",
)
def floor_divide(self, other):
    """Return the quotient rounded down, as Python's `//`; it has no derivative."""
    return divided(self, other, "floor")


quotient = overloaded(floor_divide, floor_divide, floor_divide)
