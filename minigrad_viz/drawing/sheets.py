"""Sheets that stand below the state table: a title, a table, and notes."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..words import clean, columns
from .table import STYLE, padded


class Cell(NamedTuple):
    """One cell. `kind` is "c" for what stands out, "b" for sums, "a" and "s" for what steps back, "w" for
    what may be broken into lines; what has a `then` is struck out, and that has come in its place."""

    content: str = ""
    kind: str = ""
    then: str = ""

    def text(self) -> str:
        """For a terminal, where nothing can be struck out."""
        return clean(self.then or self.content)

    def html(self) -> str:
        """For a page."""
        shown = html.escape(clean(self.content))
        if self.then:
            return f'<td class="s"><s>{shown}</s> {html.escape(clean(self.then))}</td>'
        return f'<td class="{self.kind}">{shown}</td>' if self.kind else f"<td>{shown}</td>"


Row = tuple[Cell, ...]


class Sheet:
    """A titled table with notes below; the rows of a group share their first cell."""

    def __init__(
        self, title: str, heads: Sequence[str], groups: Sequence[Sequence[Row]], notes: Sequence[str],
        lang: str | None,
    ) -> None:  # fmt: skip
        self.title, self.heads, self.lang = title, tuple(heads), lang
        self.groups, self.notes = groups, tuple(map(clean, notes))

    def __bool__(self) -> bool:
        """Whether it has anything to tell."""
        return bool(self.groups or self.notes)

    def text(self) -> str:
        """In a fixed-width font."""
        lines = [list(self.heads)] if self.groups else []
        for group in self.groups:
            lines += [
                ["" if i and not k else cell.text() for k, cell in enumerate(row)]
                for i, row in enumerate(group)
            ]
        widths = [max(columns(line[i]) for line in lines) for i in range(len(self.heads))] if lines else []
        body = ["  ".join(map(padded, line, widths)).rstrip() for line in lines]
        return "\n".join([self.title, *body, *self.notes])

    def html(self, style: bool = True) -> str:
        """For a page, which has the table's `style` already or not; a sheet that is wider than the page
        scrolls, also by the keyboard."""
        label = html.escape(self.title)
        heads = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in self.heads)
        out = [
            STYLE if style else "",
            f'<div role="region" aria-label="{label}" tabindex="0" style="overflow-x:auto">',
            f'<table class="mgt"><caption>{label}</caption>',
        ]
        if self.groups:
            out.append(f"<thead><tr>{heads}</tr></thead>")
        for group in self.groups:
            name = html.escape(clean(group[0][0].content))
            first = f'<th scope="rowgroup" rowspan="{len(group)}">{name}</th>'
            out.append("<tbody>")
            for row in group:
                out.append(f"<tr>{first}{''.join(cell.html() for cell in row[1:])}</tr>")
                first = ""
            out.append("</tbody>")
        notes = "<br/>".join(map(html.escape, self.notes))
        return "".join(out) + f'</table><p style="{NOTE}">{notes}</p></div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}

    def __repr__(self) -> str:
        return self.text()


NOTE = "font:13px system-ui,sans-serif;margin:.2em 0 .6em"
