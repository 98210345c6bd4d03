"""Helpers: `utils.checkpoint` computes again what it did not keep, `utils.data` makes batches of examples."""

from __future__ import annotations

from . import checkpoint, data, dlpack

__all__ = ["checkpoint", "data", "dlpack"]
