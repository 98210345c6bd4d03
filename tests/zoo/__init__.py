"""Programs with mistakes, in families."""

from __future__ import annotations

from . import (
    causes,
    dtypes,
    everyday,
    layers,
    learning,
    numbers,
    programs,
    rarer,
    rounds,
    shapes,
    silent,
    targets,
)
from .mistake import Mistake

FAMILIES = (
    learning, rounds, numbers, causes, shapes, layers, targets, dtypes, rarer, programs, everyday, silent,
)  # fmt: skip
MISTAKES: dict[str, Mistake] = {
    name: mistake for family in FAMILIES for name, mistake in family.MISTAKES.items()
}
