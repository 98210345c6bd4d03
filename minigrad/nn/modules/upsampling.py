"""Upsampling layers."""

from __future__ import annotations

from typing import Any

from .applied import Applied

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Applied):
    """Layer that resizes (N, C, …) to `size`, or by `scale_factor`."""

    function = "interpolate"
    settings = ("size", "scale_factor", "mode", "align_corners", "recompute_scale_factor")

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
        align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.name, self.size = type(self).__name__, size
        is_tuple = isinstance(scale_factor, tuple)
        one = float(scale_factor) if scale_factor and not is_tuple else None
        self.scale_factor = tuple(map(float, scale_factor)) if is_tuple else one
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        told = f"size={self.size!r}"
        if self.scale_factor is not None:
            told = f"scale_factor={self.scale_factor!r}"
        return f"{told}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Layer that resizes images (N, C, H, W) by copying the nearest element."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Layer that resizes images (N, C, H, W) by bilinear interpolation with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)
