"""Pooling that takes parts instead of windows: the largest element of each."""

from __future__ import annotations

from typing import Any

from ...core import F
from .pooling import Numbers, check_one, parts_of, several

__all__ = ["adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"]

# ── a given number of parts
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def chosen(made: Any, return_indices: bool) -> Any:
    """Return the values, with their places if these are asked for."""
    return tuple(made) if return_indices else made[0]


def adaptive_max_pool1d(input: Any, output_size: Numbers, return_indices: bool = False) -> Any:
    """Return the largest of each of `output_size` parts of `input` ([N,] C, L), as even as can be; with
    `return_indices` also where they were.
    """
    if output_size is None:
        raise TypeError(
            "adaptive_max_pool1d(): argument 'output_size' (position 2) must be tuple of ints, not NoneType"
        )
    check_one(input, "adaptive_max_pool1d", output_size=output_size)
    if not input.shape[-1] or (input.ndim == 3 and not input.shape[1]):
        raise RuntimeError(
            "adaptive_max_pool1d(): Expected input to have non-zero size for non-batch dimensions, but input "
            f"has sizes {list(input.shape)} with dimension {list(input.shape).index(0, 1)} being empty"
        )
    (count,) = several(output_size, 1, "")
    made = F.adaptive_max_pool2d(input.unsqueeze(-2), (1, count))
    return chosen([t.squeeze(-2) for t in made], return_indices)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest of each of `output_size` parts of `input` ([N,] C, H, W), as even as can be; None
    keeps a size; with `return_indices` also where they were, as places in the flattened image.
    """
    return chosen(F.adaptive_max_pool2d(input, parts_of(input, 2, output_size)), return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest of each of `output_size` parts of `input` ([N,] C, D, H, W), as even as can be; None
    keeps a size; with `return_indices` also where they were, as places in the flattened volume.
    """
    return chosen(F.adaptive_max_pool3d(input, parts_of(input, 3, output_size)), return_indices)
