"""How long a statement takes: `Timer("x * 2", globals={"x": x}).blocked_autorange()`."""

from __future__ import annotations

import sys
import textwrap
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..left_out import refuse

UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


@dataclass(repr=False)
class Measurement:
    """Times of statements, each over `number_per_run` runs."""

    number_per_run: int
    raw_times: list[float]
    stmt: str
    setup: str
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    num_threads: int = 1

    @property
    def times(self) -> list[float]:
        """Return the seconds of one run, for each measurement."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """Return the median of the times."""
        return float(np.median(self.times))

    @property
    def mean(self) -> float:
        """Return the mean of the times."""
        return float(np.mean(self.times))

    @property
    def iqr(self) -> float:
        """Return the interquartile range of the times."""
        return float(np.subtract(*np.quantile(self.times, (0.75, 0.25))))

    def __repr__(self) -> str:
        n, runs = len(self.raw_times), self.number_per_run
        unit, scale = next((pair for pair in UNITS if self.median >= pair[1]), UNITS[-1])
        title = f"{self.label}: {self.sub_label}" if self.sub_label else self.label or self.stmt
        lines = [object.__repr__(self), title]
        lines += [self.description] if self.description else []
        lines += [f"setup: {self.setup}"] if self.setup != "pass" else []
        lines.append(f"  {'Median: ' if n > 1 else ''}{self.median / scale:.2f} {unit}")
        if n >= 4:
            low, high = np.quantile(self.times, (0.25, 0.75)) / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        counted = (
            f"{n} measurements, {runs} runs per measurement," if n > 1 else f"1 measurement, {runs} runs ,"
        )
        lines.append(f"  {counted} 1 thread")
        return "\n".join(lines)


class Timer:
    """Timer of a statement, using Python's `timeit`; `torch` is among its names."""

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
        timer: Callable[[], float] = timeit.default_timer, globals: dict[str, Any] | None = None,
        label: str | None = None, sub_label: str | None = None, description: str | None = None,
        env: str | None = None, num_threads: int = 1, language: Any = "python",
    ) -> None:  # fmt: skip
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        refuse("Timer", global_setup=bool(global_setup), language=language not in ("py", "python"))
        stmt, setup = (textwrap.dedent(text).removeprefix("\n").rstrip() for text in (stmt, setup))
        self._timer = timeit.Timer(
            stmt, setup, timer, {"torch": sys.modules[__name__.partition(".")[0]], **(globals or {})}
        )
        self._told = (stmt, setup, label, sub_label, description)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Measure `number` runs, after a warm-up."""
        self._timeit(max(number // 100, 2))
        return Measurement(number, [self._timeit(number)], *self._told)

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measure for `min_run_time` seconds, with so many runs each that the clock's overhead is small.

        `callback` receives the number of runs and the seconds of each measurement.
        """
        overhead = float(np.median([self._timeit(0) for _ in range(5)]))
        number, taken = 1, self._timeit(1)
        while taken <= min_run_time and (overhead > 1e-4 * taken or taken < min_run_time / 1000):
            number *= 10
            taken = self._timeit(number)
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._timeit(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, *self._told)
