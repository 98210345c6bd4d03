"""What is shown of a picture: values or the structure alone, which saved values, in whose manner."""

from __future__ import annotations

import re
import sys

import pytest
from cells import CELLS, traced
from lab import BROWSER_OPTIONS, find_chromium
from pictures import MEASURE, SVG, draw, parse, texts
from sketches import GRAPHS, Sketch, chain, code_4, code_9, code_18
from staged import build

from minigrad_viz.drawing.graphviz_wasm import LayoutUnavailable
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.model.fold import fold

LONG = (
    "h = torch.zeros(2)\nw = torch.tensor([0.5, 0.2], requires_grad=True)\nfor i in range(40):\n"
    "    h = torch.tanh(w * h + i)\nh.sum().backward()\n"
)
NUMBER = re.compile(r"\d\.")


def test_without_values_no_number_is_written():
    root, elements = parse(draw(code_9(), values=False, lang="en")[0])
    written = [t for e in root.iter(SVG + "text") if (t := "".join(e.itertext()))]
    assert not [t for t in written if NUMBER.search(t)]
    assert not [id for id in elements if id.endswith(("-value", "-grad", "-p"))]
    assert {"PowBackward0", "self", "exponent"} <= set(written)
    assert elements["r0-g"].get("class") == "edge grad", "what flowed is still told from what did not"
    said = Picture(code_9(), values=False, lang="en").outline()
    assert not NUMBER.search(said) and "y = x ** 3" in said and "PowBackward0   self   exponent" in said


def many_saved():
    s = Sketch()
    x = s.leaf("x", 1.0)
    s.op("ManyBackward0", "y", "many(x)", 1.0, [(x, None)], [(f"value_{i}", 10.0 * i, 1) for i in range(12)])
    return s.graph()


def test_saved_values_all_some_or_none():
    def chips(svg):
        return [text for text in texts(svg) if re.match(r"value_\d|\+\d", text)]

    some, whole = (chips(draw(many_saved(), saved=saved, lang="en")[0]) for saved in ("some", "all"))
    assert some[-1] == f"+{13 - len(some)}" and len(some) < 12
    assert whole == [f"value_{i} {10 * i}. v1" for i in range(12)]
    svg = draw(many_saved(), saved="none")[0]
    assert chips(svg) == [] and "value_3 = 30" in svg, "the details still tell them"
    assert "value_3" not in Picture(many_saved(), saved="none").outline()


def test_all_saved_values_tell_their_versions():
    graph = build(traced("x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x * x\n"))
    assert "self [1. 2.] v0, 8 B" in texts(draw(graph, saved="all", lang="en")[0])
    assert "self [1. 2.] v0, 8 B" not in texts(draw(graph, lang="en")[0])
    assert "self [1. 2.] (version 0) 8 B" in Picture(graph, saved="all", lang="en").outline()


@pytest.mark.sample(14)
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("look", [{"values": False}, {"saved": "all"}, {"saved": "none", "detail": "full"}])
def test_every_graph_in_every_look(name, look):
    parse(draw(GRAPHS[name](), **look)[0])


@pytest.mark.parametrize("name", GRAPHS)
def test_torchvizs_manner(name):
    picture = Picture(GRAPHS[name](), style="torchviz", deadline=20)
    parse(picture.svg())
    assert "rankdir=TB" in picture.digraph.source
    decks = [s for s in picture.graph.stations if s.deck is not None]
    assert picture.digraph.source.count("fillcolor=lightgrey") == len(decks)


def test_torchvizs_colours_and_arrows():
    picture = Picture(code_4(), style="torchviz")
    source = picture.digraph.source
    assert re.search(r's0c0 \[label="x\\n \(\)\\n5\." fillcolor=lightblue\]', source)
    assert re.search(r"s2c0 \[.*fillcolor=darkolivegreen1\]", source) and "orange" not in source
    assert [e for e in ("s0c0 -> s0d", "s0d -> s1d", "s1d -> s2d", "s2d -> s2c0") if e not in source] == []
    saved = Picture(code_4(), style="torchviz", saved="all").digraph.source
    assert saved.count("fillcolor=orange") == 3 and "s1d0 -> s1d [arrowhead=none]" in saved
    assert "125" not in Picture(code_4(), style="torchviz", saved="all", values=False).digraph.source
    assert "rankdir=TB" in Picture(code_4(), style="torchviz", direction="TB").digraph.source


def test_graphvizs_own_drawing_follows_the_direction():
    assert "rankdir=TB" in Picture(code_4(), style="graphviz", direction="TB").digraph.source


@pytest.mark.parametrize(
    "option",
    [
        {"saved": "few"},
        {"direction": "up"},
        {"style": "bare"},
        {"detail": "brief"},
        {"theme": "blue"},
        {"lang": "fr"},
    ],
)
def test_wrong_options(option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} must be one of"):
        Picture(code_4(), **option)


def test_png_needs_a_native_dot(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(LayoutUnavailable, match=r"minigrad-viz\[export\].*dot"):
        Picture(code_4(), style="torchviz").save(tmp_path / "z.png")


# -------------------------------------------------------------------------------- gradients that were there


def test_what_grad_held_before_is_part_of_the_sum():
    """Code 7: two backward calls add 0.6 each."""
    graph = build(traced(CELLS[7]))
    _, elements = parse(draw(graph, lang="en")[0])
    slots = [e for e in elements["s0-d"].iter() if (e.get("class") or "").startswith("slot")]
    assert [e.get("class") for e in slots] == ["slot old", "slot"]
    assert ["".join(e.itertext()) for e in slots] == ["0.6", "0.6"]
    assert "".join(elements["s0-n"].itertext()) == "1 / 1"
    assert "grad 1.2 = 0.6 + 0.6" in Picture(graph, lang="en").outline()
    first = build(traced(CELLS[7]), 1)
    assert first.stations[0].cards[0].before is None
    assert "1.2" not in Picture(first, lang="en").outline()


def test_after_zeroing_only_the_new_part_counts():
    x = build(traced(CELLS[8])).stations[0].cards[0]
    assert x.before.items == (0.0,) and x.grad.items == pytest.approx((0.6,))


# --------------------------------------------------------------------------------------------------- hooks

HOOKED = (
    "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\ndef double(g): return g * 2\n"
    "def look(g): pass\ny.register_hook(double)\ny.register_hook(look)\nz = torch.log(y)\n"
)


def test_hooks_that_ran_are_numbered_and_tell_what_they_did():
    graph = build(traced(HOOKED + "z.backward()\n"))
    _, elements = parse(draw(graph, lang="en")[0])
    marks = [e for e in elements["r1-p"] if (e.get("class") or "").startswith("hooks")]
    assert [mark.get("class") for mark in marks] == ["hooks changed", "hooks"]
    assert [mark.find(SVG + "text").text for mark in marks] == ["1", "2"]
    tips = [mark.find(SVG + "title").text for mark in marks]
    assert tips == ["1. hook double: 0.008 → 0.016", "2. hook look: returned None: 0.016 is passed on"]
    assert tips[0] in elements["s1-d"].find(SVG + "title").text
    assert tips[0] in Picture(graph, lang="en").outline()
    assert "hook that ran" in texts(draw(graph, lang="en")[0])


def test_hooks_that_have_not_run_are_counted():
    graph = build(traced(HOOKED))
    assert "hooks 2" in texts(draw(graph, lang="en")[0])
    many = build(traced(HOOKED + "for i in range(8): y.register_hook(look)\nz.backward()\n"))
    assert "hooks 10" in texts(draw(many, lang="en")[0])


# ---------------------------------------------------------------------------------------- details, and size


def test_straight_arrows_are_drawn_as_straight_lines():
    _, elements = parse(draw(chain(3))[0])
    assert re.fullmatch(r"M[\d.]+ [\d.]+H[\d.]+", elements["r0"].find(SVG + "path").get("d"))
    _, elements = parse(draw(chain(3), direction="TB")[0])
    assert re.fullmatch(r"M[\d.]+ [\d.]+V[\d.]+", elements["r1"].find(SVG + "path").get("d"))


def test_size():
    assert len(draw(code_18())[0].encode()) < 24_000


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
def test_nothing_spills_in_any_look_in_a_real_browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    looks = ({"values": False}, {"saved": "all"}, {"direction": "TB", "saved": "none"}, {"direction": "LR"})
    graphs = {name: make() for name, make in GRAPHS.items()}
    graphs["fold"] = fold(build(traced(LONG)))
    graphs["hooks"] = build(traced(HOOKED + "z.backward()\n"))
    graphs["many saved"] = many_saved()
    pictures = [
        draw(graph, prefix=f"p{i}-{k}-", lang=("en", "ko")[k % 2], **look)[0].replace(
            "<svg ", f'<svg id="{name}{k}" ', 1
        )
        for i, (name, graph) in enumerate(graphs.items())
        for k, look in enumerate(looks)
    ]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
        page = browser.new_page()
        page.set_content(
            "<!doctype html><meta charset='utf-8'><style>.mg{max-width:none!important}</style>"
            + "".join(pictures)
        )
        assert page.evaluate("document.querySelectorAll('svg .station').length") > 100
        assert page.evaluate(MEASURE) == []
        browser.close()
