"""Normalization of each channel over a batch, or of groups of channels. See `normalization`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable, jointly
from ..core.tensor_state import TensorBase
from .arithmetic import plus
from .checks import refuse
from .kernels import by_one_op, only_first, wide, widened
from .normalization import gradients, moments, nothing, scaled, twice

# ── batch_norm
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def along(channels: Any, ndim: int) -> tuple[int, ...]:
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
    shape = along(input.shape[1], len(input.shape))
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
    refuse(input, "biuc", "batch_norm")
    x, kind, shape = widened(input), input.dtype, along(input.shape[1], input.ndim)
    if training:
        found = [v.astype(kind, copy=False) for v in moments(x, but_channels(input.ndim), eps)[:2]]
        mean, rstd = map(widened, found)
        kept = [v.reshape(-1) for v in found]
    else:
        running = (widened(running_mean), widened(running_var))
        mean, rstd = statistics(input, *running, None, None, False, eps)
        kept = [np.empty(0, kind), np.empty(0, kind)]
    weight, bias = (None if v is None else widened(v).reshape(shape) for v in (weight, bias))
    return scaled((x - mean) * rstd, weight, bias).astype(kind, copy=False), *kept


def batch_twice_vjp(
    grads, wanted, eps, grad_out, input, running_mean, running_var, save_invstd, save_mean, train, weight,
):  # fmt: skip
    """See `twice`."""
    shape, axes = along(input.shape[1], input.ndim), but_channels(input.ndim) if train else ()
    of_channels = None if weight is None else F.reshape(weight, shape)
    mean, rstd = statistics(input, running_mean, running_var, save_mean, save_invstd, train, eps)
    h = (input - mean) * rstd
    to_g, to_x, to_weight = twice(grads, wanted, grad_out, h, rstd, of_channels, axes, shape)
    return to_g, to_x, None if to_weight is None else F.reshape(to_weight, weight.shape)


@differentiable(
    **jointly(batch_twice_vjp, "grad_out", "input", "weight"),
    save_mean=nothing,
    save_invstd=nothing,
    several=True,
)
@wide
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
    return gradients(grad_out, input, mean, rstd, weight, axes, output_mask, (1,))


# ── group_norm
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def unsqueezed(x: Any, dim: int) -> Any:
    """`x`, which nobody else has, with a dimension of size 1 put in, in place on a tensor as in PyTorch."""
    tensor: Any = x
    return tensor.unsqueeze_(dim) if isinstance(x, TensorBase) else F.unsqueeze(x, dim)


def sums(dY: Any, x: Any) -> tuple[Any, Any]:
    """Return the sums over the last dimension of `dY · x` and of `dY`."""
    first = unsqueezed(F.sum_dim(dY * x, (3,), False), -1)
    return first, unsqueezed(F.sum_dim(dY, (3,), False), -1)


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
    b, c = (unsqueezed(F.sum_dim(s if gamma is None else s * gamma, (2,), False), -2) for s in (ds, db))
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
@wide
def native_group_norm(input, weight=None, bias=None, N=0, C=0, HxW=0, group=1, eps=1e-5):
    """Return the input normalized over groups of channels, the means, and the inverse standard deviations."""
    refuse(input, "biuc", "GroupNormKernelImpl")
    x = input.reshape(N, group, -1) if input.size else input.reshape(N, group, 0)
    mean, rstd, centered = moments(x, (2,), eps)
    shape = along(C, input.ndim)
    weight, bias = (None if v is None else v.reshape(shape) for v in (weight, bias))
    out = scaled((centered * rstd).reshape(input.shape), weight, bias)
    return out.astype(input.dtype), mean.reshape(N, group), rstd.reshape(N, group)
