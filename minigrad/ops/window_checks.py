"""What pooling and convolution refuse, in PyTorch's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import check_images, check_steps, refuse, same_dtype
from .sliding import places, reach


def check_windows(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    """Return the number of windows; RuntimeError with PyTorch's text if a window does not fit."""
    k = len(kernel)
    check_steps(padding, kernel_size=kernel, stride=stride, dilation=dilation)
    for p, n, d in zip(padding, kernel, dilation):
        if p > ((n - 1) * d + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={n} and dilation={d}"
            )
    check_images(x, k)
    count = places(x.shape[-k:], kernel, stride, padding, dilation, ceil_mode)
    if min(count) < 1:
        given, made = ("x".join(map(str, (x.shape[-k - 1], *sizes))) for sizes in (x.shape[-k:], count))
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({made}). Output size is too small"
        )
    return count


def check_adaptive(x: Any, k: int, kind: str, output_size: Any) -> None:
    """PyTorch's errors for what cannot be divided into `output_size` parts."""
    name = f"adaptive_{kind}_pool{k}d"
    check_images(x, k, k if kind == "avg" else x.ndim - 1)
    if len(output_size) != k or min(output_size) < 0:
        raise RuntimeError(f"{name}: output_size must be {k} sizes, but got {list(output_size)}")
    refuse(x, "biuc", name if k == 2 else name + "_cpu")


def check_shapes(x: Any, weight: Any, bias: Any, transposed: bool, groups: int) -> None:
    """RuntimeError with PyTorch's text for shapes that do not go together."""
    shape = list(weight.shape)
    if len(weight) < groups or len(weight) % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{shape}] instead"
        )
    wanted = shape[0] if transposed else shape[1] * groups
    if x.shape[1] != wanted:
        raise RuntimeError(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {shape}, expected "
            f"input{list(x.shape)} to have {wanted} channels, but got {x.shape[1]} channels instead"
        )
    made = shape[1] * groups if transposed else shape[0]
    if bias is not None and tuple(bias.shape) != (made,):
        told = f"transposed=1, weight of size {shape}" if transposed else f"weight of size {shape}"
        raise RuntimeError(
            f"Given {told}, expected bias to be 1-dimensional with {made} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )


def check_window(x: Any, weight: Any, padding: Any, dilation: Any) -> None:
    """RuntimeError with PyTorch's text for a window that is wider than the padded input."""
    have = [n + 2 * p for n, p in zip(x.shape[2:], padding)]
    need = reach(weight.shape[2:], dilation)
    if any(n < k for n, k in zip(have, need)):
        first, second = (" x ".join(map(str, sizes)) for sizes in (have, need))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({first}). Kernel size: ({second}). Kernel size "
            "can't be greater than actual input size"
        )


def check_output_padding(stride: Any, dilation: Any, output_padding: Any) -> None:
    """RuntimeError with PyTorch's text unless output padding is smaller than stride or dilation."""
    if any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation)):
        told = f"output padding {output_padding}, stride {stride} and dilation {dilation}"
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {told}")


def check_kinds(x: Any, weight: Any, bias: Any, transposed: bool) -> None:
    """PyTorch's errors for dtypes that differ, or that there is no convolution of."""
    if bias is not None:
        same_dtype(x, bias, "Input type ({0.c_name}) and bias type ({1.c_name}) should be the same")
    same_dtype(x, weight, "expected scalar type {0.title} but found {1.title}")
    deep = x.ndim == 5
    if transposed and x.dtype != np.int64:
        refuse(x, "biu", f"slow_conv_transpose{3 if deep else 2}d_out_cpu")
    refuse(x, "b", "compute_columns3d" if deep else "slow_conv2d_cpu")
