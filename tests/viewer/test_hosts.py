"""Hosted notebooks, imitated: what is displayed there."""

from __future__ import annotations

import sys
import threading
from types import ModuleType

import pytest
from cells import CELLS

import minigrad
import minigrad_viz
from minigrad_viz.drawing import graphviz_wasm, layout

pytest_plugins = ["magic_shell"]

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def colab(monkeypatch):
    """Modules of Colab, by which programs know it; how often its manager of widgets was switched on."""
    asked: list[bool] = []
    for name in ("google", "google.colab", "google.colab.output"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["google.colab.output"].enable_custom_widget_manager = lambda: asked.append(True)
    return asked


def test_colab_gets_the_player_in_html_in_place_of_a_widget(front, colab):
    (shown,) = front("%%autograd --step\n" + CELLS[4])
    assert VIEW not in shown and shown["text/html"].startswith("<div data-mgp=")
    assert "<style>.mgt" in shown["text/html"] and colab == []


def test_a_stepper_on_colab_shows_itself_as_html(colab):
    x = minigrad.tensor(5.0, requires_grad=True)
    stepper = minigrad_viz.stepper(minigrad.log(x))
    shown = stepper._repr_mimebundle_()
    assert VIEW not in shown and shown["text/html"].startswith("<div data-mgp=")
    stepper.close()


def test_elsewhere_both_are_sent(front):
    player, _ = front("%%autograd --step\n" + CELLS[4])
    assert VIEW in player and player["text/html"].startswith("<div data-mgp=")
    minigrad_viz.last().stepper().close()


def background_ends() -> None:
    for thread in threading.enumerate():
        if thread.name == "minigrad layout engine":
            thread.join()


def test_the_layout_engine_is_loaded_in_the_background(shell):
    shell.run_cell("%unload_ext minigrad_viz")
    background_ends()
    layout.loaded.clear()
    shell.run_cell("%load_ext minigrad_viz")
    background_ends()
    assert "good" in layout.loaded


def test_what_fails_in_the_background_is_told_where_a_picture_wants_it():
    background_ends()
    layout.loaded.clear()
    with pytest.MonkeyPatch.context() as patch:
        for build in (graphviz_wasm.GOOD, graphviz_wasm.SOON):
            patch.setitem(build.settings, "of_a_later_version", True)
        layout.load_in_background()
        background_ends()
        with pytest.raises(layout.LayoutUnavailable, match="of_a_later_version"):
            layout.render("digraph{a}", engine="bundled")
    assert not layout.loaded
