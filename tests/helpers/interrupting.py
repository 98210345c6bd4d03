"""Interrupts at chosen points: an error that is raised at the n-th function that certain modules enter, as a
signal handler raises it there."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from inspect import CO_GENERATOR
from typing import Any


class Late(Exception):
    """What a signal handler of a test raises."""


class Interrupt:
    """Raises `error` when code of `modules` (names that begin so) enters its function number `at`, or comes
    back from a built-in one; those named in `spared` do not count. `count` is how many there were."""

    def __init__(self, at: int, error: BaseException, modules: str, spared: frozenset[str] = frozenset()):
        self.at, self.error, self.modules, self.spared = at, error, modules, spared
        self.count, self.where = 0, ""

    def handler(self, frame: Any, event: str, _: Any) -> None:
        """What Python calls, with the frame that it interrupts."""
        code = frame.f_code
        counted = event in ("call", "c_return") and code.co_name not in self.spared
        if event == "call" and code.co_flags & CO_GENERATOR:
            return  # it may be closed, where no handler runs
        if not counted or not str(frame.f_globals.get("__name__")).startswith(self.modules):
            return
        self.count += 1
        if self.count == self.at:
            self.where = f"{event} in {code.co_qualname}, line {frame.f_lineno}"
            raise self.error

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Have Python call it inside the block."""
        sys.setprofile(self.handler)
        try:
            yield
        finally:
            sys.setprofile(None)
