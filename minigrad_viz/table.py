"""The state table: every named tensor, one column before and one after each backward call."""

from __future__ import annotations

import html
import itertools
from typing import NamedTuple

from .events import BackwardStarted, Snapshot, TensorState, Trace
from .numbers import short
from .words import clean, columns, text

ATTRIBUTES = ("value", "grad", "requires_grad", "is_leaf", "retains_grad", "grad_fn")
MOMENTS = 6  # of more columns than this only the first two and the last three are shown


class Table(NamedTuple):
    """`heads` are the titles of the moments; `rows` (tensor, attribute, one text per moment; None before
    it existed)."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[str | None, ...]], ...]


def table_of(trace: Trace, lang: str | None = None) -> Table:
    """The state table of a recorded cell."""
    moments = moments_of(trace)
    if len(moments) > MOMENTS:
        moments = moments[:2] + moments[-3:]
    kinds = {e.call: e.kind for e in trace.events if isinstance(e, BackwardStarted)}
    heads = tuple(head(m, kinds, lang) for m in moments)
    states = [dict(m.rows) for m in moments]
    rows = []
    for name in sort_names(list(dict.fromkeys(name for m in moments for name, _ in m.rows))):
        for attribute in ATTRIBUTES:
            cells = tuple(None if name not in s else cell(s[name], attribute) for s in states)
            rows.append((name, attribute, cells))
    return Table(heads, tuple(rows))


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
    grad = "_grad" if kinds.get(moment.call) == "grad" else ""
    if len(kinds) == 1 and not grad:
        return text(f"table_{moment.when}", lang)
    return text(f"table_{moment.when}{grad or '_n'}", lang, n=moment.call)


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
    lines = [["", "", *table.heads]]
    last = None
    for name, attribute, cells in table.rows:
        told = (absent if content is None else clean(content) for content in cells)
        lines.append(["" if name == last else clean(name), attribute, *told])
        last = name
    widths = [max(columns(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(map(padded, line, widths)).rstrip() for line in lines)


def padded(content: str, width: int) -> str:
    """`content` filled up with spaces to `width` columns."""
    return content + " " * (width - columns(content))


STYLE = """\
<style>.mgt{border-collapse:collapse;margin:.4em 0}
.mgt{font:12.5px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.mgt caption{caption-side:top;text-align:left;font:italic 12px system-ui,sans-serif;opacity:.8;padding:2px 0}
.mgt tr,.mgt th,.mgt td{background:none!important;border:0!important}
.mgt th,.mgt td{text-align:left!important;vertical-align:top}
.mgt td{white-space:nowrap}
.mgt th,.mgt td{padding:2px 12px 2px 0!important}
.mgt thead th{font:600 12px system-ui,sans-serif;border-bottom:1px solid #8c959f!important}
.mgt tbody+tbody tr:first-child>*{border-top:1px solid #8c959f55!important}
.mgt .a{opacity:.75}.mgt .s{opacity:.65}.mgt .c{font-weight:700;color:#B34700}
[data-jp-theme-light=false] .mgt .c,[data-theme=dark] .mgt .c,.vscode-dark .mgt .c{color:#ff9a52}</style>"""


def to_html(table: Table, lang: str | None = None) -> str:
    """The table for a page: what a backward call changed stands out, what it left alone steps back."""
    titles = (text("table_tensor", lang), text("table_attribute", lang), *table.heads)
    heads = "".join(f'<th scope="col">{html.escape(title)}</th>' for title in titles)
    caption = html.escape(text("table_caption", lang))
    out = [
        f'{STYLE}<div style="overflow-x:auto"><table class="mgt"><caption>{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead>"
    ]
    for name, rows in itertools.groupby(table.rows, key=lambda row: row[0]):
        first = f'<th scope="rowgroup" rowspan="{len(ATTRIBUTES)}">{html.escape(clean(name))}</th>'
        out.append("<tbody>")
        for _, attribute, cells in rows:
            out.append(f'<tr>{first}<td class="a">{attribute}</td>{"".join(marked(cells, lang))}</tr>')
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
