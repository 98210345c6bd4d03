"""A page of the course as Jupyter Book builds it (Sphinx with MyST-NB), opened without a network."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest
from lab import missing

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(importlib.util.find_spec("myst_nb") is None, reason="MyST-NB is not installed"),
]


@pytest.mark.filterwarnings("default:::sphinx", "default:::myst_parser", "default:::myst_nb")
def test_a_stored_notebook_plays_in_a_book(visit, tmp_path):
    from sphinx.application import Sphinx

    source, output = tmp_path / "book", tmp_path / "html"
    source.mkdir()
    shutil.copy(NOTEBOOKS / "code_04.ipynb", source / "index.ipynb")
    settings = {"extensions": ["myst_nb"], "nb_execution_mode": "off", "html_theme": "furo"}
    build = Sphinx(source, None, output, tmp_path / "doctrees", "html", settings, status=None, warning=None)
    build.build()
    page = visit(output / "index.html")
    player = page.locator(".mgp").first
    player.locator("svg.mg").wait_for()
    player.locator(".mgp-view").focus()
    page.keyboard.press("End")
    assert player.locator(".mgp-label").inner_text() == "6 / 6"
    assert "0.6" in player.locator(".mgp-say").inner_text()
