"""Computing a recorded cell again with another number: its program, how it is recorded, how it runs."""

from __future__ import annotations

from .runs import Watch, watch

__all__ = ["Watch", "watch"]
