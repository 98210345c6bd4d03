"""class Tensor: operators and methods, in mixins by family."""

from __future__ import annotations

from . import families  # first: it says which of the modules here wait
from .tensor import Size, Tensor

__all__ = ["Size", "Tensor", "families"]
