"""The lane of updates below the graph: what the cell wrote into its parameters and their gradients.

g.update #p u0        a statement: its source, the optimizer
g.change #p u0-c0     a line of it; its values are #p u0-c0-before and #p u0-c0-after
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from ..model.updates import CLIP, ZERO, about
from ..numbers import short, written_out
from ..protocol import Value
from ..trace.graph import Change, Graph, Update
from ..words import clean, columns, sans, shorten, text
from .heat import GRADIENTS, VALUES, Heat, across, heat_map, strip_of
from .look import MONO
from .style import area, num, xml

LINES = 8  # lines of one update, and updates of a lane, that are shown
ROW, HEAD, GAP = 21.0, 24.0, 16.0  # pixels: a line, the head of an update, between columns
NAME, VALUE, SOURCE = 40, 30, 70  # columns
GRAD = "grad "


def aside_text(graph: Graph, lang: str | None) -> str:
    """What the picture leaves out, in words; "" if that is nothing."""
    words = {
        "aside_data": text("aside_data", lang),
        "aside_result": text("aside_result", lang),
        "aside_graph": text("aside_graph", lang),
    }
    told = ", ".join(f"{words[key]} {n}" for key, n in graph.aside)
    said = [text("aside", lang, counts=told)] if told else []
    said += [text("counted", lang, n=f"{graph.counted:,}")] if graph.counted else []
    said += [text("light", lang, n=f"{graph.light:,}")] if graph.light else []
    return " ".join(said)


def shown_lines(update: Update) -> tuple[Sequence[Change], int]:
    """The lines of an update that are shown, those that change most, in their order; how many are not."""
    if len(update.changes) <= LINES:
        return update.changes, 0
    largest = sorted(update.changes, key=size_of, reverse=True)[:LINES]
    chosen = {change.id for change in largest}
    return [c for c in update.changes if c.id in chosen], len(update.changes) - LINES


def size_of(change: Change) -> float:
    """By how much a tensor changed at most, as far as that is known."""
    before, after = change.before, change.after
    if before is None or after is None:
        return 0.0
    if before.items is not None and after.items is not None and len(before.items) == len(after.items):
        moved = (abs(b - a) for a, b in zip(before.items, after.items))
        return max((m for m in moved if m == m), default=0.0)
    ends = (before.low, before.high, after.low, after.high)
    return inf if None in ends else abs(after.low - before.low) + abs(after.high - before.high)  # type: ignore[operator]


def written(value: Value | None) -> str:
    """A value in the lane."""
    return "None" if value is None else short(value, VALUE)


def cell_of(value: Value | None, of: str) -> Heat | str:
    """A value in the lane: its map in one row where its numbers are not written."""
    if value is None or written_out(value, VALUE):
        return written(value)
    return strip_of(value, of) or written(value)


def cells_of(update: Update, change: Change) -> tuple[Heat | str, Heat | str, Heat | str]:
    """Before, after and gradient of a line; "" for no gradient."""
    of = GRADIENTS if update.kind in (ZERO, CLIP) else VALUES
    gradient = "" if change.gradient is None else cell_of(change.gradient, GRADIENTS)
    return cell_of(change.before, of), cell_of(change.after, of), gradient


def lane_heats(graph: Graph) -> list[Heat]:
    """The maps in the lane of a graph."""
    cells = (
        cell
        for update in graph.updates[:LINES]
        for change in shown_lines(update)[0]
        for cell in cells_of(update, change)
    )
    return [cell for cell in cells if isinstance(cell, Heat)]


def update_lines(graph: Graph, lang: str | None) -> list[str]:
    """The lane in words, for the outline."""
    lines = []
    for update in graph.updates[:LINES]:
        head = [clean(update.title), *filter(None, [about(update)])]
        lines.append("   ".join(["→ " + shorten(head[0], SOURCE), *head[1:]]))
        chosen, more = shown_lines(update)
        lines += [f"  {clean(c.name)}: {written(c.before)} → {written(c.after)}" for c in chosen]
        if more:
            lines.append("  " + text("update_more", lang, n=more))
    if len(graph.updates) > LINES:
        lines.append(text("updates_more", lang, n=len(graph.updates) - LINES))
    return lines


class Lane:
    """Draws the lane of a graph; `prefix` goes before the ids, its maps are by `scales`."""

    def __init__(self, graph: Graph, lang: str | None, prefix: str, scales: Mapping[str, float]) -> None:
        self.graph, self.lang, self.prefix, self.scales = graph, lang, prefix, scales
        self.updates = graph.updates[:LINES]

    @property
    def width(self) -> float:
        """How wide it has to be."""
        return max(map(self.width_of, self.updates), default=0.0) + 2 * GAP

    def width_of(self, update: Update) -> float:
        """How wide the head and the lines of an update are."""
        said = sans(about(update)) + sans(self.when(update))
        head = columns(shorten(clean(update.title), SOURCE)) * MONO + said + 3 * GAP
        return max(head, self.columns(update)[-1])

    def draw(self, left: float, top: float, width: float) -> tuple[str, float]:
        """The lane at a place; where it ends below."""
        if not self.updates:
            return "", top
        parts, y = [], top + 8
        for update in self.updates:
            drawn, bottom = self.update(update, left + GAP, y)
            box = f'<rect class="box" {area(left + 8, y, self.width_of(update) + GAP, bottom - y)} rx="6"/>'
            parts.append(f'<g class="update" id="{self.prefix}{update.id}">{box}{drawn}</g>')
            y = bottom + 4
        more = len(self.graph.updates) - len(self.updates)
        if more:
            said = xml(text("updates_more", self.lang, n=more))
            parts.append(f'<text class="say" x="{num(left + GAP)}" y="{num(y + 14)}">{said}</text>')
            y += ROW
        y += 4
        paper = f'<rect class="paper" {area(left, top, width, y - top)} rx="7"/>'
        bar = f'<rect class="bar" {area(left, top, 5, y - top)} rx="2"/>'
        title = f"<title>{xml(text('lane', self.lang))}</title>"
        return f'<g class="lane">{title}{paper}{bar}{"".join(parts)}</g>', y

    def when(self, update: Update) -> str:
        """When an update ran, if that was not after the backward call."""
        return text("lane_early", self.lang) if update.early else ""

    def columns(self, update: Update) -> list[float]:
        """Where the columns of its lines begin: name, before, after, gradient, and where the line ends."""
        lines, _ = shown_lines(update)
        cells = [cells_of(update, change) for change in lines]
        widths = [
            max((columns(shorten(clean(c.name), NAME)) for c in lines), default=0) * MONO,
            max((across(before) for before, _, _ in cells), default=0),
            max((across(after) for _, after, _ in cells), default=0) + 2 * GAP,
            max((across(gradient) + columns(GRAD) * MONO for _, _, gradient in cells if gradient), default=0),
        ]
        places = [0.0]
        for width in widths:
            places.append(places[-1] + width + GAP)
        return places

    def cell(self, cell: Heat | str, x: float, y: float, attributes: str = "") -> str:
        """A value at a place."""
        if isinstance(cell, Heat):
            return f"<g{attributes}>{heat_map(cell, self.scales[cell.of], x, y - 11)}</g>"
        return f'<text{attributes} x="{num(x)}" y="{num(y)}">{xml(cell)}</text>'

    def update(self, update: Update, left: float, top: float) -> tuple[str, float]:
        """The lines of an update, and where they end."""
        source, y = shorten(clean(update.title), SOURCE), top + 16
        parts = [f'<text class="fn" x="{num(left)}" y="{num(y)}">{xml(source)}</text>']
        x = left + columns(source) * MONO + GAP
        for said in filter(None, (about(update), self.when(update))):
            parts.append(f'<text class="say" x="{num(x)}" y="{num(y)}">{xml(said)}</text>')
            x += sans(said) + GAP
        y = top + HEAD
        lines, more = shown_lines(update)
        places = [left + x for x in self.columns(update)]
        for change in lines:
            parts.append(self.line(update, change, places, y + 14))
            y += ROW
        if more:
            said = xml(text("update_more", self.lang, n=more))
            parts.append(f'<text class="say" x="{num(left)}" y="{num(y + 14)}">{said}</text>')
            y += ROW
        return "".join(parts), y + 4

    def line(self, update: Update, change: Change, places: list[float], y: float) -> str:
        """One line: name, before → after, gradient."""
        id = f"{self.prefix}{update.id}-{change.id}"
        name, before, after, gradient = places[:4]
        tone = "gone" if update.kind == ZERO else "now"
        was, becomes, grad = cells_of(update, change)
        cells = [
            f'<text x="{num(name)}" y="{num(y)}">{xml(shorten(clean(change.name), NAME))}</text>',
            self.cell(was, before, y, f' id="{id}-before"'),
            f'<text x="{num(after)}" y="{num(y)}">→</text>',
            self.cell(becomes, after + 2 * GAP, y, f' class="{tone}" id="{id}-after"'),
        ]
        if grad:
            cells.append(f'<text class="kept" x="{num(gradient)}" y="{num(y)}">{GRAD}</text>')
            cells.append(self.cell(grad, gradient + columns(GRAD) * MONO, y, ' class="kept"'))
        return f'<g class="change" id="{id}">{"".join(cells)}</g>'
