"""The player's JavaScript, tested in Chromium: every test of `player_tests.js` is one here.

The page is made up: no server answers, and what it asks for is read from the files.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab import BROWSER_OPTIONS, find_chromium, missing

from minigrad_viz.player import static_html

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing()), pytest.mark.smoke]

TESTS = Path(__file__).with_name("player_tests.js")
PACKAGE = Path(__file__).resolve().parent.parent.parent / "minigrad_viz" / "player"
NAMES = re.findall(r'^(?:test|plain)\("([^"]*)"', TESTS.read_text(encoding="utf-8"), re.M)
TYPES = {".js": "text/javascript", ".css": "text/css"}


@pytest.fixture(scope="module")
def page():
    from playwright.sync_api import sync_playwright

    def answer(route) -> None:
        name = route.request.url.rpartition("/")[2]
        path = (PACKAGE if name.startswith("stepper") else TESTS.parent) / name
        if name:
            route.fulfill(body=path.read_text(encoding="utf-8"), content_type=TYPES[path.suffix])
        else:
            route.fulfill(body="<!doctype html><meta charset=utf-8>", content_type="text/html")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
        page = browser.new_page(viewport={"width": 900, "height": 700})
        page.route("**/*", answer)
        page.goto("http://player.invalid/")
        page.add_style_tag(url="/stepper.css")
        yield page
        browser.close()


@pytest.mark.parametrize("also", ["", *static_html.EXTRAS, "strip quiz", "strip live"])
def test_no_two_modules_give_one_name(also):
    """They become one script, in which each name stands once."""
    script = "".join(static_html.scripts(also))
    given = re.findall(r"^(?:export )?(?:async )?(?:class|const|function|let) (\w+)", script, re.M)
    assert len(given) > 50 and sorted(given) == sorted(set(given))


def test_every_test_has_a_name_of_its_own():
    assert len(NAMES) == len(set(NAMES)) > 20
    written = TESTS.read_text(encoding="utf-8")
    assert len(NAMES) == written.count("\ntest(") + written.count("\nplain(")


@pytest.mark.parametrize("name", NAMES)
def test_player(page, name):
    page.evaluate("name => import('/player_tests.js').then(tests => tests.run(name))", name)
