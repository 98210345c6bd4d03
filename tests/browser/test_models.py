"""Models of courses in windows of three widths, on minigrad in one: at every step the whole model is in
view and can be read, and so is what is inside of the active card."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells import traced
from course_models import MODELS, program

from minigrad_viz.shell.report import Report

WIDTHS = {"torch": (1440, 1366, 900), "minigrad": (1366,)}
HIGH = 900
KILOBYTES = 400

LOOK = Path(__file__).with_name("models_look.js").read_text(encoding="utf-8")


@pytest.mark.full
@pytest.mark.parametrize("name", MODELS)
def test_the_whole_model_is_in_view_at_every_step(name, library, visit, tmp_path):
    html = Report(traced(program(name), library), lang="en").page()
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    assert len(html.encode()) < 1000 * KILOBYTES
    problems = []
    page = visit(path, reduced_motion="reduce")
    for width in WIDTHS[library.__name__]:
        page.set_viewport_size({"width": width, "height": HIGH})
        page.reload()
        page.locator(".mgp-next").wait_for()
        source = page.locator(".mgp-source")
        if width < 1440 and source.get_attribute("aria-pressed") == "true":
            source.click()  # in the widest window the source stands beside the strip
        page.locator(".mgp-view").first.focus()
        while True:
            step = page.locator("input[type=range]").first.input_value()
            problems += [f"{width}, step {step}: {each}" for each in page.evaluate(LOOK.partition("\n")[2])]
            if page.locator(".mgp-next").is_disabled():
                break
            page.keyboard.press("ArrowRight")
    assert not problems, "\n".join(dict.fromkeys(problems))


@pytest.mark.smoke
def test_graph_and_picture_are_tabs_where_height_lacks(torch, visit, tmp_path):
    """The graph stands first; what the reader chose stays for other cards. A high window has both."""
    path = tmp_path / "page.html"
    path.write_text(Report(traced(program("lenet"), torch), lang="en").page(), encoding="utf-8")
    page = visit(path, reduced_motion="reduce")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.reload()
    tabs = page.locator(".mgp-tabs button")
    panel, subject = page.locator(".mgp-panel"), page.locator(".mgp-panel .subject text").first
    tabs.first.wait_for()
    assert tabs.all_inner_texts() == ["graph", "picture"]
    assert not subject.is_visible() and panel.bounding_box()["height"] < 300
    assert not page.evaluate(LOOK.partition("\n")[2])
    tabs.nth(1).click()
    assert subject.is_visible()
    page.keyboard.press("]")
    tabs.first.wait_for()
    assert tabs.nth(1).get_attribute("aria-pressed") == "true" and subject.is_visible()
    page.set_viewport_size({"width": 1440, "height": 2400})
    page.reload()
    panel.wait_for()
    assert tabs.count() == 0 and subject.is_visible()
