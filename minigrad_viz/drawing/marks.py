"""What an explanation points at, by the part of the picture that shows it; and what all parts of a picture
are drawn with: words, ids and marks; what occurs, and what is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..trace.graph import GUILTY, Graph, Mark, Station
from ..words import clean, sans, shorten, text
from .look import CHIP
from .plane import Axes, Space
from .style import area, label, xml

LABEL = 26  # columns of a label in the picture; its tooltip has it in full
BARE = {"error": "!!", "cause": "!"}


class Tag(NamedTuple):
    """What is said at a marked part: `kind` is its class, "error" for what failed or "cause" for what led to
    it; `label` the short text that is written there (a mere `!!` or `!` if nothing is to be said) and `whole`
    all of it ("" then)."""

    kind: str
    label: str
    whole: str

    @property
    def width(self) -> float:
        """Pixels of the sign with the label."""
        return sans(self.label, 13) + 10


Tags = dict[str, Tag]  # by the part's id without prefix


def tags_of(graph: Graph) -> Tags:
    """The tags of the parts that are marked. A part that cannot show its mark leaves it to a larger one: a
    chip to its deck, a deck to its card, a gradient arrow to the forward one. Of several marks at one part
    the guilty ones come first, and the first label is written there."""
    found: dict[str, list[Mark]] = {}
    for mark in graph.marks:
        for part in _shown(mark.part, graph):
            found.setdefault(part, []).append(mark)
    return {part: _tag(marks) for part, marks in found.items()}


def _tag(marks: list[Mark]) -> Tag:
    marks = sorted(marks, key=lambda mark: mark.kind != GUILTY)
    labels = [label for mark in marks if (label := clean(mark.label))]
    kind = "error" if marks[0].kind == GUILTY else "cause"
    label = shorten(labels[0], LABEL) if labels else BARE[kind]
    return Tag(kind, label, "\n".join(dict.fromkeys(labels)))


def _shown(part: str, graph: Graph) -> Iterator[str]:
    """The part itself, or the one that stands for it; nothing if its station or route is not there."""
    base, _, rest = part.partition("-")
    for route in graph.routes:
        if route.id == base:
            yield f"{base}-g" if rest and route.tracked else base
            return
    for station in graph.stations:
        if station.id == base:
            yield f"{base}-{_standing(rest, station)}"
            return


def _standing(part: str, station: Station) -> str:
    """Which part of a station shows a mark at `part`."""
    kind, number = part[:1], part[1:].partition("-")[0]
    there = {"c": len(station.cards), "k": len(station.deck.saved) if station.deck else 0}.get(kind, 0)
    if number.isdecimal() and int(number) < there:
        return f"{kind}{int(number)}"
    return "d" if kind != "c" and station.deck else "c0"


def merged(tag: Tag | None, others: list[Tag]) -> Tag | None:
    """The tag of a part that also shows those of parts for which there is no room."""
    tags = sorted([each for each in (tag, *others) if each], key=lambda each: each.kind != "error")
    if not tags:
        return None
    label = next((each.label for each in tags if each.whole), tags[0].label)
    wholes = dict.fromkeys(each.whole for each in tags if each.whole)
    return Tag(tags[0].kind, label, "\n".join(wholes))


def told(tag: Tag, lang: str | None) -> str:
    """A tag in words: what is written there, or what its kind means."""
    if tag.whole:
        return tag.whole
    return text("legend_guilty" if tag.kind == "error" else "legend_cause", lang)


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
            f"{label(tag.label, left + tag.width / 2, top + 13)}</g>"
        )
