"""Activation functions: piecewise linear and smooth."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from ..core import F, calls, differentiable, itself, jointly, zeros
from ..core.guards import refuse
from ..core.public import public
from .arguments import fitting
from .elementary import logistic
from .kernels import HALF, activation, elementwise, in_float32, mask_gradient, only_first
from .special import error_function

# ─── Activation functions with a bend at 0, or piecewise linear


# ── elu and its kin
# ─────────────────────────────────────────────────────────────────────────────────────────────────


# The sign of a result does not tell that of its input if the slope is negative.
IN_PLACE = "In-place {} backward calculation is triggered with a negative slope which is not supported."


@activation(
    self=lambda g, alpha, scale, input_scale, self: F.elu_backward(g, alpha, scale, input_scale, False, self),
)
def elu(self, alpha=1, scale=1, input_scale=1):
    """`scale · x` where x ≥ 0, else `scale · alpha · (exp(input_scale · x) - 1)`."""
    return np.where(self < 0, scale * alpha * np.expm1(input_scale * np.minimum(self, 0)), scale * self)[()]


@activation(
    self=lambda g, alpha, scale, input_scale, result: F.elu_backward(
        g, alpha, scale, input_scale, True, result
    ),
    node="EluBackward1",
    kernel=elu.op.kernel,
)
def elu_(self, alpha=1, scale=1, input_scale=1):
    """`elu` in place: its derivative is taken from the result."""


def elu_twice(g, alpha, grad_output, input_scale, is_result, scale, self_or_result):
    """How the derivative of `elu` bends: it does where x < 0 only. That of the result has the slope
    `input_scale` by the result, whatever `scale` is.
    """
    bend = F.mul_scalar(g * grad_output, input_scale)
    if not is_result:
        bend = F.elu_backward(bend, alpha, scale, input_scale, is_result, self_or_result)
    return bend * F.like(F.lt(self_or_result, 0), g)


@activation(grad_output=itself, self_or_result=elu_twice)
def elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result):
    """`grad_output` times the slope of `elu`, at an input or (`is_result`) at a result."""
    if is_result and alpha < 0:
        raise RuntimeError(IN_PLACE.format("elu"))
    x = np.minimum(self_or_result, 0)
    bent = x + scale * alpha if is_result else scale * alpha * np.exp(input_scale * x)
    return grad_output * np.where(self_or_result <= 0, input_scale * bent, scale).astype(grad_output.dtype)


# ── leaky ones
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@activation(
    self=lambda g, negative_slope, self: F.leaky_relu_backward(g, self, negative_slope, False),
)
def leaky_relu(self, negative_slope=0.01):
    """`x` where x > 0, else `negative_slope · x`."""
    return np.where(self > 0, self, self * negative_slope)[()]


@activation(
    self=lambda g, negative_slope, result: F.leaky_relu_backward(g, result, negative_slope, True),
    node="LeakyReluBackward1",
    kernel=leaky_relu.op.kernel,
)
def leaky_relu_(self, negative_slope=0.01):
    """`leaky_relu` in place: its derivative is taken from the result."""


@activation(
    grad_output=lambda g, negative_slope, self: F.leaky_relu_backward(g, self, negative_slope, False),
    self=zeros,
    linear=True,
)
def leaky_relu_backward(grad_output, self, negative_slope, self_is_result):
    """`grad_output` where `self > 0`, else `negative_slope · grad_output`."""
    if self_is_result and not negative_slope >= 0:
        raise RuntimeError(IN_PLACE.format("leakyReLu"))
    return np.where(self > 0, grad_output, grad_output * negative_slope)[()]


def prelu_vjp(g, wanted, self, weight):
    """Return the gradients of the input, with slope 1 or `weight`, and of the weight: 0 or the input."""
    return F._prelu_kernel_backward(g, self, weight)


@activation(
    **jointly(prelu_vjp, "self", "weight"),
    jvp=lambda self_t, weight_t, self, weight: F.where(
        F.ge(self, 0), self_t, weight * self_t + weight_t * self
    ),
)
def _prelu_kernel(self, weight):
    """`x` where x > 0, else `weight · x`."""
    return np.where(self > 0, self, weight * self)[()]


def prelu_grad_output_vjp(grads, self, weight):
    """Return the sum of what comes back through both gradients."""
    of_self, of_weight = grads
    inside = 0.0 if of_self is None else of_self * weight
    if of_weight is not None:
        inside = inside + of_weight * self
    return F.where(F.ge(self, 0), 0.0 if of_self is None else of_self, inside)


def prelu_twice(grads, which, grad_output, self):
    """Where x < 0, the gradients of input and weight change with the other: by `grad_output`."""
    if grads[which] is None:
        return F.zeros_like(self)
    return F.where(F.ge(self, 0), 0.0, grad_output * grads[which])


@differentiable(
    grad_output=prelu_grad_output_vjp,
    self=lambda grads, grad_output, self: prelu_twice(grads, 1, grad_output, self),
    weight=lambda grads, grad_output, self, weight: F.sum_to(
        prelu_twice(grads, 0, grad_output, self), weight.shape
    ),
    several=True,
)
@in_float32
def _prelu_kernel_backward(grad_output, self, weight):
    """Return the gradients of the input and, before it is summed, of the weight of `prelu`."""
    mask = self > 0
    of_self = np.where(mask, grad_output, weight * grad_output)
    return of_self[()], np.where(mask, grad_output.dtype.type(0), self * grad_output)[()]


@activation(
    "hardtanh_backward",
    slope=lambda g, x, min_val, max_val: mask_gradient(g, (x <= min_val) | (x >= max_val)),
)
def hardtanh(self, min_val=-1.0, max_val=1.0):
    """Each element, but not less than `min_val` nor more than `max_val`."""
    if self.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
    return np.minimum(np.maximum(self, self.dtype.type(min_val)), self.dtype.type(max_val))


def shrunk(g: Any, x: Any, lambd: Any) -> Any:
    """`g`, and 0 where `x` is at most `lambd`, rounded to its dtype, in size."""
    return np.where((x >= -lambd) & (x <= lambd), g.dtype.type(0), g)[()]


@elementwise("hardshrink_backward", slope=shrunk)
def hardshrink(self, lambd=0.5):
    """`x`, and 0 where -lambd ≤ x ≤ lambd."""
    return shrunk(self, self, lambd)


@elementwise("softshrink_backward", slope=shrunk)
@in_float32
def softshrink(self, lambd=0.5):
    """`x` brought nearer to 0 by `lambd`, and 0 where -lambd ≤ x ≤ lambd."""
    return self - np.clip(self, -lambd, lambd).astype(self.dtype)


BOUNDS = {np.dtype(k): (np.zeros((), k), np.array(np.inf, k)) for k in ("float16", "float32", "float64")}


@differentiable(
    self=lambda g, result: F.threshold_backward(g, result, 0),
    elementwise=True,
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


@elementwise(grad_output=itself, self=zeros)
def threshold_backward(grad_output, self, threshold):
    """Return 0 where `self <= threshold`, else `grad_output` (also where `self` is NaN)."""
    return mask_gradient(
        grad_output, (self if self.dtype is not HALF else self.astype(np.float32)) <= threshold
    )


def threshold_vjp(g, self, threshold):
    """Return the gradient where `self` is above `threshold`."""
    return F.threshold_backward(g, self, threshold)


@activation(self=threshold_vjp, forms="function", out="same")
def threshold(self, threshold, value):
    """Return each element that is above a threshold, and `value` instead of all others.

    Args:
        input: a tensor of any shape.
        threshold: the bound.
        value: what replaces the other elements.
    Shape: the same as that of `input`.
    Returns: a new tensor; NaN stays NaN.
    Raises: NotImplementedError if `input` is boolean or complex.
    Derivative: `g` where `x > threshold`, else 0.
    Source: torch.threshold

    >>> torch.threshold(torch.tensor([-1.0, 2.0]), 0.5, 20.0)
    tensor([20.,  2.])
    """
    bound, value = (fitting(x, self.dtype) for x in (threshold, value))
    return np.where(self <= bound, self.dtype.type(value), self)[()]


@activation(self=threshold_vjp, node="ThresholdBackward1", kernel=threshold.op.kernel)
def threshold_(self, threshold, value):
    """`threshold` in place, which has a node of its own."""


# ─── Smooth activation functions


# ── gelu
# ─────────────────────────────────────────────────────────────────────────────────────────────────

BETA, KAPPA = sqrt(2 / pi), 0.044715  # of the approximation by tanh
DENSITY = 1 / sqrt(2 * pi)  # of the normal distribution, at 0


def normal_cdf(x: Any) -> Any:
    """Return the distribution function of the normal distribution."""
    return 0.5 * (1 + error_function(x / sqrt(2)))


def inner(x: Any) -> Any:
    """What the approximation by tanh takes the tanh of."""
    return BETA * (x + KAPPA * x * x * x)


def gelu_slope(g, x, approximate="none"):
    """Return `g` times the derivative of `gelu`."""
    if approximate == "none":
        return g * (normal_cdf(x) + x * (np.exp(-0.5 * x * x) * DENSITY))
    t = np.tanh(inner(x))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (BETA * (1 + 3 * KAPPA * x * x)))


def gelu_bend(g, approximate, self):
    """Return `g` times the second derivative of `gelu`."""
    if approximate == "none":
        return g * (F.exp(self * self * -0.5) * DENSITY) * (2.0 - self * self)
    t = F.tanh(self * BETA + self * self * self * (BETA * KAPPA))
    slope = (1.0 - t * t) * (self * self * (3 * BETA * KAPPA) + BETA)
    bend = (1.0 - t * t) * (self * (3 * BETA * KAPPA)) - t * slope * (self * self * (3 * BETA * KAPPA) + BETA)
    return g * (slope + self * bend)


@activation("gelu_backward", slope=gelu_slope, bend=gelu_bend)
def gelu(self, approximate="none"):
    """`x` times the distribution function of the normal distribution, exact ("none") or by "tanh"."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return self * (normal_cdf(self) if approximate == "none" else 0.5 * (1 + np.tanh(inner(self))))


# ── of the logistic function
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def silu_vjp(g, self):
    """`g · σ(x) · (1 + x · (1 - σ(x)))`."""
    s = F.sigmoid(self)
    slope = F.add_scalar(self * F.sub(1, s), 1)
    return (g * s) * slope


@activation(self=silu_vjp)
def silu(self):
    """`x` times the logistic function of x."""
    return self * logistic(self)


def mish_vjp(g, self):
    """`g · (t + x · σ(x) · (1 - t²))` with t = tanh(softplus(x))."""
    s = F.sigmoid(self)
    t = F.tanh(F.log1p(F.exp(self)))
    rest = F.sub(1, t * t)
    return g * (t + (self * s) * rest)


@activation(self=mish_vjp)
def mish(self):
    """`x · tanh(softplus(x))`."""
    return self * np.tanh(np.log1p(np.exp(self)))


def softplus_slope(g, x, beta, threshold):
    """`g` times the slope of `softplus`: 1 where it is straight."""
    z = np.exp(x * beta)
    return np.where(x * beta > threshold, g, g * z / (z + 1))[()]


def softplus_bend(g, beta, self, threshold):
    """`g` times the second derivative of `softplus`: 0 where it is straight."""
    x = F.mul_scalar(self, beta)
    bend = F.sigmoid_backward(g, F.sigmoid(x))
    return F.mul_scalar(bend * F.like(F.lt(x, threshold), g), beta)


@activation("softplus_backward", slope=softplus_slope, bend=softplus_bend)
def softplus(self, beta=1, threshold=20):
    """`log(1 + exp(beta · x)) / beta`, and `x` itself where `beta · x` is above `threshold`."""
    return np.where(self * beta > threshold, self, np.log1p(np.exp(self * beta)) / beta)[()]


@differentiable(
    self=calls("log_sigmoid_backward", "self", "buffer"),
    **only_first("output", "buffer"),
    node="LogSigmoidBackward0",
)
@in_float32
def log_sigmoid_forward(self):
    """Return `log(1 / (1 + exp(-x)))`, and `exp(-|x|)`, which its derivative needs."""
    refuse(self, "log_sigmoid_cpu")
    z = np.exp(-np.abs(self))
    return np.minimum(self, 0) - np.log1p(z), z


def log_sigmoid_twice(g, grad_output, self):
    """Return the second derivative: `-σ(x) · (1 - σ(x))`."""
    s = F.sigmoid(self)
    return F.sigmoid_backward(g * grad_output, s) * -1.0


@activation(grad_output=itself, self=log_sigmoid_twice)
def log_sigmoid_backward(grad_output, self, buffer):
    """`grad_output · σ(-x)`."""
    share = buffer / (1 + buffer)
    return grad_output * np.where(self < 0, 1 - share, share).astype(grad_output.dtype)


# ─── Functions of two and three operands, as functions and methods, and the operators of integers


@public()
def prelu(input: Any, weight: Any) -> Any:
    """Return x where x > 0, else `weight · x`: one weight, or one for each channel (dimension 1)."""
    if input._data.dtype != weight._data.dtype:
        kinds = f"{input.dtype.title} and {weight.dtype.title}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {kinds}")
    count, ndim = weight.numel(), input.ndim
    channels = input.shape[1] if ndim > 1 else 1
    if weight.ndim > 1 or (count != 1 and (not ndim or channels != count)):
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{count} and channel size = {channels}."
        )
    if ndim != weight.ndim:
        weight = weight.reshape([count if d == 1 else 1 for d in range(ndim)])
    return _prelu_kernel(input, weight)
