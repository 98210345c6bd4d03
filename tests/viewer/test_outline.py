"""The outline: what it says of each kind of graph, that it is deterministic, and that length and hostile
names do it no harm."""

from __future__ import annotations

import re
import unicodedata

import pytest
from sketches import (
    GRAPHS,
    Sketch,
    chain,
    code_4,
    hostile,
    many_uses,
)

from minigrad_viz.drawing.outline import outline
from minigrad_viz.trace.graph import (
    ROOT,
    Graph,
)

# ----------------------------------------------------------------------------------------------- what it says


def test_a_sum_is_shown_only_where_it_is_one():
    """`.grad` may hold more than this backward call brought: nothing false is written."""
    s = Sketch()
    x = s.leaf("x", 5.0, 3.2)
    s.op("MulBackward0", "y", "x * x", 25.0, [(x, 0.6), (x, 1.0)], (), 1.0, role=ROOT)
    assert "x   5.   leaf   grad 3.2\n" in outline(s.graph(), "en")


def test_roots_first_each_station_once():
    s = Sketch()
    x = s.leaf("x", 1.0, 2.0)
    s.op("MulBackward0", "early_root", "x * 1", 1.0, [(x, 1.0)], (), 1.0, role=ROOT)
    s.op("MulBackward0", "aside", "x * 2", 2.0, [(x, None)])
    heads = [line.split()[0] for line in outline(s.graph(), "en").splitlines() if not line.startswith(" ")]
    assert heads == ["early_root", "aside", "x"]


def test_empty():
    assert outline(Graph((), ()), "en") == "no tensors"
    assert outline(Graph((), (), omitted=7), "en") == "The graph exceeds the limit. Boxes left out: 7."


# ------------------------------------------------------------------------------------------ size, determinism


@pytest.mark.full
def test_a_chain_of_100_000_shows_its_ends_and_counts_the_rest():
    text = outline(chain(100_000), "en")
    assert text.count("\n") < 200
    assert "\n… boxes left out: 99941\n" in text
    assert text.endswith("x   1.   leaf   grad 1.\n  AccumulateGrad")


@pytest.mark.parametrize("limit", [2, 3, 7])
def test_limit(limit):
    text = outline(chain(9), "en", limit=limit)
    assert sum(not line.startswith(" ") for line in text.splitlines()) == limit + 1
    assert f"… boxes left out: {10 - limit}" in text


def test_many_inputs_of_one_node_are_counted():
    text = outline(many_uses(1000, chain=False), "en")
    assert text.count("← x: 1.") == 12 and "… inputs left out: 988" in text
    assert "grad 1000. = sum of 1000" in text


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_text_is_plain_and_the_same_every_time(name, lang):
    text = outline(GRAPHS[name](), lang)
    assert text == outline(GRAPHS[name](), lang)
    assert not re.search(r"0x[0-9a-f]|[ \t]$|\bs\d+\b|\br\d+\b", text, re.M), (
        "ids, addresses or trailing blanks"
    )
    assert not text.endswith("\n")


def test_hostile_names_cannot_break_lines_or_turn_the_writing():
    graph = hostile()
    text = outline(graph, "en")
    assert len(text) < 20_000 and max(map(len, text.splitlines())) < 600
    bad = [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not bad and not any(mark in text for mark in "\u202e\u2066\u200f")
    heads = [line for line in text.splitlines() if not line.startswith("  ")]
    assert len(heads) == len(graph.stations)


def test_unknown_language():
    with pytest.raises(ValueError, match="unknown language 'fr'"):
        outline(code_4(), "fr")
