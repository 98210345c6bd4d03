"""`x · ln y`, which is 0 for x = 0 unless y is NaN.

At x = 0 with y outside the logarithm's domain the derivative by x is taken as 0, as in PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from .half_precision import only, widened
from .overloads import overloaded


def times_log(self: Any, other: Any) -> Any:
    """`x ln y` of arrays, or of an array and a number."""
    x, y = widened(self), widened(other)
    constant = np.equal(x, 0) & ~np.isnan(y)
    return np.where(constant, 0, x * np.log(y)).astype(np.result_type(self, other))[()]


def self_vjp(g: Any, self: Any, other: Any) -> Any:
    """`g ln y`, and 0 where the product is constant though the logarithm is not finite."""
    constant = F.logical_and(F.eq(self, 0.0), F.le(other, 0.0))
    return F.masked_fill(F.xlogy(g, other), constant, 0.0)


def number_vjp(g: Any, self: Any, other: Any) -> Any:
    """Return the same for a number y."""
    slope = F.xlogy_by_number(g, other)
    return slope if other > 0 else F.masked_fill(slope, F.eq(self, 0.0), 0.0)


@differentiable(
    self=self_vjp,
    other=lambda g, self, other: g * self / other,
    jvp=lambda self_t, other_t, self, other: self_vjp(self_t, self, other) + F.product(other_t, self) / other,
    kernel=times_log,
    elementwise=True,
    floating=True,
    check=only("biuf", "xlogy_cpu"),
    forms="",
)
def xlogy(self, other):
    """Return `input · ln other`; 0 where `input` is 0."""


@differentiable(
    other=lambda g, self, other: F.mul_scalar(g, self) / other,
    node="XlogyBackward1",
    kernel=times_log,
    elementwise=True,
    floating=True,
    check=only("biuf", "xlogy_cpu"),
    forms="",
)
def xlogy_of_number(self, other):
    """Return `self · ln other` of a number and a tensor."""


@differentiable(
    self=number_vjp,
    node="XlogyBackward2",
    kernel=times_log,
    elementwise=True,
    floating=True,
    check=only("biuf", "xlogy_cpu"),
    forms="",
)
def xlogy_by_number(self, other):
    """Return `self · ln other` of a tensor and a number; 0 where `self` is 0."""


function = overloaded(xlogy, xlogy_by_number, xlogy_of_number, function_=True)
