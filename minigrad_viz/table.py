"""The state table: every named tensor, one column before and one after each backward call."""

from __future__ import annotations

import html
from typing import NamedTuple

from .events import BackwardStarted, Snapshot, TensorState, Trace
from .numbers import short
from .words import clean, columns, text

ATTRIBUTES = ("value", "grad", "requires_grad", "is_leaf", "retains_grad", "grad_fn")
MOMENTS = 6  # more columns than this are thinned out: the first two and the last three stay


class Table(NamedTuple):
    """`heads` are the titles of the moments; `rows` (tensor, attribute, one text per moment; None before it existed)."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[str | None, ...]], ...]


def table_of(trace: Trace, lang: str | None = None) -> Table:
    """The state table of a recorded cell."""
    moments = [e for e in trace.events if isinstance(e, Snapshot)]
    kinds = {e.call: e.kind for e in trace.events if isinstance(e, BackwardStarted)}
    if len(moments) > MOMENTS:
        moments = moments[:2] + moments[-3:]
    heads = tuple(head(m.moment, kinds, lang) for m in moments)
    names = list(dict.fromkeys(name for m in moments for name, _ in m.rows))
    states = [dict(m.rows) for m in moments]
    rows = []
    for name in sort_names(names):
        for attribute in ATTRIBUTES:
            cells = tuple(None if name not in s else cell(s[name], attribute) for s in states)
            rows.append((name, attribute, cells))
    return Table(heads, tuple(rows))


def sort_names(names: list[str]) -> list[str]:
    """`x.grad` stands after `x`."""
    order = {name: i for i, name in enumerate(names)}
    return sorted(names, key=lambda n: (order.get(n.removesuffix(".grad"), order[n]), n.endswith(".grad"), order[n]))


def head(moment: int, kinds: dict[int, str], lang: str | None) -> str:
    """The title of a column."""
    if not kinds:
        return text("table_end", lang)
    if moment == 0:
        return text("table_before", lang) if kinds[1] == "backward" else text("table_before_grad", lang, n=1)
    if kinds.get(moment) == "grad":
        return text("table_after_grad", lang, n=moment)
    return text("table_after", lang) if len(kinds) == 1 else text("table_after_n", lang, n=moment)


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
        lines.append(["" if name == last else clean(name), attribute, *(absent if c is None else clean(c) for c in cells)])
        last = name
    widths = [max(columns(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(c + " " * (w - columns(c)) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


STYLE = (
    "<style>.mgt{border-collapse:collapse;font:12.5px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;margin:.4em 0}"
    ".mgt caption{caption-side:top;text-align:left;font:italic 12px system-ui,sans-serif;opacity:.8;padding:2px 0}"
    ".mgt th,.mgt td{text-align:left!important;padding:2px 12px 2px 0!important;border:0!important;background:none!important}"
    ".mgt thead th{font:600 12px system-ui,sans-serif;border-bottom:1px solid #8c959f!important}"
    ".mgt tbody+tbody tr:first-child>*{border-top:1px solid #8c959f55!important}"
    ".mgt .a{opacity:.7}.mgt .s{opacity:.55}.mgt .c{font-weight:700;color:#B34700}"
    "[data-jp-theme-light=false] .mgt .c,.vscode-dark .mgt .c{color:#ff9a52}</style>"
)


def to_html(table: Table, lang: str | None = None) -> str:
    """The table for a page: what a backward call changed stands out, what it left alone steps back."""
    heads = "".join(f'<th scope="col">{html.escape(h)}</th>' for h in table.heads)
    out = [
        STYLE,
        f'<table class="mgt"><caption>{html.escape(text("table_caption", lang))}</caption><thead><tr>'
        f'<th scope="col">{html.escape(text("table_tensor", lang))}</th><th scope="col">'
        f'{html.escape(text("table_attribute", lang))}</th>{heads}</tr></thead>',
    ]
    last = None
    for name, attribute, cells in table.rows:
        first = ""
        if name != last:
            out.append("</tbody><tbody>" if last is not None else "<tbody>")
            first = f'<th scope="rowgroup" rowspan="{len(ATTRIBUTES)}" style="vertical-align:top">{html.escape(clean(name))}</th>'
            last = name
        out.append(f'<tr>{first}<td class="a">{attribute}</td>{"".join(marked(cells, lang))}</tr>')
    return "".join(out) + ("</tbody></table>" if last is not None else "</table>")


def marked(cells: tuple[str | None, ...], lang: str | None) -> list[str]:
    """The cells of a row with their classes: c changed, s the same as before."""
    result = []
    before: str | None = None
    for i, content in enumerate(cells):
        kind = "" if i == 0 else ' class="s"' if content == before else ' class="c"' if before is not None else ""
        result.append(f"<td{kind}>{html.escape(text('table_absent', lang) if content is None else clean(content))}</td>")
        before = content
    return result
