"""`torch.profiler`, the later form of `torch.autograd.profiler`: its blocks run, and nothing is recorded."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from .autograd import profiler as _profiler
from .autograd.profiler import EventList, record_function
from .left_out import refusing as _refusing

__all__ = ["ProfilerActivity", "profile", "record_function", "schedule", "tensorboard_trace_handler"]


class ProfilerActivity(enum.Enum):
    """What PyTorch's profiler can measure."""

    CPU, XPU, MTIA, CUDA = 0, 1, 2, 3


class profile(_profiler.profile):
    """A block that runs as it would without it. PyTorch measures its ops; here a warning says that nothing is
    recorded, and the results are empty.

    Args:
        activities, schedule: accepted and ignored.
        on_trace_ready: called with this object at the end of the block.
        options: accepted and ignored.
    """

    def __init__(
        self, *, activities: Any = None, schedule: Any = None, on_trace_ready: Any = None, **options: Any
    ) -> None:
        super().__init__()
        self.on_trace_ready, self.step_num = on_trace_ready, 0

    def __enter__(self) -> Any:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Warn that nothing is recorded."""
        super().__enter__()

    def stop(self) -> None:
        """Call `on_trace_ready`."""
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """Count a step of the program."""
        self.step_num += 1

    def events(self) -> EventList:
        """Return an empty list."""
        return EventList()


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], None]:
    """Return the argument `schedule` of `profile`, which is ignored."""
    return lambda step: None


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Return a function for `on_trace_ready` that warns that there is nothing to write."""
    return lambda profile: profile.export_chrome_trace(dir_name)


__getattr__ = _refusing("profiler")
