"""Smooth activation functions, softmax and its logarithm."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from ..core import F, calls, differentiable, itself
from ..core.dtypes import of
from .checks import only, refuse
from .kernels import activation, only_first, wide, widened
from .pointwise import logistic
from .shape import place
from .special import error_function

# ── gelu
# ─────────────────────────────────────────────────────────────────────────────────────────────────

BETA, KAPPA = sqrt(2 / pi), 0.044715  # of the approximation by tanh
DENSITY = 1 / sqrt(2 * pi)  # of the normal distribution, at 0


def normal(x: Any) -> Any:
    """Return the distribution function of the normal distribution."""
    return 0.5 * (1 + error_function(x / sqrt(2)))


def inner(x: Any) -> Any:
    """What the approximation by tanh takes the tanh of."""
    return BETA * (x + KAPPA * x * x * x)


@activation(self=calls("gelu_backward", "self", "approximate"), check=only("f", "GeluKernelImpl"))
def gelu(self, approximate="none"):
    """`x` times the distribution function of the normal distribution, exact ("none") or by "tanh"."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return self * (normal(self) if approximate == "none" else 0.5 * (1 + np.tanh(inner(self))))


def gelu_twice(g, approximate, grad_output, self):
    """Return the second derivative of `gelu`."""
    both = g * grad_output
    if approximate == "none":
        return both * (F.exp(self * self * -0.5) * DENSITY) * (2.0 - self * self)
    t = F.tanh(self * BETA + self * self * self * (BETA * KAPPA))
    slope = (1.0 - t * t) * (self * self * (3 * BETA * KAPPA) + BETA)
    bend = (1.0 - t * t) * (self * (3 * BETA * KAPPA)) - t * slope * (self * self * (3 * BETA * KAPPA) + BETA)
    return both * (slope + self * bend)


@activation(grad_output=itself, self=gelu_twice)
def gelu_backward(grad_output, self, approximate="none"):
    """`grad_output` times the derivative of `gelu`."""
    if approximate == "none":
        return grad_output * (normal(self) + self * (np.exp(-0.5 * self * self) * DENSITY))
    t = np.tanh(inner(self))
    return grad_output * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * (BETA * (1 + 3 * KAPPA * self * self)))


# ── of the logistic function
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def silu_vjp(g, self):
    """`g · σ(x) · (1 + x · (1 - σ(x)))`."""
    s = F.sigmoid(self)
    slope = F.add_scalar(self * F.sub(1, s), 1)
    return (g * s) * slope


@activation(self=silu_vjp, check=only("fc", "silu_cpu"))
def silu(self):
    """`x` times the logistic function of x."""
    return self * logistic(self)


def mish_vjp(g, self):
    """`g · (t + x · σ(x) · (1 - t²))` with t = tanh(softplus(x))."""
    s = F.sigmoid(self)
    t = F.tanh(F.log1p(F.exp(self)))
    rest = F.sub(1, t * t)
    return g * (t + (self * s) * rest)


@activation(self=mish_vjp, check=only("f", "mish_cpu"))
def mish(self):
    """`x · tanh(softplus(x))`."""
    return self * np.tanh(np.log1p(np.exp(self)))


@activation(self=calls("softplus_backward", "self", "beta", "threshold"), check=only("f", "softplus_cpu"))
def softplus(self, beta=1, threshold=20):
    """`log(1 + exp(beta · x)) / beta`, and `x` itself where `beta · x` is above `threshold`."""
    return np.where(self * beta > threshold, self, np.log1p(np.exp(self * beta)) / beta)[()]


def softplus_twice(g, beta, grad_output, self, threshold):
    """Return the second derivative of `softplus`: 0 where it is straight."""
    x = self * beta
    slope = F.sigmoid_backward(g * grad_output, F.sigmoid(x))
    return F.mul_scalar(slope * F.like(F.lt(x, threshold), g), beta)


@activation(grad_output=itself, self=softplus_twice)
def softplus_backward(grad_output, self, beta, threshold):
    """`grad_output` times the derivative of `softplus`."""
    z = np.exp(self * beta)
    return np.where(self * beta > threshold, grad_output, grad_output * z / (z + 1))[()]


@differentiable(
    self=calls("log_sigmoid_backward", "self", "buffer"),
    **only_first("output", "buffer"),
    node="LogSigmoidBackward0",
)
@wide
def log_sigmoid_forward(self):
    """Return `log(1 / (1 + exp(-x)))`, and `exp(-|x|)`, which its derivative needs."""
    refuse(self, "biuc", "log_sigmoid_cpu")
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


def shifted(self: Any, dim: int, name: str) -> tuple[Any, int]:
    """`self`, float16 as float32, with its largest element along `dim` taken away; and `dim` counted from
    the front.
    """
    axis = place(dim, self.ndim)
    if self.dtype.kind != "f" and self.size:
        last = "_lastdim" if axis >= self.ndim - 1 else ""
        raise NotImplementedError(f"\"{name}{last}_kernel_impl\" not implemented for '{of(self).title}'")
    x = widened(vector(self)) if self.size else vector(self).astype(np.float32)
    return x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf), axis


def vector(x: Any) -> Any:
    """Return a number as a vector, and anything else as it is: `atleast_1d` takes as long as a small sum."""
    return x if x.ndim else np.atleast_1d(x)


def like(out: Any, self: Any) -> Any:
    """Return a result in the shape and dtype of `self`."""
    out = out if out.dtype == self.dtype else out.astype(self.dtype)
    return out if out.ndim == self.ndim else out.reshape(self.shape)


@differentiable(self=lambda g, result, dim: F._softmax_backward_data(g, result, dim))
def softmax(self, dim):
    """Exponentials along `dim`, divided by their sum."""
    x, axis = shifted(self, dim, "softmax")
    np.exp(x, out=x)
    x /= np.add.reduce(x, axis=axis, keepdims=True)
    return like(x, self)


@differentiable(self=lambda g, result, dim: F._log_softmax_backward_data(g, result, dim))
def log_softmax(self, dim):
    """Return the logarithm of softmax along `dim`, without overflow."""
    x, axis = shifted(self, dim, "log_softmax")
    x -= np.log(np.add.reduce(np.exp(x), axis=axis, keepdims=True))
    return like(x, self)


def summed(x: Any, dim: int) -> Any:
    """Return the sum along `dim`, which stays."""
    return F.sum_dim(x, (dim,), True)


def softmax_twice(g, grad_output, output, dim):
    """Return the gradient of `_softmax_backward_data` with respect to `output`."""
    mine = grad_output * g - summed(output * grad_output, dim) * g
    return mine - grad_output * summed(output * g, dim)


@differentiable(
    grad_output=lambda g, output, dim: F._softmax_backward_data(g, output, dim),
    output=softmax_twice,
    forms="function",
    out="",
)
def _softmax_backward_data(grad_output, output, dim, input_dtype=None):
    """Return `output · (grad_output - Σ output · grad_output)`; `input_dtype` is PyTorch's and says nothing
    new.
    """
    x = widened(output)
    axis = place(dim, output.ndim)
    g = vector(grad_output)
    out = g * x
    np.subtract(g, np.add.reduce(out, axis=axis, keepdims=True), out=out)
    out *= x
    return like(out, output)


def log_softmax_twice(g, grad_output, output, dim):
    """Return the gradient of `_log_softmax_backward_data` with respect to `output`."""
    return F.neg(summed(grad_output, dim)) * F.exp(output) * g


@differentiable(
    grad_output=lambda g, output, dim: g - summed(g * F.exp(output), dim), output=log_softmax_twice
)
def _log_softmax_backward_data(grad_output, output, dim):
    """Return `grad_output - e^output · Σ grad_output`."""
    x, g = vector(widened(output)), vector(grad_output)
    g = g if g.dtype == x.dtype else g.astype(x.dtype)
    out = np.exp(x)
    out *= np.add.reduce(g, axis=place(dim, output.ndim), keepdims=True)
    return like(np.subtract(g, out, out=out), output)


# ── of attention
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@differentiable(self=lambda g, result, dim: F._softmax_backward_data(g, result, dim))
def _safe_softmax(self, dim):
    """Return `softmax`, but 0 along a `dim` whose elements are all -inf, where it would be NaN."""
    shares = softmax.op.kernel(self, dim)
    if not np.isnan(np.add.reduce(shares, axis=None)):
        return shares
    masked = np.all(np.isneginf(self), axis=place(dim, self.ndim), keepdims=True)
    return np.where(masked, self.dtype.type(0), shares)
