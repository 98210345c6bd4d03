"""Losses between two classes: margins and entropies."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .activations import activation
from .half_precision import MEAN, NONE, floats_only, reduce, reduced, widened, written
from .losses import share


def weighted(loss: Any, weight: Any, reduction: int, shape: Any) -> Any:
    """Return a gradient times the weights of elements, a share of it for a mean; by ops."""
    if weight is not None:
        loss = written("mul", loss, weight)
    return written("div_scalar", loss, prod(shape)) if reduction == MEAN else loss


def entropy_target_vjp(g: Any, reduction: int, self: Any, target: Any, weight: Any) -> Any:
    """Return the gradient of the probabilities that are aimed at: `-logit(self)`."""
    return weighted(written("mul", F.neg(log_odds(self)), g), weight, reduction, target.shape)


def log_odds(x: Any) -> Any:
    """`log(x / (1 - x))`."""
    return F.logit(x, None)


def entropy_jvp(self_t: Any, target_t: Any, self: Any, target: Any, weight: Any, reduction: int) -> Any:
    """Return the tangent of `binary_cross_entropy`."""
    of_self = F.binary_cross_entropy_backward(self_t, self, target, weight, NONE)
    return reduce(of_self + entropy_target_vjp(target_t, NONE, self, target, weight), reduction)


def entropy(self: Any, target: Any, weight: Any, reduction: int) -> Any:
    """Return the kernel of `binary_cross_entropy`."""
    floats_only("binary_cross_entropy")([of(self)])
    if not np.all((self >= 0) & (self <= 1)):
        raise RuntimeError("all elements of input should be between 0 and 1")
    if not np.all((target >= 0) & (target <= 1)):
        raise RuntimeError("all elements of target should be between 0 and 1")
    x, t = widened(self), widened(target)
    out = (t - 1) * np.maximum(np.log1p(-x), x.dtype.type(-100)) - t * np.maximum(
        np.log(x), x.dtype.type(-100)
    )
    out = out.astype(self.dtype)
    return reduced(out if weight is None else out * weight, reduction)


@differentiable(
    self=lambda g, reduction, self, target, weight: F.binary_cross_entropy_backward(
        g, self, target, weight, reduction
    ),
    target=entropy_target_vjp,
    jvp=entropy_jvp,
    kernel=entropy,
)
def binary_cross_entropy(self, target, weight=None, reduction=MEAN):
    """Return `-weight · (target · log(self) + (1 - target) · log(1 - self))`, no logarithm being less than
    -100.
    """


TINY = 1e-12


def inverse_slope(self: Any) -> Any:
    """`1 / (self · (1 - self))`, no factor being 0."""
    return 1.0 / ((self + TINY) * (1.0 - self + TINY))


def entropy_grad_output_vjp(
    g: Any, grad_output: Any, reduction: int, self: Any, target: Any, weight: Any
) -> Any:
    """Return the slope of the loss, times what comes back."""
    return weighted((self - target) * inverse_slope(self) * g, weight, reduction, self.shape)


def entropy_twice(g: Any, grad_output: Any, reduction: int, self: Any, target: Any, weight: Any) -> Any:
    """How the slope changes with the probability: `(x² - 2 x t + t) / (x (1 - x))²`."""
    square = self * self - self * target * 2.0 + target
    bend = square * inverse_slope(self) * inverse_slope(self)
    return weighted(g * grad_output * bend, weight, reduction, self.shape)


def entropy_twice_target(
    g: Any, grad_output: Any, reduction: int, self: Any, target: Any, weight: Any
) -> Any:
    """How the slope changes with the aim: `-1 / (x (1 - x))`."""
    slope = F.neg(g * grad_output / (self * (1.0 - self)))
    return weighted(slope, weight, reduction, self.shape)


@activation(
    grad_output=entropy_grad_output_vjp,
    self=entropy_twice,
    target=entropy_twice_target,
    node="BinaryCrossEntropyBackwardBackward0",
)
def binary_cross_entropy_backward(grad_output, self, target, weight=None, reduction=MEAN):
    """`weight · (self - target) / (self · (1 - self)) · grad_output`."""
    slope = (self - target) / np.maximum((1 - self) * self, self.dtype.type(1e-12))
    slope = slope * share(reduction, self.shape) * grad_output
    return slope if weight is None else slope * weight


def logits_self_vjp(g: Any, pos_weight: Any, reduction: int, self: Any, target: Any, weight: Any) -> Any:
    """`(σ(x) - t) · g`, or with weights of the positive `((w t + 1 - t) · σ(x) - w t) · g`."""
    if pos_weight is None:
        slope = F.sigmoid(self) - target
    else:
        t = pos_weight * target
        slope = (F.add_scalar(t, 1) - target) * F.sigmoid(self) - t
    return weighted(slope * g, weight, reduction, self.shape)


def logits_target_vjp(g: Any, pos_weight: Any, reduction: int, self: Any, target: Any, weight: Any) -> Any:
    """`-x · g`, or with weights of the positive `(log σ(-x) - w · log σ(x)) · g`."""
    if pos_weight is None:
        slope = F.neg(self) * g
    else:
        slope = log_sigmoid(F.neg(self)) - written("mul", log_sigmoid(self), pos_weight)
        slope = written("mul", slope, g)
    return weighted(slope, weight, reduction, self.shape)


def log_sigmoid(x: Any) -> Any:
    """`log σ(x)`."""
    return F.log_sigmoid_forward(x)[0]


def entropy_of_logits(self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    """Return the kernel of `binary_cross_entropy_with_logits`."""
    log_s = F.log_sigmoid_forward(np.asarray(self))[0]
    if pos_weight is not None:
        log_s = ((pos_weight - 1) * target + 1) * log_s
    out = (1 - target) * self - log_s
    return reduced(out if weight is None else out * weight, reduction)


@differentiable(
    self=logits_self_vjp,
    target=logits_target_vjp,
    kernel=entropy_of_logits,
)
def binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=MEAN):
    """Return `binary_cross_entropy` of the logistic function of `self`."""
