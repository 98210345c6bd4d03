"""The state table: every named tensor, one column before and one after each backward call."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..numbers import short
from ..trace.events import BackwardStarted, Snapshot, TensorState, Trace
from ..words import clean, columns, text

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
        if isinstance(event, Snapshot) and (not shown or event.when == "after" or differs(event, shown[-1])):
            shown.append(event)
    return shown


def differs(moment: Snapshot, before: Snapshot) -> bool:
    """Whether the table would show another state, or other tensors."""

    def told(snapshot: Snapshot) -> dict[str, list[str]]:
        return {name: [cell(state, a) for a in ATTRIBUTES] for name, state in snapshot.rows}

    return told(moment) != told(before)


# By when a moment was: the title if there is one call, one of several, and one of `autograd.grad`.
HEADS = {
    "before": ("table_before", "table_before_n", "table_before_grad"),
    "after": ("table_after", "table_after_n", "table_after_grad"),
}


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
    grad = kinds.get(moment.call) == "grad"
    only, one_of_many, of_grad = HEADS[moment.when]
    return text(of_grad if grad else only if len(kinds) == 1 else one_of_many, lang, n=moment.call)


def cell(state: TensorState, attribute: str) -> str:
    """One attribute of a tensor as text."""
    if attribute == "value":
        return "" if state.value is None else short(state.value)
    if attribute == "grad":
        return "None" if state.grad is None else short(state.grad)
    return str(getattr(state, attribute))


def to_text(table: Table, lang: str | None = None) -> str:
    """The table in a fixed-width font; a tensor's name stands in its first row only."""
    absent = text("table_absent", lang)
    lines = [["", "", *with_gap(table, table.heads, "…")]]
    last = None
    for name, attribute, cells in table.rows:
        told = with_gap(table, (absent if content is None else clean(content) for content in cells), "…")
        lines.append(["" if name == last else clean(name), attribute, *told])
        last = name
    widths = [max(columns(line[i]) for line in lines) for i in range(len(lines[0]))]
    body = ["  ".join(map(padded, line, widths)).rstrip() for line in lines]
    return "\n".join(body + left_out(table, lang))


def padded(content: str, width: int) -> str:
    """`content` filled up with spaces to `width` columns."""
    return content + " " * (width - columns(content))


# Pages that say themselves that they are light or dark count for more than what the system prefers.
STYLE = """\
<style>.mgt{border-collapse:collapse;margin:.4em 0;--changed:#B34700}
@media(prefers-color-scheme:dark){.mgt{--changed:#ff9a52}}
[data-jp-theme-light=true] .mgt,[data-theme=light] .mgt,.vscode-light .mgt{--changed:#B34700}
[data-jp-theme-light=false] .mgt,[data-theme=dark] .mgt,.vscode-dark .mgt{--changed:#ff9a52}
.mgt{font:12.5px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.mgt caption{caption-side:top;text-align:left;font:italic 12px system-ui,sans-serif;opacity:.8;padding:2px 0}
.mgt tr,.mgt th,.mgt td{background:none!important;border:0!important}
.mgt th,.mgt td{text-align:left!important;vertical-align:top;word-break:keep-all}
.mgt td{white-space:nowrap}.mgt .w{white-space:normal;min-width:11em}
.mgt th,.mgt td{padding:2px 12px 2px 0!important}
.mgt thead th{font:600 12px system-ui,sans-serif;border-bottom:1px solid #8c959f!important}
.mgt tbody+tbody tr:first-child>*{border-top:1px solid #8c959f55!important}
.mgt .a{opacity:.75}.mgt .s{opacity:.65}.mgt .b{font-weight:700}
.mgt .c{font-weight:700;color:var(--changed)}</style>"""


def to_html(table: Table, lang: str | None = None) -> str:
    """The table for a page: what a backward call changed stands out, what it left alone steps back. One that
    is wider than the page scrolls, also by the keyboard."""
    caption = "<br/>".join(map(html.escape, [text("table_caption", lang), *left_out(table, lang)]))
    titles = [text("table_tensor", lang), text("table_attribute", lang), *with_gap(table, table.heads, "…")]
    heads = "".join(f'<th scope="col">{html.escape(title)}</th>' for title in titles)
    box = f'<div role="region" aria-label="{html.escape(text("table_caption", lang))}" tabindex="0"'
    out = [
        f'{STYLE}{box} style="overflow-x:auto"><table class="mgt"><caption>{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead>"
    ]
    for name, rows in itertools.groupby(table.rows, key=lambda row: row[0]):
        first = f'<th scope="rowgroup" rowspan="{len(ATTRIBUTES)}">{html.escape(clean(name))}</th>'
        out.append("<tbody>")
        for _, attribute, cells in rows:
            shown = with_gap(table, marked(cells, lang), "<td>…</td>")
            out.append(f'<tr>{first}<td class="a">{attribute}</td>{"".join(shown)}</tr>')
            first = ""
        out.append("</tbody>")
    return "".join(out) + "</table></div>"


def marked(cells: tuple[str | None, ...], lang: str | None) -> list[str]:
    """The cells of a row with their classes: c changed, s the same as before."""
    result = []
    before: str | None = None
    for i, content in enumerate(cells):
        kind = "" if i == 0 or before is None else ' class="s"' if content == before else ' class="c"'
        shown = text("table_absent", lang) if content is None else clean(content)
        result.append(f"<td{kind}>{html.escape(shown)}</td>")
        before = content
    return result
