"""Normalization: scale values to mean 0 and variance 1 over some dimensions.

All three kinds have the same form. With the mean m and the inverse r of the standard deviation over the
dimensions `over`, and weight and bias broadcast: h = (x - m) · r, y = h · w + b. Then with
P(v) = r · (v - mean(v) - h · mean(v · h)), which is its own transpose, the gradients are

    x̄ = P(ȳ · w),   w̄ = Σ ȳ · h,   b̄ = Σ ȳ

and their own gradients are in `twice`.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..core import F, differentiable, jointly
from .checks import refuse
from .kernels import by_one_op, only_first, sent, wide

# ── kernels
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def moments(x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """Return the mean and the inverse standard deviation over `axes`, which stay, in the dtype of `x`; and
    `x` without its mean.
    """
    mean = x.mean(axes, keepdims=True)
    centered = x - mean
    spread = (centered * centered).mean(axes, keepdims=True)
    spread += x.dtype.type(eps)
    return mean, 1 / np.sqrt(spread, out=spread), centered


def scaled(h: Any, weight: Any, bias: Any) -> Any:
    """`h · weight + bias`, where there are such; of one dtype, written over `h`."""
    for ufunc, x in ((np.multiply, weight), (np.add, bias)):
        if x is not None:
            h = ufunc(h, x, out=h if x.dtype == h.dtype else None)
    return h


def projected(v: Any, h: Any, rstd: Any, axes: tuple[int, ...]) -> Any:
    """P(v): see the module's docstring; by ops. Without `axes`, both moments are constants."""
    if not axes:
        return v * rstd
    return rstd * (v - F.mean_dim(v, axes, True) - h * F.mean_dim(v * h, axes, True))


def gradients(
    g: Any, x: Any, mean: Any, rstd: Any, weight: Any, axes: tuple[int, ...], mask: Any, kept: Any
) -> tuple[Any, ...]:
    """Return the gradients that `mask` asks for, by kernels, nothing instead of the others: of the input, and
    of the weight and the bias (whose dimensions are `kept`). Without `axes`, both moments are constants.
    """
    nothing = np.empty(0, x.dtype)
    rest = tuple(d for d in range(x.ndim) if d not in kept)
    if mask[0] or mask[1]:
        h = x - mean
        h *= rstd
    of_x, of_weight, of_bias = nothing, nothing, nothing
    if mask[0]:
        v = g if weight is None else g * weight
        of_x = projected(v, h, rstd, axes)
    if mask[1]:
        of_weight = np.add.reduce(g * h, axis=rest)
    if mask[2]:
        of_bias = np.add.reduce(g, axis=rest)
    return tuple(sent.astype(x.dtype, copy=False) for sent in (of_x, of_weight, of_bias))


# ── gradients of gradients
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def nothing(grads: Any) -> None:
    """The vjp of a moment, whose part is in that of the input, and of a bias, which no gradient reads."""
    return None


def twice(grads, wanted, g, h, rstd, weight, axes, shape):
    """What comes back through the gradients to those of ȳ, x and w that are `wanted`. To ȳ it is
    `P(x̿) · w + w̿ · h + b̿`, to w `Σ ȳ · P(x̿)`, in the shape in which it broadcasts.
    """
    of_x, of_weight, of_bias = map(sent, grads)
    u = None if of_x is None else projected(of_x, h, rstd, axes)
    to_g, to_x = [], []
    if wanted[0]:
        if u is not None:
            to_g.append(u if weight is None else u * weight)
        if of_weight is not None:
            to_g.append(h * F.reshape(of_weight, shape))
        if of_bias is not None:
            to_g.append(F.expand(F.reshape(of_bias, shape), h.shape))
    if wanted[1] and of_weight is not None:
        to_x.append(projected(g * F.reshape(of_weight, shape), h, rstd, axes))
    if wanted[1] and of_x is not None and axes:
        v = g if weight is None else g * weight
        bend = F.mean_dim(v * h, axes, True) * of_x + F.mean_dim(of_x * h, axes, True) * v
        to_x.append(F.neg(projected(bend * rstd, h, rstd, axes)))
        size = F.mean_dim(of_x * projected(v, h, rstd, axes), axes, True)
        to_x.append(F.neg(rstd * h * size))
    to_weight = F.sum_to(g * u, shape) if wanted[2] and u is not None else None
    return *(reduce(add, terms) if terms else F.zeros_like(h) for terms in (to_g, to_x)), to_weight


# ── layer_norm
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def last(normalized_shape: Any, ndim: int) -> tuple[int, ...]:
    """Return the last dimensions, those of `normalized_shape`."""
    return tuple(range(ndim - len(normalized_shape), ndim))


@differentiable(
    **by_one_op(
        "native_layer_norm_backward",
        "input weight bias",
        "input normalized_shape result1 result2 weight bias",
    ),
    **only_first("result0", "result1", "result2"),
)
@wide
def native_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Return the input normalized over its last dimensions, the means, and the inverse standard deviations.

    `normalized_shape` has the sizes of those dimensions.
    """
    refuse(input, "biuc", "LayerNormKernelImpl")
    mean, rstd, centered = moments(input, last(normalized_shape, input.ndim), eps)
    return (
        scaled(np.multiply(centered, rstd, out=centered), weight, bias).astype(input.dtype, copy=False),
        mean,
        rstd,
    )


def layer_twice_vjp(grads, wanted, grad_out, input, mean, normalized_shape, rstd, weight):
    """See `twice`."""
    h, axes = (input - mean) * rstd, last(normalized_shape, input.ndim)
    return twice(grads, wanted, grad_out, h, rstd, weight, axes, normalized_shape)


@differentiable(
    **jointly(layer_twice_vjp, "grad_out", "input", "weight"),
    mean=nothing,
    rstd=nothing,
    bias=nothing,
    several=True,
)
@wide
def native_layer_norm_backward(
    grad_out, input, normalized_shape, mean, rstd, weight=None, bias=None, output_mask=(True, True, True)
):
    """Return the gradients of input, weight and bias of `native_layer_norm`, those that `output_mask` asks
    for.
    """
    axes = last(normalized_shape, input.ndim)
    return gradients(grad_out, input, mean, rstd, weight, axes, output_mask, axes)
