"""What pooling refuses, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from .checks import refuse
from .sliding import places


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
