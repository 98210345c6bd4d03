"""Pictures of the subject: a part of a model drawn as what it is, below the stations of its card.

Note [Subjects]
~~~~~~~~~~~~~~~
`SUBJECTS` in `subject_kinds` lists the classes, each of which finds what it can draw among the stations of a
detail: an attention, a convolution, a loss of classes, an embedding, a normalization, a mask. A subject says
how large it is, draws itself, and has a line for the tooltip and one for the outline. So a new kind of
picture is one class there, its words, and nothing else.

A large tensor is known by its `Corner`: its first planes. A subject of several planes (heads, channels)
draws all that are known, of which one is seen; small maps at its left are the choice. All that belongs to
gradients is in a group that follows the node of the station: it is hidden until that has run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..model.detail import Detail
from ..protocol import SIDE, Value, op_of
from ..trace.graph import Card, Route, Station
from ..words import clean, columns, shorten, text
from .heat_maps import cells
from .strip_words import short
from .style import area, num, text_label, xml

WIDE = 800.0  # pixels across that a subject takes in a wide window
NARROW = 600.0  # pixels; a subject with less room shows one sample
CELL = 16.0  # pixels of a cell at most
MAP = 150.0  # pixels of a map at most
TITLE, LINE, GAP = 34.0, 15.0, 26.0  # above a map, from line to line, between maps
THUMB = 34.0  # pixels of a small map that can be chosen
LETTER, ROW = 7.25, 13.0  # pixels of a letter, and of a row with a word

# ─── Numbers of a tensor, plane by plane


@dataclass(frozen=True, slots=True)
class Grid:
    """The planes of a tensor as far as they are known: every `down`-th row and every `across`-th column."""

    planes: Any
    down: int
    across: int
    shape: tuple[int, ...]

    @property
    def whole(self) -> bool:
        """Whether a plane has all its numbers."""
        return self.down == self.across == 1

    @property
    def count(self) -> int:
        """How many planes of the first sample are known."""
        return min(len(self.planes), self.shape[-3] if len(self.shape) > 2 else 1)

    def plane(self, i: int) -> Any:
        """One plane, the last one for what is beyond."""
        return self.planes[min(i, len(self.planes) - 1)]


def grid_of(value: object) -> Grid | None:
    """The planes of a value; None where its numbers are not known or not real."""
    if not isinstance(value, Value) or not value.shape or value.dtype.startswith(("complex", "bool")):
        return None
    if value.items is not None:
        shape = value.shape if len(value.shape) > 1 else (1, *value.shape)
        if not value.items or max(shape[-2:]) > 4 * SIDE:
            return None
        return Grid(np.array(value.items, float).reshape(-1, *shape[-2:]), 1, 1, value.shape)
    corner = None if value.summary is None else value.summary.corner
    if corner is None:
        return None
    planes = np.array(corner.items).reshape(-1, corner.rows, corner.columns)
    return Grid(planes, corner.down, corner.across, value.shape)


def scale_of(*planes: Any) -> float:
    """The largest magnitude in some planes."""
    return max((float(np.abs(p).max(initial=0.0, where=np.isfinite(p))) for p in planes), default=0.0)


# ─── What all subjects are made of


def saved_value(station: Station, name: str) -> Any:
    """A value that the node of a station saved."""
    chips = station.deck.saved if station.deck is not None else ()
    return next((chip.value for chip in chips if chip.name == name), None)


def saved_numbers(station: Station, name: str) -> tuple[int, ...]:
    """Numbers that the node of a station saved as a tuple: `(2, 2)`."""
    found = str(saved_value(station, name) or "")
    return tuple(
        int(each) for each in found.strip("()").replace(",", " ").split() if each.lstrip("-").isdigit()
    )


def op(station: Station) -> str:
    """The op of a station's node, without underscores; "" without one."""
    return "" if station.deck is None else op_of(station.deck.name).replace("_", "")


class Parts:
    """The stations of a detail, and the routes between them."""

    def __init__(self, detail: Detail) -> None:
        graph = detail.graph
        boxes = {fold.station for fold in graph.folds}
        self.own = [s for s in graph.stations if s.id not in detail.outside and s.id not in boxes]
        self.stations = {s.id: s for s in graph.stations}
        self.routes, self.tokens = graph.routes, detail.tokens

    def into(self, station: Station) -> list[Route]:
        """The routes to a station, by the number of the input."""
        return sorted((r for r in self.routes if r.target == station.id), key=lambda route: route.input)

    def sent(self, station: Station, i: int = 0) -> Value | None:
        """The gradient that the node of a station sent to its input `i`."""
        found = [route for route in self.into(station) if route.gradients]
        return found[i].gradients[-1] if i < len(found) else None

    def users(self, station: Station) -> list[Station]:
        """The stations that use the result of a station."""
        return [self.stations[r.target] for r in self.routes if r.source == station.id]

    def parameter(self, station: Station, ending: str) -> Card | None:
        """The parameter of a station whose name has this ending."""
        cards = [self.stations[route.source].cards[0] for route in self.into(station)]
        return next((c for c in cards if c.is_leaf and (c.name or c.expr or "").endswith(ending)), None)


@dataclass
class Panel:
    """A map with its title: its plane `i` of each choice, `back` for a gradient, `marks` around cells."""

    title: str
    planes: Sequence[Any]
    scale: float
    back: bool = False
    said: str = ""
    marks: Sequence[tuple[float, float, float, float] | None] = ()  # row, column, high, wide
    tokens: tuple[Sequence[str], Sequence[str]] = ((), ())
    between: str = ""  # the sign before it

    @property
    def cell(self) -> tuple[float, float]:
        """The size of a cell."""
        high, wide = self.planes[0].shape
        size = min(CELL, MAP / max(high, wide))
        return (size, max(size, ROW) if self.tokens[0] or high == 1 else size)

    @property
    def width(self) -> float:
        """Pixels across, with what is written at its left."""
        wide = self.planes[0].shape[1] * self.cell[0]
        return self.left + max(wide, LETTER * columns(self.title), 6.7 * columns(self.said))

    @property
    def left(self) -> float:
        """Pixels for the tokens of the rows."""
        return 4 + 7.0 * max(map(len, self.tokens[0]), default=0) if self.tokens[0] else 0.0

    @property
    def height(self) -> float:
        """Pixels down, with title and scale."""
        return TITLE + self.planes[0].shape[0] * self.cell[1] + 20

    def draw(self, x: float, y: float, chosen: str, station: str) -> str:
        """The map, of a station; `chosen` is what a choice shows of several planes."""
        across, down = self.cell
        high, wide = self.planes[0].shape
        left, top = x + self.left, y + TITLE
        parts = [text_label(self.title, left, y + 12, "name kept" if self.back else "name")]
        rows, columns = self.tokens
        for i, token in enumerate(rows[:high]):
            parts.append(middle(token, x + self.left / 2 - 2, top + down * i + down / 2 + 4))
        for i, token in enumerate(columns[:wide]):
            parts.append(middle(token, left + across * (i + 0.5), top - 4))
        for i, plane in enumerate(self.planes):
            inner = cells(plane.reshape(-1).tolist(), wide, (across, down), self.scale, left, top)
            mark = self.marks[i] if i < len(self.marks) else None
            if mark is not None:
                row, column, tall, broad = mark
                at = area(left + column * across, top + row * down, broad * across, tall * down)
                inner += f'<rect class="mark" {at}/>'
            parts.append(variant(inner, i, len(self.planes), chosen))
        tone = "frame back" if self.back else "frame"
        parts.append(f'<rect class="{tone}" {area(left, top, wide * across, high * down)}/>')
        said = self.said or f"± {short(self.scale)}"
        parts.append(text_label(said, left, top + high * down + 15, "say"))
        return moment("".join(parts), station, self.back)


def moment(inner: str, station: str, back: bool) -> str:
    """What is hidden until the value of a station is known, or until its node has run: it follows that part
    of the picture."""
    part = f"{station}-d" if back else f"{station}-c0"
    return f'<g class="{"back" if back else "front"}" data-of="{part}">{inner}</g>'


def middle(content: str, x: float, y: float, kind: str = "") -> str:
    """A text with its middle at a place."""
    own = f' class="{kind}"' if kind else ""
    return f'<text{own} text-anchor="middle" x="{num(x)}" y="{num(y)}">{xml(content)}</text>'


def variant(inner: str, i: int, of: int, chosen: str) -> str:
    """What is seen of a choice when its part `i` is chosen; the first one is."""
    if of < 2:
        return inner
    on = "" if i else " on"
    return f'<g class="variant{on}" data-choice="{chosen}" data-i="{i}">{inner}</g>'


class Subject:
    """A part of a model that has a picture of its own. The `key` of its title in the catalogue."""

    key: ClassVar[str] = ""
    choice = ""  # the key of what is chosen: head, channel
    room = WIDE  # pixels across that there are

    def __init__(self, parts: Parts, station: Station, lang: str | None) -> None:
        self.parts, self.station, self.lang = parts, station, lang

    @classmethod
    def find(cls, parts: Parts, lang: str | None) -> Subject | None:
        """The first station of a detail that is one; None for none."""
        for station in parts.own:
            made = cls(parts, station, lang)
            if made.fits():
                return made
        return None

    def fits(self) -> bool:
        """Whether the station is one, and its numbers are known."""
        raise NotImplementedError

    def say(self, key: str, /, **values: Any) -> str:
        """A text of the catalogue."""
        return text(key, self.lang, **values)

    def title(self) -> str:
        """Its name: what it is and which station."""
        return self.say(self.key)

    def panels(self) -> list[Panel]:
        """Its maps, side by side."""
        return []

    def readout(self) -> list[str]:
        """Lines at the right of the maps."""
        return []

    def thumbs(self) -> Sequence[Any]:
        """The small maps of a choice; fewer than two are none."""
        return ()

    def choices(self) -> Sequence[Any]:
        """The small maps where there is room for them; a narrow window shows the first alone."""
        return self.thumbs() if self.room >= NARROW else ()

    def describe(self) -> str:
        """The tooltip, and what a screen reader says."""
        return ": ".join([self.title(), *filter(None, ["; ".join(self.outline_facts())])])

    def outline_facts(self) -> list[str]:
        """What the outline says of it."""
        return [" ".join(self.readout())]

    def outline(self) -> str:
        """Its line in the outline."""
        return self.describe()

    # ------------------------------------------------------------------------------------------------ drawing

    def panel_rows(self) -> list[list[Panel]]:
        """The maps in as many rows as there is room for."""
        found: list[list[Panel]] = [[]]
        x = self.before
        for panel in self.panels():
            panel = panel if self.choices() else replace(panel, planes=panel.planes[:1])
            if found[-1] and x + panel.width > self.room:
                found.append([])
                x = self.before
            found[-1].append(panel)
            x += panel.width + GAP
        return found

    @property
    def maps(self) -> tuple[float, float]:
        """How wide and high the maps are, with the choice."""
        rows = self.panel_rows()
        wide = self.before + max(sum(p.width + GAP for p in row) for row in rows)
        return wide, max(sum(max([p.height for p in row], default=0.0) for row in rows), self.choices_height)

    @property
    def size(self) -> tuple[float, float]:
        """How wide and high it is."""
        lines, (wide, tall) = self.readout(), self.maps
        long = LINE * len(lines)
        if self.beside:
            return wide + self.longest, max(tall, TITLE + long) + 24
        return max(wide - GAP, min(self.room, self.longest)), tall + long + 44

    @property
    def longest(self) -> float:
        """Pixels of the longest line beside the maps."""
        return max((LETTER * columns(line) for line in self.readout()), default=0.0)

    @property
    def beside(self) -> bool:
        """Whether the lines are beside the maps; else below them."""
        return self.maps[0] + self.longest <= self.room

    def title_label(self, x: float, y: float) -> str:
        """The title, as far as there is room."""
        return text_label(shorten(self.title(), int(self.room / LETTER)), x, y + 12, "name")

    @property
    def before(self) -> float:
        """Pixels for the choice."""
        n = len(self.choices())
        return 0.0 if n < 2 else (THUMB + 10) * (2 if n > 3 else 1) + 18

    @property
    def choices_height(self) -> float:
        """Pixels that the small maps are high."""
        n = len(self.choices())
        return 0.0 if n < 2 else 22 + (self.thumb_height + 20) * math.ceil(n / (2 if n > 3 else 1))

    @property
    def thumb_height(self) -> float:
        """Pixels that a small map is high."""
        high, wide = self.choices()[0].shape
        return max(10.0, THUMB * min(1.0, high / wide))

    def draw(self, x: float, y: float, prefix: str) -> str:
        """The picture with its upper left corner at a place."""
        id = f"{prefix}{self.station.id}-{type(self).__name__.lower()}"
        parts = [f"<title>{xml(self.describe())}</title>", self.title_label(x, y)]
        parts.append("".join(self.draw_choice(x, y + 24, id)))
        left, top = x + self.before, y + 24
        for row in self.panel_rows():
            left = x + self.before
            for i, panel in enumerate(row):
                if panel.between and i:
                    parts.append(middle(panel.between, left - GAP / 2, top + TITLE + 24, "between"))
                parts.append(panel.draw(left, top, id, self.station.id))
                left += panel.width + GAP
            top += max([panel.height for panel in row], default=0.0)
        top = y + 24
        lines = [shorten(line, int(self.room / LETTER)) for line in self.readout()]
        if not self.beside:
            left, top = x, y + self.size[1] - LINE * len(lines) - TITLE - 12
        said = [text_label(line, left, top + TITLE + LINE * i + 8, "say") for i, line in enumerate(lines)]
        parts.append(moment("".join(said), self.station.id, True))
        return (
            f'<g class="subject of-{self.station.id}" role="img" aria-label="{xml(self.describe())}">'
            f"{''.join(parts)}</g>"
        )

    def draw_choice(self, x: float, y: float, id: str) -> Iterator[str]:
        """Small maps, one of which is chosen."""
        planes = self.choices()
        if len(planes) < 2:
            return
        yield text_label(self.say(self.choice), x, y + 12, "name")
        side, scale = 2 if len(planes) > 3 else 1, scale_of(*planes)
        for i, plane in enumerate(planes):
            high, wide = plane.shape
            tall = self.thumb_height
            size = min(THUMB / wide, tall / high) if high > 1 else THUMB / wide
            left, top = x + (THUMB + 10) * (i % side), y + 22 + (tall + 20) * (i // side)
            cell = (size, size if high > 1 else tall)
            inner = cells(plane.reshape(-1).tolist(), wide, cell, scale, left, top)
            frame = f'<rect class="frame" {area(left - 2, top - 2, THUMB + 4, tall + 4)}/>'
            on = " on" if not i else ""
            yield (
                f'<g class="choice{on}" data-choice="{id}" data-i="{i}" role="button" tabindex="0"'
                f' aria-label="{xml(self.say(self.choice))} {i}">{inner}{frame}'
                f"{middle(str(i), left + THUMB / 2, top + tall + 14)}</g>"
            )


def station_name(station: Station) -> str:
    """What a station is called, in short."""
    card = station.cards[0]
    return shorten(clean(card.name or card.expr or (station.deck.name if station.deck else "")), 24)
