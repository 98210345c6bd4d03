"""The profiler, of which lessons show the tables: here its blocks run, and nothing is recorded."""

from __future__ import annotations

import contextlib
from typing import Any

from ..core.user_warnings import warn
from ..left_out import refusing as _refusing

__all__ = ["EventList", "profile", "record_function"]

NOTHING = (
    "minigrad's profiler records nothing. To measure a statement use torch.utils.benchmark.Timer or "
    "time.perf_counter; to find out which functions take the time use Python's cProfile."
)


class EventList(list[Any]):
    """The events that were recorded: none."""

    self_cpu_time_total = 0

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """Return a text that says that nothing was recorded. All arguments are accepted and ignored."""
        return NOTHING

    __str__ = __repr__ = table

    def key_averages(self, group_by_input_shapes: bool = False, **options: Any) -> EventList:
        """Return an empty list. All arguments are accepted and ignored."""
        return EventList()

    def export_chrome_trace(self, path: str) -> None:
        """Warn that there is nothing to write."""
        warn(f"{NOTHING} {path} is not written.")


class profile(contextlib.ContextDecorator):
    """A block that runs as it would without it. PyTorch measures its ops; here a warning says that nothing is
    recorded, and the results are empty. All arguments are accepted and ignored.
    """

    def __init__(self, enabled: bool = True, **options: Any) -> None:
        self.enabled = enabled

    def __enter__(self) -> Any:
        if self.enabled:
            warn(NOTHING)
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    @property
    def function_events(self) -> EventList:
        """The events, of which there are none."""
        return EventList()

    @property
    def self_cpu_time_total(self) -> int:
        """The microseconds that were measured: 0."""
        return 0

    def key_averages(self, group_by_input_shape: bool = False, **options: Any) -> EventList:
        """Return an empty list, whose `table()` says so. All arguments are accepted and ignored."""
        return EventList()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """Return a text that says that nothing was recorded. All arguments are accepted and ignored."""
        return NOTHING

    __str__ = __repr__ = table

    def total_average(self) -> EventList:
        """Return an empty list."""
        return EventList()

    def export_chrome_trace(self, path: str) -> None:
        """Warn that there is nothing to write."""
        EventList().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Warn that there is nothing to write."""
        EventList().export_chrome_trace(path)


class record_function(contextlib.ContextDecorator):
    """A block or function with a name for the profiler's table. It runs as it would without it."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


__getattr__ = _refusing("autograd.profiler")
