"""Building blocks of models, in the public API only."""

from __future__ import annotations

from . import functional
from .parameter import Parameter

__all__ = ["Parameter", "functional"]
