"""A cell that failed, walked through with the keyboard alone: steps, picture, details, queue, calls, sizes.
The focus can be seen all the time."""

from __future__ import annotations

import pytest
from cells import CELLS, CUBE, traced
from lab import missing

from minigrad_viz.shell.report import Report

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

# What has the focus: its class or element, and how far its outline can be seen.
FOCUS = """() => {
    const one = document.activeElement, seen = one.closest('.mgp-track') ?? one;
    const style = getComputedStyle(seen);
    const bar = one.matches('.mgp-view') && getComputedStyle(one.parentNode, '::before');
    if (bar) return ['mgp-view', bar.content !== 'none' && parseFloat(bar.height) >= 2];
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


@pytest.mark.smoke
def test_a_failed_cell_by_keyboard_alone(shown):
    page = shown(CELLS[6])
    marked = page.locator("svg.mg .station .deck.error")
    assert marked.count() == 1, "it is open at the step that failed"
    assert "z.backward()" in said(page)
    tab_to(page, "mgp-first")
    page.keyboard.press("Enter")
    tab_to(page, "mgp-next")
    page.keyboard.press("Enter")
    assert "x = 5." in said(page) and marked.count() == 0
    page.keyboard.press("ArrowRight")
    assert "computes y = 125." in said(page)
    tab_to(page, "input")  # the slider of the track
    page.keyboard.press("End")
    assert "The last step that was tried" in said(page) and "RuntimeError" not in said(page)
    assert "Stopped here: LogBackward0 at z" in said(page)
    assert page.locator("svg.mg .station .deck.error .fn").text_content() == "LogBackward0"
    assert page.locator(".mgp-at mark.now").inner_text() == "z.backward()"

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
    assert "The last step" in said(page), "the focus stays where it was"
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
    page.keyboard.press("End")
    assert "runs now" in page.locator(".mgp-order").inner_text()
    page.set_viewport_size({"width": 420, "height": 800})  # where the picture does not fit
    page.locator(".mgp-zoom").wait_for()
    width = page.locator("svg.mg").bounding_box()["width"]
    tab_to(page, "mgp-zoom_in")
    page.keyboard.press("Enter")
    assert page.locator("svg.mg").bounding_box()["width"] > width


def test_the_source_opens_by_keyboard(shown):
    page = shown(CELLS[9])
    page.set_viewport_size({"width": 500, "height": 800})
    tab_to(page, "mgp-source")
    for open in ("true", "false"):
        page.keyboard.press("Enter")
        assert page.locator(".mgp-source").get_attribute("aria-pressed") == open
        assert page.locator(".mgp-lines").is_visible() == (open == "true")
    page.keyboard.press("s")
    assert page.locator(".mgp-lines").is_visible()


def test_the_active_station_says_so_and_others_are_walked_with_alt(shown):
    page = shown(CELLS[9])
    page.locator(".mgp-view").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    current = page.locator("[aria-current=step]")
    assert current.count() == 1 and current.get_attribute("aria-label").startswith("y = x ** 3")
    page.keyboard.press("Alt+ArrowRight")
    page.keyboard.press("Alt+ArrowRight")
    assert page.evaluate("document.activeElement.id.endsWith('-s1')")
    assert page.locator(".mgp-label").inner_text() == "2 / 12"


def test_the_stations_are_listed_for_those_who_do_not_see_them(shown):
    page = shown(CELLS[9])
    names = page.locator(".mgp-list li").all_text_contents()
    assert [name.partition(" = ")[0] for name in names][:3] == ["x", "y", "w"]
    assert page.locator(".mgp-list").bounding_box()["width"] <= 1


def test_on_paper_the_last_step_stands(shown):
    page = shown(CELLS[9])
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".mgp-label").inner_text() == "12 / 12"


def test_on_paper_the_whole_picture_stands_without_controls(shown):
    page = shown(CELLS[18])
    page.set_viewport_size({"width": 720, "height": 1000})
    assert page.locator(".mgp-edge:visible").count() > 0
    page.emulate_media(media="print")
    for part in (".mgp-bar", ".mgp-edge", ".mgp-zoom", ".mgp-map"):
        assert page.locator(f"{part}:visible").count() == 0, part
    view, picture = (page.locator(part).bounding_box() for part in (".mgp-view", ".mgp-view > svg"))
    assert picture["width"] <= view["width"] + 1 and picture["height"] <= view["height"] + 1
    assert page.locator(".mgp-caption").is_visible()


def test_why_there_is_a_queue(shown):
    page = shown(CELLS[9])
    page.locator(".mgp-view").focus()
    page.keyboard.press("End")
    assert not page.locator(".mgp-order").is_visible()
    page.locator(".mgp-queue").press("Enter")
    order = page.locator(".mgp-order").inner_text()
    assert "plain recursion would run AccumulateGrad 2 times" in order


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
