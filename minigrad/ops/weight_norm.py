"""Weights given by a length and a direction (Salimans and Kingma, 2016)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import F, differentiable


def others(ndim: int, dim: int) -> tuple[int, ...]:
    """All dimensions but one."""
    return tuple(i for i in range(ndim) if i != dim % ndim)


def along(grads: Any, v: Any, dim: int) -> Any:
    """The sums of products of gradient and direction: how far the gradient points along it."""
    products = grads[0] * v
    return products if v.ndim == 1 else F.sum_dim(products, others(v.ndim, dim), True)


def direction_vjp(grads: Any, v: Any, g: Any, result1: Any, dim: int) -> Any:
    """What of the gradient is not along the direction, which the length does not see."""
    return g / result1 * (grads[0] - v * (along(grads, v, dim) / (result1 * result1)))


@differentiable(
    v=direction_vjp,
    g=lambda grads, v, result1, dim: along(grads, v, dim) / result1,
    several=("result0", "result1"),
    constants=("result1",),
    node="WeightNormInterfaceBackward0",
)
def _weight_norm_interface(v, g, dim=0):
    """The direction `v` with lengths `g` in place of its own, and these: each is over all dimensions but
    `dim`.
    """
    norms = np.sqrt(np.add.reduce(v * v, axis=others(v.ndim, dim), keepdims=True))
    return v * (g / norms), norms
