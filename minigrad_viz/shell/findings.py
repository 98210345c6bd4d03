"""What went wrong in a recorded cell, and why, as text and for a page."""

from __future__ import annotations

import traceback

from ..drawing.still import paragraph
from ..explaining import explanations_of
from ..model.scene import Scenes
from ..trace.explained import Explanation
from ..words import clean, text
from . import panel


class Findings:
    """The explanations of a cell. A fault of ours in finding them must not take away the rest of what is
    shown: its traceback is the `problem`, and the error of the cell is shown without an explanation."""

    def __init__(self, scenes: Scenes, lang: str) -> None:
        self.error, self.lang = scenes.trace.error, lang
        self.explained: tuple[Explanation, ...] = ()
        self.problem = self._unexplained = ""
        try:
            self.explained = explanations_of(scenes, lang)
        except Exception as problem:
            self.explained = (Explanation("", self.error),) if self.error else ()
            self.problem = "".join(traceback.format_exception(problem))
            said = " ".join(f"{type(problem).__name__}: {problem}".split())
            self._unexplained = clean(text("unexplained", lang, problem=said))

    def text(self) -> str:
        """What went wrong, why, and what to do; "" if all is well."""
        told = panel.to_text(self.explained, self.error, self.lang)
        return "\n\n".join(filter(None, (told, self._unexplained)))

    def html(self, message: bool = True) -> str:
        """The same for a page; without the `message` where the traceback stands above."""
        told = panel.to_html(self.explained, self.error, self.lang, message=message)
        return told + (paragraph(self._unexplained) if self._unexplained else "")
