"""All that the picture says in words stands in the outline, too."""

from __future__ import annotations

import re

import pytest
from cells import CELLS, traced
from pictures import SVG, draw, parse
from signed import SIGNED
from sketches import GRAPHS
from staged import build

from minigrad_viz.drawing.look import Look
from minigrad_viz.drawing.outline import outline
from minigrad_viz.words import CATALOGUES

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")
# What the outline says in other words: a version, an empty edge, how many were left out, added up or came;
# and that a result has no gradient by telling none.
SIGNS = re.compile(r"None|[+/…]|\d+(×\d+)+|∅\d*|\+\d+|×\d+|v\d+(→\d+)?|v\d+,?|→|=|!!?|[A-Z]")


def said(svg):
    """The texts of a picture; not those of the legend, the frames, the labels of rows
    or the shapes at arrows, which explain it."""
    root, _ = parse(svg)
    above = {child: parent for parent in root.iter() for child in parent}
    for element in root.iter(SVG + "text"):
        around, classes = element, set((element.get("class") or "").split())
        while around in above:
            around = above[around]
            classes |= set((around.get("class") or "").split())
        if not classes & {"legend", "key", "note", "was", "frame", "hooks", "shape", "count"}:
            yield "".join(element.itertext()).replace("\u00a0", " ")


def words_of(content):
    """The words and numbers of a text, without the signs around them."""
    return [word for word in re.split(r"[\s()\[\],;:]+", content) if word]


def missing(graph, lang, **look):
    """What a picture of `graph` says and its outline does not."""
    told = outline(graph, lang, limit=2000, look=Look(lang=lang, **look))
    whole = set(words_of(told))
    numbers = [float(word) for word in whole if NUMBER.fullmatch(word)]
    for content in said(draw(graph, lang=lang, **look)[0]):
        for word in words_of(content):
            cut = word.removesuffix("…")
            if word in whole or SIGNS.fullmatch(word) or cut in told:
                continue
            if NUMBER.fullmatch(word) and any(rounded(float(word), number) for number in numbers):
                continue
            yield content, word


def rounded(shown, number):
    """Whether a narrow place shows a number with fewer digits than the outline has room for."""
    return abs(shown - number) <= 5e-3 * max(abs(number), 1e-12)


FULL = ({}, {"detail": "full"}, {"saved": "all"}, {"values": False}, {"saved": "none"})


# Names of thousands of columns are cut short at different places.
DRAWN = {name: make for name, make in {**GRAPHS, **SIGNED}.items() if name != "hostile"}


@pytest.mark.sample(24)
@pytest.mark.parametrize("look", FULL, ids=str)
@pytest.mark.parametrize("lang", CATALOGUES)
@pytest.mark.parametrize("name", DRAWN)
def test_every_text_of_the_picture_is_in_the_outline(name, lang, look):
    assert list(missing(DRAWN[name](), lang, **look)) == []


@pytest.mark.parametrize("number", [4, 6, 9, 12, 13, 16, 18, 19])
def test_and_those_of_the_documents(number):
    graph = build(traced(CELLS[number]))
    for look in FULL:
        assert list(missing(graph, "en", **look)) == []


def test_the_test_would_notice():
    graph = SIGNED["in_place"]()
    words = {word for content in said(draw(graph, lang="en")[0]) for word in words_of(content)}
    assert {"PowBackward0", "stopped", "changed", "0.008", "exponent", "root", "self"} <= words
