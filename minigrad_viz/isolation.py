"""What keeps the viewer and the user's program apart: whose error it is, no warnings, no pauses of the
cycle collector.

Note [Arrivals]
    A signal handler may raise wherever Python looks for signals, and so may a thread that has an exception
    raised in another one. Without the viewer the user's code would get that error, so it must get it now: the
    viewer keeps only its own faults to itself. Where it catches errors of its own while a cell runs, it hands
    them to `pass_on` first.

    The traceback tells which is which. Python calls a signal handler with the frame that it interrupted: no
    other function is called with the frame of its caller. An error that has no frame of a handler came from
    the instruction at which the innermost frame is. Python raises what is pending only at a few kinds of
    instructions: at some of these nothing else can fail, and what a call of a C function raises is not a
    class of the user's, and has a message.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import gc
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

# ─── Whose error it is: a fault of the viewer's own code


# Instructions at which Python looks for what is pending: alone, or after the call of a C function.
STARTS = ("RESUME", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")
CALLS = ("CALL", "PRECALL")
WITHOUT_MESSAGE = (StopIteration, StopAsyncIteration, MemoryError)  # that C functions raise
LIBRARIES = sys.stdlib_module_names | {"minigrad", "minigrad_viz", "numpy", "torch"}


def pass_on(error: BaseException) -> None:
    """Raise an error again that has arrived from outside; nothing happens for a fault of our own."""
    __tracebackhide__ = True
    if has_arrived(error):
        raise error


def complete_work(work: Callable[[], object]) -> None:
    """Do `work` to its end, which may be begun again wherever it was interrupted. What arrives meanwhile is
    raised after it."""
    __tracebackhide__ = True
    arrived: BaseException | None = None
    while True:
        try:
            work()
            break
        except BaseException as error:
            if not has_arrived(error):
                raise
            arrived = error
    if arrived is not None:
        try:
            raise arrived
        finally:
            arrived = None  # or it and this frame would refer to each other


def has_arrived(error: BaseException) -> bool:
    """Whether an error that our code has caught came from outside while it ran. See Note [Arrivals]."""
    if not isinstance(error, Exception):
        return True
    entry, before = error.__traceback__, None
    if entry is None:
        return False
    while True:
        if before is not None and holds(entry.tb_frame, before):
            return True
        if entry.tb_next is None:
            return was_pending(error, entry)
        entry, before = entry.tb_next, entry.tb_frame


def holds(frame: FrameType, interrupted: FrameType) -> bool:
    """Whether a function was called with the frame below which it runs."""
    given = frame.f_locals.values()
    return any(v is interrupted or (type(v) is tuple and any(w is interrupted for w in v)) for v in given)


def was_pending(error: Exception, entry: TracebackType) -> bool:
    """Whether an error was pending at this point, where nothing that ran has raised it."""
    name = dis.opname[entry.tb_frame.f_code.co_code[entry.tb_lasti]]
    if name.startswith(STARTS):
        return True
    if not name.startswith(CALLS):
        return False
    foreign = type(error).__module__.partition(".")[0] not in LIBRARIES
    return foreign or not (error.args or isinstance(error, WITHOUT_MESSAGE))


# ─── Running something without warnings, and without a trace of that


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Let no warning be shown inside. After `warnings.catch_warnings` Python would no longer know which
    warnings of the user's code it has shown already, and show these again."""
    entry = ("ignore", None, Warning, None, 0)
    filters = warnings.filters
    filters.insert(0, entry)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        filters[:] = [each for each in filters if each is not entry]  # type: ignore[index]


# ─── Python's cycle collector, while a report is made


P = ParamSpec("P")
T = TypeVar("T")


def without_collection(function: Callable[P, T]) -> Callable[P, T]:
    """The function, while the cycle collector pauses. A report makes hundreds of thousands of objects, which
    all stay: to go through them again and again takes 30 % of the time of a cell of 10,000 operations."""

    @functools.wraps(function)
    def careful(*args: P.args, **options: P.kwargs) -> T:
        if not gc.isenabled():
            return function(*args, **options)
        gc.disable()
        try:
            return function(*args, **options)
        finally:
            gc.enable()

    return careful
