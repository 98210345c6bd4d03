"""The steps of a report as text."""

from __future__ import annotations

from ..steps.timeline import to_markdown, to_text
from ..steps.told import Frame


class Steps:
    """Steps as text, numbered, with their arithmetic; in a notebook the arithmetic is LaTeX."""

    def __init__(self, frames: tuple[Frame, ...], lang: str | None = None) -> None:
        self.frames = frames
        self.lang = lang

    def __repr__(self) -> str:
        return to_text(self.frames, self.lang)

    def _repr_markdown_(self) -> str:
        return to_markdown(self.frames, self.lang)
