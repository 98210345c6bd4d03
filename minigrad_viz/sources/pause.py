"""Running something that is not a step of the cell, although the cell is being recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from minigrad.observing import hidden_from_observers

Result = TypeVar("Result")


def without_recording(work: Callable[[], Result]) -> Result:
    """Return the result of `work()`, which is not recorded, whatever the library: minigrad's observers are
    set aside, and PyTorch's observer ignores calls below a frame of this module."""
    with hidden_from_observers():
        return work()
