"""Running something without warnings, and without a trace of that."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator


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
