"""Sheets: a title, a table whose rows stand in groups, and notes; as text and for a page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..words import clean, columns, padded
from .style import element

# Pages that say themselves that they are light or dark count for more than what the system prefers.
STYLE = element("sheets")


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
        lang: str | None, rest: str = "",
    ) -> None:  # fmt: skip
        """`rest` is the label of a box that shows what is hidden at first on a page: the groups in which
        nothing stands out and, of the others, the rows after the first in which nothing does."""
        self.title, self.heads, self.lang, self.rest = title, tuple(heads), lang, rest
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
        return "\n".join([*([self.title] if self.title else []), *body, *self.notes])

    def html(self, style: bool = True) -> str:
        """For a page, which has the table's `style` already or not; a sheet that is wider than the page
        scrolls, also by the keyboard."""
        label, *more = map(html.escape, self.title.split("\n"))
        heads = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in self.heads)
        told = [any(cell.kind == "c" for row in group for cell in row) for group in self.groups]
        hides = bool(self.rest)
        told = told if any(told) else [True] * len(told)  # nothing stands out: the first row of each
        box = f'<label><input type="checkbox"/> {html.escape(self.rest)}</label>' if hides else ""
        out = [
            STYLE if style else "",
            f'<div role="region" aria-label="{label}" tabindex="0" style="overflow-x:auto">',
            f'<table class="mgt"><caption>{"<br/>".join([label + box, *more])}</caption>',
        ]
        if self.groups:
            out.append(f"<thead><tr>{heads}</tr></thead>")
        for group, telling in zip(self.groups, told):
            name = html.escape(clean(group[0][0].content))
            first = f'<th scope="rowgroup" rowspan="{len(group)}">{name}</th>'
            out.append('<tbody class="u">' if hides and not telling else "<tbody>")
            for row in group:
                hidden = hides and telling and not first and all(cell.kind != "c" for cell in row)
                kind = ' class="u"' if hidden else ""
                out.append(f"<tr{kind}>{first}{''.join(cell.html() for cell in row[1:])}</tr>")
                first = ""
            out.append("</tbody>")
        notes = "<br/>".join(map(html.escape, self.notes))
        return "".join(out) + "</table>" + (f'<p style="{NOTE}">{notes}</p>' if notes else "") + "</div>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}

    def __repr__(self) -> str:
        return self.text()


NOTE = "font:13px system-ui,sans-serif;margin:.2em 0 .6em"
