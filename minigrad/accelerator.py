"""Accelerators: there are none, and a program that asks learns that.

`torch.accelerator.current_accelerator()` gives None, so `device = ... or "cpu"` gives the CPU.
"""

from __future__ import annotations

from typing import Any

NONE_HERE = "Cannot access accelerator device when none is available."


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None."""
    return None


def current_device_index() -> int:
    """Always RuntimeError: there is no accelerator."""
    raise RuntimeError(NONE_HERE)


def set_device_index(device: Any, /) -> None:
    """Always RuntimeError: there is no accelerator."""
    raise RuntimeError(NONE_HERE)


def synchronize(device: Any = None, /) -> None:
    """Always RuntimeError: there is no accelerator."""
    raise RuntimeError(NONE_HERE)
