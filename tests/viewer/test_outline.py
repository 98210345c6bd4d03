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
    code_1,
    code_4,
    code_9,
    code_13,
    code_18,
    hangul,
    hostile,
    many_uses,
    outputs,
)

from minigrad_viz.drawing.outline import outline
from minigrad_viz.trace.graph import (
    ROOT,
    Graph,
)

# ----------------------------------------------------------------------------------------------- what it says


@pytest.mark.quick
def test_code_4():
    assert outline(code_4(), "en") == (
        "z = torch.log(y)   4.8283   root   grad (1., not kept)\n"
        "  LogBackward   self 125. (freed)\n"
        "  ← y: 0.008\n"
        "y = x ** 3   125.   grad (0.008, not kept)\n"
        "  PowBackward0   self 5. (freed)   exponent 3\n"
        "  ← x: 0.6\n"
        "x   5.   leaf   grad 0.6\n"
        "  AccumulateGrad"
    )


def test_before_backward_nothing_has_flowed():
    assert outline(code_4(after=False), "en") == (
        "z = torch.log(y)   4.8283   root\n"
        "  LogBackward   self 125.\n"
        "  ← y\n"
        "y = x ** 3   125.\n"
        "  PowBackward0   self 5.   exponent 3\n"
        "  ← x\n"
        "x   5.   leaf   grad None\n"
        "  AccumulateGrad"
    )


def test_gradients_that_meet_are_shown_as_a_sum():
    assert "x   5.   leaf   grad 1.6 = 0.6 + 1." in outline(code_9(), "en")


def test_a_sum_is_shown_only_where_it_is_one():
    """`.grad` may hold more than this backward call brought: nothing false is written."""
    s = Sketch()
    x = s.leaf("x", 5.0, 3.2)
    s.op("MulBackward0", "y", "x * x", 25.0, [(x, 0.6), (x, 1.0)], (), 1.0, role=ROOT)
    assert "x   5.   leaf   grad 3.2\n" in outline(s.graph(), "en")


def test_inputs_without_an_edge_are_named():
    lines = outline(code_13(), "en").splitlines()
    assert "  ← torch.tensor([2., 3., 5.]): ∅ requires no gradient" in lines
    assert lines.index("  ← x: 74.") < lines.index("  ← torch.tensor([2., 3., 5.]): ∅ requires no gradient")


def test_second_order_stands_under_its_own_heading_and_first():
    text = outline(code_18(), "en")
    assert text.startswith("[graph of the gradient, built by create_graph=True]\n∂z/∂x   0.6   root")
    assert text.index("[graph of the forward pass]") < text.index("\nz = torch.log(y)")
    assert "  ← result 3: 0.008" in text, "an unnamed result is numbered, so that it can be referred to"


def test_a_cell_without_graph_says_why():
    assert outline(code_1(), "en").splitlines() == [
        "No operation used x, so there is no graph.",
        "z = torch.log(y)   4.8283",
        "y = x ** 3   125.",
        "x   5.   constant",
    ]


def test_several_outputs_stand_above_one_node():
    assert (
        "\na = x.unbind()   3.\nb = x.unbind()   4.\n  UnbindBackward0   dim 0\n  ← x: [8. 6.]\n"
        in outline(outputs(), "en")
    )


def test_versions_hooks_and_korean():
    text = outline(hangul(), "ko")
    assert "self [[0.5 1.5] [2.5 3.5]] (버전 1)" in text
    assert "SumBackward0   self_sizes (2, 2)   hook 2" in text
    assert "← 입력: ∅ 변화도가 필요 없음" in text
    assert "뿌리(root)" in text and "매개변수" in text


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
