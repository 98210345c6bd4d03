"""Where pickles of earlier versions look for `Module`, which is in `nn.modules.module`."""

from __future__ import annotations

from .modules.module import Module

__all__ = ["Module"]
