"""A cell that failed, walked through with the keyboard alone: steps, picture, details, queue, calls, sizes.
The focus can be seen all the time."""

from __future__ import annotations

import pytest
from cells import CELLS, CUBE, traced
from lab import missing

from minigrad_viz.shell.run import Report

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

# What has the focus: its class or element, and how far its outline can be seen.
FOCUS = """() => {
    const one = document.activeElement, seen = one.closest('.mgp-track') ?? one;
    const style = getComputedStyle(seen);
    const name = (one.getAttribute('class') ?? '').split(' ')[0] || one.localName;
    return [name, style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2];
}"""


@pytest.fixture
def shown(browser, tmp_path):
    """A function that shows a cell on a page."""
    pages = []

    def shown(cell: str, **options):
        body = Report(traced(cell), lang="en").html(table=False)
        (tmp_path / "a.html").write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
        page = browser.new_page(viewport={"width": 1000, "height": 800}, **options)
        page.goto((tmp_path / "a.html").as_uri())
        page.locator(".mgp svg.mg").wait_for()
        pages.append(page)
        return page

    yield shown
    for page in pages:
        page.close()


def tab_to(page, name: str, key: str = "Tab") -> None:
    """Press Tab until an element of this class has the focus, which must be seen on the way."""
    for _ in range(40):
        page.keyboard.press(key)
        found, visible = page.evaluate(FOCUS)
        assert visible or found == "body", f"the focus on {found} cannot be seen"
        if found == name:
            return
    raise AssertionError(f"Tab does not come to {name}")


def said(page) -> str:
    return page.locator(".mgp-say").inner_text()


def test_a_failed_cell_by_keyboard_alone(shown):
    page = shown(CELLS[6])
    marked = page.locator("svg.mg .station .deck.error")
    assert marked.count() == 1, "the whole picture shows where it failed"
    tab_to(page, "mgp-next")
    page.keyboard.press("Enter")
    assert "x = 5." in said(page) and marked.count() == 0
    page.keyboard.press("ArrowRight")
    assert "computes y = 125." in said(page)
    tab_to(page, "input")  # the slider of the track
    page.keyboard.press("End")
    assert said(page).startswith("RuntimeError: Trying to backward through the graph a second time")
    lines = said(page).split("\n")
    assert {"why", "fix", "stopped here"} <= set(lines)
    assert page.locator("svg.mg .station .deck.error .fn").text_content() == "LogBackward"
    assert page.locator("mark.now").inner_text() == "z.backward()"

    tab_to(page, "station")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    details = page.locator(".mgp-details")
    assert details.is_visible() and "LogBackward" in details.inner_text()
    tab_to(page, "mgp-close")
    page.keyboard.press("Tab")  # the first step of that station
    page.keyboard.press("Enter")
    assert "computes z = 4.8283" in said(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "RuntimeError" in said(page), "the focus stays where it was"
    page.keyboard.press("Escape")
    assert not details.is_visible()
    assert page.evaluate(FOCUS) == ["station", True], "and goes back to where it came from"


def test_queue_sizes_and_calls_by_keyboard(shown):
    page = shown(CUBE + "z.backward(retain_graph=True)\nz.backward()\n")
    tab_to(page, "select")
    page.keyboard.press("ArrowUp")
    page.wait_for_function("document.querySelector('input[type=range]').max === '6'")
    tab_to(page, "mgp-queue")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert "ready to run" in said(page)
    width = page.locator("svg.mg").bounding_box()["width"]
    tab_to(page, "mgp-zoom_in")
    page.keyboard.press("Enter")
    assert page.locator("svg.mg").bounding_box()["width"] > width


def test_the_source_is_folded_by_keyboard(shown):
    page = shown(CELLS[9])
    page.set_viewport_size({"width": 500, "height": 800})
    tab_to(page, "mgp-fold")
    for open in ("false", "true"):
        page.keyboard.press("Enter")
        assert page.locator(".mgp-fold").get_attribute("aria-expanded") == open
        assert page.locator(".mgp-lines").is_visible() == (open == "true")


def test_why_there_is_a_queue(shown):
    page = shown(CELLS[9])
    page.locator(".mgp-view").focus()
    page.keyboard.press("End")
    assert "plain recursion" not in said(page)
    page.locator(".mgp-queue").press("Enter")
    assert "plain recursion would run AccumulateGrad 2 times" in said(page)


def test_the_source_of_a_custom_function(shown):
    page = shown(CELLS[11])
    page.locator("g.station").nth(2).press("Enter")
    code = page.locator(".mgp-part.code")
    assert " 9  def backward(ctx, g):\n10      base, exponent = ctx.saved_tensors" in code.inner_text()
    assert code.locator("> div").count() == 2, "one for each method"
    node = page.locator(".mgp-part").nth(1).inner_text()
    assert "def " not in node and node.count("saved[0]") == 1


def test_nothing_moves_where_no_motion_is_wanted(shown):
    page = shown(CELLS[9], reduced_motion="reduce")
    page.locator(".mgp-view").focus()
    page.keyboard.press("End")
    moving = page.evaluate(
        """() => [...document.querySelectorAll('.mgp *')].filter(one => {
            const style = getComputedStyle(one);
            return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0;
        }).length"""
    )
    assert moving == 0
