"""Upsampling layers."""

from __future__ import annotations

from typing import Any

from .function_layers import FunctionLayer

__all__ = ["Upsample"]

SETTINGS = "size scale_factor mode align_corners recompute_scale_factor"


class Upsample(FunctionLayer, function="interpolate", settings=SETTINGS):
    """Layer that resizes (N, C, …) to `size`, or by `scale_factor`."""

    def _configure(self, settings: dict[str, Any]) -> None:
        scale = settings["scale_factor"]
        one = float(scale) if scale and not isinstance(scale, tuple) else None
        settings["scale_factor"] = tuple(map(float, scale)) if isinstance(scale, tuple) else one
        super()._configure(settings | {"name": type(self).__name__})

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        told = f"size={self.size!r}"
        if self.scale_factor is not None:
            told = f"scale_factor={self.scale_factor!r}"
        return f"{told}, mode={self.mode!r}"
