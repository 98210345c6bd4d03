"""Functions of three operands: bounds, a sum with a product or quotient, and the point between two.

Where two numbers are equal, `maximum` and `minimum` send half of the gradient to each, and the bounds of
`clamp` count as within.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import dtype
from .arithmetic import times
from .checks import each, no_clamp, only, refuses
from .kernels import elementwise, wide


def scalar_bounds(name: str) -> Any:
    """The check of bounds that are numbers: PyTorch has them for no complex numbers and no bools."""
    return each(no_clamp, only("iufc", f"{name}_scalar_cpu"))


# ── of two
# ─────────────────────────────────────────────────────────────────────────────────────────────────


# Declares an op that chooses one of two tensors' elements.
of_two = partial(differentiable, elementwise=True, numbers=False, forms="function method")


def share_of(g: Any, self: Any, other: Any, lost: Any) -> Any:
    """The gradient where one of two was chosen: half of it where they are equal, none where it `lost`."""
    halved = F.where(F.eq(self, other), F.div_scalar(g, 2), g)
    return F.masked_fill(halved, lost, 0)


@of_two(
    self=lambda g, self, other: share_of(g, self, other, F.lt(self, other)),
    other=lambda g, self, other: share_of(g, self, other, F.gt(self, other)),
    check=refuses("maximum not implemented for complex tensors.", error=RuntimeError),
)
def maximum(self, other):
    """Return the larger of two elements, element by element; NaN if one of them is NaN.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast. TypeError if an operand is a number.
    Derivative: `g` for the larger element; half of `g` for each if they are equal.
    Source: torch.maximum

    >>> torch.maximum(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0]))
    tensor([3., 5.])
    """
    return np.maximum(self, other)


@of_two(
    self=lambda g, self, other: share_of(g, self, other, F.gt(self, other)),
    other=lambda g, self, other: share_of(g, self, other, F.lt(self, other)),
    check=refuses("minimum not implemented for complex tensors.", error=RuntimeError),
)
def minimum(self, other):
    """Return the smaller of two tensors, element by element; NaN if either is."""
    return np.minimum(self, other)


# ── within bounds
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def clamped(self: Any, min: Any = None, max: Any = None) -> Any:
    """`self` between two bounds, of which one may be None; where they cross, `max` holds."""
    low = self if min is None else np.maximum(self, min)
    return low if max is None else np.minimum(low, max)


def inner_vjp(g, self, min, max):
    """Return the gradient where `self` is within its bounds."""
    within = [F.ge(self, min)] if min is not None else []
    within += [F.le(self, max)] if max is not None else []
    return F.where(reduce(F.logical_and, within), g, 0.0)


def min_vjp(g, self, min, max):
    """Return the gradient where the lower bound was taken."""
    below = F.lt(self, min)
    return F.where(below if max is None else F.logical_and(F.lt(min, max), below), g, 0.0)


def max_vjp(g, self, min, max):
    """Return the gradient where the upper bound was taken."""
    above = F.gt(self, max)
    return F.where(above if min is None else F.logical_or(F.lt(max, min), above), g, 0.0)


@elementwise(self=inner_vjp, min=min_vjp, max=max_vjp, kernel=clamped, check=no_clamp)
def clamp(self, min=None, max=None):
    """Return each element brought between those of `min` and `max`, tensors of which one may be left out."""


@elementwise(self=inner_vjp, node="ClampBackward1", kernel=clamped, check=scalar_bounds("clamp"))
def clamp_numbers(self, min=None, max=None):
    """Return each element brought between two numbers, of which one may be left out."""


# Declare an op with one bound.
upper = partial(elementwise, self=lambda g, self, max: inner_vjp(g, self, None, max), kernel=np.minimum)
lower = partial(elementwise, self=lambda g, self, min: inner_vjp(g, self, min, None), kernel=np.maximum)


@upper(check=scalar_bounds("clamp_max"))
def clamp_max(self, max):
    """Return the smaller of each element and a number."""


@upper(max=lambda g, self, max: max_vjp(g, self, None, max), node="ClampMaxBackward1", check=no_clamp)
def clamp_max_tensor(self, max):
    """Return the smaller of each element and that of another tensor."""


@lower(check=scalar_bounds("clamp_min"))
def clamp_min(self, min):
    """Return the greater of each element and a number."""


@lower(min=lambda g, self, min: min_vjp(g, self, min, None), node="ClampMinBackward1", check=no_clamp)
def clamp_min_tensor(self, min):
    """Return the greater of each element and that of another tensor."""


def no_whole_quotients(kinds: list[dtype]) -> None:
    """RuntimeError with PyTorch's text for a quotient of integers."""
    if all(k.category < 2 for k in kinds[1:]):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: use (input + value * torch.trunc(tensor1 "
            "/ tensor2)).to(input.dtype), or floating-point tensors"
        )


@elementwise(
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * F.mul_scalar(tensor2, value),
    tensor2=lambda g, tensor1, value: g * F.mul_scalar(tensor1, value),
    check=only("iufc", "addcmul_cpu_out"),
)
@wide
def addcmul(self, tensor1, tensor2, value):
    """Return `self + value · tensor1 · tensor2`, element by element."""
    return self + times(tensor1, value) * tensor2


def addcdiv_vjp(g, tensor1, tensor2, value):
    """`-g · value · tensor1 / tensor2²`; the square first, as PyTorch does: that gives nodes their ages."""
    square = tensor2 * tensor2
    slope = F.mul_scalar(tensor1, value) / square
    return -g * slope


def filled(like: Any, value: Any) -> Any:
    """Return a number in the shape of a tensor, which PyTorch's formula divides."""
    return F.fill(F.zeros_like(like), value)


@elementwise(
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (filled(tensor2, value) / tensor2),
    tensor2=addcdiv_vjp,
    check=no_whole_quotients,
)
@wide
def addcdiv(self, tensor1, tensor2, value):
    """Return `self + value · tensor1 / tensor2`, element by element."""
    return self + times(tensor1, value) / tensor2


@wide
def between(self: Any, end: Any, weight: Any) -> Any:
    """From `self` to `end`, from whichever is nearer, as PyTorch computes it."""
    way = end - self
    if weight.__class__ is float:
        return self + weight * way if abs(weight) < 0.5 else end - way * (1 - weight)
    return np.where(np.abs(weight) < 0.5, self + weight * way, end - way * (1 - weight))[()]


@elementwise(
    self=lambda g, weight: F.mul_scalar(g, 1 - weight),
    end=lambda g, weight: F.mul_scalar(g, weight),
    linear=True,
    check=only("fc", "lerp_kernel_scalar"),
)
def lerp(self, end, weight):
    """Return the point between `self` and `end` that a number says: 0 is `self`, 1 is `end`."""
    return between(self, end, weight)


@elementwise(
    self=lambda g, weight: g * F.sub(1, weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, self, end: g * (end - self),
    node="LerpBackward1",
    check=only("fc", "lerp_kernel_tensor"),
)
def lerp_tensor(self, end, weight):
    """Return the point between `self` and `end` that the element of `weight` says."""
    return between(self, end, weight)
