"""Trace → explanations: why an error came up, where in the picture, and what to do about it."""

from __future__ import annotations

from ..trace.events import Trace
from ..trace.explained import Explanation


def explanations_of(trace: Trace, lang: str | None = None) -> tuple[Explanation, ...]:
    """An explanation for every error of a recorded cell: those of backward calls, be they caught or not, and
    the one that ended the cell, which is the last."""
    return ()
