"""Functions that are compiled from text when they are first called.

To compile the calls of all ops at once would take 30 ms from importing minigrad. Until it is called a
function has the code of one of `WAITING`; then it gets its own, in place, so whoever holds it (a registry, a
method, a user) pays nothing afterwards. Two threads may both do so, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def first(*args: Any, **kwargs: Any) -> Any:
    """In the globals of a function that waits stands another, which compiles it and calls it."""
    raise NotImplementedError


WAITING: dict[int | None, Any] = {
    1: lambda input: first(input),
    2: lambda input, b: first(input, b),
    3: lambda input, b, c: first(input, b, c),
    None: lambda *args, **kwargs: first(*args, **kwargs),
}


def late_function(waiting: Any, write: Callable[[dict[str, Any]], Any], names: tuple[str, ...] = ()) -> Any:
    """A function that `write` will compile, with a dictionary for its globals; until then it has the code of
    `waiting`, with other parameters after the first if there are `names`.
    """

    def first(*args: Any, **kwargs: Any) -> Any:
        call.__code__ = write(scope).__code__
        return call(*args, **kwargs)

    scope = {"__name__": __name__, "first": first}
    code = waiting.__code__
    if names:
        code = code.replace(co_varnames=("input", *names))
    call = FunctionType(code, scope)
    return call
