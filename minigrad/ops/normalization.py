"""Normalization over dimensions, over the channels of a batch, over groups of channels.

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
from ..core.guards import refuse
from ..core.tensor_state import TensorBase
from .arithmetic import plus
from .kernels import as_float32, by_one_op, first_gradient, in_float32, only_first

# ─── Normalization: scale values to mean 0 and variance 1 over some dimensions


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


def scale_and_shift(h: Any, weight: Any, bias: Any) -> Any:
    """`h · weight + bias`, where there are such; of one dtype, written over `h`."""
    for ufunc, x in ((np.multiply, weight), (np.add, bias)):
        if x is not None:
            h = ufunc(h, x, out=h if x.dtype == h.dtype else None)
    return h


def project(v: Any, h: Any, rstd: Any, axes: tuple[int, ...]) -> Any:
    """P(v): see the module's docstring; by ops. Without `axes`, both moments are constants."""
    if not axes:
        return v * rstd
    return rstd * (v - F.mean_dim(v, axes, True) - h * F.mean_dim(v * h, axes, True))


def norm_gradients(
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
        of_x = project(v, h, rstd, axes)
    if mask[1]:
        of_weight = np.add.reduce(g * h, axis=rest)
    if mask[2]:
        of_bias = np.add.reduce(g, axis=rest)
    return tuple(sent.astype(x.dtype, copy=False) for sent in (of_x, of_weight, of_bias))


# ── gradients of gradients
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def no_gradient(grads: Any) -> None:
    """The vjp of a moment, whose part is in that of the input, and of a bias, which no gradient reads."""
    return None


def norm_double_backward(grads, wanted, g, h, rstd, weight, axes, shape):
    """What comes back through the gradients to those of ȳ, x and w that are `wanted`. To ȳ it is
    `P(x̿) · w + w̿ · h + b̿`, to w `Σ ȳ · P(x̿)`, in the shape in which it broadcasts.
    """
    of_x, of_weight, of_bias = map(first_gradient, grads)
    u = None if of_x is None else project(of_x, h, rstd, axes)
    to_g, to_x = [], []
    if wanted[0]:
        if u is not None:
            to_g.append(u if weight is None else u * weight)
        if of_weight is not None:
            to_g.append(h * F.reshape(of_weight, shape))
        if of_bias is not None:
            to_g.append(F.expand(F.reshape(of_bias, shape), h.shape))
    if wanted[1] and of_weight is not None:
        to_x.append(project(g * F.reshape(of_weight, shape), h, rstd, axes))
    if wanted[1] and of_x is not None and axes:
        v = g if weight is None else g * weight
        bend = F.mean_dim(v * h, axes, True) * of_x + F.mean_dim(of_x * h, axes, True) * v
        to_x.append(F.neg(project(bend * rstd, h, rstd, axes)))
        size = F.mean_dim(of_x * project(v, h, rstd, axes), axes, True)
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
@in_float32
def native_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Return the input normalized over its last dimensions, the means, and the inverse standard deviations.

    `normalized_shape` has the sizes of those dimensions.
    """
    refuse(input, "LayerNormKernelImpl")
    mean, rstd, centered = moments(input, last(normalized_shape, input.ndim), eps)
    return (
        scale_and_shift(np.multiply(centered, rstd, out=centered), weight, bias).astype(
            input.dtype, copy=False
        ),
        mean,
        rstd,
    )


def layer_twice_vjp(grads, wanted, grad_out, input, mean, normalized_shape, rstd, weight):
    """See `norm_double_backward`."""
    h, axes = (input - mean) * rstd, last(normalized_shape, input.ndim)
    return norm_double_backward(grads, wanted, grad_out, h, rstd, weight, axes, normalized_shape)


@differentiable(
    **jointly(layer_twice_vjp, "grad_out", "input", "weight"),
    mean=no_gradient,
    rstd=no_gradient,
    bias=no_gradient,
    several=True,
)
@in_float32
def native_layer_norm_backward(
    grad_out, input, normalized_shape, mean, rstd, weight=None, bias=None, output_mask=(True, True, True)
):
    """Return the gradients of input, weight and bias of `native_layer_norm`, those that `output_mask` asks
    for.
    """
    axes = last(normalized_shape, input.ndim)
    return norm_gradients(grad_out, input, mean, rstd, weight, axes, output_mask, axes)


# ─── Normalization of each channel over a batch, or of groups of channels. See `normalization`


# ── batch_norm
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def reshape_along_channels(channels: Any, ndim: int) -> tuple[int, ...]:
    """Return the shape in which one number for each channel (dimension 1) broadcasts."""
    return tuple(channels if d == 1 else 1 for d in range(ndim))


def but_channels(ndim: int) -> tuple[int, ...]:
    """All dimensions but that of the channels."""
    return tuple(d for d in range(ndim) if d != 1)


def statistics(
    input: Any, running_mean: Any, running_var: Any, mean: Any, rstd: Any, train: bool, eps: float
) -> tuple[Any, Any]:
    """Return the mean and the inverse deviation by which a channel is normalized, in a shape that broadcasts:
    those of the batch, or the running ones; by ops.
    """
    if not train:
        mean, rstd = running_mean, F.reciprocal(F.sqrt(F.add_scalar(running_var, eps)))
    shape = reshape_along_channels(input.shape[1], len(input.shape))
    return F.reshape(mean, shape), F.reshape(rstd, shape)


@differentiable(
    **by_one_op(
        "native_batch_norm_backward",
        "input weight bias",
        "input weight running_mean running_var result1 result2 training eps",
    ),
    **only_first("result0", "result1", "result2"),
)
def native_batch_norm(
    input, weight=None, bias=None, running_mean=None, running_var=None, training=False, momentum=0.1, eps=1e-5
):
    """Return the input with each channel (dimension 1) normalized, the means, and the inverse standard
    deviations. In `training` a channel's own mean and variance are used, otherwise the running ones.
    """
    refuse(input, "batch_norm")
    x, kind, shape = as_float32(input), input.dtype, reshape_along_channels(input.shape[1], input.ndim)
    if training:
        found = [v.astype(kind, copy=False) for v in moments(x, but_channels(input.ndim), eps)[:2]]
        mean, rstd = map(as_float32, found)
        kept = [v.reshape(-1) for v in found]
    else:
        running = (as_float32(running_mean), as_float32(running_var))
        mean, rstd = statistics(input, *running, None, None, False, eps)
        kept = [np.empty(0, kind), np.empty(0, kind)]
    weight, bias = (None if v is None else as_float32(v).reshape(shape) for v in (weight, bias))
    return scale_and_shift((x - mean) * rstd, weight, bias).astype(kind, copy=False), *kept


def batch_twice_vjp(
    grads, wanted, eps, grad_out, input, running_mean, running_var, save_invstd, save_mean, train, weight,
):  # fmt: skip
    """See `twice`."""
    shape, axes = (
        reshape_along_channels(input.shape[1], input.ndim),
        but_channels(input.ndim) if train else (),
    )
    of_channels = None if weight is None else F.reshape(weight, shape)
    mean, rstd = statistics(input, running_mean, running_var, save_mean, save_invstd, train, eps)
    h = (input - mean) * rstd
    to_g, to_x, to_weight = norm_double_backward(grads, wanted, grad_out, h, rstd, of_channels, axes, shape)
    return to_g, to_x, None if to_weight is None else F.reshape(to_weight, weight.shape)


@differentiable(
    **jointly(batch_twice_vjp, "grad_out", "input", "weight"),
    save_mean=no_gradient,
    save_invstd=no_gradient,
    several=True,
)
@in_float32
def native_batch_norm_backward(
    grad_out, input, weight=None, running_mean=None, running_var=None, save_mean=None, save_invstd=None,
    train=True, eps=1e-5, output_mask=(True, True, True),
):  # fmt: skip
    """Return the gradients of input, weight and bias of `native_batch_norm`, those that `output_mask` asks
    for.
    """
    mean, rstd = statistics(input, running_mean, running_var, save_mean, save_invstd, train, eps)
    weight = None if weight is None else weight.reshape(mean.shape)
    axes = but_channels(input.ndim) if train else ()
    return norm_gradients(grad_out, input, mean, rstd, weight, axes, output_mask, (1,))


# ── group_norm
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def unsqueeze_in_place(x: Any, dim: int) -> Any:
    """`x`, which nobody else has, with a dimension of size 1 put in, in place on a tensor as in PyTorch."""
    tensor: Any = x
    return tensor.unsqueeze_(dim) if isinstance(x, TensorBase) else F.unsqueeze(x, dim)


def sums(dY: Any, x: Any) -> tuple[Any, Any]:
    """Return the sums over the last dimension of `dY · x` and of `dY`."""
    first = unsqueeze_in_place(F.sum_dim(dY * x, (3,), False), -1)
    return first, unsqueeze_in_place(F.sum_dim(dY, (3,), False), -1)


def group_vjp(grads, wanted, C, HxW, N, eps, group, input, result1, result2, weight):
    """Return the gradients of input, weight and bias, as PyTorch composes them where they may be
    differentiated again.
    """
    dY, dmean, drstd = grads
    x, share = F.reshape(input, (N, group, C // group, HxW)), group / (C * HxW)
    mean, rstd = F.reshape(result1, (N, group, 1, 1)), F.reshape(result2, (N, group, 1, 1))
    of_x = of_weight = of_bias = None
    if dY is not None:
        dY = F.reshape(dY, x.shape)
        ds, db = sums(dY, x)
        if wanted[0]:
            of_x = group_slope(dY, ds, db, x, mean, rstd, weight, share)
        if wanted[1]:
            of_weight = F.reshape(F.sum_dim((ds - db * mean) * rstd, (0,), False), weight.shape)
        if wanted[2]:
            of_bias = F.reshape(F.sum_dim(db, (0,), False), (C,))
    if wanted[0]:
        for term in of_moments(dmean, drstd, x, mean, rstd, share):
            of_x = plus(of_x, term)
        of_x = F.reshape(of_x, input.shape)
    return of_x, of_weight, of_bias


def group_slope(dY: Any, ds: Any, db: Any, x: Any, mean: Any, rstd: Any, weight: Any, share: float) -> Any:
    """What comes back to the input through the result."""
    gamma = None if weight is None else F.reshape(weight, (1, *x.shape[1:3], 1))
    cube = rstd * rstd * rstd
    a = rstd if gamma is None else rstd * gamma
    b, c = (
        unsqueeze_in_place(F.sum_dim(s if gamma is None else s * gamma, (2,), False), -2) for s in (ds, db)
    )
    b = F.mul_scalar((c * mean - b) * cube, share)
    last = F.mul_scalar(c * rstd, share)
    c = F.neg(b) * mean - last
    second = b * x
    return a * dY + second + c


def of_moments(dmean: Any, drstd: Any, x: Any, mean: Any, rstd: Any, share: float) -> list[Any]:
    """What comes back to the input through its mean and inverse deviation."""
    terms = []
    if dmean is not None:
        terms.append(F.expand(F.mul_scalar(F.reshape(dmean, mean.shape), share), x.shape))
    if drstd is not None:
        terms.append(F.mul_scalar(F.reshape(drstd, mean.shape) * (rstd * rstd * rstd), -share) * (x - mean))
    return terms


@differentiable(**jointly(group_vjp, "input", "weight", "bias"), several=("result0", "result1", "result2"))
@in_float32
def native_group_norm(input, weight=None, bias=None, N=0, C=0, HxW=0, group=1, eps=1e-5):
    """Return the input normalized over groups of channels, the means, and the inverse standard deviations."""
    refuse(input, "GroupNormKernelImpl")
    x = input.reshape(N, group, -1) if input.size else input.reshape(N, group, 0)
    mean, rstd, centered = moments(x, (2,), eps)
    shape = reshape_along_channels(C, input.ndim)
    weight, bias = (None if v is None else v.reshape(shape) for v in (weight, bias))
    out = scale_and_shift((centered * rstd).reshape(input.shape), weight, bias)
    return out.astype(input.dtype), mean.reshape(N, group), rstd.reshape(N, group)
