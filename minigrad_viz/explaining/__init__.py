"""Trace → explanations: why an error occurred, where in the picture, and what to do about it."""

from __future__ import annotations

from .diagnosis import explanations_of
from .notebook import explanations_in

__all__ = ["explanations_in", "explanations_of"]
