"""A worksheet of a cell: its code, its picture with numbers to be filled in, and a key.

Left out are the gradients, in the order in which backward computes them: those on the arrows, and what each
leaf stores. With a seed the leaves have other numbers, so each class can have a sheet of its own.
"""

from __future__ import annotations

import html
import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from ..drawing.export import address
from ..drawing.picture import Picture
from ..drawing.style import num, xml_with_spaces
from ..player.still import SVG, StillPictures
from ..replay.live import Live, ReplayRefusal
from ..steps.frames import Frame
from ..trace.events import Trace
from ..words import clean, text
from .step_pages import FONTS, drop_legend, extent, join_pages

PAPER = 794.0, 1123.0  # A4, at 96 pixels an inch
EDGE, LINE = 56.0, 22.0
MOST = 16  # numbers to be filled in
FACTORS = (0.5, 2.0, 1.5, 3.0, 0.25, -1.0, -2.0, -0.5)  # of a leaf's number, for another sheet
TRIES = 50


class Blank(NamedTuple):
    """A number that is left out: the part of the picture that has it, what it is, and the number."""

    part: str
    about: str
    answer: str


class Worksheet:
    """A picture whose gradients are to be filled in; LayoutError where there is no picture, ValueError where
    it has no gradients."""

    def __init__(self, picture: Picture, frames: tuple[Frame, ...], source: str, lang: str | None) -> None:
        self.source, self.lang = source, lang
        self._still = StillPictures(picture, frames, "light")
        self._prefix = picture.prefix
        names = {
            f"{station.id}-c{j}-grad": card.name or ""
            for station in picture.graph.stations
            for j, card in enumerate(station.cards)
        }
        order = {id: k for k, frame in enumerate(frames) for id in frame.marks}
        found = sorted(self._blanks(names), key=lambda blank: order.get(blank.part, len(order)))
        if not found:
            raise ValueError(text("worksheet_empty", lang))
        self.blanks = found[:MOST]

    def _blanks(self, names: Mapping[str, str]) -> Iterator[Blank]:
        tree = self._still.at(self._still.count)
        for part in tree.iter():
            id = part.get("id", "").removeprefix(self._prefix)
            answer = " ".join(t.text or "" for t in part_texts(part))
            if "pill" in part.get("class", "").split() and id and answer:
                about = part.findtext(f"{{{SVG}}}title") or ""
                yield Blank(id, clean(about.rpartition(": ")[0]), answer)
            elif id in names and answer and answer != "None":
                yield Blank(id, f"{names[id]}.grad", answer)

    def picture(self, key: bool) -> ElementTree.Element:
        """The picture with numbered blanks, or with the numbers."""
        tree = self._still.at(self._still.count)
        for part in tree.iter():
            part.set("class", " ".join(name for name in part.get("class", "").split() if name != "active"))
        drop_legend(tree)
        numbers = {blank.part: f"({i})" for i, blank in enumerate(self.blanks, 1)}
        for part in () if key else tree.iter():
            if number := numbers.get(part.get("id", "").removeprefix(self._prefix)):
                first, *others = part_texts(part)
                first.text = number
                for other in others:
                    other.text = ""
        for parent in () if key else list(tree.iter()):
            for tooltip in parent.findall(f"{{{SVG}}}title"):
                parent.remove(tooltip)
        return tree

    def pages(self) -> tuple[str, str]:
        """The sheet and its key, as SVG of the size of paper."""
        return self._page(False), self._page(True)

    def _page(self, key: bool) -> str:
        tree = self.picture(key)
        code = self.source.strip("\n").split("\n")
        title = text("worksheet_key" if key else "worksheet_title", self.lang)
        told = [line_of(title, EDGE + 10, 24, "said")]
        top = EDGE + 44
        told += [line_of(line, top + i * 19, 14, "code") for i, line in enumerate(code)]
        top += len(code) * 19 + 14
        below = PAPER[1] - EDGE - (len(self.blanks) + 1) * LINE
        x, y, width, height = extent(tree)
        scale = min((PAPER[0] - 2 * EDGE) / width, (below - top) / height, 1.3)
        for name, value in (("x", EDGE), ("y", top), ("width", width * scale), ("height", height * scale)):
            tree.set(name, num(value))
        tree.set("viewBox", " ".join(map(num, (x, y, width, height))))
        start = min(below, top + height * scale + 2 * LINE)
        for i, blank in enumerate(self.blanks):
            answer = blank.answer if key else "_" * 16
            told.append(line_of(f"({i + 1})  {blank.about}:  {answer}", start + (i + 1) * LINE, 15, "said"))
        picture = ElementTree.tostring(tree, encoding="unicode")
        return (
            f'<svg xmlns="{SVG}" width="{num(PAPER[0])}" height="{num(PAPER[1])}"><style>{FONTS}</style>'
            f'<rect width="100%" height="100%" fill="#fff"/>{picture}{"".join(told)}</svg>'
        )

    def save(self, path: Path) -> None:
        """Write the sheet and its key as the two pages of a .pdf, or as an .ipynb. ValueError for another
        ending, LayoutError where a .pdf needs the extra "export"."""
        kind = path.suffix.lower()
        if kind == ".ipynb":
            path.write_text(json.dumps(self.notebook(), ensure_ascii=False, indent=1) + "\n", "utf-8")
        elif kind == ".pdf":
            path.write_bytes(join_pages(self.pages(), self.lang))
        else:
            raise ValueError(f"cannot write a worksheet as {kind!r}: use .pdf or .ipynb")

    def notebook(self) -> dict[str, Any]:
        """The sheet as a notebook: code and picture, a cell for the answers, and the key, folded."""
        image = address(ElementTree.tostring(self.picture(key=False), encoding="unicode"))
        asked = "\n".join(f"{i}. {blank.about}" for i, blank in enumerate(self.blanks, 1))
        key = "\n".join(f"{i}. `{blank.answer}`" for i, blank in enumerate(self.blanks, 1))
        title, told = text("worksheet_title", self.lang), text("worksheet_key", self.lang)
        answers = "".join(f"    {i}: ...,\n" for i in range(1, len(self.blanks) + 1))
        cells = [
            markdown("sheet", f"# {title}\n\n```python\n{self.source.strip()}\n```"),
            markdown("picture", f'<img src="{image}" alt="{html.escape(title)}">\n\n{asked}'),
            {
                "cell_type": "code", "id": "answers", "metadata": {}, "execution_count": None, "outputs": [],
                "source": f"answers = {{\n{answers}}}",
            },
            markdown("key", f"<details>\n<summary>{told}</summary>\n\n{key}\n\n</details>"),
        ]  # fmt: skip
        return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def part_texts(part: ElementTree.Element) -> list[ElementTree.Element]:
    """The texts of a part without its label."""
    return [one for one in part.iter(f"{{{SVG}}}text") if "key" not in one.get("class", "").split()]


def line_of(content: str, y: float, size: float, kind: str) -> str:
    """A line of text on the paper."""
    return (
        f'<text class="{kind}" x="{num(EDGE)}" y="{num(y)}" font-size="{num(size)}" fill="#1f2328">'
        f"{xml_with_spaces(content)}</text>"
    )


def markdown(id: str, source: str) -> dict[str, Any]:
    """A cell of text."""
    return {"cell_type": "markdown", "id": id, "metadata": {}, "source": source}


def other_numbers(again: Live, chance: random.Random) -> dict[str, float]:
    """Other numbers for the leaves whose numbers are in the source, as easy to compute with."""
    return {
        name: round(handle.value * chance.choice(FACTORS), 4) if handle.value else float(chance.randint(1, 3))
        for name, handle in again.handles.items()
        if again.written(handle) is not None
    }


def with_numbers(again: Live, numbers: Mapping[str, float]) -> str:
    """The source of a cell with these numbers."""
    lines = again.trace.source.split("\n")
    changes = []
    for name, value in numbers.items():
        row, before, after = again.written(again.handles[name]) or (0, "", "")
        changes.append((row - 1, len(before), len(lines[row - 1]) - len(after), f"{value:g}"))
    for row, start, end, number in sorted(changes, reverse=True):
        number = f"{number}.0" if number.lstrip("-").isdigit() else number
        lines[row] = lines[row][:start] + number + lines[row][end:]
    return "\n".join(lines)


def another_cell(again: Live, seed: int) -> tuple[dict[str, float], str]:
    """Other numbers for a cell, always the same for a seed, and its source with them. ValueError where no
    numbers were found with which the cell does the same and all gradients are finite."""
    chance = random.Random(seed)
    for _ in range(TRIES):
        numbers = other_numbers(again, chance)
        try:
            trace = again.at(numbers)
        except ReplayRefusal:
            continue
        if numbers and is_usable(last_gradients(trace)):
            return numbers, with_numbers(again, numbers)
    raise ValueError(text("worksheet_no_numbers", again.lang))


def last_gradients(trace: Trace) -> Iterator[float]:
    """The numbers that `.grad` has at the end."""
    for event in trace.events[-1:]:
        for _, state in getattr(event, "rows", ()):
            if state.grad is not None:
                yield from (float(item) for item in state.grad.items)


def is_usable(numbers: Iterable[float]) -> bool:
    """Whether gradients can be asked for: all are finite, and not all of them 0."""
    found = list(numbers)
    return all(map(math.isfinite, found)) and any(found)
