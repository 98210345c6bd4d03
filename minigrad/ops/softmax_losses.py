"""Softmax and its logarithm; losses: squared and absolute differences, cross entropies."""

from __future__ import annotations

import functools
import inspect
from math import prod
from typing import Any

import numpy as np

from ..core import F, calls, differentiable, itself, zeros
from ..core.declare import camel
from ..core.dtypes import of, result_type
from ..core.guards import check_same_dtype, refuse
from ..core.op import arguments, parameters
from ..core.public import public
from .kernels import (
    MEAN,
    NONE,
    SUM,
    activation,
    as_float32,
    in_float32,
    linear_op,
    only_first,
    reduce,
    reduce_loss,
    reduced_in_place,
)
from .shapes import place

# ─── Losses of differences. See `entropies` for two classes and `class_losses` for many


def share(reduction: int, shape: Any) -> float:
    """What a gradient is multiplied with where losses of this shape were reduced."""
    return 1 / prod(shape) if reduction == MEAN and prod(shape) else 1.0


def loss(name: str) -> Any:
    """Decorate the losses of single elements to make a kernel that reduces them; `name` is PyTorch's of its
    own.
    """

    def decorate(losses: Any) -> Any:
        @functools.wraps(losses)
        def kernel(self: Any, target: Any, reduction: int, *args: Any) -> Any:
            if self.dtype is not target.dtype:
                kind = result_type(self, target)
                self, target = self.astype(kind), target.astype(kind)
            refuse(self, name)
            return reduce_loss(losses(self, target, reduction, *args), reduction)

        return kernel

    return decorate


def weigh_gradient(loss: Any, weight: Any, reduction: int, shape: Any) -> Any:
    """Return a gradient times the weights of elements, a share of it for a mean; by ops."""
    if weight is not None:
        loss = reduced_in_place("mul", loss, weight)
    return reduced_in_place("div_scalar", loss, prod(shape)) if reduction == MEAN else loss


def of_difference(backward: str, slope: Any, bend: Any) -> Any:
    """Declare a loss of the differences `d = self - target`, and the op `backward` of its gradients.

    `slope(d, share, …)` is the derivative of one loss, times a share for a mean. `bend(g, …)` is `g` times
    the second derivative, written as a vjp.
    """

    def bend_of_self(g: Any, grad_output: Any, reduction: int, self: Any, *values: Any) -> Any:
        return weigh_gradient(bend(g * grad_output, *values), None, reduction, self.shape)

    def bend_of_target(g: Any, *values: Any) -> Any:
        return F.neg(bend_of_self(g, *values))

    saved = ("grad_output", "reduction", "self", *arguments(bend))
    bend_of_self.names = bend_of_target.names = saved  # type: ignore[attr-defined]

    def gradient(grad_output: Any, self: Any, target: Any, reduction: int, *args: Any) -> Any:
        return slope(self - target, share(reduction, self.shape), *args) * grad_output

    def declare(kernel: Any) -> Any:
        names = self, target, *others = parameters(inspect.unwrap(kernel))
        gradient.params = ("grad_output", *names)  # type: ignore[attr-defined]
        activation(name=backward, grad_output=itself, self=bend_of_self, target=bend_of_target)(gradient)
        vjps = {"self": calls(backward, *names), "target": calls(backward, target, self, *others)}
        return differentiable(**vjps)(kernel)

    return declare


@of_difference("mse_loss_backward", slope=lambda d, share: (2 * share) * d, bend=lambda g: F.mul_scalar(g, 2))
@loss("mse_cpu")
def mse_loss(self, target, reduction):
    """Return the squared difference."""
    return (self - target) * (self - target)


# ── squares of small and sizes of large differences
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@of_difference(
    "smooth_l1_loss_backward",
    slope=lambda d, share, beta: np.where(np.abs(d) < beta, d / beta, np.sign(d)) * share,
    bend=lambda g, self, target, beta: F.div_scalar(g * F.like(F.lt(F.abs(self - target), beta), g), beta),
)
@loss("smooth_l1_cpu")
@in_float32
def smooth_l1_loss(self, target, reduction, beta):
    """Return `d² / (2 beta)` where the difference d is smaller than `beta`, else `|d| - beta / 2`."""
    d = np.abs(self - target)
    return np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)[()]


@of_difference(
    "huber_loss_backward",
    slope=lambda d, share, delta: np.clip(d, -delta, delta) * share,
    bend=lambda g, self, target, delta: g * F.lt(F.abs(self - target), delta),
)
@loss("huber_cpu")
@in_float32
def huber_loss(self, target, reduction, delta):
    """Return `d² / 2` where the difference d is smaller than `delta`, else `delta · (|d| - delta / 2)`."""
    d = np.abs(self - target)
    return np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta))[()]


# ─── Losses of classes: binary cross entropy and the negative log likelihood


def entropy_target_vjp(g, reduction, self, target, weight):
    """Return the gradient of the probabilities that are aimed at: `-logit(self)`."""
    return weigh_gradient(
        reduced_in_place("mul", F.neg(F.logit(self, None)), g), weight, reduction, target.shape
    )


def entropy_jvp(self_t, target_t, self, target, weight, reduction):
    """Return the tangent of `binary_cross_entropy`."""
    of_self = F.binary_cross_entropy_backward(self_t, self, target, weight, NONE)
    return reduce(of_self + entropy_target_vjp(target_t, NONE, self, target, weight), reduction)


@differentiable(
    self=calls("binary_cross_entropy_backward", "self", "target", "weight", "reduction"),
    target=entropy_target_vjp,
    jvp=entropy_jvp,
)
def binary_cross_entropy(self, target, weight=None, reduction=MEAN):
    """Return `-weight · (target · log(self) + (1 - target) · log(1 - self))`, no logarithm being less than
    -100.
    """
    refuse(self, "binary_cross_entropy")
    for name, probabilities in (("input", self), ("target", target)):
        if not np.all((probabilities >= 0) & (probabilities <= 1)):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    x, t = as_float32(self), as_float32(target)
    out = (t - 1) * np.maximum(np.log1p(-x), -100) - t * np.maximum(np.log(x), -100)
    out = out.astype(self.dtype)
    return reduce_loss(out if weight is None else out * weight, reduction)


TINY = 1e-12


def inverse_slope(self: Any) -> Any:
    """`1 / (self · (1 - self))`, no factor being 0."""
    return 1.0 / ((self + TINY) * (1.0 - self + TINY))


def entropy_grad_output_vjp(g, grad_output, reduction, self, target, weight):
    """Return the slope of the loss, times what comes back."""
    return weigh_gradient((self - target) * inverse_slope(self) * g, weight, reduction, self.shape)


def entropy_twice(g, grad_output, reduction, self, target, weight):
    """How the slope changes with the probability: `(x² - 2 x t + t) / (x (1 - x))²`."""
    square = self * self - self * target * 2.0 + target
    bend = square * inverse_slope(self) * inverse_slope(self)
    return weigh_gradient(g * grad_output * bend, weight, reduction, self.shape)


def entropy_twice_target(g, grad_output, reduction, self, target, weight):
    """How the slope changes with the aim: `-1 / (x (1 - x))`."""
    slope = F.neg(g * grad_output / (self * (1.0 - self)))
    return weigh_gradient(slope, weight, reduction, self.shape)


@activation(grad_output=entropy_grad_output_vjp, self=entropy_twice, target=entropy_twice_target)
def binary_cross_entropy_backward(grad_output, self, target, weight=None, reduction=MEAN):
    """`weight · (self - target) / (self · (1 - self)) · grad_output`."""
    slope = (self - target) / np.maximum((1 - self) * self, self.dtype.type(1e-12))
    slope = slope * share(reduction, self.shape) * grad_output
    return slope if weight is None else slope * weight


def logits_self_vjp(g, pos_weight, reduction, self, target, weight):
    """`(σ(x) - t) · g`, or with weights of the positive `((w t + 1 - t) · σ(x) - w t) · g`."""
    if pos_weight is None:
        slope = F.sigmoid(self) - target
    else:
        t = pos_weight * target
        slope = (F.add_scalar(t, 1) - target) * F.sigmoid(self) - t
    return weigh_gradient(slope * g, weight, reduction, self.shape)


def logits_target_vjp(g, pos_weight, reduction, self, target, weight):
    """`-x · g`, or with weights of the positive `(log σ(-x) - w · log σ(x)) · g`."""
    if pos_weight is None:
        slope = F.neg(self) * g
    else:
        slope = log_sigmoid(F.neg(self)) - reduced_in_place("mul", log_sigmoid(self), pos_weight)
        slope = reduced_in_place("mul", slope, g)
    return weigh_gradient(slope, weight, reduction, self.shape)


def log_sigmoid(x: Any) -> Any:
    """`log σ(x)`."""
    return F.log_sigmoid_forward(x)[0]


@differentiable(self=logits_self_vjp, target=logits_target_vjp)
def binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=MEAN):
    """Return `binary_cross_entropy` of the logistic function of `self`."""
    log_s = F.log_sigmoid_forward(np.asarray(self))[0]
    if pos_weight is not None:
        log_s = ((pos_weight - 1) * target + 1) * log_s
    out = (1 - target) * self - log_s
    return reduce_loss(out if weight is None else out * weight, reduction)


def check_target(self: Any, target: Any, weight: Any) -> None:
    """RuntimeError with PyTorch's text for shapes and dtypes that do not fit."""
    refuse(self, "nll_loss_out_frame")
    if target.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {of(target).title}")
    if weight is not None:
        check_same_dtype(self, weight)


def class_index(self: Any, target: Any, weight: Any, ignore_index: int) -> tuple[Any, Any, Any]:
    """Return the NumPy index of each element's class in the scores, the weight of each element (None if all
    are 1), and which are not to be ignored (None if all count); an IndexError for a class that there is not.
    """
    axis, classes = (1, self.shape[1]) if self.ndim > 1 else (0, self.shape[0])
    if self.ndim == 1 == target.ndim:  # the class of one sample may be given in a vector
        if target.size != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.size}")
        target = target.reshape(())
    # read without a sign, negative ones are the largest
    unsigned = target.view(np.uint64) if target.dtype == np.int64 else target
    most = np.maximum.reduce(unsigned, axis=None, initial=0)
    used = None
    if (target.size and most >= classes) or 0 <= ignore_index < classes:
        used = target != ignore_index
        wrong = used & ((target < 0) | (target >= classes))
        if np.any(wrong):
            raise IndexError(f"Target {np.asarray(target)[wrong].ravel()[0]} is out of bounds.")
        target = np.where(used, target, 0)
    weights = None if weight is None else weight[target]
    if used is not None:
        one, zero = self.dtype.type(1), self.dtype.type(0)
        weights = np.where(used, one if weights is None else weights, zero).astype(self.dtype)
    others = np.ogrid[tuple(map(slice, target.shape))] if target.ndim > 1 else map(np.arange, target.shape)
    at = [*others]
    at.insert(axis, target)
    return tuple(at), weights, used


def declare_nll(title: str, forward_name: str, gradient: str) -> None:
    """Declare the loss, which is linear in the scores, and its gradient, which is linear in what is sent."""
    own = ("self", "target", "weight", "reduction", "ignore_index", "total_weight")

    def twice(g, ignore_index, reduction, target, weight):
        return getattr(F, forward_name)(g, target, weight, reduction, ignore_index)[0]

    @differentiable(
        name=forward_name,
        self=calls(gradient, *own),
        **only_first("output", "total_weight"),
        node=camel(title) + "Backward0",
    )
    def forward(self, target, weight, reduction, ignore_index):
        """Return `-weight[t] · self[t]` of the class t, and the sum of weights, by which a mean divides."""
        check_target(self, target, weight)
        at, weights, _ = class_index(self, target, weight, ignore_index)
        picked = self[at]
        loss = -picked if weights is None else -weights * picked
        if reduction == NONE and self.ndim > 1:
            return loss, self.dtype.type(0)
        total = self.dtype.type(picked.size) if weights is None else reduce_loss(weights, SUM)
        out = reduce_loss(loss, SUM)
        return (out / total if reduction == MEAN else out), total

    @linear_op(name=gradient, grad_output=twice, self=zeros)
    def backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
        """Return the gradient of the scores."""
        at, weights, used = class_index(self, target, weight, ignore_index)
        sent = -grad_output if weights is None else -weights * grad_output
        if reduction == MEAN:
            sent = sent / total_weight
            if used is not None:
                sent = np.where(used, sent, self.dtype.type(0)).astype(self.dtype)
        out = np.zeros(self.shape, self.dtype)
        out[at] = sent
        return out


declare_nll("nll_loss", "nll_loss_forward", "nll_loss_backward")
# scores (N, C, H, W) of classes (N, H, W)
declare_nll("nll_loss2d", "nll_loss2d_forward", "nll_loss2d_backward")


# ─── Smooth activation functions, softmax and its logarithm


def subtract_maximum(self: Any, dim: int, kernel_name: str, last: str) -> tuple[Any, int]:
    """`self`, float16 as float32, minus its largest element along `dim`; and `dim` counted from
    the front. PyTorch has another kernel for the `last` dimension.
    """
    axis = place(dim, self.ndim)
    if self.size:
        refuse(self, last if axis >= self.ndim - 1 else kernel_name)
    x = as_float32(vector(self)) if self.size else vector(self).astype(np.float32)
    return x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf), axis


def vector(x: Any) -> Any:
    """Return a number as a vector, and anything else as it is: `atleast_1d` takes as long as a small sum."""
    return x if x.ndim else np.atleast_1d(x)


def like(out: Any, self: Any) -> Any:
    """Return a result in the shape and dtype of `self`."""
    out = out if out.dtype == self.dtype else out.astype(self.dtype)
    return out if out.ndim == self.ndim else out.reshape(self.shape)


@differentiable(name="softmax", self=lambda g, result, dim: F._softmax_backward_data(g, result, dim))
def softmax_op(self, dim):
    """Exponentials along `dim`, divided by their sum."""
    x, axis = subtract_maximum(self, dim, "softmax_kernel_impl", "softmax_lastdim_kernel_impl")
    np.exp(x, out=x)
    x /= np.add.reduce(x, axis=axis, keepdims=True)
    return like(x, self)


@differentiable(name="log_softmax", self=lambda g, result, dim: F._log_softmax_backward_data(g, result, dim))
def log_softmax_op(self, dim):
    """Return the logarithm of softmax along `dim`, without overflow."""
    x, axis = subtract_maximum(self, dim, "log_softmax_kernel_impl", "log_softmax_lastdim_kernel_impl")
    x -= np.log(np.add.reduce(np.exp(x), axis=axis, keepdims=True))
    return like(x, self)


def sum_along(x: Any, dim: int) -> Any:
    """Return the sum along `dim`, which stays."""
    return F.sum_dim(x, (dim,), True)


def softmax_twice(g, grad_output, output, dim):
    """Return the gradient of `_softmax_backward_data` with respect to `output`."""
    mine = grad_output * g - sum_along(output * grad_output, dim) * g
    return mine - grad_output * sum_along(output * g, dim)


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
    x = as_float32(output)
    axis = place(dim, output.ndim)
    g = vector(grad_output)
    out = g * x
    np.subtract(g, np.add.reduce(out, axis=axis, keepdims=True), out=out)
    out *= x
    return like(out, output)


def log_softmax_twice(g, grad_output, output, dim):
    """Return the gradient of `_log_softmax_backward_data` with respect to `output`."""
    return F.neg(sum_along(grad_output, dim)) * F.exp(output) * g


@differentiable(
    grad_output=lambda g, output, dim: g - sum_along(g * F.exp(output), dim), output=log_softmax_twice
)
def _log_softmax_backward_data(grad_output, output, dim):
    """Return `grad_output - e^output · Σ grad_output`."""
    x, g = vector(as_float32(output)), vector(grad_output)
    g = g if g.dtype == x.dtype else g.astype(x.dtype)
    out = np.exp(x)
    out *= np.add.reduce(g, axis=place(dim, output.ndim), keepdims=True)
    return like(np.subtract(g, out, out=out), output)


# ── of attention
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@differentiable(self=lambda g, result, dim: F._softmax_backward_data(g, result, dim))
def _safe_softmax(self, dim):
    """Return `softmax_op`, but 0 along a `dim` whose elements are all -inf, where it would be NaN."""
    shares = softmax_op.op.kernel(self, dim)
    if not np.isnan(np.add.reduce(shares, axis=None)):
        return shares
    masked = np.all(np.isneginf(self), axis=place(dim, self.ndim), keepdims=True)
    return np.where(masked, self.dtype.type(0), shares)


# ─── Variances, quantiles, softmax and histograms, as functions and as methods


# ── softmax
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def in_dtype(input: Any, dtype: Any) -> Any:
    """Return the tensor in `dtype`, if one is given."""
    return input if dtype is None else input.to(dtype)


@public(out="same")
def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return the exponentials along `dim`, divided by their sum.

    Args:
        input: a tensor of any shape.
        dim: the dimension whose elements add up to 1.
        dtype: the dtype in which the result is computed.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `result * (g - (g * result).sum(dim))`.
    Source: torch.softmax

    >>> torch.softmax(torch.tensor([0.0, 1.0]), dim=0)
    tensor([0.2689, 0.7311])
    """
    return softmax_op(in_dtype(input, dtype), dim)


@public(out="same")
def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return the logarithm of the softmax along `dim`, computed without overflow.

    Args:
        input: a tensor of any shape.
        dim: the dimension whose exponentials add up to 1.
        dtype: the dtype in which the result is computed.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g - exp(result) * g.sum(dim)`.
    Source: torch.log_softmax

    >>> torch.log_softmax(torch.tensor([0.0, 1.0]), dim=0)
    tensor([-1.3133, -0.3133])
    """
    return log_softmax_op(in_dtype(input, dtype), dim)
