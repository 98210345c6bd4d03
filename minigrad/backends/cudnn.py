"""NVIDIA's library of kernels: it is not available. Programs can set its flags, which change nothing."""

from __future__ import annotations

enabled = True
benchmark = False
deterministic = False


def is_available() -> bool:
    """False."""
    return False
