"""draw(): the picture of a graph that nobody recorded, of minigrad and of PyTorch."""

from __future__ import annotations

import html
import re
import shutil
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from cells import CELLS, run
from staged import build

import minigrad
from minigrad_viz import draw
from minigrad_viz.drawing.digraph import Digraph
from minigrad_viz.drawing.export import resolve_colors
from minigrad_viz.drawing.graphviz_wasm import LayoutError, LayoutTimeout
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.model.views import names_in, narrow_graph
from minigrad_viz.trace.events import Trace

GRAPHS = [n for n in CELLS if n not in (1, 2, 3, 12, 14, 20, 21)]


def plain(name: str) -> str:
    """A node's name as all dialects have it."""
    return name.rstrip("0123456789").replace("CopyBackwards", "CloneBackward")


def cards(picture: Picture) -> dict:
    return {card.name: card for _, card in picture.graph.cards()}


@pytest.mark.quick
class TestWhatIsDrawn:
    @pytest.mark.parametrize("code", GRAPHS)
    def test_the_documented_graphs(self, library, code):
        names = run(CELLS[code], library, watched=False).names
        picture = draw(names["z"], names=names)
        assert picture.problem is None
        ET.fromstring(picture.svg())
        for name, card in cards(picture).items():
            if name is not None:
                assert card.value.items == tuple(names[name].detach().reshape(-1).tolist())
        decks = [plain(s.deck.name) for s in picture.graph.stations]
        recorded = build(run(CELLS[code], library).trace)
        routes = tuple(route for route in recorded.routes if route.tracked)
        tracked = narrow_graph(replace(recorded, routes=routes), {names_in(recorded)["z"]})
        assert sorted(decks) == sorted(plain(s.deck.name) for s in tracked.stations)

    def test_two_edges_lead_to_one_leaf(self, library):
        """Code 22: AddBackward0 down to the one AccumulateGrad whose variable is x."""
        names = run(CELLS[22], library, watched=False).names
        graph = draw(names["z"], names=names).graph
        leaf = next(s for s in graph.stations if s.deck.name == "AccumulateGrad")
        assert leaf.cards[0].name == "x" and len([r for r in graph.routes if r.source == leaf.id]) == 2

    def test_names_of_the_callers_variables(self, library):
        x = library.tensor(5.0, requires_grad=True)
        y = x**3
        _hidden = z = library.log(y)
        assert list(cards(draw(z))) == ["x", "y", "z"]

    def test_a_value_is_found_in_what_a_node_saved(self, library):
        x = library.tensor(5.0, requires_grad=True)
        z = library.log(x**3)
        power = draw(z).graph.stations[1]
        assert (power.cards[0].name, power.cards[0].value.items) == (None, (125.0,))

    def test_chips_and_their_freeing(self, library):
        x = library.tensor(5.0, requires_grad=True)
        z = library.log(x**3)
        before = [(c.name, c.freed) for c in draw(z).graph.stations[1].deck.saved]
        z.backward()
        after = [(c.name, c.freed) for c in draw(z).graph.stations[1].deck.saved]
        assert before == [("exponent", False), ("self", False)]
        assert after == [("exponent", False), ("self", True)]
        assert cards(draw(z))["x"].grad.items == (pytest.approx(0.6),)

    def test_hooks(self, library):
        x = library.tensor(5.0, requires_grad=True)
        y = x**3
        y.register_hook(print)
        x.register_hook(print)
        assert [s.deck.hooks for s in draw(library.log(y)).graph.stations] == [1, 1, 0]

    def test_several_roots(self, library):
        x = library.tensor(5.0, requires_grad=True)
        y = x**2
        a, b = y + 1, y * 2
        picture = draw(a, b)
        assert [card.name for _, card in picture.graph.cards() if card.role == "root"] == ["a", "b"]
        assert len(picture.graph.stations) == 4

    def test_several_outputs_of_one_node(self, library):
        x = library.tensor([1.0, 2.0, 3.0], requires_grad=True)
        low, high = (x * 2)[:1].sum(), (x * 2)[1:].sum()
        assert draw(low + high).problem is None

    def test_tensors_without_a_graph(self, library):
        a, x = library.tensor(2.0), library.tensor(3.0, requires_grad=True)
        assert draw(a).graph.note == ("no_graph", {})
        assert draw(x).graph.note == ("no_graph_leaf", {"names": "x"})
        assert draw(a).graph.tracked is False and draw(a).problem is None
        assert "No operation created x, so it has no graph." in draw(a, x, lang="en").outline()

    def test_gradients_that_nobody_recorded(self, library):
        x = library.tensor(5.0, requires_grad=True)
        z = library.log(x**3)
        assert "gradient that did not flow" in draw(z, lang="en").svg()
        z.backward()
        svg = draw(z, lang="en").svg()
        assert "gradient, not recorded" in svg and "not run" not in svg and "nothing flowed" not in svg
        assert "to x: not recorded</title>" in svg

    def test_drawing_changes_nothing(self, library):
        x = library.tensor(5.0, requires_grad=True)
        z = library.log(x**3)
        draw(z).svg()
        z.backward()
        assert (x.grad.item(), z._version) == (pytest.approx(0.6), 0)


class TestMistakes:
    @pytest.mark.parametrize("thing", [3, "z", None, [1.0]])
    def test_no_tensor(self, thing):
        with pytest.raises(
            TypeError, match=f"draw\\(\\) draws the graph of tensors, not of {type(thing).__name__}"
        ):
            draw(thing)

    def test_nothing(self):
        with pytest.raises(ValueError, match="at least one tensor"):
            draw()

    def test_an_unknown_option(self):
        with pytest.raises(TypeError, match="no option 'colour'; there are names, fold, style, detail"):
            draw(minigrad.ones(1), colour="red")

    @pytest.mark.parametrize("option", ["style", "detail", "theme", "engine", "lang"])
    def test_an_unknown_value(self, option):
        with pytest.raises(ValueError, match=f"{option} must be one of .*, not 'purple'"):
            draw(minigrad.ones(1), **{option: "purple"})


def a_leaf_used(times: int):
    x = minigrad.tensor(1.0, requires_grad=True)
    total = x * 0.0
    for i in range(times):
        total = total + x * (i * 0.001)
    return x, total


class TestLimits:
    """Each within 3 s, and what is too large says so."""

    def test_a_leaf_used_1000_times(self):
        x = minigrad.tensor(1.0, requires_grad=True)
        z = x
        for _ in range(1000):
            z = z + x
        draw(x * 2).svg()  # the bundled engine is compiled once on a machine
        start = time.process_time()
        picture = draw(z)
        assert picture.svg() is not None, picture.problem
        assert time.process_time() - start < 3

    @pytest.mark.full
    def test_a_sum_of_1000_products_of_one_leaf(self):
        _, z = a_leaf_used(1000)
        picture = draw(z, deadline=60, fold=False)
        assert picture.svg() is not None, picture.problem
        assert len(picture.graph.stations) > 2000

    @pytest.mark.full
    def test_a_layout_over_its_deadline(self):
        _, z = a_leaf_used(1000)
        draw(z, limit=10).svg()
        start = time.process_time()
        picture = draw(z, limit=5000, deadline=0.5, fold=False)
        assert "did not finish within 0.5 s" in picture.problem and picture.svg() is None
        assert picture.outline().splitlines()[0] == picture.problem
        assert time.process_time() - start < 3

    def test_too_large(self):
        _, z = a_leaf_used(1300)
        picture = draw(z, fold=False)
        assert (
            picture.problem
            == "The graph has 2602 boxes, more than the 2500 that are drawn. Here is its outline instead."
        )
        bundle = picture._repr_mimebundle_()
        assert set(bundle) == {"text/plain"} and bundle["text/plain"].startswith(picture.problem)
        assert picture.html().startswith("<pre>The graph has 2602 boxes")

    def test_the_limit_can_be_chosen(self):
        _, z = a_leaf_used(3)
        assert draw(z, limit=3).problem is not None
        assert draw(z, limit=9).problem is None

    def test_a_long_chain_is_folded(self):
        _, z = a_leaf_used(3000)
        start = time.process_time()
        picture = draw(z)
        assert picture.problem is None and len(picture.graph.stations) < 12
        assert [f.operations for f in picture.graph.folds] == [5995]
        assert time.process_time() - start < 3

    @pytest.mark.full
    def test_a_chain_of_100000(self):
        y = minigrad.tensor(1.0, requires_grad=True)
        for _ in range(100_000):
            y = y * 1.0
        picture = draw(y)
        text = repr(picture)
        assert text.endswith("Boxes left out: 80001.") and len(text) < 20_000
        assert picture.problem.startswith("The graph has 100001 boxes")


class TestShowing:
    def picture(self, **options) -> Picture:
        x = minigrad.tensor(5.0, requires_grad=True)
        return draw(minigrad.log(x**3), names={"x": x}, **options)

    def test_the_mime_bundle(self):
        picture = self.picture()
        bundle = picture._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
        assert bundle["text/plain"] == repr(picture) == picture.outline()
        assert bundle["image/svg+xml"] == picture.svg()
        alt = re.search(r'alt="([^"]*)"', bundle["text/html"])[1]
        assert html.unescape(alt) == picture.outline()
        assert len(bundle["text/html"]) + len(bundle["image/svg+xml"]) < 30_000

    def test_it_is_the_same_each_time(self):
        assert self.picture()._repr_mimebundle_() == self.picture()._repr_mimebundle_()

    def test_the_digraph(self):
        digraph = self.picture().digraph
        assert isinstance(digraph, Digraph) and "s0 -> s1" in digraph.source

    def test_graphviz_draws_it(self):
        svg = self.picture(style="graphviz").svg()
        assert "LogBackward" in svg and "Generated by graphviz" in svg

    def test_languages(self):
        assert "잎(leaf)" in self.picture(lang="ko").svg()

    @pytest.mark.parametrize("kind", ["svg", "dot", "gv", "txt", "SVG"])
    def test_save(self, tmp_path, kind):
        picture = self.picture()
        path = picture.save(tmp_path / f"graph.{kind}")
        expected = {"svg": resolve_colors(picture.svg()), "txt": picture.outline() + "\n"}.get(
            kind.lower(), picture.digraph.source
        )
        assert path.read_text(encoding="utf-8") == expected

    def test_save_as_mermaid(self, tmp_path):
        picture = self.picture()
        lines = picture.save(tmp_path / "graph.mmd").read_text(encoding="utf-8").splitlines()
        boxes = [line for line in lines if '["' in line]
        assert lines[0] == "flowchart LR" and len(boxes) == len(picture.graph.stations)
        assert "  s0 --> s1" in lines and sum("-." in line for line in lines) == 2
        assert any("<br/>PowBackward0" in box for box in boxes)

    def test_save_as_a_page_and_as_a_trace(self, tmp_path):
        x = minigrad.tensor(5.0, requires_grad=True)
        picture = draw(minigrad.log(x**3), lang="en")
        page = picture.save(tmp_path / "graph.html").read_text(encoding="utf-8")
        assert page.startswith("<!DOCTYPE html>") and "PowBackward" in page
        trace = Trace.load(picture.save(tmp_path / "graph.json"))
        assert trace == picture.scene.trace
        with pytest.raises(ValueError, match=r"cannot save a picture as '\.json'"):
            Picture(picture.graph).save(tmp_path / "other.json")  # nobody knows its trace

    def test_a_misspelled_option_names_the_right_one(self):
        x = minigrad.tensor(5.0, requires_grad=True)
        with pytest.raises(TypeError, match="did you mean direction\\?"):
            draw(x**2, directon="TB")

    def test_save_as_something_else(self, tmp_path):
        with pytest.raises(ValueError, match=r"cannot save a picture as '\.docx'"):
            self.picture().save(tmp_path / "graph.docx")

    @pytest.mark.skipif(shutil.which("dot") is not None, reason="there is a native dot")
    def test_save_as_png_needs_dot(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "resvg_py", None)
        with pytest.raises(LayoutError):
            self.picture().save(tmp_path / "graph.png")

    def test_save_what_cannot_be_drawn(self, tmp_path, monkeypatch):
        def late(*args, **kwargs):
            raise LayoutTimeout("late")

        monkeypatch.setattr("minigrad_viz.drawing.structure.layout", late)
        with pytest.raises(LayoutError, match="did not finish"):
            self.picture().save(tmp_path / "graph.svg")
        assert not (tmp_path / "graph.svg").exists()
