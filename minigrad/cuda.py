"""Graphics processors: there are none here, which programs may ask.

`device = "cuda" if torch.cuda.is_available() else "cpu"` gives "cpu".
"""

from __future__ import annotations

from typing import Any

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: Any) -> None:
    """Nothing: there is no generator to start anew."""


def manual_seed_all(seed: Any) -> None:
    """Nothing: there is no generator to start anew."""


def empty_cache() -> None:
    """Nothing: there is no memory to give back."""
