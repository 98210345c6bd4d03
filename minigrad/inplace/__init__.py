"""Views, and ops in place, which are derived from the ops: no derivative is written twice."""

from __future__ import annotations

from .copy_slices import CopySlices
from .in_place import in_place, in_place_method, in_place_view, rebase, set_history

__all__ = [
    "CopySlices",
    "in_place",
    "in_place_method",
    "in_place_view",
    "rebase",
    "set_history",
]
