"""The explanations of a program, for other programs: as JSON, and as SARIF."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..trace.graph import Explanation
from ..trace.source_positions import Span
from ..words import clean
from .sarif import SarifResult, sarif_location, sarif_log

TOOL = "minigrad_viz"


def explanations_json(explained: Iterable[Explanation], ended: str | None, file: str) -> dict[str, Any]:
    """The explanations of the program in `file`; `ended` is the error that ended it. Of each: `key` ("" for
    an error that is none of the known), `level`, `error` (word for word, or null), `why`, `fix`, `span` where
    it occurred, and `cause` what led to it, if that is elsewhere. Lines count from 1, columns from 0, in
    characters; places in other files are null."""
    return {
        "file": file,
        "error": ended,
        "findings": [
            {
                "key": each.key,
                "level": explanation_level(each, ended),
                "error": each.error or None,
                "why": each.why,
                "fix": each.fix,
                "span": span_json(each.span),
                "cause": span_json(each.cause),
            }
            for each in explained
        ],
    }


def explanations_sarif(explained: Iterable[Explanation], ended: str | None, file: str) -> dict[str, Any]:
    """The same as SARIF. A place is that of the cause, where there is one: it is what has to be mended."""
    results = []
    for each in explained:
        key = each.key or each.error.partition(":")[0]
        places = [span for span in (each.cause, each.span) if span is not None and not span.origin]
        message = "\n".join(clean(part) for part in (each.error, each.why, each.fix) if part)
        place = sarif_location(file, sarif_region(places[0]), places[0].text) if places else None
        marks = {"explanation/v1": f"{key}:{places[0].flat if places else ''}"}
        results.append(SarifResult(key, explanation_level(each, ended), message, marks, place))
    return sarif_log(TOOL, results)


def explanation_level(each: Explanation, ended: str | None) -> str:
    """How serious it is: "error" what ended the program, "note" an error that was caught, "warning" what went
    wrong without one."""
    if not each.error:
        return "warning"
    return "error" if each.error == ended else "note"


def span_json(span: Span | None) -> dict[str, Any] | None:
    """A place in the program, with its code."""
    if span is None or span.origin:
        return None
    place = {"line": span.line, "column": span.column, "end_line": span.end_line}
    return {**place, "end_column": span.end_column, "code": span.text}


def sarif_region(span: Span) -> dict[str, int]:
    """A place as SARIF counts: columns from 1."""
    begin = {"startLine": span.line, "startColumn": span.column + 1}
    return {**begin, "endLine": span.end_line, "endColumn": span.end_column + 1}
