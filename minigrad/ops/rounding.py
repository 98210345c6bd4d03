"""Rounding, division that rounds, and what kind of number an element is."""

from __future__ import annotations

from functools import partial
from operator import index
from typing import Any

import numpy as np

from ..core import F, differentiable, rename, zeros
from ..core.guards import refuse
from ..core.public import ALL, public
from .arguments import choice, publish_overloads
from .kernels import elementwise, no_derivative


def round_kernel(function: Any) -> Any:
    """Return a kernel that rounds; whole numbers stay as they are."""
    return lambda self: self.copy() if self.dtype.kind in "iu" else function(self)


def rounds(function: Any, node: str | None = None, **names: Any) -> Any:
    """Declare an op that rounds: it is constant nearly everywhere."""
    return differentiable(self=zeros, elementwise=True, kernel=round_kernel(function), node=node, **names)


@rounds(np.ceil)
def ceil(self):
    """Return the smallest integer that is not less than each element.

    Args:
        input: a tensor of any shape.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: 0 everywhere.
    Source: torch.ceil

    >>> torch.ceil(torch.tensor([1.2, -1.2]))
    tensor([ 2., -1.])
    """


@rounds(np.floor)
def floor(self):
    """Return the largest integer that is not larger than each element.

    Args:
        input: a tensor of any shape.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: 0 everywhere.
    Source: torch.floor

    >>> torch.floor(torch.tensor([1.2, -1.2]))
    tensor([ 1., -2.])
    """


@rounds(np.trunc, also="fix")
def trunc(self):
    """The element without its digits after the point."""


@rounds(np.rint, "RoundBackward0", forms="")
def round_whole(self):
    """The nearest whole number; of two equally near, the even one."""


@elementwise(self=zeros, node="RoundBackward1")
def round_decimals(self, decimals):
    """Return the same with digits after the point kept, or with a negative number of them, before it cut."""
    return np.round(self, decimals)


@public(ALL, out="cast")
@choice
def round(input: Any, *, decimals: Any = None) -> Any:
    """Return each element rounded; a half goes to the even integer.

    Args:
        input: a tensor of any shape.
        decimals: how many digits after the point to keep; a negative number rounds to tens, hundreds and so
            on.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: 0 everywhere.
    Source: torch.round

    >>> torch.round(torch.tensor([0.5, 1.5, 2.7]))
    tensor([0., 2., 3.])
    """
    if decimals is None:
        return round_whole, (input,)
    if index(decimals) == 0:
        refuse(input._data, "round_to_no_digits")
    return round_decimals, (input, index(decimals))  # a TypeError for a fraction


@differentiable(self=lambda g: g, elementwise=True)
def frac(self):
    """Return the fractional part of each element, with its sign."""
    return self - np.trunc(self)


rename(round_whole, "round")


# ── what an element is
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@differentiable(self=lambda g, self: g * F.isfinite(self), elementwise=True)
def nan_to_num(self, nan=None, posinf=None, neginf=None):
    """Return `nan` (0) for NaN, and for infinities `posinf` and `neginf` (the largest and smallest number of
    the dtype).
    """
    return np.nan_to_num(self, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@differentiable(elementwise=True, forms="function method", out="")
def isfinite(self):
    """Return whether each element is neither infinite nor NaN."""
    return np.isfinite(self)


@differentiable(elementwise=True, forms="function method", out="")
def isinf(self):
    """Return whether each element, or a part of a complex one, is infinite."""
    return np.isinf(self)


@differentiable(elementwise=True, forms="function method", out="")
def isnan(self):
    """Return whether each element is NaN.

    Args:
        input: a tensor; a complex element is NaN if one of its parts is.
    Shape: the same as that of `input`.
    Returns: a boolean tensor.
    Raises: TypeError if `input` is not a tensor.
    Source: torch.isnan

    >>> torch.isnan(torch.tensor([1.0, float('nan')]))
    tensor([False,  True])
    """
    return np.isnan(self)


@differentiable(elementwise=True, forms="function method", out="")
def isreal(self):
    """Return whether the imaginary part of each element is 0."""
    return np.equal(self.imag, 0)


def check_divisor(self: Any, other: Any) -> None:
    """RuntimeError with PyTorch's text for integers by zero."""
    if np.result_type(self, other).kind in "iu" and np.size(self) and not np.all(other):
        raise RuntimeError("ZeroDivisionError")


def divide_rounded(self: Any, other: Any, rounding_mode: Any) -> Any:
    """Return the quotient, rounded down ("floor") or towards zero ("trunc")."""
    check_divisor(self, other)
    if rounding_mode == "floor":
        return np.floor_divide(self, other)
    if np.result_type(self, other).kind == "f":
        return np.trunc(self / other)
    return (self - np.fmod(self, other)) // other


@elementwise(
    self=lambda g, other, rounding_mode: F.zeros_like(g),
    other=lambda g, self, other, rounding_mode: F.zeros_like(g),
    node="DivBackward2",
    kernel=divide_rounded,
    lone_numbers=True,
)
def div_rounded(self, other, rounding_mode="trunc"):
    """Return the quotient, rounded down ("floor") or towards zero ("trunc")."""


def quotient_vjp(g, self, other, rounding_mode):
    """The gradient of a remainder with respect to the divisor: the quotient first, which gives nodes their
    ages.
    """
    quotient = F.div_rounded(self, other, rounding_mode)
    return -g * quotient


def rest(function: Any) -> Any:
    """Return the kernel of what division leaves: by `np.fmod` with the sign of `self`, by `np.remainder` with
    that of `other`.
    """

    def kernel(self: Any, other: Any) -> Any:
        check_divisor(self, other)
        return function(self, other)

    return kernel


# Declare what division leaves, rounded towards zero or down.
truncated = partial(elementwise, kernel=rest(np.fmod))
floored = partial(elementwise, kernel=rest(np.remainder))


@truncated(
    self=lambda g: g,
    other=lambda g, self, other: quotient_vjp(g, self, other, "trunc"),
    node="FmodBackward1",
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


@truncated(self=lambda g: g, node="FmodBackward0")
def fmod_number(self, other):
    """Return the same by a number."""


publish_overloads(fmod, fmod_number)


@floored(
    self=lambda g: g,
    other=lambda g, self, other: quotient_vjp(g, self, other, "floor"),
    node="RemainderBackward1",
)
def remainder(self, other):
    """Return what division rounded down leaves, with the sign of `other`, as Python's `%`."""


@floored(self=lambda g: g, node="RemainderBackward0")
def remainder_number(self, other):
    """Return the same by a number."""


@floored(**no_derivative("remainder", "other"))
def remainder_of_number(self, other):
    """Return what is left of a number, divided by each element."""


modulo = publish_overloads(remainder, remainder_number, remainder_of_number)


@elementwise(
    **no_derivative("floor_divide", "self", "other"),
    lone_numbers=True,
)
def floor_divide(self, other):
    """Return the quotient rounded down, as Python's `//`; it has no derivative."""
    return divide_rounded(self, other, "floor")


quotient = publish_overloads(floor_divide, floor_divide, floor_divide)
