"""What all parts of a picture are drawn with: words, ids and marks; what occurs, and what is taken."""

from __future__ import annotations

from collections.abc import Mapping

from .look import CHIP
from .marks import Tag, told
from .plane import Axes, Space
from .style import area, num, xml

TAGGED = {"error": "guilty", "cause": "cause"}  # the legend's word for what a mark says


class Ink:
    """In which language, under which ids and how turned a picture is drawn; it keeps note of the places that
    are taken and of what occurs."""

    def __init__(self, lang: str | None, prefix: str, scales: Mapping[str, float], axes: Axes) -> None:
        self.lang, self.prefix, self.scales, self.axes = lang, prefix, scales, axes
        self.space = Space()
        self.kinds: set[str] = set()  # what occurs, for the legend

    def kind(self, plain: str, tag: Tag | None) -> str:
        """The class of a part, with that of its mark."""
        if tag is None:
            return plain
        self.kinds.add(TAGGED[tag.kind])
        return f"{plain} {tag.kind}"

    def marked(self, tag: Tag | None) -> list[str]:
        """What a tooltip says of a mark."""
        return [] if tag is None else [told(tag, self.lang)]

    def tag(self, tag: Tag | None, right: float, top: float) -> str:
        """The sign with the label of a mark, its right side at `right`."""
        if tag is None:
            return ""
        left = right - tag.width
        return (
            f'<g class="tag {tag.kind}"><title>{xml(told(tag, self.lang))}</title>'
            f'<rect {area(left, top, tag.width, CHIP)} rx="4"/>'
            f'<text x="{num(left + tag.width / 2)}" y="{num(top + 13)}">{xml(tag.label)}</text></g>'
        )
