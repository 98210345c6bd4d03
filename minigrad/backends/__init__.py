"""What numbers are computed on: `mps` and `cudnn` can be asked for and are not there."""

from __future__ import annotations

from . import cudnn, mps

__all__ = ["cudnn", "mps"]
