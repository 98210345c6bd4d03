"""Sampling images and volumes at the positions of a grid, and resizing them."""

from __future__ import annotations

import math
import operator
from typing import Any

from ...core import F
from ...core.user_warnings import warn
from ...left_out import refuse

__all__ = ["affine_grid", "grid_sample", "interpolate"]

MODES = {"bilinear": 0, "nearest": 1}
PADDINGS = {"zeros": 0, "border": 1}
CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
    "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
    "details."
)


def resolve_align_corners(align_corners: bool | None) -> bool:
    """Return whether corners are aligned; without an answer return False with PyTorch's warning."""
    if align_corners is None:
        warn(CHANGED)
    return bool(align_corners)


def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:  # fmt: skip
    """Sample images or volumes at the positions of a grid.

    The result is a weighted sum of the nearest elements. The gradient of the input is the upstream gradient
    times these weights; the gradient of the grid comes from the derivative of the weights.

    Args:
        input: images or volumes.
        grid: positions, x first, with coordinates from −1 to 1.
        mode: "bilinear" or "nearest".
        padding_mode: value outside the input: "zeros" or "border".
        align_corners: True if −1 and 1 are the centers of the corner elements; False if their outer edges.

    Shape:
        input (N, C, H, W), grid (N, Hₒ, Wₒ, 2) → (N, C, Hₒ, Wₒ); with depth (N, C, D, H, W) and
        (N, Dₒ, Hₒ, Wₒ, 3).

    Returns:
        The sampled values.

    Raises:
        ValueError: the mode or padding_mode is unknown.
        NotImplementedError: the mode is "bicubic", or the padding_mode "reflection".

    Example:
        >>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> F.grid_sample(x, torch.zeros(1, 1, 1, 2), align_corners=True).tolist()
        [[[[2.5]]]]

    Source: PyTorch's page `torch.nn.functional.grid_sample`; Jaderberg et al., 2015, arXiv:1506.02025.
    """
    is_mirror = padding_mode == "reflection"
    refuse("grid_sample", **{"mode='bicubic'": mode == "bicubic", "padding_mode='reflection'": is_mirror})
    for name, value, known in (("mode", mode, MODES), ("padding_mode", padding_mode, PADDINGS)):
        if value not in known:
            told = f"expected {name} to be one of {', '.join(map(repr, known))}, but got: {value!r}"
            raise ValueError(f"nn.functional.grid_sample(): {told}")
    run = F.grid_sampler_3d if input.ndim == 5 else F.grid_sampler_2d
    return run(input, grid, MODES[mode], PADDINGS[padding_mode], resolve_align_corners(align_corners))


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Return the sampling grid of a batch of affine maps, for `grid_sample`.

    Each position is theta · (x, y, 1), with coordinates from −1 to 1. It is linear in theta, so the gradient
    of theta is the sum of the upstream gradients times (x, y, 1).

    Args:
        theta: affine matrices.
        size: size of the sampled images (N, C, H, W) or volumes (N, C, D, H, W).
        align_corners: True if −1 and 1 are the centers of the corner elements; False if their outer edges.

    Shape:
        theta: (N, 2, 3) or (N, 3, 4) → (N, H, W, 2) or (N, D, H, W, 3).

    Returns:
        The grid.

    Raises:
        ValueError: theta has another shape or an integer dtype.
        NotImplementedError: size has neither four nor five numbers.

    Example:
        >>> theta = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> F.affine_grid(theta, (1, 1, 2, 2), align_corners=True)[0, 0].tolist()
        [[-1.0, -1.0], [1.0, -1.0]]

    Source: PyTorch's page `torch.nn.functional.affine_grid`; Jaderberg et al., 2015, arXiv:1506.02025.
    """
    align_corners = resolve_align_corners(align_corners)
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            f"size {size}."
        )
    k = len(size) - 2
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if theta.ndim != 3 or theta.shape[-2:] != (k, k + 1):
        raise ValueError(
            f"Expected a batch of {k}D affine matrices of shape Nx{k}x{k + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return F.affine_grid_generator(theta, size, align_corners)


RANKS = {"nearest": (3, 4, 5), "linear": (3,), "bilinear": (4,), "trilinear": (5,)}  # N and C are counted
REFUSED = ("area", "bicubic", "lanczos", "nearest-exact")


def per_dimension(value: Any, input: Any, name: str) -> list[Any]:
    """Return one number for each spatial dimension."""
    dims = input.dim() - 2
    numbers = list(value) if isinstance(value, (list, tuple)) else [value] * dims
    if len(numbers) != dims:
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(input.shape[2:])} and {name} of {value}."
        )
    return numbers


def sizes_of(input: Any, size: Any, scale_factor: Any, recompute: bool) -> tuple[Any, Any]:
    """Return the sizes of the result and the scales that PyTorch uses; raise PyTorch's errors."""
    if (size is None) == (scale_factor is None):
        which = "either" if size is None else "only one of"
        raise ValueError(f"{which} size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return tuple(map(operator.index, per_dimension(size, input, "output"))), None
    scales = per_dimension(scale_factor, input, "scale_factor")
    made = tuple(math.trunc(n * scale) for n, scale in zip(input.shape[2:], scales))
    return made, None if recompute else tuple(map(float, scales))


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
    if input.ndim not in RANKS.get(mode, ()):
        needed = " or ".join(f"{n}D" for n in RANKS.get(mode, ()))
        raise NotImplementedError(
            f"Got {input.ndim}D input, but {mode} mode needs {needed} input"
            if needed
            else f"Input Error: the modes are {', '.join(RANKS)} (got {mode})"
        )
    resize = getattr(F, f"upsample_{mode}{input.ndim - 2}d")
    return resize(input, output_size, bool(align_corners), scales)
