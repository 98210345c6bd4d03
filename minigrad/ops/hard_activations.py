"""Piecewise linear activation functions: `relu`, thresholds, the hard versions of tanh, sigmoid and SiLU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable, itself, zeros
from .activations import activation
from .checks import BOOL, each, floats_only, no_clamp, refuses
from .kernels import kept, refusal


@activation(
    self=lambda g, max_val, min_val, self: F.hardtanh_backward(g, self, min_val, max_val),
    check=each(refuses("Bool inputs not supported for hardtanh", BOOL, error=RuntimeError), no_clamp),
)
def hardtanh(self, min_val=-1.0, max_val=1.0):
    """Each element, but not less than `min_val` nor more than `max_val`."""
    if self.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
        if self.dtype.kind == "u" and (min_val < 0 or max_val < 0):
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return np.minimum(np.maximum(self, self.dtype.type(min_val)), self.dtype.type(max_val))


@activation(grad_output=itself, self=zeros, linear=True)
def hardtanh_backward(grad_output, self, min_val, max_val):
    """`grad_output` inside the bounds, 0 on and outside them."""
    return np.where((self <= min_val) | (self >= max_val), grad_output.dtype.type(0), grad_output)[()]


@activation(
    self=lambda g, lambd, self: F.hardshrink_backward(g, self, lambd), check=floats_only("hardshrink_cpu")
)
def hardshrink(self, lambd=0.5):
    """`x`, and 0 where -lambd ≤ x ≤ lambd."""
    return shrunk(self, self, lambd)


def shrunk(x: Any, self: Any, lambd: Any) -> Any:
    """`x`, and 0 where `self` is at most `lambd` in size."""
    return np.where((self >= -lambd) & (self <= lambd), x.dtype.type(0), x)[()]


@activation(grad_out=itself, self=zeros, linear=True)
def hardshrink_backward(grad_out, self, lambd):
    """`grad_out`, and 0 where -lambd ≤ x ≤ lambd."""
    return shrunk(grad_out, self, lambd)


@activation(
    self=lambda g, lambd, self: F.softshrink_backward(g, self, lambd), check=floats_only("softshrink_check")
)
def softshrink(self, lambd=0.5):
    """`x` brought nearer to 0 by `lambd`, and 0 where -lambd ≤ x ≤ lambd."""
    return self - np.clip(self, -lambd, lambd).astype(self.dtype)


@activation(grad_output=itself, self=zeros, linear=True)
def softshrink_backward(grad_output, self, lambd):
    """`grad_output`, and 0 where -lambd ≤ x ≤ lambd."""
    return shrunk(grad_output, self, lambd)


SIXTH = float(np.float32(1 / 6))  # the slope is that of single precision in PyTorch, in double too


def ramp(self: Any) -> Any:
    """`x + 3`, but not less than 0 nor more than 6."""
    return np.minimum(np.maximum(self + 3, 0), 6)


@activation(self=lambda g, self: F.hardsigmoid_backward(g, self), check=floats_only("hardsigmoid_cpu"))
def hardsigmoid(self):
    """`(x + 3) / 6`, but not less than 0 nor more than 1."""
    return ramp(self) / 6


@activation(grad_output=refusal("hardsigmoid_backward"), self=refusal("hardsigmoid_backward"))
def hardsigmoid_backward(grad_output, self):
    """`grad_output / 6` where -3 < x < 3, else 0."""
    return np.where((self > -3) & (self < 3), grad_output * SIXTH, grad_output.dtype.type(0))[()]


@activation(self=lambda g, self: F.hardswish_backward(g, self), check=floats_only("hardswish_cpu"))
def hardswish(self):
    """`x · hardsigmoid(x)`."""
    return self * ramp(self) / 6


def hardswish_twice(g: Any, grad_output: Any, self: Any) -> Any:
    """Return the second derivative: 1/3 where -3 < x < 3, else 0."""
    inside = F.logical_and(F.gt(self, -3.0), F.lt(self, 3.0))
    return F.where(inside, F.div_scalar(g * grad_output, 3.0), 0.0)


@activation(grad_output=itself, self=hardswish_twice)
def hardswish_backward(grad_output, self):
    """`grad_output · (x / 3 + 1/2)` where -3 < x < 3, 0 below, `grad_output` above."""
    inside = grad_output * (self / 3 + self.dtype.type(0.5))
    return np.where(self <= -3, grad_output.dtype.type(0), np.where(self < 3, inside, grad_output))[()]


BOUNDS = {np.dtype(k): (np.zeros((), k), np.array(np.inf, k)) for k in ("float16", "float32", "float64")}


@differentiable(
    self=lambda g, result: F.threshold_backward(g, result, 0),
    elementwise=True,
    check=each(refuses("Boolean inputs not supported for relu", BOOL, error=RuntimeError), no_clamp),
    out="",
)
def relu(self):
    """Return the larger of each element and 0; NaN stays NaN.

    Args:
        input: a tensor of any shape.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if `input` is boolean.
    Derivative: `g` where `result > 0`, else 0.
    Source: torch.relu

    >>> torch.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    if self.__class__ is np.ndarray and self.dtype.kind == "f":
        # three times as fast as `np.maximum` on large arrays, and -0.0 stays what it is; numbers would take
        # longer than small arrays
        return self.clip(*BOUNDS[self.dtype])
    if isinstance(self, np.floating):
        return self.dtype.type(0) if self < 0 else self
    return np.maximum(self, 0)


@differentiable(grad_output=itself, self=zeros, elementwise=True, forms="")
def threshold_backward(grad_output, self, threshold):
    """Return 0 where `self <= threshold`, else `grad_output` (also where `self` is NaN)."""
    return kept(grad_output, self <= threshold)
