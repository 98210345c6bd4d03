"""class Tensor: operators and methods, in mixins by family."""

from __future__ import annotations

from .tensor import Size, Tensor

__all__ = ["Size", "Tensor"]
