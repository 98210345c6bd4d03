"""Functions of two operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from .half_precision import only


def inverse_square(self: Any, other: Any) -> Any:
    """1 over the squared distance of (self, other) from 0, and 0 there."""
    second = other * other  # made first, as in PyTorch, which gives its nodes their ages
    square = self * self + second
    return F.masked_fill(F.reciprocal(square), F.eq(square, 0), 0)


def atan2_self_vjp(g: Any, self: Any, other: Any) -> Any:
    """Return the gradient of the point's height."""
    inverse = inverse_square(self, other)
    return g * other * inverse


def atan2_other_vjp(g: Any, self: Any, other: Any) -> Any:
    """Return the gradient of the point's width."""
    inverse = inverse_square(self, other)
    return g * -self * inverse


@differentiable(
    self=atan2_self_vjp,
    other=atan2_other_vjp,
    elementwise=True,
    floating=True,
    check=only("biuf", "atan2_cpu"),
    numbers=False,
    forms="function method method_",
    also="arctan2",
)
def atan2(self, other):
    """Return the angle of the point (other, self) in the plane, in radians from -π to π."""
    return np.arctan2(self, other)


# ── exponents and logarithms
# ─────────────────────────────────────────────────────────────────────────────────────────────────
