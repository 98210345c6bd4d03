"""What pooling and convolution refuse, in PyTorch's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import refuse, same_dtype
from .sliding import places, reach


def listed(letters: str, values: Any, before: str = "") -> str:
    """Return numbers as PyTorch writes them, each after the letter of its dimension."""
    return " ".join(f"{before}{letter}: {n}" for letter, n in zip(letters, values))


def check_windows(
    name: str, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """Return the number of windows; RuntimeError with PyTorch's text if a window does not fit."""
    k = len(kernel)
    if min(padding) < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {min(padding)}")
    for p, n, d in zip(padding, kernel, dilation):
        if p > ((n - 1) * d + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={n} and dilation={d}"
            )
    letters = "HW" if k == 2 else "THW"
    named = {"kernel size": ("k", kernel), "stride": ("d", stride), "dilation": ("dilation", dilation)}
    for what, (short, values) in named.items():
        if min(values) <= 0:
            told = listed(letters, values, short)
            raise RuntimeError(f"{what} should be greater than zero, but got {told}")
    check_rank(x, k, name)
    size = x.shape[-k:]
    if name == "avg_pool3d" and any(n < width for n, width in zip(size, kernel)):
        image, window = listed(letters, size), listed(letters, kernel, "k")
        raise RuntimeError(f"input image ({image}) smaller than kernel size ({window})")
    count = places(size, kernel, stride, padding, dilation, ceil_mode)
    if min(count) < 1:
        given, made = ("x".join(map(str, (x.shape[-k - 1], *sizes))) for sizes in (size, count))
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({made}). Output size is too small"
        )
    return count


def check_rank(x: Any, k: int, name: str) -> None:
    """RuntimeError with PyTorch's text unless the input is a sample or a batch, of some elements each."""
    is_ranked = x.ndim in (k + 1, k + 2)
    if k == 2 and (not is_ranked or 0 in x.shape[-3:]):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(x.shape)}"
        )
    if not is_ranked:
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    if 0 in x.shape[-k - 1 :]:  # PyTorch tells the size of the dimension, not its number
        raise RuntimeError(
            f"{name}(): Expected input's non-batch dimensions to have positive length, but input has a "
            f"shape of {list(x.shape)} and non-batch dimension 0 has length zero!"
        )


def check_not_empty(x: Any, name: str, what: str = "input", first: int = 1) -> None:
    """RuntimeError with PyTorch's text for a sample without elements."""
    if 0 in x.shape[first:]:
        raise RuntimeError(
            f"{name}(): Expected {what} to have non-zero size for non-batch dimensions, but {what} has sizes "
            f"{list(x.shape)} with dimension {x.shape.index(0, first)} being empty"
        )


def check_adaptive(x: Any, k: int, kind: str, output_size: Any) -> None:
    """PyTorch's errors for what cannot be divided into `output_size` parts."""
    name, is_max = f"adaptive_{kind}_pool{k}d", kind == "max"
    if len(output_size) != k and not is_max:
        raise RuntimeError(f"{name}: output_size must be {k}")
    if x.ndim not in (k + 1, k + 2):
        colon = ":" * is_max
        raise RuntimeError(f"{name}(): Expected {k + 1}D or {k + 2}D tensor, but got{colon} {list(x.shape)}")
    check_not_empty(x, name, first=1 if is_max else x.ndim - k)
    if len(output_size) != k:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {k}")
    negative = [n for n in output_size if n < 0]
    if negative and is_max:
        shape = [*x.shape[:-k], *output_size]
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative[0]}: {shape}")
    if negative:
        told = ", ".join(map(str, output_size[:2])) + "".join(f",{n}" for n in output_size[2:])
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{told}}}"
        )
    refuse(x, "biuc", name if k == 2 else name + "_cpu")


def check_settings(stride: Any, padding: Any, dilation: Any, output_padding: Any, groups: int) -> None:
    """RuntimeError with PyTorch's text for numbers that no convolution has."""
    wrong = {
        "negative padding is not supported": min(padding) < 0,
        "negative output_padding is not supported": min(output_padding) < 0,
        "non-positive stride is not supported": min(stride) <= 0,
        "dilation should be greater than zero": min(dilation) <= 0,
        "non-positive groups is not supported": groups <= 0,
    }
    for text, is_wrong in wrong.items():
        if is_wrong:
            raise RuntimeError(text)


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
    if bias is not None:
        same_dtype(x, bias, "Input type ({0.c_name}) and bias type ({1.c_name}) should be the same")
    same_dtype(x, weight, "expected scalar type {0.title} but found {1.title}")
    deep = x.ndim == 5
    if transposed and x.dtype != np.int64:
        refuse(x, "biu", f"slow_conv_transpose{3 if deep else 2}d_out_cpu")
    refuse(x, "b", "compute_columns3d" if deep else "slow_conv2d_cpu")
