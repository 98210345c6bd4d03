"""Where pickles of earlier versions look for dictionaries of hooks, which are in `core.hooks`."""

from __future__ import annotations

from .core.hooks import HookDict, RemovableHandle

__all__ = ["HookDict", "RemovableHandle"]
