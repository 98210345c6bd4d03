"""Softmax and its logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .shape import place


def shifted(self: Any, dim: int, name: str) -> tuple[Any, int]:
    """`self`, float16 as float32, with its largest element along `dim` taken away; and `dim` counted from
    the front.
    """
    axis = place(dim, self.ndim)
    if self.dtype.kind != "f":
        last = "_lastdim" if axis >= self.ndim - 1 else ""
        raise NotImplementedError(f"\"{name}{last}_kernel_impl\" not implemented for '{of(self).title}'")
    x = self if self.ndim else np.atleast_1d(self)  # which takes as long as the sum of a small array
    x = x.astype(np.float32) if x.dtype == np.float16 else x
    return x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf), axis


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


def softmax_twice(g: Any, grad_output: Any, output: Any, dim: int) -> Any:
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
    x = output.astype(np.float32) if output.dtype == np.float16 else output
    axis = place(dim, output.ndim)
    g = np.atleast_1d(grad_output)
    out = g * x
    np.subtract(g, np.add.reduce(out, axis=axis, keepdims=True), out=out)
    out *= x
    return like(out, output)


def log_softmax_twice(g: Any, grad_output: Any, output: Any, dim: int) -> Any:
    """Return the gradient of `_log_softmax_backward_data` with respect to `output`."""
    return F.neg(summed(grad_output, dim)) * F.exp(output) * g


@differentiable(
    grad_output=lambda g, output, dim: g - summed(g * F.exp(output), dim), output=log_softmax_twice
)
def _log_softmax_backward_data(grad_output, output, dim):
    """Return `grad_output - e^output · Σ grad_output`."""
    x = output.astype(np.float32) if output.dtype == np.float16 else output
    g = np.atleast_1d(grad_output).astype(x.dtype, copy=False)
    out = np.atleast_1d(np.exp(x))
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
