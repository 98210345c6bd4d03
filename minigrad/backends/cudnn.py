"""NVIDIA's library of kernels: it is not there. The flags may be set, as programs do, and change nothing."""

from __future__ import annotations

enabled = True
benchmark = False
deterministic = False


def is_available() -> bool:
    """False."""
    return False
