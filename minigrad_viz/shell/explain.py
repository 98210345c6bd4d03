"""`explain()`: the same for an error anywhere as under a cell of `%%autograd`."""

from __future__ import annotations

import sys
from typing import Any

from ..drawing.still import paragraph
from ..recording.aftermath import trace_after
from ..words import text
from .last import report_of
from .report import Report


class Explained:
    """An error explained: the picture with what is guilty marked, then the error, why and fix.

    It shows itself in a notebook and as text, and keeps no tensor alive.
    """

    def __init__(self, report: Report) -> None:
        self.report = report

    @property
    def _unknown(self) -> str:
        """The sentence for an error of which nothing is known."""
        known = any(each.why or each.fix for each in self.report.explained) or self.report.problem
        return "" if known else text("error_unknown", self.report.lang)

    def text(self) -> str:
        """All of it in words."""
        report = self.report
        told = report.text(table=False) if report.graph.stations else report.explanation()
        return "\n\n".join(filter(None, (told, self._unknown)))

    def html(self) -> str:
        """All of it for a page."""
        report = self.report
        drawn = bool(report.graph.stations)
        shown = report.html("static", table=False) if drawn else report.explanation_html()
        return shown + (paragraph(self._unknown) if self._unknown else "")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        page = self.html()  # first, for the text tells what hindered it
        return {"text/plain": self.text(), "text/html": page}

    def __repr__(self) -> str:
        return self.text()


def explain(error: BaseException | None = None, **options: Any) -> Explained:
    """Why an error came up, where in the graph, and what to do: of `error`, or of the last one.

    It works for any code; of a cell under `%%autograd` more is known, and told. Options are those of
    `Report`. RuntimeError if there was no error; TypeError for what is none.
    """
    error = last_error() if error is None else error
    if error is None:
        raise RuntimeError(text("no_error", options.get("lang")))
    if not isinstance(error, BaseException):
        raise TypeError(f"explain() explains errors, not {type(error).__name__}")
    report = report_of(error)
    if report is not None and options:
        report = Report(report.trace, **options)
    return Explained(report or Report(trace_after(error), **options))


def last_error() -> BaseException | None:
    """The error that is being handled, or the last one that nobody handled."""
    return sys.exception() or getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
