"""Figures that are no ratio of two engines' times: bytes, starts, pictures."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from engines import PYTORCH, Engine


@dataclass(frozen=True)
class Figure:
    """One number with what it must be and what is aimed at (None: nothing is said); small is good."""

    row: str
    title: str
    value: float | None  # None: cannot be measured on this system
    unit: str  # "s" is printed as µs, ms or s
    holds: float | None = None
    goal: float | None = None
    peer: float | None = None  # PyTorch's number, where it has one

    @property
    def misses(self) -> bool:
        """Whether it does not keep what it must."""
        return self.value is not None and self.holds is not None and self.value > self.holds


@dataclass(frozen=True)
class Task:
    """The settings of the functions that measure figures."""

    engines: Sequence[Engine]
    rounds: int
    small: bool
    clock: str  # of timing.CLOCKS

    @property
    def warm(self) -> int:
        """Rounds of fresh processes that do not count: they compile, and bring the files into memory."""
        return 0 if self.small else 1

    @property
    def pytorch(self) -> Engine | None:
        """PyTorch with one thread, if it is installed."""
        return next((engine for engine in self.engines if engine.name == PYTORCH), None)


def middle(numbers: Sequence[float | None]) -> float | None:
    """The median, or None if one of the numbers could not be measured."""
    known = [number for number in numbers if number is not None]
    return statistics.median(known) if known and len(known) == len(numbers) else None
