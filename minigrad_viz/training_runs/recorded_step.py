"""The step that was recorded whole, in the report: which modules of a picture can be opened in it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from html import escape
from typing import NamedTuple

from ..drawing.strip_pictures import StripPicture
from ..model.strip_insides import ways_to_modules
from ..shell.report import Report


class Recording(NamedTuple):
    """A step that was recorded whole."""

    report: Report
    step: int


def modules_of(report: Report) -> frozenset[str]:
    """The paths of the modules that the player of a report can open."""
    if not report.graph.stations:
        return frozenset()
    act = report.act(-1)
    if not isinstance(act.picture, StripPicture):
        return frozenset()
    boxes = {panel.box for panel in act.panels}
    return frozenset(path for path, _ in ways_to_modules(act.picture.strip, boxes))


def opening(content: str, names: Sequence[str], known: Set[str]) -> str:
    """A part of a picture that opens the first of these modules that is `known`, if one is."""
    name = next((name for name in names if name in known), None)
    if name is None:
        return content
    said = escape(name)
    return f'<g data-module="{said}" role="button" tabindex="0" aria-label="{said}">{content}</g>'
