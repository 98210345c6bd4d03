"""Losses of classes: binary cross entropy and the negative log likelihood."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..core import F, calls, differentiable, zeros
from ..core.declare import camel
from ..core.dtypes import of
from .checks import refuse, same_dtype
from .kernels import MEAN, NONE, SUM, activation, linear_op, only_first, reduce, reduced, widened, written
from .losses import share


def weighted(loss: Any, weight: Any, reduction: int, shape: Any) -> Any:
    """Return a gradient times the weights of elements, a share of it for a mean; by ops."""
    if weight is not None:
        loss = written("mul", loss, weight)
    return written("div_scalar", loss, prod(shape)) if reduction == MEAN else loss


def entropy_target_vjp(g, reduction, self, target, weight):
    """Return the gradient of the probabilities that are aimed at: `-logit(self)`."""
    return weighted(written("mul", F.neg(F.logit(self, None)), g), weight, reduction, target.shape)


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
    refuse(self, "biuc", "binary_cross_entropy")
    for name, probabilities in (("input", self), ("target", target)):
        if not np.all((probabilities >= 0) & (probabilities <= 1)):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    x, t = widened(self), widened(target)
    out = (t - 1) * np.maximum(np.log1p(-x), -100) - t * np.maximum(np.log(x), -100)
    out = out.astype(self.dtype)
    return reduced(out if weight is None else out * weight, reduction)


TINY = 1e-12


def inverse_slope(self: Any) -> Any:
    """`1 / (self · (1 - self))`, no factor being 0."""
    return 1.0 / ((self + TINY) * (1.0 - self + TINY))


def entropy_grad_output_vjp(g, grad_output, reduction, self, target, weight):
    """Return the slope of the loss, times what comes back."""
    return weighted((self - target) * inverse_slope(self) * g, weight, reduction, self.shape)


def entropy_twice(g, grad_output, reduction, self, target, weight):
    """How the slope changes with the probability: `(x² - 2 x t + t) / (x (1 - x))²`."""
    square = self * self - self * target * 2.0 + target
    bend = square * inverse_slope(self) * inverse_slope(self)
    return weighted(g * grad_output * bend, weight, reduction, self.shape)


def entropy_twice_target(g, grad_output, reduction, self, target, weight):
    """How the slope changes with the aim: `-1 / (x (1 - x))`."""
    slope = F.neg(g * grad_output / (self * (1.0 - self)))
    return weighted(slope, weight, reduction, self.shape)


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
    return weighted(slope * g, weight, reduction, self.shape)


def logits_target_vjp(g, pos_weight, reduction, self, target, weight):
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


@differentiable(self=logits_self_vjp, target=logits_target_vjp)
def binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=MEAN):
    """Return `binary_cross_entropy` of the logistic function of `self`."""
    log_s = F.log_sigmoid_forward(np.asarray(self))[0]
    if pos_weight is not None:
        log_s = ((pos_weight - 1) * target + 1) * log_s
    out = (1 - target) * self - log_s
    return reduced(out if weight is None else out * weight, reduction)


def check_target(self: Any, target: Any, weight: Any) -> None:
    """RuntimeError with PyTorch's text for shapes and dtypes that do not fit."""
    refuse(self, "biuc", "nll_loss_out_frame")
    if target.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {of(target).title}")
    if weight is not None:
        same_dtype(self, weight, "expected scalar type {0.title} but found {1.title}")


def chosen(self: Any, target: Any, weight: Any, ignore_index: int) -> tuple[Any, Any, Any]:
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


def declare(title: str) -> None:
    """Declare the loss, which is linear in the scores, and its gradient, which is linear in what is sent."""
    own = ("self", "target", "weight", "reduction", "ignore_index", "total_weight")

    def twice(g, ignore_index, reduction, target, weight):
        return getattr(F, title + "_forward")(g, target, weight, reduction, ignore_index)[0]

    @differentiable(
        name=title + "_forward",
        self=calls(title + "_backward", *own),
        **only_first("output", "total_weight"),
        node=camel(title) + "Backward0",
    )
    def forward(self, target, weight, reduction, ignore_index):
        """Return `-weight[t] · self[t]` of the class t, and the sum of weights, by which a mean divides."""
        check_target(self, target, weight)
        at, weights, _ = chosen(self, target, weight, ignore_index)
        picked = self[at]
        loss = -picked if weights is None else -weights * picked
        if reduction == NONE and self.ndim > 1:
            return loss, self.dtype.type(0)
        total = self.dtype.type(picked.size) if weights is None else reduced(weights, SUM)
        out = reduced(loss, SUM)
        return (out / total if reduction == MEAN else out), total

    @linear_op(name=title + "_backward", grad_output=twice, self=zeros)
    def backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
        """Return the gradient of the scores."""
        at, weights, used = chosen(self, target, weight, ignore_index)
        sent = -grad_output if weights is None else -weights * grad_output
        if reduction == MEAN:
            sent = sent / total_weight
            if used is not None:
                sent = np.where(used, sent, self.dtype.type(0)).astype(self.dtype)
        out = np.zeros(self.shape, self.dtype)
        out[at] = sent
        return out


declare("nll_loss")
declare("nll_loss2d")  # scores (N, C, H, W) of classes (N, H, W)
