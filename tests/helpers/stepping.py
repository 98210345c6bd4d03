"""Frames of a cell, and what the tests of the steps ask of them."""

from __future__ import annotations

from typing import Any

from cells import traced
from staged import build, frames_of

import minigrad
from minigrad_viz.steps.frames import Frame

Steps = tuple[Frame, ...]


def frames(cell: str, library: Any = minigrad, call: int | None = None, lang: str = "en") -> Steps:
    """The steps of a cell, on the picture of its `call`-th backward call (the last one)."""
    trace = traced(cell, library)
    return frames_of(trace, build(trace, call), call, lang)


def said(steps: Steps, phase: str | None = None) -> list[str]:
    """The sentences, of one phase or of both."""
    return [f.text for f in steps if phase in (None, f.phase)]


def marked(cell: str, frame: Frame) -> str | None:
    """The source that a frame marks."""
    if frame.span is None:
        return None
    line, column, end_line, end_column = frame.span
    lines = cell.split("\n")[line - 1 : end_line]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return "\n".join(lines)


def decks(steps: Steps) -> list[str]:
    """The stations whose nodes run in `steps`."""
    first = [f.marks[0] for f in steps if f.phase == "backward" and f.marks]
    return [mark[:-2] for mark in first if mark.endswith("-d")]


def words(line: Any) -> tuple[str, str]:
    """A line as its label and its text."""
    return line.label, line.text
