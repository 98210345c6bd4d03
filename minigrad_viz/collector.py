"""Python's cycle collector, while a report is made."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def uncollected(function: Callable[P, T]) -> Callable[P, T]:
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
