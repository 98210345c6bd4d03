"""Matrices side by side, on a page and in words: what a gradcheck compared, and vᵀ · J = vᵀJ.

A wrong element has a border and a sign, so that a reader sees it without color. Of a large matrix only some
rows and columns are shown, always including those of the largest error.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from ..number_text import number
from ..trace.graph import Matrices, Matrix
from ..words import clean, columns, shorten, text
from .style import element

SHOWN = 6  # rows, and columns, that are shown of a matrix
LABEL = 14  # columns of the text of a label
WIDTH = 100  # columns that matrices may fill side by side
WRONG, GAP = "✗", "…"

# Pages that say themselves that they are light or dark count for more than what the system prefers.
STYLE = element("matrices")


def matrices_text(shown: Matrices, lang: str | None = None) -> str:
    """The matrices in a fixed-width font, side by side where they fit."""
    blocks = [block(matrix, lang) for matrix in shown.side_by_side]
    height = max(map(len, blocks), default=0)
    blocks = [[*lines, *[""] * (height - len(lines))] for lines in blocks]
    widths = [max(map(columns, lines)) for lines in blocks]
    if sum(widths) + 3 * len(widths) <= WIDTH:
        rows = zip(*blocks, strict=True)
        body = [
            "   ".join(line + " " * (w - columns(line)) for line, w in zip(row, widths, strict=True))
            for row in rows
        ]
    else:
        body = [line for lines in blocks for line in lines]
    said = [clean(shown.title)] if shown.title else []
    return "\n".join([*said, *(line.rstrip() for line in body if line.strip())])


def block(matrix: Matrix, lang: str | None) -> list[str]:
    """One matrix as lines: its sign and title, its columns, its rows."""
    grid = grid_of(matrix)
    widths = [max(columns(line[i]) for line in grid) for i in range(len(grid[0]))]
    title = f"{matrix.sign} {clean(matrix.title)}".strip()
    lines = [" ".join(" " * (w - columns(c)) + c for c, w in zip(row, widths, strict=True)) for row in grid]
    head = [f"{lines[0][: widths[0]]}  {lines[0][widths[0] :]}"] if lines[0].strip() else []
    body = [f"{line[: widths[0]]} [{line[widths[0] :]} ]" for line in lines[1:]]
    return [title, *head, *body, *left_out(matrix, lang)]


def grid_of(matrix: Matrix) -> list[list[str]]:
    """The texts of a matrix: the labels of its columns, then its rows, each with its label."""
    high, wide = visible_entries(matrix)
    head = ["", *(GAP if j is None else axis_label(matrix.columns, j) for j in wide)]
    grid = [head]
    for i in high:
        name = GAP if i is None else axis_label(matrix.rows, i)
        grid.append([name, *(GAP if i is None or j is None else cell(matrix, i, j) for j in wide)])
    return grid


def visible_entries(matrix: Matrix) -> tuple[list[int | None], list[int | None]]:
    """The rows and the columns that are shown, with None for a gap."""
    width = len(matrix.items[0]) if matrix.items else 0
    worst = matrix.wrong[0] if matrix.wrong else (0, 0)
    return visible_indices(len(matrix.items), worst[0]), visible_indices(width, worst[1])


def visible_indices(n: int, keep: int) -> list[int | None]:
    """Of `n` rows the first ones, the last one and `keep`, with None where any are left out."""
    if n <= SHOWN:
        return list(range(n))
    kept = sorted({*range(SHOWN - 3), keep, n - 1})
    result: list[int | None] = []
    for i in kept:
        if result and i != (result[-1] or 0) + 1:
            result.append(None)
        result.append(i)
    return result


def axis_label(labels: Sequence[str], i: int) -> str:
    """What a row or column stands for."""
    return shorten(clean(labels[i]), LABEL) if i < len(labels) else ""


def cell(matrix: Matrix, i: int, j: int) -> str:
    """One number; with a sign if it is wrong."""
    shown = number(matrix.items[i][j], matrix.dtype)
    return f"{WRONG} {shown}" if (i, j) in matrix.wrong else shown


def left_out(matrix: Matrix, lang: str | None) -> list[str]:
    """The size of a matrix of which not all is shown."""
    high, wide = len(matrix.items), len(matrix.items[0]) if matrix.items else 0
    return [text("matrix_size", lang, rows=high, columns=wide)] if max(high, wide) > SHOWN else []


def matrices_html(shown: Sequence[Matrices], lang: str | None = None) -> str:
    """Groups of matrices for a page that has `STYLE`, each in a line that wraps."""
    return "".join(group(each, lang) for each in shown)


def group(shown: Matrices, lang: str | None) -> str:
    """Matrices that are side by side; each goes with the sign before it where the line breaks."""
    said = f"<p>{html.escape(clean(shown.title))}</p>" if shown.title else ""
    parts = []
    for matrix in shown.side_by_side:
        sign = f"<span>{html.escape(matrix.sign)}</span>" if matrix.sign else ""
        parts.append(f"<div>{sign}{table(matrix, lang)}</div>")
    return f'<div class="mgx">{said}<div>{"".join(parts)}</div></div>'


def table(matrix: Matrix, lang: str | None) -> str:
    """One matrix. It scrolls, also by the keyboard, where it is wider than the page."""
    high, wide = visible_entries(matrix)
    grid = grid_of(matrix)
    title = html.escape(" ".join([clean(matrix.title), *left_out(matrix, lang)]))
    heads = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in grid[0])
    rows = "".join(
        f'<tr><th scope="row">{html.escape(cells[0])}</th>'
        + "".join(
            f"<td{wrong_class(matrix, i, j)}>{html.escape(content)}</td>"
            for content, j in zip(cells[1:], wide, strict=True)
        )
        + "</tr>"
        for cells, i in zip(grid[1:], high, strict=True)
    )
    head = f"<thead><tr>{heads}</tr></thead>" if any(grid[0]) else ""
    scrolls = f' tabindex="0" role="region" aria-label="{title}"' if len(wide) > 3 else ""
    return (
        f'<div class="o"{scrolls}><table><caption>{title}</caption>{head}<tbody>{rows}</tbody></table></div>'
    )


def wrong_class(matrix: Matrix, i: int | None, j: int | None) -> str:
    """The class of a wrong place."""
    return ' class="w"' if (i, j) in matrix.wrong else ""
