"""Whole numbers near an element, and what kind of number an element is."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from ..core import F, differentiable, rename, zeros
from ..core.public import ALL, public
from .checks import BOOL, COMPLEX, INTEGER, each, no_kernel, refuses
from .overloads import choice


def whole(function: Any) -> Any:
    """Return a kernel that rounds; whole numbers stay as they are."""
    return lambda self: self.copy() if self.dtype.kind in "iu" else function(self)


def rounds(function: Any, check: Any, node: str | None = None, **names: Any) -> Any:
    """Declare an op that rounds: it is constant nearly everywhere."""
    return differentiable(
        self=zeros, elementwise=True, kernel=whole(function), check=check, node=node, **names
    )


def no_fractions(name: str) -> Any:
    """Return a check that refuses bools and complex numbers in PyTorch's words."""
    return each(no_kernel(f"{name}_vml_cpu", BOOL), refuses(f"{name} is not supported for complex inputs"))


@rounds(np.ceil, no_fractions("ceil"))
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


@rounds(np.floor, no_fractions("floor"))
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


@rounds(np.trunc, no_fractions("trunc"), also="fix")
def trunc(self):
    """The element without its digits after the point."""


@rounds(np.rint, no_kernel("round_vml_cpu", BOOL, COMPLEX), "RoundBackward0", forms="")
def round_whole(self):
    """The nearest whole number; of two equally near, the even one."""


@differentiable(
    self=zeros,
    node="RoundBackward1",
    elementwise=True,
    check=no_kernel("round_cpu", BOOL, INTEGER, COMPLEX),
    forms="",
)
def round_decimals(self, decimals):
    """Return the same with digits after the point kept, or with a negative number of them, before it cut."""
    power = self.dtype.type(10.0 ** abs(decimals))
    return np.rint(self / power) * power if decimals < 0 else np.rint(self * power) / power


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
    return round_decimals, (input, index(decimals))  # a TypeError for a fraction


@differentiable(self=lambda g: g, elementwise=True, check=no_kernel("frac_cpu", BOOL, INTEGER, COMPLEX))
def frac(self):
    """Return the digits of each element after its point, with its sign."""
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
