"""The text of a step, and how a line of it is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..arithmetic import Line
from ..model.stage import NAME, Where
from ..numbers import brief, short
from ..protocol import Value
from ..words import clean, shorten


class Told(NamedTuple):
    """A step in words; the fields are those of `timeline.Frame`."""

    marks: tuple[str, ...]
    text: str
    lines: tuple[Line, ...] = ()
    span: Where | None = None
    failed: bool = False
    recursion: str = ""
    cause: Where | None = None


def line(kind: str, label: str, content: str) -> Line:
    """A line of words, without a formula."""
    return Line(kind, clean(label), (("", clean(content)),))


def listed(values: Iterable[Value | None]) -> str:
    """Values in one line, with commas between."""
    return ", ".join("None" if value is None else brief(value) for value in values)


def shown(value: Any) -> str:
    """A saved value in a sentence."""
    return short(value) if isinstance(value, Value) else shorten(clean(str(value)), NAME)
