"""Resizing sequences, images and volumes."""

from __future__ import annotations

import math
from typing import Any

from ...core import F
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = ["interpolate"]

MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
ONLY_FOR = {"linear": 3, "bilinear": 4, "trilinear": 5}  # dimensions, N and C among them
WITHOUT_CORNERS = ("nearest", "nearest-exact", "area")
AREAS = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}


def per_dimension(value: Any, input: Any, what: str, told: str, letter: str) -> Any:
    """Return one number for each spatial dimension; raise PyTorch's ValueError for another count."""
    dims = input.dim() - 2
    if not isinstance(value, (list, tuple)):
        return [value] * dims
    if len(value) != dims:
        places = f"({letter}1, {letter}2, ...,{letter}K)"
        raise ValueError(
            f"Input and {what} must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(input.shape[2:])} and {told} of "
            f"{'' if letter == 'o' else 'shape '}{value}. Please provide input tensor in "
            f"(N, C, d1, d2, ...,dK) format and {told} in {places} format."
        )
    return value


def sizes_of(input: Any, size: Any, scale_factor: Any, recompute: bool) -> tuple[Any, Any]:
    """Return the sizes of the result and the scales that PyTorch uses; raise PyTorch's errors."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        size = per_dimension(size, input, "output", "output size", "o")
        if not all(hasattr(n, "__index__") for n in size):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], "
                f"but got size with types {[type(n) for n in size]}"
            )
        return tuple(int(n) for n in size), None
    scales = per_dimension(scale_factor, input, "scale_factor", "scale_factor", "s")
    made = tuple(math.trunc(n * scale) for n, scale in zip(input.shape[2:], scales))
    return made, None if recompute else tuple(map(float, scales))


def refusal(input: Any, mode: str) -> NotImplementedError:
    """Return PyTorch's error for an unknown mode, or one that does not support this number of dimensions."""
    needed = ONLY_FOR.get(mode)
    if needed is not None and input.ndim in (3, 4, 5):
        return NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {needed}D input")
    return NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: {MODES} "
        f"(got {mode})"
    )


def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Any:  # fmt: skip
    """Return `input` (N, C, …) at another `size`, or `scale_factor` times as large: "nearest" and
    "nearest-exact" copy elements, "linear", "bilinear" and "trilinear" lie between them, "area" gives means.

    `align_corners` puts the outermost results on the outermost elements.
    """
    if mode in WITHOUT_CORNERS and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | "
            "bicubic | trilinear"
        )
    output_size, scales = sizes_of(
        input, size, scale_factor, bool(recompute_scale_factor) or (mode == "area" and size is None)
    )
    if antialias or mode in ("bicubic", "lanczos"):
        what = "antialias=True" if antialias else f"mode={mode!r}"
        raise NotImplementedError(f"minigrad's interpolate has no {what} (see docs/ops.md)")
    if mode == "area" and input.ndim in AREAS:
        return AREAS[input.ndim](input, output_size)
    k = input.ndim - 2
    name = "_upsample_nearest_exact" if mode == "nearest-exact" else f"upsample_{mode}"
    name += f"{k}d"
    if not hasattr(F, name):
        raise refusal(input, mode)
    return getattr(F, name)(input, output_size, bool(align_corners), scales)
