"""Helpers: `utils.checkpoint` computes again what it did not keep, `utils.data` makes batches of examples."""

from __future__ import annotations

from ..left_out import refusing as _refusing
from . import benchmark, checkpoint, data

__all__ = ["benchmark", "checkpoint", "data"]

__getattr__ = _refusing("utils")
