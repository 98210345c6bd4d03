"""The stepper widget."""

from __future__ import annotations

import ipywidgets
import pytest
from cells import CELLS, traced

import minigrad
from minigrad_viz import Stepper, stepper
from minigrad_viz.run import Report


@pytest.fixture
def widget():
    report = Report(traced(CELLS[4]), lang="en")
    walk = Stepper(report.picture, report.frames)
    yield walk
    walk.close()


def test_it_is_a_widget(widget):
    assert isinstance(widget, ipywidgets.DOMWidget)
    box = ipywidgets.HBox([widget])
    assert box.children == (widget,)
    box.close()


def test_step_stays_in_its_range(widget):
    assert (widget.step, widget.steps) == (0, 6)
    for value, kept in ((3, 3), (99, 6), (-5, 0)):
        widget.step = value
        assert widget.step == kept
    with pytest.raises(Exception, match="expected an int"):
        widget.step = "three"


def test_step_can_be_observed_and_linked(widget):
    seen = []
    widget.observe(lambda change: seen.append(change.new), "step")
    slider = ipywidgets.IntSlider(max=6)
    link = ipywidgets.link((widget, "step"), (slider, "value"))
    slider.value = 4
    widget.step = 5
    assert seen == [4, 5] and slider.value == 5
    link.unlink()
    slider.close()


def test_what_the_page_is_given(widget):
    state = widget.get_state()
    assert state["_svg"].startswith("<svg") and f'id="{state["_prefix"]}s0"' in state["_svg"]
    assert state["_frames"][1] == ["forward", ["s1-c0", "r0"], "forward 2 of 3", "x ** 3 makes y = 125."]
    assert 0 < state["_width"] < 900
    assert set(state["_words"]) == {"previous", "next", "slider", "step_start"}
    assert all(isinstance(word, str) for word in state["_words"].values())


def test_text_for_where_there_are_no_widgets(widget):
    data, _ = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"] == widget.picture.html()
    lines = data["text/plain"].splitlines()
    assert lines[0].startswith("z = log(y)") and "1. [forward 1 of 3]" in data["text/plain"]
    assert "0x" not in data["text/plain"]


def test_of_roots():
    x = minigrad.tensor(5.0, requires_grad=True)
    y = x**3
    walk = stepper(y)
    assert (walk.steps, [card.name for _, card in walk.picture.graph.cards()]) == (4, ["x", "y"])
    walk.close()


def test_mistakes():
    with pytest.raises(TypeError, match="draws the graph of tensors, not of int"):
        stepper(3)
    with pytest.raises(ValueError, match="at least one tensor"):
        stepper()


def test_a_graph_that_is_too_large_steps_through_its_texts():
    report = Report(traced(CELLS[4]), limit=2, lang="en")
    walk = Stepper(report.picture, report.frames)
    assert walk.get_state()["_svg"] == "" and walk.steps == 6
    assert walk._repr_mimebundle_()[0]["text/plain"].startswith("The graph has 3 stations")
    walk.close()


def test_functions_are_not_hidden_by_modules_of_their_names():
    import minigrad_viz
    import minigrad_viz.run
    import minigrad_viz.widget

    for name in minigrad_viz.__all__:
        assert callable(getattr(minigrad_viz, name)), name
