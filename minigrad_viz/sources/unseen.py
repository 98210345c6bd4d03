"""Running something that is no step of the cell, although the cell is being recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from minigrad.observing import unobserved

Result = TypeVar("Result")


def unseen(work: Callable[[], Result]) -> Result:
    """What `work()` returns. Nothing that happens in it is told, whatever the library: minigrad's observers
    are put aside, and PyTorch's looks for a frame of this module."""
    with unobserved():
        return work()
