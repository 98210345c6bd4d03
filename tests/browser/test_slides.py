"""A player and the steps on slides of reveal.js that nbconvert makes, without a network."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cells import CELLS, traced
from lab import missing

from minigrad_viz.shell.report import Report

# reveal.js and require.js are not part of nbconvert: these packages carry them.
CARRIERS = ("sphinx_revealjs", "nbclassic")
LACKING = [name for name in CARRIERS if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.full,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}"),
]

# The smallest words of the player as they stand on the screen.
SMALLEST = """() => {
    const texts = [...document.querySelectorAll('.mgp svg.mg text')].filter(text => text.textContent);
    const size = text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
    return Math.min(...texts.map(size));
}"""


def package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


@pytest.fixture(scope="module")
def deck(tmp_path_factory) -> Path:
    """The slides as nbconvert makes them, with reveal.js beside them."""
    folder = tmp_path_factory.mktemp("deck")
    shutil.copytree(package("sphinx_revealjs") / "_static" / "revealjs", folder / "reveal")
    shutil.copy(next(package("nbclassic").rglob("require.js")), folder / "reveal")
    Report(traced(CELLS[9]), lang="en").slides(folder / "cell.ipynb")
    local = ["--reveal-prefix", "reveal", "--SlidesExporter.require_js_url=reveal/require.js"]
    others = ["--SlidesExporter.jquery_url=", "--SlidesExporter.mathjax_url="]
    command = [sys.executable, "-m", "nbconvert", "--to", "slides", "cell.ipynb", *local, *others]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "cell.slides.html"


def test_a_player_on_a_slide_and_a_slide_for_each_step(visit, deck):
    page = visit(deck, viewport={"width": 1280, "height": 720})
    page.locator(".reveal.ready").wait_for()
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(1000)  # the slide has moved in
    player = page.locator(".mgp")
    player.locator("svg.mg").wait_for()
    player.locator(".mgp-view").click(position={"x": 5, "y": 5})
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert player.locator(".mgp-label").inner_text() == "5 / 12", "the arrows are the player's"
    assert page.evaluate(SMALLEST) >= 18
    page.keyboard.press("Escape")
    for step in range(1, 13):
        page.keyboard.press("PageDown")
        image = page.locator("section section.present img.step")
        image.wait_for()
        page.wait_for_timeout(900)
        box = image.bounding_box()
        assert box["width"] >= 0.98 * 1280 and box["height"] >= 0.98 * 720, "as large as the window"
        assert image.get_attribute("alt")
        assert page.url.endswith(f"#/0/{step + 1}")
