"""One step as a page of its own: the picture as it is then, what happens, and the arithmetic.

Films and slides are made of these pages. No word on a page is smaller than `SMALLEST` of its `font`: a
picture that would have smaller ones is shown in part, and the part is the one that the step is about.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from ..drawing.export import ZOOM, draw_pdf, draw_png, what_export_needs
from ..drawing.graphviz_wasm import LayoutUnavailable
from ..drawing.picture import Picture
from ..drawing.style import num, xml_with_spaces
from ..player.still import SVG, StillPictures, svg_at
from ..steps.frames import IN_WORDS, Frame
from ..steps.story import UPDATE
from ..words import clean, text
from ..words.display_text import text_pixels
from .tikz import tikz_picture

Rect = tuple[float, float, float, float]  # left, top, width, height
Piece = tuple[str, str]  # a tone, see `arithmetic.Line`, and a text

SMALLEST = 0.75  # of the page's font: its smallest words
WORDS = 11.0  # pixels: the smallest words of a picture
LARGEST = 2.4  # times: no picture is larger than this
LINES = 7  # below a picture
AROUND = 60.0  # pixels around what is active: the arrows that lead there, with their gradients
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
FORMULA, WIDER = 0.8, 1.15  # of the font: formulas, whose letters are so much wider
FONTS = (  # few fonts have the marks of formulas in their places: x̄
    '.said{font-family:Roboto,sans-serif}.code{font-family:"DejaVu Sans Mono",monospace}'
    '.formula{font-family:"DejaVu Sans",Roboto,sans-serif}'
)
PLACE = re.compile(r"translate\((-?[\d.]+)[ ,]+(-?[\d.]+)\)")


class PageSize(NamedTuple):
    """Width and height of a page, and the size of its sentence, in pixels."""

    width: int
    height: int
    font: float


SIZES = {"slide": PageSize(1280, 720, 24.0), "chat": PageSize(640, 480, 15.0)}


class StepPages:
    """The steps of a picture as pages of one size and theme ("light" or "dark"). ValueError for another size
    or theme, LayoutError where there is no picture."""

    def __init__(
        self,
        picture: Picture,
        frames: Sequence[Frame],
        source: str,
        lang: str | None = None,
        size: str = "slide",
        theme: str = "light",
    ) -> None:
        for name, value, known in (("size", size, SIZES), ("theme", theme, ("light", "dark"))):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        self.size, self.lang = SIZES[size], lang
        self.frames, self._lines = frames, source.splitlines()
        self._still = StillPictures(picture, frames, theme)
        self._colors = self._still.colors
        self._margin = self.size.font * 1.5
        below = max((len(self._below(frame)) for frame in frames), default=0)
        self._text_top = self.size.height - self._margin * 0.6 - below * self._step

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def background(self) -> str:
        """The color behind all pages, as CSS writes it."""
        return self._colors["bg"]

    @property
    def _step(self) -> float:
        """From one line of text to the next."""
        return self.size.font * 1.4

    def flows(self, step: int) -> bool:
        """Whether gradients flow along arrows at a step."""
        return self._still.flows(step)

    def svg(self, step: int, way: float = 1.0) -> str:
        """The page of a step, counted from 1, with gradients on their `way`: see `StillPictures.at`."""
        tree = self._still.at(step, way)
        area, frame = self._area(step), self.frames[step - 1]
        width, height, _ = self.size
        parts = [
            f"<style>{FONTS}</style>",
            f'<rect width="{width}" height="{height}" fill="{self.background}"/>',
            *self._heading(step, frame),
            self._placed(tree, area, frame.phase == UPDATE),
            *self._text(self._below(frame)),
        ]
        return (
            f'<svg xmlns="{SVG}" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
            f"{''.join(parts)}</svg>"
        )

    def _area(self, step: int) -> Rect | None:
        """Where a step is active, or the last one before that was; an update is active everywhere."""
        before = (i for i in range(step - 1, 0, -1) if self.frames[i - 1].phase != UPDATE)
        areas = (active_area(self._still.at(i)) for i in (step, *before))
        return next(filter(None, areas), None)

    def tikz(self, step: int) -> str:
        """The step as TikZ: its picture, and what it says. ValueError if there is no such step."""
        tree = self._still.at(step)
        drop_legend(tree)
        return tikz_picture(tree, self.frames[step - 1])

    def _heading(self, step: int, frame: Frame) -> Iterator[str]:
        """Where the step is, and the line of code that it belongs to."""
        left, base = self._margin, self._margin
        label = clean(frame.label) or text("slide_step", self.lang, step=step, steps=len(self))
        yield self._words([("", label)], left, base, SMALLEST, "mute")
        if frame.span is not None and frame.span[0] <= len(self._lines):
            code = clean(self._lines[frame.span[0] - 1].strip())
            beside = left + text_pixels(label, self.size.font * SMALLEST) + self._margin
            room = int((self.size.width - beside - left * 3) / (self.size.font * SMALLEST * 0.602))
            shown = code if len(code) <= room else code[: room - 1] + "…"
            yield self._words([("", shown)], beside, base, SMALLEST, "ink", "code")
        count = f"{step} / {len(self)}"
        right = self.size.width - left - text_pixels(count, self.size.font * SMALLEST)
        yield self._words([("", count)], right, base, SMALLEST, "mute")

    def _below(self, frame: Frame) -> list[tuple[float, list[Piece]]]:
        """The lines below a picture, each with its size: the sentence of a step, and its arithmetic."""
        room = self.size.width - 2 * self._margin
        told: list[tuple[float, list[Piece]]] = [(1.0, [("", clean(frame.text))])]
        told += [(SMALLEST, list(line.parts)) for line in frame.lines if line.kind == IN_WORDS]
        told += [(FORMULA, list(line.parts)) for line in frame.lines if line.formula is not None]
        lines = []
        for share, parts in told:
            size = self.size.font * share * (WIDER if share == FORMULA else 1)
            lines += [(share, line) for line in wrap_pieces(parts, room, size)]
        if len(lines) > LINES:
            share, last = lines[LINES - 1]
            lines[LINES - 1 :] = [(share, [*last, ("", " …")])]
        return lines

    def _text(self, lines: Iterable[tuple[float, list[Piece]]]) -> Iterator[str]:
        for i, (share, line) in enumerate(lines):
            ink, kind = ("mute" if share == SMALLEST else "ink"), ("formula" if share == FORMULA else "said")
            yield self._words(line, self._margin, self._text_top + (i + 0.75) * self._step, share, ink, kind)

    def _words(
        self, pieces: Iterable[Piece], x: float, y: float, share: float, ink: str, kind: str = "said"
    ) -> str:
        """A line of text of a class at a place; a number that flowed in and a result have their colors."""
        tones = {"in": f' fill="{self._colors["grad"]}"', "out": ' font-weight="700"'}
        told = "".join(
            f"<tspan{tones.get(tone, '')}>{xml_with_spaces(content)}</tspan>" for tone, content in pieces
        )
        size = num(self.size.font * share)
        return (
            f'<text class="{kind}" x="{num(x)}" y="{num(y)}" font-size="{size}" fill="{self._colors[ink]}">'
            f"{told}</text>"
        )

    def _placed(self, tree: ElementTree.Element, area: Rect | None, end: bool) -> str:
        """The picture between heading and text: all of it, or the area that the step is about; of a large
        area its beginning, or its `end`."""
        top = self._margin * 1.5
        drop_legend(tree)
        room = (self.size.width - 2 * self._margin, self._text_top - top - self._margin * 0.3)
        whole = x, y, width, height = extent(tree)
        scale = min(room[0] / width, room[1] / height, LARGEST * self.size.font / 24)
        least = self.size.font * SMALLEST / WORDS
        if scale < least:
            x, y, width, height = visible_part(area, (room[0] / least, room[1] / least), whole, end)
            scale = min(room[0] / width, room[1] / height)
        left = (self.size.width - width * scale) / 2
        for name, value in zip("xy", (left, top + (room[1] - height * scale) / 2), strict=True):
            tree.set(name, num(value))
        tree.set("width", num(width * scale))
        tree.set("height", num(height * scale))
        tree.set("viewBox", f"{num(x)} {num(y)} {num(width)} {num(height)}")
        return ElementTree.tostring(tree, encoding="unicode")


def save_still(path: Path, picture: Picture, frames: Sequence[Frame], step: int) -> None:
    """Write the picture as it is at a step as .svg, .png, .pdf or .tex. ValueError for another ending or if
    there is no such step; LayoutError where there is no picture, or without the extra "export"."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png", ".pdf", ".tex"):
        raise ValueError(f"step is for .svg, .png, .pdf and .tex files, not {path.suffix!r}")
    if kind == ".tex":
        tree = StillPictures(picture, frames).at(step)
        path.write_text(tikz_picture(tree, frames[step - 1]), encoding="utf-8")
        return
    svg = svg_at(picture, frames, step)
    try:
        content = svg.encode() if kind == ".svg" else draw_png(svg, ZOOM) if kind == ".png" else draw_pdf(svg)
    except ImportError as error:
        raise LayoutUnavailable(what_export_needs(error, picture.lang)) from None
    path.write_bytes(content)


def join_pages(pages: Iterable[str], lang: str | None) -> bytes:
    """Some SVG pages as one PDF. LayoutError without the extra "export"."""
    try:
        from pypdf import PdfWriter

        writer = PdfWriter()
        for page in pages:
            writer.append(io.BytesIO(draw_pdf(page, lang)))
    except ImportError as error:
        raise LayoutUnavailable(what_export_needs(error, lang)) from None
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def drop_legend(tree: ElementTree.Element) -> None:
    """Remove the legend at the bottom, with the room for it."""
    for legend in tree.findall(f"{{{SVG}}}g[@class='legend']"):
        tops = [float(PLACE.match(item.get("transform", ""))[2]) for item in legend]  # type: ignore[index]
        tree.remove(legend)
        tree.set("height", num(min(tops) - WORDS - extent(tree)[1]))


def extent(tree: ElementTree.Element) -> Rect:
    """Where a picture begins, in its own pixels, and how large it is."""
    left, top, *_ = map(float, tree.get("viewBox", "0 0").split())
    return left, top, float(tree.get("width", "0")), float(tree.get("height", "0"))


def wrap_pieces(parts: Iterable[Piece], width: float, size: float) -> Iterator[list[Piece]]:
    """Pieces of text in lines of at most `width` pixels, broken between words."""
    line: list[Piece] = []
    used = 0.0
    for tone, content in parts:
        for word in re.findall(r"\s*\S+\s*$|\s*\S+|\s+", content):
            needed = text_pixels(word, size)
            if line and used + needed > width:
                yield line
                line, used, word = [], 0.0, word.lstrip()
                needed = text_pixels(word, size)
            line.append((tone, word))
            used += needed
    if line:
        yield line


def visible_part(area: Rect | None, room: tuple[float, float], whole: Rect, end: bool = False) -> Rect:
    """The part of a picture that fills the room: as near to the beginning of the picture as the active area
    allows, of which it has all, with something around it. Of an area that is larger than the room it has the
    beginning, and of its height the `end`, where updates stand."""
    if area is None:
        area = (*whole[:2], 0.0, 0.0)
    found = []
    axes = zip(area[:2], area[2:], room, whole[:2], whole[2:], strict=True)
    for i, (start, length, fits, origin, all_of_it) in enumerate(axes):
        shown = min(fits, all_of_it)
        around = max(0.0, min(AROUND, (shown - length) / 2))
        first, last = start + length + around - shown, start - around  # where the part may begin
        begin = max(first, last) if i and end and length > shown else min(max(origin, first), last)
        found.append((max(origin, min(begin, origin + all_of_it - shown)), shown))
    (x, width), (y, height) = found
    return x, y, width, height


def active_area(tree: ElementTree.Element) -> Rect | None:
    """The rectangle around what is active in a picture; None if nothing is."""
    points = list(active_points(tree, (0.0, 0.0), False))
    if not points:
        return None
    (left, *_, right), (top, *_, bottom) = (sorted([*axis, *axis]) for axis in zip(*points, strict=True))
    return left, top, right - left, bottom - top


def active_points(
    element: ElementTree.Element, origin: tuple[float, float], active: bool
) -> Iterator[tuple[float, float]]:
    """The places of what is drawn inside active parts."""
    if place := PLACE.match(element.get("transform", "")):
        origin = origin[0] + float(place[1]), origin[1] + float(place[2])
    active = active or "active" in element.get("class", "").split()
    if active:
        yield from ((origin[0] + x, origin[1] + y) for x, y in drawn_points(element))
    for child in element:
        yield from active_points(child, origin, active)


def drawn_points(element: ElementTree.Element) -> Iterator[tuple[float, float]]:
    """The corners of a rectangle, or where a path begins; of a text, where it is."""
    kind = element.tag.rpartition("}")[2]
    if kind in ("rect", "text"):
        x, y = float(element.get("x", "0")), float(element.get("y", "0"))
        yield x, y
        yield x + float(element.get("width", "0")), y + float(element.get("height", "0"))
    elif kind == "path":
        first = NUMBER.findall(element.get("d", ""))[:2]
        if len(first) == 2:
            yield float(first[0]), float(first[1])
