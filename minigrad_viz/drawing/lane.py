"""The lane of updates below the graph: what the cell wrote into its parameters and their gradients, drawn
and in words.

g.update #p u0        a statement: its source, the optimizer
g.change #p u0-c0     a line of it; its values are #p u0-c0-before, #p u0-c0-grad and #p u0-c0-after; until
                      the update has run it says what it waits for
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

import numpy as np

from ..model.updates import CLIP, ZERO, optimizer_text
from ..number_text import number, one_line, shape_text
from ..protocol import Value
from ..trace.graph import Change, Graph, Update
from ..words import clean, columns, shorten, shorten_name, shorten_names, text
from ..words.display_text import text_pixels
from .heat_maps import GRADIENTS, VALUES, Heat, heat_map, in_short, map_width, strip_of
from .look import MONO
from .style import area, num, text_label, xml

# ─── What the lane of updates says in words, and which of its lines are shown


LINES = 8  # lines of one update, and updates of a lane, that are shown
NAME, SOURCE, BRIEF, GONE = 20, 70, 30, 18  # columns
TOLD = 30  # columns of a value in words
SLIM_VALUE = 11  # columns of a value in a narrow window


def aside_text(graph: Graph, lang: str | None) -> str:
    """What the picture leaves out, in words; "" if that is nothing."""
    told = ", ".join(f"{text(key, lang)} {n}" for key, n in graph.aside)
    said = [text("aside", lang, counts=told)] if told else []
    said += [text("counted", lang, n=f"{graph.counted:,}")] if graph.counted else []
    said += [text("passed", lang, n=f"{graph.passed:,}")] if graph.passed else []
    said += [text("light", lang, n=f"{graph.light:,}")] if graph.light else []
    return " ".join(said)


def shown_lines(update: Update) -> tuple[Sequence[Change], int]:
    """The lines of an update that are shown, those that change most, in their order; how many are not."""
    if len(update.changes) <= LINES:
        return update.changes, 0
    largest = sorted(update.changes, key=change_size, reverse=True)[:LINES]
    chosen = {change.id for change in largest}
    return [c for c in update.changes if c.id in chosen], len(update.changes) - LINES


def change_size(change: Change) -> float:
    """By how much a tensor changed at most, as far as that is known."""
    before, after, moved = change.before, change.after, element_changes(change)
    if before is None or after is None:
        return 0.0
    if moved:
        return max((m for m in moved if m == m), default=0.0)
    ends = (before.low, before.high, after.low, after.high)
    return inf if None in ends else abs(after.low - before.low) + abs(after.high - before.high)  # type: ignore[operator]


def element_changes(change: Change) -> list[float]:
    """By how much each number of a tensor changed; empty where that is not known."""
    before, after = (value and value.items for value in (change.before, change.after))
    known = before and after and len(before) == len(after)
    return [abs(b - a) for a, b in zip(before or (), after or ())] if known else []


def lane_value(value: Value | None) -> str:
    """A value of the lane in words."""
    return "None" if value is None else one_line(value, TOLD)


def update_lines(graph: Graph, lang: str | None) -> list[str]:
    """The lane in words, for the outline."""
    lines = []
    for update in graph.updates[:LINES]:
        head = [clean(update.title), *filter(None, [optimizer_text(update)])]
        lines.append("   ".join(["→ " + shorten(head[0], SOURCE), *head[1:]]))
        chosen, more = shown_lines(update)
        lines += [f"  {clean(c.name)}: {lane_value(c.before)} → {lane_value(c.after)}" for c in chosen]
        if more:
            lines.append("  " + text("update_more", lang, n=more))
    if len(graph.updates) > LINES:
        lines.append(text("updates_more", lang, n=len(graph.updates) - LINES))
    return lines


# ─── The lane of updates below the graph


ROW, HEAD, GAP = 21.0, 26.0, 12.0  # pixels: a line, the head of an update, between columns
WIDE = 914.0  # pixels; in a wider lane the notes at the ends of lines are left out
ARROW = "→"
BY = 3  # the number of the cell before the gradient
EXTRA = (0, 0, 0, 4 - GAP, 0, 8 - GAP, 0)  # pixels that the columns have beside their cells


Cell = Heat | str


class LaneLine(NamedTuple):
    """One line of an update: its `cells` are its name and shape, what was, `by` and the gradient that it was
    changed by, an arrow, and what became. The last line says what changed most."""

    id: str
    cells: tuple[Cell, ...]
    told: str
    change: str


@dataclass(frozen=True, slots=True)
class LaneHead:
    """One update: its source, what is beside that, its lines, and how many are not shown. A `brief` one
    has its source as the name of its only line."""

    update: Update
    source: str
    said: tuple[str, ...]
    lines: tuple[LaneLine, ...]
    more: int

    @property
    def brief(self) -> bool:
        """Whether its line tells all of it."""
        return bool(self.lines) and self.lines[0].cells[0] == self.source


@dataclass(frozen=True, slots=True)
class LaneBox:
    """The lane, measured: its updates, where the columns of their lines begin, and how many are not shown."""

    heads: tuple[LaneHead, ...]
    places: tuple[float, ...]
    width: float
    more: int
    lang: str | None

    def heats(self) -> Iterator[Heat]:
        """Its maps."""
        cells = (cell for head in self.heads for line in head.lines for cell in line.cells)
        return (cell for cell in cells if isinstance(cell, Heat))

    def fitting(self, width: float) -> LaneBox:
        """The lane in a narrow window: of each line the name, what was, if there is room for it, and what
        became."""
        found = self
        for before in (True, False):
            if found.width > width:
                found = self.slim(width - 2 * GAP, before)
        return found

    def slim(self, room: float, before: bool) -> LaneBox:
        """The lane with its names and values only; `before`: with what was."""
        heads = []
        for head in self.heads:
            free = room - columns(head.source) * MONO
            said = tuple(each for each in head.said if text_pixels(each) < free)
            lines = []
            for line in head.lines:
                name, _, was, _, _, arrow, became = line.cells
                was = zero_grad_text(head.update, SLIM_VALUE, self.lang) or slim_cell(was)
                cells: tuple[Cell, ...] = name, "", was, "", "", arrow, slim_cell(became)
                cells = cells if before or not name else (name, "", "", "", "", arrow, cells[-1])
                lines.append(line._replace(cells=cells, told="", change=""))
            source = shorten(head.source, int(room / MONO))
            heads.append(replace(head, source=source, said=said, lines=tuple(lines)))
        return columns_of(heads, self.more, self.lang, close=True)

    def draw(
        self, left: float, top: float, width: float, scales: Mapping[str, float], prefix: str,
        light: Callable[[str], str],
    ) -> tuple[str, float]:  # fmt: skip
        """The lane at a place; where it ends below. `light` is what follows the class of an update."""
        if not self.heads:
            return "", top
        parts, y = [], top + 8
        for head in self.heads:
            start, lines = y, [] if head.brief else [self.head(head, left, left + width, y)]
            y += 0 if head.brief else HEAD
            for line in head.lines:
                id = f"{prefix}{head.update.id}-{line.id}"
                lines.append(
                    self.line(line, id, head.update.kind == ZERO, left + GAP, left + width, y + 14, scales)
                )
                y += ROW
            if head.more:
                said = text("update_more", self.lang, n=head.more)
                lines.append(text_label(said, left + GAP, y + 14, "say"))
                y += ROW
            box = f'<rect class="box" {area(left + 7, start, width - 12, y + 3 - start)} rx="6"/>'
            kind = "update" + light(head.update.id)
            parts.append(f'<g class="{kind}" id="{prefix}{head.update.id}">{box}{"".join(lines)}</g>')
            y += 6
        if self.more:
            said = text("updates_more", self.lang, n=self.more)
            parts.append(text_label(said, left + GAP, y + 14, "say"))
            y += ROW
        y += 4
        paper = f'<rect class="paper" {area(left, top, width, y - top)} rx="7"/>'
        bar = f'<rect class="bar" {area(left, top, 5, y - top)} rx="2"/>'
        title = f"<title>{xml(text('lane', self.lang))}</title>"
        return f'<g class="lane">{title}{paper}{bar}{"".join(parts)}</g>', y

    def head(self, head: LaneHead, left: float, right: float, top: float) -> str:
        """What is above the lines of an update."""
        y = top + 16
        parts = [text_label(head.source, left + GAP, y, "fn")]
        x = left + 2 * GAP + columns(head.source) * MONO
        for said in head.said:
            parts.append(text_label(said, x, y, "say"))
            x += text_pixels(said) + GAP
        if not head.update.early:
            parts.append(text_label(text("lane_waiting", self.lang), right - GAP, y, "met wait"))
        return "".join(parts)

    def line(
        self, line: LaneLine, id: str, emptied: bool, left: float, right: float, y: float,
        scales: Mapping[str, float],
    ) -> str:  # fmt: skip
        """One line at a place."""
        tone = "gone" if emptied else "now"
        kinds = ("", ' class="gone"', f' id="{id}-before"', "", f' class="kept" id="{id}-grad"', "")
        cells = []
        for i, (cell, kind) in enumerate(zip(line.cells, (*kinds, f' class="{tone}" id="{id}-after"'))):
            x = left + self.places[i]
            if i in (BY, BY + 1) and not line.cells[BY + 1]:
                continue  # without a gradient
            if isinstance(cell, Heat):
                cells.append(f"<g{kind}>{heat_map(cell, scales[cell.of], x, y - 11)}</g>")
            else:
                cells.append(f'<text{kind} x="{num(x)}" y="{num(y)}">{xml(cell)}</text>')
        x = left + self.places[-1]
        for kind, said in self.notes(line):
            cells.append(text_label(said, x, y, f"say {kind}"))
        if line.change:
            place = f'x="{num(right - GAP)}" y="{num(y)}"'
            cells.append(f'<text class="{tone} done" text-anchor="end" {place}>{xml(line.change)}</text>')
        return f'<g class="change" id="{id}">{"".join(cells)}</g>'

    def notes(self, line: LaneLine) -> Iterator[tuple[str, str]]:
        """What a line says at its end: before its gradient is there, before it has run, and then."""
        if line.cells[BY + 1]:
            yield "wait far", text("lane_waits", self.lang)
            yield "wait near", text("lane_ready", self.lang)
        if line.told:
            yield "done", line.told


def lane_of(graph: Graph, lang: str | None) -> LaneBox:
    """The lane of a graph."""
    heads = []
    for update in graph.updates[:LINES]:
        changes, more = shown_lines(update)
        names = shorten_names([clean(change.name) for change in changes], NAME)
        lines = [line_of(update, *each, lang) for each in zip(changes, names, strict=True)]
        early = text("lane_early", lang) if update.early else ""
        source = shorten(clean(update.title), SOURCE)
        if gone := zero_grad_text(update, GONE, lang):
            cells = "", "", gone, "", "", ARROW, lines[0].cells[-1]
            lines, more = [LaneLine(lines[0].id, cells, early, "")], 0
        if len(lines) == 1 and not more and not optimizer_text(update):
            source = shorten(source, BRIEF)
            only: tuple[Cell, ...] = source, *lines[0].cells[1:]
            lines = [lines[0]._replace(cells=only, told=lines[0].told or early)]
        said = tuple(each for each in (optimizer_text(update), early) if each)
        heads.append(LaneHead(update, source, said, tuple(lines), more))
    box = columns_of(heads, len(graph.updates) - len(heads), lang)
    if box.width <= WIDE:
        return box
    bare = [replace(h, lines=tuple(line._replace(told="", change="") for line in h.lines)) for h in heads]
    return columns_of(bare, box.more, lang)


def zero_grad_text(update: Update, width: int, lang: str | None) -> str:
    """Whose gradients an update empties, if it leaves the same of all: their names in `width` columns, or how
    many they are. "" of another update."""
    if update.kind != ZERO or len({change.after for change in update.changes}) != 1:
        return ""
    names = [clean(change.name) for change in update.changes]
    if columns(told := ", ".join(names)) <= width:
        return told
    return text("lane_emptied", lang, n=len(names)) if names[1:] else shorten_name(names[0], width)


def columns_of(heads: Sequence[LaneHead], more: int, lang: str | None, close: bool = False) -> LaneBox:
    """A lane of some updates, with the places of its columns; `close`: empty ones have no room."""
    lines = [line for head in heads for line in head.lines]
    widths = [
        max((map_width(line.cells[i]) for line in lines), default=0) + extra for i, extra in enumerate(EXTRA)
    ]
    empty = [close and not any(line.cells[i] for line in lines) for i in range(len(EXTRA))]
    places = [0.0]
    for width, none in zip(widths, empty, strict=True):
        places.append(places[-1] + (0.0 if none else width + GAP))
    box = LaneBox(tuple(heads), tuple(places), 0.0, more, lang)
    noted = max((text_pixels(note) for line in lines for _, note in box.notes(line)), default=0)
    changed = max((columns(line.change) for line in lines), default=0) * MONO
    ends = [places[-1] + noted + changed + GAP if lines else 0.0]
    ends += [
        columns(h.source) * MONO + sum(text_pixels(each) + GAP for each in h.said) + 3 * GAP for h in heads
    ]
    width = max(ends) + 2 * GAP if heads else 0.0
    return replace(box, width=width)


def line_of(update: Update, change: Change, name: str, lang: str | None) -> LaneLine:
    """A line of an update."""
    of = GRADIENTS if update.kind in (ZERO, CLIP) else VALUES
    known = change.before or change.after
    settings = {name: value for name, value in change.settings if value}
    plain = update.about == "SGD" and settings.keys() == {"lr"} and not change.state
    by = "" if change.gradient is None else f"−{settings['lr']:g} ·" if plain else "grad"
    gradient = "" if change.gradient is None else cell_of(change.gradient, GRADIENTS, lang)
    cells = (
        name, shape_text(known) if known and known.shape else "",
        cell_of(change.before, of, lang), by, gradient, ARROW, cell_of(change.after, of, lang),
    )  # fmt: skip
    return LaneLine(change.id, cells, *largest_change(change, lang))


def slim_cell(cell: Cell) -> Cell:
    """A value in a narrow lane."""
    if isinstance(cell, str):
        return shorten(cell, SLIM_VALUE)
    rms = cell.value.rms
    return cell if cell.width <= SLIM_VALUE * MONO or rms is None else f"rms {number(rms, digits=2)}"


def cell_of(value: Value | None, of: str, lang: str | None) -> Cell:
    """A value in the lane: its numbers, its map in one row, or its root mean square."""
    if value is None or value.size < 2:
        return lane_value(value)
    return strip_of(value, of) or in_short(value)


def largest_change(change: Change, lang: str | None) -> tuple[str, str]:
    """Where a tensor of several numbers changed most, and from what to what."""
    before, after = change.before, change.after
    moved = [m if math.isfinite(m) else 0.0 for m in element_changes(change) if isinstance(m, float)]
    if before is None or after is None or before.shape != after.shape or before.dtype.startswith("complex"):
        return "", ""
    if len(moved) < 2 or not max(moved):
        return "", ""
    place = max(range(len(moved)), key=moved.__getitem__)
    at = map(int, np.unravel_index(place, before.shape))
    ends = (number(value.items[place], value.dtype, digits=4) for value in (before, after) if value.items)
    return text("lane_largest", lang, place=", ".join(map(str, at))), f" {ARROW} ".join(ends)
