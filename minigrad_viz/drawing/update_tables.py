"""Updates of more parameters than fit in a picture, as tables of all of them in the order of the model."""

from __future__ import annotations

from typing import Any

from ..model.strip import ratio_of
from ..model.updates import ZERO
from ..number_text import shape_text
from ..protocol import Value
from ..trace.graph import Graph
from ..words import clean, shorten_names, text
from .lane import LINES, lane_value
from .strip_words import ratio_text, short

NAME = 34  # columns


def update_tables(graph: Graph, lang: str | None) -> list[dict[str, Any]]:
    """{"id" of the update, "title", "heads", "rows"} of each; a row has the name, what was, the gradient,
    what became and how far it moved beside that."""
    keys = "strip_parameter", "strip_before", "row_grad", "strip_after", "strip_ratio"
    tables = []
    for update in graph.updates:
        changes = update.changes
        if len(changes) <= LINES or update.kind == ZERO:
            continue
        names = shorten_names([clean(change.name) for change in changes], NAME)
        rows = []
        for change, name in zip(changes, names, strict=True):
            ratio = ratio_of([change])
            values = map(brief, (change.before, change.gradient, change.after))
            known = change.before or change.after
            shape = f" {shape_text(known)}" if known and known.shape else ""
            rows.append([f"{name}{shape}", *values, "" if ratio is None else ratio_text(ratio)])
        title = text("strip_all", lang, n=len(changes), title=clean(update.title))
        heads = [text(key, lang) for key in keys]
        tables.append({"id": update.id, "title": title, "heads": heads, "rows": rows})
    return tables


def brief(value: Value | None) -> str:
    """A value by its root mean square; itself if it is one number or not real."""
    if value is None or value.size < 2 or value.rms is None:
        return lane_value(value)
    return f"rms {short(value.rms)}"
