"""Predictions in the player, on a page without a kernel: by keys alone, and nothing gives an answer away."""

from __future__ import annotations

import pytest
from cells import CELLS, traced
from lab import missing

from minigrad_viz.shell.run import Report

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

SAID = """() => {
    const seen = (node) => {
        if (node.nodeType === 3) return node.textContent;
        const style = node.nodeType === 1 ? getComputedStyle(node) : null;
        if (!style || style.visibility === 'hidden' || style.display === 'none') return '';
        const own = ['aria-label', 'title'].map((name) => node.getAttribute(name) ?? '');
        return [...own, ...[...node.childNodes].map(seen)].join(' ');
    };
    return seen(document.querySelector('.mgp'));
}"""
PATH = "You followed the path through y only. x is used twice: add the gradient from the path through w."


@pytest.fixture
def shown(browser, tmp_path):
    """A function that shows a cell that asks on a page."""
    pages = []

    def shown(number: int, lang: str = "en", **options):
        body = Report(traced(CELLS[number]), lang=lang, predict=True).html(table=False)
        (tmp_path / "a.html").write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
        page = browser.new_page(viewport={"width": 1000, "height": 800}, **options)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((tmp_path / "a.html").as_uri())
        page.locator(".mgp-ask:not([hidden])").wait_for()
        pages.append((page, errors))
        return page

    yield shown
    for page, errors in pages:
        assert errors == []
        page.close()


def typed(page, answer: str) -> str:
    """Type an answer where the focus is, press Enter, and give what is said."""
    assert page.evaluate("() => document.activeElement.matches('.mgp-ask input')")
    page.keyboard.press("Control+A")
    page.keyboard.type(answer)
    page.keyboard.press("Enter")
    return page.locator(".mgp-feedback").inner_text()


def test_by_keys_alone(shown):
    page = shown(9)
    assert page.locator(".mgp-label").inner_text() == "1 / 12"
    assert "Which of these tensors are leaves" in page.locator(".mgp-ask-at").inner_text()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.matches('.mgp-ask input')"):
            break
    assert typed(page, "x, y").startswith("y is not a leaf")
    assert typed(page, "x") == "Right. x"
    page.keyboard.press("Enter")  # Continue
    page.keyboard.press("End")  # which comes to the next question, and no further
    assert page.locator(".mgp-label").inner_text() == "8 / 12"
    assert typed(page, "a").startswith("LogBackward at a comes next in plain recursion")
    assert typed(page, "b").startswith("Right.")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert page.locator(".mgp-label").inner_text() == "12 / 12"
    told = typed(page, "0.6")
    assert PATH in told
    assert page.locator(".mgp-missing").count() == 7 and page.locator(".mgp-taken").count() == 7
    assert page.locator(".mgp-path").all_text_contents() == ["the path you took", "the path still to add"]
    assert page.locator(".mgp-tries").inner_text() == "attempt 1"
    assert typed(page, "10*0.1 + 75*0.008") == "Right. ∂z/∂x = 10·0.1 + 75·0.008 = 1 + 0.6 = 1.6"
    page.keyboard.press("Enter")
    assert page.locator(".mgp-ask").is_hidden() and "1.6" in page.locator(".mgp-formula").first.inner_text()
    assert page.evaluate("() => document.activeElement.matches('.mgp-view')")


def test_nothing_gives_the_answer_away(shown):
    """Not what is seen, nor what a screen reader reads, in any step that can be reached."""
    page = shown(9)
    for press in ("Home", "End", "ArrowRight", "ArrowLeft"):
        page.locator(".mgp-view").focus()
        page.keyboard.press(press)
        assert page.locator(".mgp-label").inner_text() == "1 / 12"
    assert page.locator(".mgp-view").evaluate("view => getComputedStyle(view).visibility") == "hidden"
    page.locator(".mgp-ask input").fill("x")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert "0.008" not in page.evaluate(SAID) and "1.6" not in page.evaluate(SAID)
    page.locator(".mgp-ask input").fill("b")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    said = page.evaluate(SAID)
    assert "0.008" in said and "1.6" not in said and "?" in said
    tree = page.locator(".mgp").aria_snapshot()
    assert "1.6" not in tree and "x.grad =" in tree
    page.locator(".mgp-view g.station").first.click()
    assert page.locator(".mgp-details").is_hidden()


def test_step_by_step_to_the_first_wrong_one(shown):
    page = shown(4)
    page.locator(".mgp-ask input").fill("x")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert "what does LogBackward at z pass to y?" in typed(page, "123.4")
    assert typed(page, "1/125").startswith("Right so far.")
    assert typed(page, "7").startswith("The first wrong step is PowBackward0 at y.")
    assert page.locator(".mgp-missing").count() >= 1
    assert typed(page, "0.6") == "Every step is right. Add what arrives to get x.grad."
    assert typed(page, "0.6").startswith("Right.")


def test_hint_and_solution(shown):
    page = shown(9)
    hint, show = page.get_by_role("button", name="Hint"), page.get_by_role("button", name="Show me")
    hint.click()
    assert page.locator(".mgp-feedback").inner_text() == "A tensor is a leaf if its grad_fn is None."
    show.click()
    assert page.locator(".mgp-feedback").inner_text() == "x"
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Predict", exact=True).click()  # off: everything is shown
    page.keyboard.press("End")
    page.locator(".mgp-view").focus()
    page.keyboard.press("End")
    assert page.locator(".mgp-label").inner_text() == "12 / 12" and page.locator(".mgp-ask").is_hidden()
    page.get_by_role("button", name="Predict", exact=True).click()
    page.locator(".mgp-ask:not([hidden])").wait_for()
    assert page.locator(".mgp-label").inner_text() == "1 / 12"


def test_the_second_call_comes_after_the_first(shown):
    page = shown(7, lang="ko")
    asked = []
    for answer in ("x", "0.6", "아니요", "1.2"):
        page.locator(".mgp-view").evaluate("view => view.focus()")
        page.keyboard.press("End")  # which comes to the next question
        page.locator(".mgp-ask:not([hidden])").wait_for()
        asked.append(page.locator(".mgp-ask-at").inner_text())
        page.locator(".mgp-ask input").fill(answer)
        page.keyboard.press("Enter")
        assert page.locator(".mgp-feedback").inner_text().startswith("맞아요.")
        page.keyboard.press("Enter")
    assert "잎" in asked[0] and "0.6" in asked[3]


@pytest.mark.parametrize("width", [420, 700, 1000])
def test_it_fits(shown, width):
    page = shown(9)
    page.set_viewport_size({"width": width, "height": 800})
    ask = page.locator(".mgp-ask")
    assert ask.evaluate("ask => ask.scrollWidth <= ask.clientWidth + 1")
    assert ask.bounding_box()["height"] >= 116
