"""The picture of a model: its strip of cards, in windows of every width.

In a wide window the cards stand beside each other, in a narrow one each is a row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from ..model.strip import Strip
from .picture import Picture
from .strip import BROAD, NARROW, NORMAL, SLIM, StripDrawing, decades, table_lines
from .strip_rows import RowsDrawing


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
