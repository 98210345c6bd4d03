"""Losses of differences. See `entropies` for two classes and `class_losses` for many."""

from __future__ import annotations

import functools
from math import prod
from typing import Any

import numpy as np

from ..core import F, calls, differentiable, itself
from ..core.dtypes import result_type
from .checks import refuse
from .kernels import MEAN, activation, reduced, wide


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
            refuse(self, "biuc", name)
            return reduced(losses(self, target, reduction, *args), reduction)

        return kernel

    return decorate


@differentiable(
    self=calls("mse_loss_backward", "self", "target", "reduction"),
    target=calls("mse_loss_backward", "target", "self", "reduction"),
)
@loss("mse_cpu")
def mse_loss(self, target, reduction):
    """Return the squared difference."""
    return (self - target) * (self - target)


@activation(
    grad_output=itself,
    self=lambda g, grad_output, reduction, self: (g * grad_output) * (2 * share(reduction, self.shape)),
    target=lambda g, grad_output, reduction, target: (
        (g * grad_output) * (-2 * share(reduction, target.shape))
    ),
)
def mse_loss_backward(grad_output, self, target, reduction):
    """`2 · (self - target) · grad_output`, a share of it for a mean."""
    return (2 * share(reduction, self.shape)) * (self - target) * grad_output


# ── squares of small and sizes of large differences
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@differentiable(
    self=calls("smooth_l1_loss_backward", "self", "target", "reduction", "beta"),
    target=calls("smooth_l1_loss_backward", "target", "self", "reduction", "beta"),
)
@loss("smooth_l1_cpu")
@wide
def smooth_l1_loss(self, target, reduction, beta):
    """Return `d² / (2 beta)` where the difference d is smaller than `beta`, else `|d| - beta / 2`."""
    d = np.abs(self - target)
    return np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)[()]


def smooth_twice(g, beta, grad_output, reduction, self, target):
    """Return the second derivative: 1 / beta where differences are small, else 0."""
    inside = F.like(F.lt(F.abs(self - target), beta), g)
    return ((g * grad_output) * inside) * (share(reduction, self.shape) / beta)


@activation(
    grad_output=itself,
    self=smooth_twice,
    target=lambda g, beta, grad_output, reduction, self, target: F.neg(
        smooth_twice(g, beta, grad_output, reduction, self, target)
    ),
)
def smooth_l1_loss_backward(grad_output, self, target, reduction, beta):
    """`grad_output` times the slope: `d / beta` where |d| is smaller than `beta`, else the sign of d."""
    d = self - target
    return grad_output * (np.where(np.abs(d) < beta, d / beta, np.sign(d)) * share(reduction, self.shape))


@differentiable(
    self=calls("huber_loss_backward", "self", "target", "reduction", "delta"),
    target=calls("huber_loss_backward", "target", "self", "reduction", "delta"),
)
@loss("huber_cpu")
@wide
def huber_loss(self, target, reduction, delta):
    """Return `d² / 2` where the difference d is smaller than `delta`, else `delta · (|d| - delta / 2)`."""
    d = np.abs(self - target)
    return np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta))[()]


def huber_twice(g, delta, grad_output, reduction, self, target):
    """Return the second derivative: 1 where differences are small, else 0."""
    inside = F.like(F.lt(F.abs(self - target), delta), g)
    return ((g * grad_output) * inside) * share(reduction, self.shape)


@activation(
    grad_output=itself,
    self=huber_twice,
    target=lambda g, delta, grad_output, reduction, self, target: F.neg(
        huber_twice(g, delta, grad_output, reduction, self, target)
    ),
)
def huber_loss_backward(grad_output, self, target, reduction, delta):
    """`grad_output` times the slope: `d`, but not less than `-delta` nor more than `delta`."""
    return grad_output * (np.clip(self - target, -delta, delta) * share(reduction, self.shape))
