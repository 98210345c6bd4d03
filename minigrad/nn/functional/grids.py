"""Pictures and volumes seen through grids of places."""

from __future__ import annotations

import warnings
from typing import Any

from ...core import F

__all__ = ["affine_grid", "grid_sample"]

MODES = {"bilinear": 0, "nearest": 1}
PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}
CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
    "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
    "details."
)


def aligned(align_corners: bool | None) -> bool:
    """Return whether corners are aligned: not by default, with PyTorch's warning."""
    if align_corners is None:
        warnings.warn(CHANGED, stacklevel=3)
    return bool(align_corners)


def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:  # fmt: skip
    """Return `input` sampled at the coordinates in `grid`.

    Args:
        input: images (N, C, H, W) or volumes (N, C, D, H, W).
        grid: coordinates of shape (N, h, w, 2) or (N, d, h, w, 3), from -1 to 1, x first.
        mode: "bilinear" or "nearest".
        padding_mode: "zeros", "border" or "reflection" for coordinates outside.
        align_corners: whether -1 and 1 are the centers of the outermost elements instead of their outer
            edges.
    Shape: (N, C, H, W) and (N, h, w, 2) → (N, C, h, w).
    Returns: a new tensor.
    Raises: ValueError for another mode. NotImplementedError for "bicubic".
    Derivative: `g` divided among the neighboring elements for `input`; the slope between them for `grid`.
    Source: torch.nn.functional.grid_sample

    >>> F.grid_sample(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), align_corners=False)
    tensor([[[[1.]]]])
    """
    if mode == "bicubic":
        raise NotImplementedError("minigrad's grid_sample has no mode='bicubic' (see docs/ops.md)")
    if mode not in MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    return grid_sampler(input, grid, MODES[mode], PADDINGS[padding_mode], aligned(align_corners))


def grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """Return `nn.functional.grid_sample`, its modes numbered."""
    run = F.grid_sampler_3d if input.ndim == 5 else F.grid_sampler_2d
    return run(input, grid, interpolation_mode, padding_mode, align_corners)


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Return the coordinates for `grid_sample` that affine maps give.

    Args:
        theta: maps of shape (N, 2, 3) for images or (N, 3, 4) for volumes.
        size: the size of the result of `grid_sample`, (N, C, H, W) or (N, C, D, H, W).
        align_corners: as for `grid_sample`.
    Shape: (N, 2, 3) → (N, H, W, 2).
    Returns: a new tensor.
    Raises: ValueError if the sizes do not fit or `theta` is not floating.
    Derivative: the product of the base coordinates with `g`.
    Source: torch.nn.functional.affine_grid

    >>> F.affine_grid(torch.tensor([[[1.0, 0, 0], [0, 1, 0]]]), (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    align_corners = aligned(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            f"size {size}."
        )
    k = len(size) - 2
    if theta.ndim != 3 or theta.shape[-2:] != (k, k + 1):
        raise ValueError(
            f"Expected a batch of {k}D affine matrices of shape Nx{k}x{k + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if align_corners and min(size[-k:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the documentation of "
            "affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return F.affine_grid_generator(theta, size, align_corners)
