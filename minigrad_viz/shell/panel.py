"""What stands under a picture when something went wrong, as text and for a page: the error word for word,
then why, then fix.

It needs no script, and reads well where a page takes its style away.
"""

from __future__ import annotations

import html
import re
import traceback
from collections.abc import Sequence
from pathlib import Path

from ..drawing import matrices
from ..drawing.still import paragraph
from ..drawing.style import element
from ..explaining import explanations_of
from ..faults import pass_on
from ..model.scene import Scenes
from ..trace.explained import Explanation
from ..words import clean, shorten, text

CODE = re.compile("`([^`]+)`")
CAUSE = 100  # columns of the line that led to an error
NOTES = 3  # notes that are shown; a loop may give many of them

# The text has the color of the page; the background is translucent, so it suits light and dark pages.
STYLE = element("panel", Path(__file__).parent)


def worth_showing(explained: Sequence[Explanation]) -> list[Explanation]:
    """Of all that is explained the last error, and the notes (which have no error), each once."""
    errors = [each for each in explained if each.error][-1:]
    notes = {(each.why, each.fix): each for each in explained if not each.error}
    return errors + list(notes.values())[:NOTES]


def lines_of(shown: Explanation, ended: str | None, lang: str | None) -> list[tuple[str, str, str]]:
    """The kind, the label and the content of each line. `ended` is the error that ended the cell: another one
    was caught."""
    lines = []
    if shown.error:
        label = "error" if shown.error == ended else "error_caught"
        lines.append(("error", text(label, lang), cleaned(shown.error)))
    why = text("why" if shown.error else "note", lang)
    lines.append(("why", why, cleaned(shown.why)))
    if shown.cause is not None and not shown.cause.origin:
        at = text("cause_at", lang, line=shown.cause.line)
        lines.append(("cause", at, shorten(clean(shown.cause.flat), CAUSE)))
    lines.append(("fix", text("fix", lang), cleaned(shown.fix)))
    return [line for line in lines if line[2]]


def cleaned(content: str) -> str:
    """Text that may be shown, with its line breaks."""
    return "\n".join(map(clean, content.split("\n")))


def to_text(explained: Sequence[Explanation], ended: str | None = None, lang: str | None = None) -> str:
    """The panel in words; "" if there is nothing to say."""
    told = (
        "\n".join(
            [f"{label}: {content}" for _, label, content in lines_of(shown, ended, lang)]
            + [matrices.to_text(group, lang) for group in shown.matrices]
        )
        for shown in worth_showing(explained)
    )
    return "\n\n".join(filter(None, told))


def with_code(content: str) -> str:
    """A sentence for a page; what stands between backticks is code."""
    return CODE.sub(r"<code>\1</code>", html.escape(content))


def to_html(
    explained: Sequence[Explanation],
    ended: str | None = None,
    lang: str | None = None,
    *,
    message: bool = True,
) -> str:
    """The panel for a page; "" if there is nothing to say. Without `message` the error that ended the cell is
    not repeated: its traceback stands above."""
    parts = []
    for shown in worth_showing(explained):
        lines = lines_of(shown, ended, lang)
        if not message and shown.error == ended:
            lines = [line for line in lines if line[0] != "error"]
        if not lines:
            continue
        about, classes = html.escape(lines[0][1]), "mge" if shown.error else "mge note"
        parts.append(f'<div class="{classes}" role="group" aria-label="{about}"><dl>')
        for kind, label, content in lines:
            monospace = ' class="e"' if kind in ("error", "cause") else ""
            said = html.escape(content) if monospace else with_code(content)
            parts.append(f"<dt>{html.escape(label)}</dt><dd{monospace}>{said}</dd>")
        parts.append(f"</dl>{matrices.to_html(shown.matrices, lang)}</div>")
    style = STYLE + (matrices.STYLE if any(shown.matrices for shown in explained) else "")
    return style + "".join(parts) if parts else ""


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
            pass_on(problem)
            self.explained = (Explanation("", self.error),) if self.error else ()
            self.problem = "".join(traceback.format_exception(problem))
            said = " ".join(f"{type(problem).__name__}: {problem}".split())
            self._unexplained = clean(text("unexplained", lang, problem=said))

    def text(self) -> str:
        """What went wrong, why, and what to do; "" if all is well."""
        told = to_text(self.explained, self.error, self.lang)
        return "\n\n".join(filter(None, (told, self._unexplained)))

    def html(self, message: bool = True) -> str:
        """The same for a page; without the `message` where the traceback stands above."""
        told = to_html(self.explained, self.error, self.lang, message=message)
        return told + (paragraph(self._unexplained) if self._unexplained else "")
