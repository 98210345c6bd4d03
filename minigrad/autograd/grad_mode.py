"""Switching the recording of graphs off and on."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .. import modes


class GradMode:
    """Sets the grad mode inside a `with` block or a decorated function (or generator)."""

    mode: bool

    def __enter__(self) -> None:
        self.before = modes.ask_grad_mode(self.mode)

    def __exit__(self, *exc: object) -> None:
        modes.ask_grad_mode(self.before)

    def clone(self) -> GradMode:
        """A fresh context with the same mode, so that one decorator can be entered many times."""
        return type(self)()

    def __call__(self, function: Any) -> Any:
        if inspect.isgeneratorfunction(function):
            return self._generator(function)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _generator(self, function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            sent = None
            while True:
                with self.clone():
                    try:
                        value = generator.send(sent)
                    except StopIteration as stop:
                        return stop.value
                sent = yield value

        return wrapped


class no_grad(GradMode):
    """Inside, ops record nothing: results need no gradient. Leaves made inside may ask for one."""

    mode = False

    def __new__(cls, function: Any = None) -> Any:
        """`@no_grad` without parentheses decorates as well."""
        self = super().__new__(cls)
        return self if function is None else self(function)


class enable_grad(GradMode):
    """Inside, ops record again, also within `no_grad`."""

    mode = True

    def __new__(cls, function: Any = None) -> Any:
        """`@enable_grad` without parentheses decorates as well."""
        self = super().__new__(cls)
        return self if function is None else self(function)


class set_grad_enabled(GradMode):
    """Switches recording to `mode` at once; as a context manager until the end of the block."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self.before = modes.ask_grad_mode(self.mode)

    def __enter__(self) -> None:
        modes.ask_grad_mode(self.mode)

    def clone(self) -> GradMode:
        """A context with the same mode that does not switch before it is entered."""
        return enable_grad() if self.mode else no_grad()

    def __call__(self, function: Any) -> Any:
        modes.ask_grad_mode(self.before)
        return super().__call__(function)
