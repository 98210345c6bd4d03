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

CARRIER = "sphinx_revealjs"  # reveal.js is not part of nbconvert
pytestmark = [
    pytest.mark.browser,
    pytest.mark.full,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(importlib.util.find_spec(CARRIER) is None, reason=f"not installed: {CARRIER}"),
]

# The smallest words of the player as they stand on the screen.
SMALLEST = """() => {
    const texts = [...document.querySelectorAll('.mgp svg.mg text')].filter(text => text.textContent);
    const size = text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
    return Math.min(...texts.map(size));
}"""


@pytest.fixture(scope="module")
def deck(tmp_path_factory) -> Path:
    """The slides as nbconvert makes them, with reveal.js beside them."""
    folder = tmp_path_factory.mktemp("deck")
    spec = importlib.util.find_spec(CARRIER)
    shutil.copytree(Path(spec.origin).parent / "_static" / "revealjs", folder / "reveal")
    Report(traced(CELLS[9]), lang="en").slides(folder / "cell.ipynb")
    exporter = "minigrad_viz.sharing.offline.OfflineSlides"  # offline_slides, where it is installed
    command = [sys.executable, "-m", "nbconvert", "--to", exporter, "cell.ipynb", "--reveal-prefix", "reveal"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "cell.slides.html"


def test_a_player_on_a_slide_and_a_slide_for_each_step(visit, deck):
    page = visit(deck, viewport={"width": 1280, "height": 720})
    failed = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.reload()
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
    assert failed == [], "everything is beside it"
