"""What is shown of each station, what its parts share, and what an explanation points at.

Widths are estimated, because no font is available where the picture is laid out. A column of the monospace
stack is never wider than 0.602 em, and the estimate leaves room to spare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..trace.graph import GUILTY, Card, Graph, Mark, Station
from ..words import clean, language, shorten, text
from ..words.display_text import text_pixels
from .geometry import Axes, Space
from .style import area, text_label, xml

# ─── What is shown of each station, the measures that its parts share, and what they are called


DETAILS, SAVED = ("normal", "full"), ("some", "all", "none")

PAD, CHIP = 9, 17  # pixels around a text; the height of a chip and of a hook's sign
HEAD, LINE, MORE = 24, 21, 16  # the head of a card, one of its rows, each further line of a row
MONO, NAME, NODE, SMALL = (
    7.3,
    7.9,
    7.0,
    6.7,
)  # pixels a column: rows 12px, names 13px, nodes 11.5px, chips 11px
NARROWEST, WIDEST, CLOSE, CLOSEST = 84, 250, 216, 184  # a station; at most, and where there is little room


@dataclass(frozen=True, slots=True)
class Look:
    """What is shown of each station. `detail` is "normal" or "full"; `values` tells whether values and
    gradients are written; of `saved` values "some" are shown (as many as fit well), "all" (in full, with
    their versions and bytes) or "none". Texts are cut so that no station is wider than `widest`, unless its
    saved values are to be read in full. The tensors `sliders`, by id, have a row for one, and all numbers
    then have room for another beside them."""

    detail: str = "normal"
    values: bool = True
    saved: str = "some"
    lang: str | None = None
    widest: int = WIDEST
    sliders: frozenset[str] = frozenset()


def with_language(look: Look | None) -> Look:
    """A look whose language is decided: a picture has thousands of words, and to find out for each takes
    long."""
    look = look or Look()
    return look if look.lang else replace(look, lang=language())


def round_width(width: float) -> float:
    """Widths come in steps of 4, so that nearly equal ones are equal."""
    return -(-width // 4) * 4.0


ROLE_WORDS = {
    "leaf": "role_leaf",
    "parameter": "role_parameter",
    "constant": "role_constant",
    "result": "role_result",
    "root": "role_root",
}
CUT_WORDS = {
    "detach": "cut_detach",
    "data": "cut_data",
    "no_grad": "cut_no_grad",
    "inference": "cut_inference",
    "numpy": "cut_numpy",
    "item": "cut_item",
    "tensor": "cut_tensor",
    "integer": "cut_integer",
}


def whole_label(card: Card, lang: str | None) -> str:
    """What to say about a tensor made by a call that is drawn as a whole; "" for any other."""
    if card.compiled:
        return text("role_compiled", lang)
    return text("role_counted", lang, n=card.counted) if card.counted else ""


FOG_WORDS = {"no_grad": "fog_no_grad", "inference": "fog_inference"}


# ─── What an explanation points at, by the part of the picture that shows it


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
        return text_pixels(self.label, 13) + 10


Tags = dict[str, Tag]  # by the part's id without prefix


def tags_of(graph: Graph) -> Tags:
    """The tags of the parts that are marked. A part that cannot show its mark leaves it to a larger one: a
    chip to its deck, a deck to its card, a gradient arrow to the forward one. Of several marks at one part
    the guilty ones come first, and the first label is written there."""
    found: dict[str, list[Mark]] = {}
    for mark in graph.marks:
        for part in _visible_part(mark.part, graph):
            found.setdefault(part, []).append(mark)
    return {part: _tag(marks) for part, marks in found.items()}


def _tag(marks: list[Mark]) -> Tag:
    marks = sorted(marks, key=lambda mark: mark.kind != GUILTY)
    labels = [label for mark in marks if (label := clean(mark.label))]
    kind = "error" if marks[0].kind == GUILTY else "cause"
    label = shorten(labels[0], LABEL) if labels else BARE[kind]
    return Tag(kind, label, "\n".join(dict.fromkeys(labels)))


def _visible_part(part: str, graph: Graph) -> Iterator[str]:
    """The part itself, or the one that stands for it; nothing if its station or route is not there."""
    base, _, rest = part.partition("-")
    for route in graph.routes:
        if route.id == base:
            yield f"{base}-g" if rest and route.tracked else base
            return
    for station in graph.stations:
        if station.id == base:
            yield f"{base}-{_marked_part(rest, station)}"
            return


def _marked_part(part: str, station: Station) -> str:
    """Which part of a station shows a mark at `part`."""
    kind, number = part[:1], part[1:].partition("-")[0]
    there = {"c": len(station.cards), "k": len(station.deck.saved) if station.deck else 0}.get(kind, 0)
    if number.isdecimal() and int(number) < there:
        return f"{kind}{int(number)}"
    return "d" if kind != "c" and station.deck else "c0"


def merge_tags(tag: Tag | None, others: list[Tag]) -> Tag | None:
    """The tag of a part that also shows those of parts for which there is no room."""
    tags = sorted([each for each in (tag, *others) if each], key=lambda each: each.kind != "error")
    if not tags:
        return None
    label = next((each.label for each in tags if each.whole), tags[0].label)
    wholes = dict.fromkeys(each.whole for each in tags if each.whole)
    return Tag(tags[0].kind, label, "\n".join(wholes))


def tag_text(tag: Tag, lang: str | None) -> str:
    """A tag in words: what is written there, or what its kind means."""
    if tag.whole:
        return tag.whole
    return text("legend_guilty" if tag.kind == "error" else "legend_cause", lang)


def tag_sign(tag: Tag, lang: str | None, right: float, top: float) -> str:
    """The sign with the label of a mark, its right side at `right`."""
    left = right - tag.width
    return (
        f'<g class="tag {tag.kind}"><title>{xml(tag_text(tag, lang))}</title>'
        f'<rect {area(left, top, tag.width, CHIP)} rx="4"/>'
        f"{text_label(tag.label, left + tag.width / 2, top + 13)}</g>"
    )


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
        """What a tooltip says about a mark."""
        return [] if tag is None else [tag_text(tag, self.lang)]

    def tag(self, tag: Tag | None, right: float, top: float) -> str:
        """The sign with the label of a mark, its right side at `right`."""
        return "" if tag is None else tag_sign(tag, self.lang, right, top)
