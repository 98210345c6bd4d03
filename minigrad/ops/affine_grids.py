"""Grids of places that affine maps make, for sampling pictures and volumes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from .half_precision import wide


def base(size: Any, align_corners: bool, dtype: Any) -> Any:
    """The places of all elements of a picture from -1 to 1, x first, and a 1: (places, dimensions + 1)."""
    lines = []
    for n in size:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        lines.append(line if align_corners or n <= 1 else line * (n - 1) / n)
    places = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.stack([*(p.ravel() for p in places), np.ones(places[0].size)], -1).astype(dtype)


@wide
def moved(theta: Any, size: Any, align_corners: bool) -> Any:
    """Return the kernel of `affine_grid_generator`."""
    grid = base(size[2:], align_corners, theta.dtype) @ np.swapaxes(theta, 1, 2)
    return grid.reshape((size[0], *size[2:], len(size) - 2))


@differentiable(
    theta=lambda g, size, align_corners: F.affine_grid_generator_backward(g, size, align_corners), linear=True
)
def affine_grid_generator(theta, size, align_corners):
    """Return the places (N, …, dimensions) to which affine maps `theta` (N, dimensions, dimensions + 1) move
    those of a picture of `size` (N, C, …), whose coordinates go from -1 to 1.
    """
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    if tuple(theta.shape[::2]) != (size[0], len(size) - 1):
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {len(size) - 1}] "
            f"but got: [{theta.shape[0]}, {theta.shape[-1]}]."
        )
    return moved(theta, tuple(size), align_corners)


@wide
def gathered(grad: Any, size: Any, align_corners: bool) -> Any:
    """Return the kernel of the gradient."""
    k = len(size) - 2
    places = base(size[2:], align_corners, grad.dtype)
    return np.swapaxes(grad.reshape((size[0], len(places), k)), 1, 2) @ places


@differentiable(
    grad=lambda g, size, align_corners: F.affine_grid_generator(g, size, align_corners), linear=True
)
def affine_grid_generator_backward(grad, size, align_corners):
    """Return the gradient of the maps of `affine_grid_generator`."""
    return gathered(grad, size, align_corners)
