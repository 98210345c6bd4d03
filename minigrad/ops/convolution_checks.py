"""What a convolution refuses, in PyTorch's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import of
from .checks import not_implemented
from .sliding import reach


def check_settings(stride: Any, padding: Any, dilation: Any, output_padding: Any, groups: int) -> None:
    """RuntimeError with PyTorch's text for numbers that no convolution has."""
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(output_padding) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) < 0:
        raise RuntimeError("dilation should be greater than zero")
    if not min(dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


def check_shapes(x: Any, weight: Any, bias: Any, transposed: bool, groups: int) -> None:
    """RuntimeError with PyTorch's text for shapes that do not go together."""
    shape = list(weight.shape)
    if len(weight) < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight "
            f"of size {shape} instead"
        )
    if len(weight) % groups:
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
        names = ("height", "width") if len(stride) < 3 else ("depth", "height", "width")
        kinds = {"output_padding": output_padding, "stride": stride, "dilation": dilation}
        told = " ".join(
            f"{kind}_{name}: {n}"
            for kind, sizes in kinds.items()
            for name, n in zip(
                names, sizes if len(sizes) > 1 else (1 if kind != "output_padding" else 0, *sizes)
            )
        )
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {told}")


def check_kinds(x: Any, weight: Any, bias: Any, transposed: bool) -> None:
    """PyTorch's errors for dtypes that differ, or that there is no convolution of."""
    if bias is not None and bias.dtype != x.dtype:
        raise RuntimeError(
            f"Input type ({of(x).c_name}) and bias type ({of(bias).c_name}) should be the same"
        )
    if weight.dtype != x.dtype:
        raise RuntimeError(f"expected scalar type {of(x).title} but found {of(weight).title}")
    deep = x.ndim == 5
    if transposed and x.dtype.kind in "biu" and x.dtype != np.int64:
        raise not_implemented(f"slow_conv_transpose{3 if deep else 2}d_out_cpu", of(x))
    if x.dtype.kind == "b":
        raise not_implemented("compute_columns3d" if deep else "slow_conv2d_cpu", of(x))
