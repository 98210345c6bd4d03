"""Building blocks of models, in the public API only."""

from __future__ import annotations

from .parameter import Parameter

__all__ = ["Parameter"]
