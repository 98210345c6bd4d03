"""Names that minigrad does not have, on the import lines and in the decorators of a test file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_lenient = False  # true while a test file is being imported


def lenient() -> bool:
    return _lenient


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """While a test file is imported, names that minigrad does not have are `Absent`."""
    global _lenient
    _lenient = True
    try:
        yield
    finally:
        _lenient = False


class Absent:
    """A name that minigrad does not have. It is false. A call of it in a test raises an AttributeError."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if _lenient and not name.startswith("__"):
            return Absent(f"{self._path}.{name}")
        raise AttributeError(f"minigrad has no {self._path}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _lenient:
            return Absent(self._path)
        raise AttributeError(f"minigrad has no {self._path}")

    def __bool__(self) -> bool:
        return False

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return ()  # a class that a file derives from a missing one can at least be defined

    def __repr__(self) -> str:
        return f"<absent: {self._path}>"
