"""A page that a report saves: opened from its file with the network off, narrow and wide, light and dark."""

from __future__ import annotations

import pytest
from cells import CELLS, traced
from lab import missing

from minigrad_viz.shell.report import Report

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

LOOP = "w = torch.ones(3, requires_grad=True)\nfor _ in range(9):\n    ((w * 2 - 3) ** 2).sum().backward()\n"
GREYS = {"light": "rgb(0, 0, 0)", "dark": "rgb(255, 255, 255)"}  # of a browser's own text in either scheme


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a cell; everything that went wrong in it is in `wrong` at the end."""
    contexts, wrong = [], []

    def open_(cell: str, width: int, scheme: str = "light"):
        path = Report(traced(cell), lang="en").save(tmp_path / "page.html")
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        context.set_offline(True)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("request", lambda request: wrong.append(request.url) if request.url[:4] == "http" else None)
        page.goto(path.as_uri())
        page.wait_for_selector("svg.mg")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.mark.smoke
@pytest.mark.parametrize("width", [360, 1300])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_player_and_table(opened, width, scheme):
    page = opened(CELLS[9], width, scheme)
    assert page.title() == "Computation graph of z"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    table = page.locator("table.mgt")
    assert not table.is_visible(), "the small picture says the same"
    page.get_by_text("State of the tensors").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert table.locator("caption").inner_text().startswith("State of the tensors")
    assert table.locator("tbody th").all_inner_texts() == ["x", "y", "w", "z"]
    colour = "element => getComputedStyle(element).color"
    assert table.locator("td.a").first.evaluate(colour) == GREYS[scheme]
    changed = {"light": "rgb(179, 71, 0)", "dark": "rgb(255, 154, 82)"}[scheme]
    assert table.locator("td.c").first.evaluate(colour) == changed


def test_a_wide_table_scrolls_by_itself_also_by_the_keyboard(opened):
    page = opened(LOOP, 360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    region = page.get_by_role("region", name="State of the tensors")
    assert region.evaluate("element => element.scrollWidth > element.clientWidth")
    assert "Moments left out: 5." in region.inner_text()
    region.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('[role=region]:has(.mgt)').scrollLeft > 0")
