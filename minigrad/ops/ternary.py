"""Functions of three operands: a sum with a product or quotient, and the point between two."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import bool_, dtype
from .checks import not_implemented, only
from .half_precision import wide


def no_bool_products(kinds: list[dtype]) -> None:
    """NotImplementedError with PyTorch's text for three tensors of bools."""
    if all(k is bool_ for k in kinds):
        raise not_implemented("addcmul_cpu_out", bool_)


def no_whole_quotients(kinds: list[dtype]) -> None:
    """RuntimeError with PyTorch's text for a quotient of integers."""
    if all(k.category < 2 for k in kinds[1:]):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
            "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
            "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer "
            "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior "
            "is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes."
        )


@differentiable(
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * F.mul_scalar(tensor2, value),
    tensor2=lambda g, tensor1, value: g * F.mul_scalar(tensor1, value),
    elementwise=True,
    check=no_bool_products,
    forms="",
)
@wide
def addcmul(self, tensor1, tensor2, value):
    """Return `self + value · tensor1 · tensor2`, element by element."""
    if self.dtype.kind == "f":
        return self + self.dtype.type(value) * tensor1 * tensor2
    factor = int(value) if self.dtype.kind in "iu" else value
    return self + np.asarray(factor).astype(self.dtype)[()] * tensor1 * tensor2


def quotient_slope(tensor1: Any, tensor2: Any, value: Any) -> Any:
    """`value · tensor1 / tensor2²`; the square first, as PyTorch does, which gives its nodes their ages."""
    square = tensor2 * tensor2
    return F.mul_scalar(tensor1, value) / square


def addcdiv_vjp(g: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    """Return the gradient of the divisor."""
    slope = quotient_slope(tensor1, tensor2, value)
    return -g * slope


def filled(like: Any, value: Any) -> Any:
    """Return a number in the shape of a tensor, which PyTorch's formula divides."""
    return F.fill(F.zeros_like(like), value)


@differentiable(
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (filled(tensor2, value) / tensor2),
    tensor2=addcdiv_vjp,
    elementwise=True,
    check=no_whole_quotients,
    forms="",
)
@wide
def addcdiv(self, tensor1, tensor2, value):
    """Return `self + value · tensor1 / tensor2`, element by element."""
    return self + self.dtype.type(value) * tensor1 / tensor2


@wide
def between(self: Any, end: Any, weight: Any) -> Any:
    """From `self` to `end`, from whichever is nearer, as PyTorch computes it."""
    way = end - self
    if weight.__class__ is float:
        return self + weight * way if abs(weight) < 0.5 else end - way * (1 - weight)
    return np.where(np.abs(weight) < 0.5, self + weight * way, end - way * (1 - weight))[()]


@differentiable(
    self=lambda g, weight: F.mul_scalar(g, 1 - weight),
    end=lambda g, weight: F.mul_scalar(g, weight),
    linear=True,
    node="LerpBackward0",
    elementwise=True,
    check=only("fc", "lerp_kernel_scalar"),
    forms="",
)
def lerp(self, end, weight):
    """Return the point between `self` and `end` that a number says: 0 is `self`, 1 is `end`."""
    return between(self, end, weight)


@differentiable(
    self=lambda g, weight: g * F.sub(1, weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, self, end: g * (end - self),
    node="LerpBackward1",
    elementwise=True,
    check=only("fc", "lerp_kernel_tensor"),
    forms="",
)
def lerp_tensor(self, end, weight):
    """Return the point between `self` and `end` that the element of `weight` says."""
    return between(self, end, weight)
