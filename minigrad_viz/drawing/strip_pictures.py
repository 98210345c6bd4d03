"""The picture of a model: its strip of cards, in windows of every width.

In a wide window the cards are beside each other, in a narrow one each is a row.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

from ..model.strip import Strip
from .picture import Picture
from .strip import BROAD, NARROW, NORMAL, SLIM, StripDrawing, decades
from .strip_rows import RowsDrawing
from .strip_words import table_lines
from .style import area, num, text_label


class StripPicture(Picture):
    """The picture of a strip, `across` pixels wide. `scale` are the decades of its gradients, where several
    strips share one; `usual` is the picture of the same view without a strip, which its outline ends with;
    `subjects` says what that has between."""

    def __init__(
        self, strip: Strip, usual: Picture, *, across: float = NORMAL, scale: tuple[int, int] | None = None,
        subjects: Callable[[], list[str]] = list,
    ) -> None:  # fmt: skip
        super().__init__(
            strip.graph, values=usual.look.values, theme=usual.theme, lang=usual.lang, limit=usual.limit,
            engine=usual.engine, deadline=usual.deadline,
        )  # fmt: skip
        self.strip, self.usual, self.across, self.subjects = strip, usual, across, subjects
        self.scale = scale or decades(strip)
        self.details: tuple[tuple[str, Picture], ...] = ()

    def forms(self) -> list[StripPicture]:
        """The same for windows of other widths."""
        return [
            StripPicture(self.strip, self.usual, across=across, scale=self.scale, subjects=self.subjects)
            for across in (BROAD, NARROW, SLIM)
        ]

    def texts(self) -> dict[str, str]:
        """By id what other numbers would change, in the forms for all windows."""
        found: dict[str, str] = {}
        for form in (self, *self.forms()):
            form.svg()
            found |= form._texts
        return found

    def with_details(self, details: Sequence[tuple[str, Picture]]) -> StripPicture:
        """The same picture with what is inside of some cards below the strip, each under its title."""
        other = StripPicture(
            self.strip, self.usual, across=self.across, scale=self.scale, subjects=self.subjects
        )
        other.details = tuple(details)
        return other

    def with_numbers_of(self, strip: Strip) -> StripPicture:
        """The same picture of a strip that has other numbers."""
        return StripPicture(strip, self.usual, across=self.across, scale=self.scale)

    def outline(self) -> str:
        """The strip as a table, the pictures of the subject, then the picture in words."""
        subjects = self.subjects()
        blank = [""] if subjects else []
        table = table_lines(self.strip, self.lang)
        return "\n".join([*table, *blank, *subjects, "", self.usual.outline()])

    def stood(self) -> dict[str, list[str]]:
        """Nothing: a strip shows numbers as they are when they are known."""
        return {}

    def counts(self) -> dict[str, list[str]]:
        """Nothing: a strip has no slots."""
        return {}

    def _draw(self) -> None:
        cards = "".join(f"{card.id}{card.name}{card.kind}" for card in self.strip.cards)
        key = f"{cards}{self.across}{[u.title for u in self.strip.graph.updates]}"
        self.prefix = f"g{hashlib.sha256(key.encode()).hexdigest()[:6]}-"
        drawing = StripDrawing if self.across >= NORMAL else RowsDrawing
        strip = drawing(self, self.strip, self.across, self.scale)
        self._svg, self._texts = strip.svg(), strip.texts
        if self.details:
            self._svg = with_parts_below(self._svg, self.details)


HEAD = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"[^>]*?viewBox="[^"]*"[^>]*>', re.S)
PAPER = re.compile(r'<rect class="paper"[^>]*/>')
TITLE, LEFT, BETWEEN = 30.0, 16.0, 12.0  # pixels of a title, at the left, and between pictures


def with_parts_below(svg: str, parts: Sequence[tuple[str, Picture]]) -> str:
    """A picture with others below it, one below the other, each under its title."""
    found = HEAD.match(svg)
    assert found is not None
    width, y = float(found[1]), float(found[2])
    drawn = []
    for title, picture in parts:
        inner = picture.svg() or ""
        size = HEAD.match(inner)
        if size is None:
            continue
        drawn.append(text_label(title, LEFT, y + TITLE - 10, "name"))
        drawn.append(f'<svg x="{num(LEFT)}" y="{num(y + TITLE)}"{inner.removeprefix("<svg")}')
        width, y = max(width, LEFT + float(size[1])), y + TITLE + float(size[2]) + BETWEEN
    head = re.sub(r'(?<= )width="[^"]*"', f'width="{num(width)}"', found[0], count=1)
    head = re.sub(r'height="[^"]*"', f'height="{num(y)}"', head, count=1)
    head = re.sub(r'viewBox="[^"]*"', f'viewBox="0 0 {num(width)} {num(y)}"', head)
    paper = f'<rect class="paper" {area(0, 0, width, y)} rx="8"/>'
    body = PAPER.sub(paper, svg[found.end() :], count=1)
    return head + body.removesuffix("</svg>") + "".join(drawn) + "</svg>"
