"""Helpers around autograd: `minigrad.utils.checkpoint`."""

from __future__ import annotations

from . import checkpoint

__all__ = ["checkpoint"]
