"""The state table: every named tensor, one column before and one after each backward call."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..numbers import short
from ..trace.events import AGAIN, BackwardStarted, Snapshot, TensorState, Trace
from ..words import text
from .sheets import Cell, Row, Sheet

ATTRIBUTES = ("value", "grad", "requires_grad", "is_leaf", "retains_grad", "grad_fn")
MOMENTS, FIRST, LAST = 6, 2, 3  # of more columns than MOMENTS only the first two and the last three are shown
TENSORS = 40  # of more tensors than this only the first and the last are shown


class Table(NamedTuple):
    """`heads` are the titles of the moments; `rows` (tensor, attribute, one text per moment; None before
    it existed). `moments` and `tensors` count what is left out: the moments after the second, the tensors in
    the middle."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[str | None, ...]], ...]
    moments: int = 0
    tensors: int = 0


def table_of(trace: Trace, lang: str | None = None) -> Table:
    """The state table of a recorded cell."""
    moments = moments_of(trace)
    hidden = max(trace.skipped, 0)
    if len(moments) > MOMENTS or hidden:
        hidden += max(len(moments) - FIRST - LAST, 0)
        moments = moments[:FIRST] + moments[FIRST:][-LAST:]
    kinds = {e.call: e.kind for e in trace.events if isinstance(e, BackwardStarted)}
    heads = tuple(head(m, kinds, lang) for m in moments)
    states = [dict(m.rows) for m in moments]
    rows = []
    names = sort_names(list(dict.fromkeys(name for m in moments for name, _ in m.rows)))
    many = len(names) > TENSORS
    for name in names[: TENSORS // 2] + names[-TENSORS // 2 :] if many else names:
        for attribute in ATTRIBUTES:
            cells = tuple(None if name not in s else cell(s[name], attribute) for s in states)
            rows.append((name, attribute, cells))
    return Table(heads, tuple(rows), hidden, len(names) - TENSORS if many else 0)


def left_out(table: Table, lang: str | None) -> list[str]:
    """A sentence for each kind of thing that is left out."""
    moments = [text("table_moments_left_out", lang, n=table.moments)] if table.moments else []
    return moments + ([text("table_tensors_left_out", lang, n=table.tensors)] if table.tensors else [])


def with_gap(table: Table, cells: Iterable[Any], gap: Any) -> list[Any]:
    """A row's cells, with `gap` where moments are left out."""
    row = list(cells)
    return [*row[:FIRST], gap, *row[FIRST:]] if table.moments else row


def moments_of(trace: Trace) -> list[Snapshot]:
    """The moments worth a column: before the first backward call, after each one, and what else shows a
    change, as after `x.grad.zero_()` between two calls."""
    shown: list[Snapshot] = []
    for event in trace.events:
        if not isinstance(event, Snapshot) or event.when == AGAIN:
            continue
        if not shown or event.when == "after" or differs(event, shown[-1]):
            shown.append(event)
    return shown


def differs(moment: Snapshot, before: Snapshot) -> bool:
    """Whether the table would show another state, or other tensors."""

    def told(snapshot: Snapshot) -> dict[str, list[str]]:
        return {name: [cell(state, a) for a in ATTRIBUTES] for name, state in snapshot.rows}

    return told(moment) != told(before)


def sort_names(names: list[str]) -> list[str]:
    """`x.grad` stands after `x`."""
    order = {name: i for i, name in enumerate(names)}
    return sorted(
        names, key=lambda n: (order.get(n.removesuffix(".grad"), order[n]), n.endswith(".grad"), order[n])
    )


def head(moment: Snapshot, kinds: dict[int, str], lang: str | None) -> str:
    """The title of a column."""
    if moment.when == "end" or not kinds:
        return text("table_end", lang)
    call = "grad" if kinds.get(moment.call) == "grad" else "backward"
    n = moment.call if call == "grad" or len(kinds) > 1 else ""
    return text("table_before" if moment.when == "before" else "table_after", lang, call=call, n=n)


def cell(state: TensorState, attribute: str) -> str:
    """One attribute of a tensor as text."""
    if attribute == "value":
        return "" if state.value is None else short(state.value)
    if attribute == "grad":
        return "None" if state.grad is None else short(state.grad)
    return str(getattr(state, attribute))


def to_text(table: Table, lang: str | None = None) -> str:
    """The table in a fixed-width font; a tensor's name stands in its first row only."""
    heads = ["", "", *with_gap(table, table.heads, "…")]
    return Sheet("", heads, groups_of(table, lang), left_out(table, lang), lang).text()


def to_html(table: Table, lang: str | None = None) -> str:
    """The table for a page: what a backward call changed stands out; what it left alone shows on request."""
    heads = [text("kind_tensor", lang), text("table_attribute", lang), *with_gap(table, table.heads, "…")]
    title = "\n".join([text("table_caption", lang), *left_out(table, lang)])
    return Sheet(title, heads, groups_of(table, lang), (), lang, text("table_rest", lang)).html()


def groups_of(table: Table, lang: str | None) -> list[list[Row]]:
    """The rows of each tensor."""
    return [
        [(Cell(name), Cell(attribute, "a"), *marked(table, cells, lang)) for _, attribute, cells in rows]
        for name, rows in itertools.groupby(table.rows, key=lambda row: row[0])
    ]


def marked(table: Table, cells: tuple[str | None, ...], lang: str | None) -> list[Cell]:
    """The cells of a row with their kinds: c changed, s the same as before."""
    kinds = [
        "" if before is None else "s" if before == content else "c"
        for before, content in itertools.pairwise((None, *cells))
    ]
    absent = text("table_absent", lang)
    told = (Cell(absent if each is None else each, kind) for each, kind in zip(cells, kinds, strict=True))
    return with_gap(table, told, Cell("…"))
