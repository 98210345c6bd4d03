"""Exchange of memory with other libraries by DLPack."""

from __future__ import annotations

from ..creation import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
