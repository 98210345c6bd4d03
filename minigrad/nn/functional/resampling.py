"""Resizing sequences, images and volumes."""

from __future__ import annotations

import math
from typing import Any

from ...core import F
from ...left_out import refuse

__all__ = ["interpolate"]

MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
RANKS = {"nearest": (3, 4, 5), "linear": (3,), "bilinear": (4,), "trilinear": (5,)}  # N and C are counted
REFUSED = ("area", "bicubic", "lanczos", "nearest-exact")


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


def check_rank(input: Any, mode: str) -> None:
    """Raise PyTorch's error for an unknown mode, or one that does not support this number of dimensions."""
    if input.ndim in RANKS.get(mode, ()):
        return
    if mode in RANKS and input.ndim in RANKS["nearest"]:
        needed = RANKS[mode][0]
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {needed}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: {MODES} "
        f"(got {mode})"
    )


def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Any:  # fmt: skip
    """Return `input` (N, C, …) at another `size`, or `scale_factor` times as large: "nearest" copies
    elements, "linear", "bilinear" and "trilinear" lie between them.

    `align_corners` puts the outermost results on the outermost elements.
    """
    if mode == "nearest" and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | "
            "bicubic | trilinear"
        )
    refuse("interpolate", **{f"mode={mode!r}": mode in REFUSED, "antialias=True": antialias})
    output_size, scales = sizes_of(input, size, scale_factor, bool(recompute_scale_factor))
    check_rank(input, mode)
    resize = getattr(F, f"upsample_{mode}{input.ndim - 2}d")
    return resize(input, output_size, bool(align_corners), scales)
