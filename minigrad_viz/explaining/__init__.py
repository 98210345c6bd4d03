"""Trace → explanations: why an error came up, where in the picture, and what to do about it."""

from __future__ import annotations

from .diagnose import explanations_of

__all__ = ["explanations_of"]
