"""Normalization functions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core import F
from ...core.dtypes import float16, float32
from ...core.guards import refuse
from ...core.modes import hidden_from_observers, quiet
from ...core.public import public
from ...core.tensor_state import numbers
from ...inplace.in_place import in_place
from ...ops.kernels import as_float32
from ...ops.normalization import but_channels
from .losses import check_constant

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]

VALUE = "value per channel"


def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Normalize `input` over its last dimensions, `normalized_shape`, then multiply by `weight` and add
    `bias`.
    """
    normalized_shape = tuple(normalized_shape)
    check_last(input, normalized_shape, weight, bias)
    check_mixture(input, weight, bias)
    return F.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def check_learned(wanted: list[int], what: str, other: str, weight: Any, bias: Any) -> None:
    """Raise PyTorch's RuntimeError unless weight and bias, if they are given, have a shape."""
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and list(t.shape) != wanted:
            told = f"but got {name} of shape {list(t.shape)} and {other}"
            raise RuntimeError(f"Expected {name} to be {what}, {told}")


def check_last(input: Any, normalized_shape: Any, weight: Any, bias: Any = None) -> None:
    """Raise PyTorch's RuntimeError unless the last dimensions are `normalized_shape`."""
    wanted = list(normalized_shape)
    if not wanted:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    check_learned(wanted, "of same shape as normalized_shape", f"normalized_shape = {wanted}", weight, bias)
    if input.ndim < len(wanted) or list(input.shape[input.ndim - len(wanted) :]) != wanted:
        shown = f"[*, {', '.join(map(str, wanted))}], but got input of size{list(input.shape)}"
        raise RuntimeError(f"Given normalized_shape={wanted}, expected input with shape {shown}")


@public("function")
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """Divide `input` by its root mean square over the last dimensions, then multiply by `weight`."""
    normalized_shape = tuple(normalized_shape)
    if input.ndim < len(normalized_shape):
        count = len(normalized_shape)
        raise ValueError(f"Input tensor must have at least {count} dimensions, but got {input.ndim}")
    check_last(input, normalized_shape, weight)
    refuse(input._data, "rms_norm")
    kind = input._data.dtype
    dims = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    x = input.float() if kind == np.float16 else input
    least = np.finfo(x._data.dtype).eps if eps is None else eps
    squares = in_place(F.add_scalar.op, (x**2).mean(dims, keepdim=True), float(least))
    result = x * F.rsqrt(squares)
    result = result if weight is None else result * weight
    return result.to(input.dtype)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Normalize `input` (N, C, …) over `num_groups` groups of channels, then multiply by `weight` and add
    `bias`.
    """
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    n, c, *rest = input.shape
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    enough(n * c // num_groups * prod(rest), VALUE, [n * c // num_groups, num_groups, *rest])
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    what = "a vector of size equal to the number of channels in input"
    check_learned([c], what, f"input of shape {list(input.shape)}", weight, bias)
    check_mixture(input, weight, bias)
    return F.native_group_norm(input, weight, bias, n, c, prod(rest), num_groups, eps)[0]


def check_mixture(input: Any, *parameters: Any) -> None:
    """Raise PyTorch's RuntimeError for dtypes that differ; parameters may be float32 with half precision."""
    own, others = input.dtype, [t.dtype for t in parameters if t is not None]
    singles = set(others) == {float32}
    if any(kind is not own for kind in others) and not (own is float16 and singles):
        told = (
            "all inputs must share same datatype."
            if singles
            else "expect parameter to have scalar type of Float"
        )
        raise RuntimeError(f"mixed dtype (CPU): {told}")


def enough(count: int, what: str, size: Any) -> None:
    """Raise PyTorch's ValueError if there is only one value to normalize."""
    if count == 1:
        told = f"got input size torch.Size({list(size)})"
        raise ValueError(f"Expected more than 1 {what} when training, {told}")


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Normalize each channel of `input` (N, C, …), then multiply by `weight` and add `bias`.

    In `training` it uses the batch's mean and variance and moves the running ones toward them by
    `momentum`; otherwise it uses the running ones.
    """
    if training:
        enough(len(input) * prod(input.shape[2:]), VALUE, input.shape)
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return run_batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def run_batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool, momentum: float,
    eps: float,
) -> Any:  # fmt: skip
    """Run `batch_norm`, with the argument checks of PyTorch's kernel."""
    if not input.numel():
        out = input.clone()
        out = out if weight is None else out * weight[0]
        return out if bias is None else out + bias[0]
    running = {"running_mean": running_mean, "running_var": running_var}
    check_constant("native_batch_norm", **running)
    for name, t in (running | {"weight": weight, "bias": bias}).items():
        if t is None and name in running and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if t is not None and t.numel() != input.shape[1]:
            raise RuntimeError(f"{name} should contain {input.shape[1]} elements not {t.numel()}")
    if input.is_floating_point():
        check_mixture(input, weight, bias, running_mean, running_var)
    results = F.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    if training:
        quiet(follow, input, running_mean, running_var, momentum)
    return results[0]


def follow(input: Any, running_mean: Any, running_var: Any, momentum: float) -> None:
    """Move running mean and variance toward those of a batch.

    It writes into their memory without increasing the version, as PyTorch does.
    """
    x = as_float32(numbers(input))
    axes = but_channels(x.ndim)
    mean = x.mean(axes, keepdims=True)
    squares = x - mean
    squares *= squares
    spread = np.add.reduce(squares, axis=axes)
    spread /= x.size // x.shape[1] - 1
    for running, new in ((running_mean, mean.reshape(-1)), (running_var, spread)):
        if running is not None:
            running._data[...] = (1 - momentum) * as_float32(running._data) + momentum * new


def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Normalize each channel of each example of `input` (N, C, …), as `batch_norm` does for batches of
    one.
    """
    if use_input_stats:
        enough(prod(input.shape[2:]), "spatial element", input.shape)
    n, c, *rest = input.shape
    means, variances, weights, biases = (
        None if t is None else t.repeat(n) for t in (running_mean, running_var, weight, bias)
    )
    flat = input.contiguous().view(1, n * c, *rest)
    out = run_batch_norm(flat, means, variances, weights, biases, use_input_stats, momentum, eps)
    with hidden_from_observers(False):
        for running, many in ((running_mean, means), (running_var, variances)):
            if running is not None and many is not None:
                running.copy_(many.view(n, c).mean(0))
    return out.view(n, c, *rest)


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Divide `input` (N, C, …) by `(k + alpha · m) ** beta`.

    m is the mean of the squares of `size` neighboring channels, which are 0 beyond the first and the last.
    """
    if input.dim() < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input (got "
            f"{input.ndim} dimensions)"
        )
    if not input.numel():
        return input
    squares = input * input
    before, after = (
        F.zeros_of(squares, (len(input), n, *input.shape[2:])) for n in (size // 2, (size - 1) // 2)
    )
    windows = F.cat([before, squares, after], 1).unfold(1, size, 1).sum(-1)
    mean = windows / size if input.is_floating_point() else windows // size
    return input / ((mean * alpha) + k) ** beta
