"""Graphics processors: there are none, and a program that asks learns that.

`device = "cuda" if torch.cuda.is_available() else "cpu"` gives "cpu".
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "synchronize",
]


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def is_initialized() -> bool:
    """False."""
    return False


def memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


def refuse_gpu(name: str) -> Any:
    """A function that needs a graphics processor."""

    def call(*args: Any, **named: Any) -> Any:
        raise AssertionError("Torch not compiled with CUDA enabled")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Always AssertionError: there are no graphics processors."
    return call


synchronize, current_device, get_device_name = map(
    refuse_gpu, ("synchronize", "current_device", "get_device_name")
)


def manual_seed(seed: Any) -> None:
    """Do nothing: there is no CUDA generator to seed."""


def manual_seed_all(seed: Any) -> None:
    """Do nothing: there is no CUDA generator to seed."""


def empty_cache() -> None:
    """Nothing: there is no memory to give back."""
