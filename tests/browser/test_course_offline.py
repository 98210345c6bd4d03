"""The course as pages that nbconvert wrote: they play without a network."""

from __future__ import annotations

import course
import pytest
from lab import missing
from players import pictures, step_through

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", course.ALL)
def test_a_converted_notebook_is_whole_offline(visit, tmp_path, name):
    nbconvert = pytest.importorskip("nbconvert")
    html, _ = nbconvert.HTMLExporter().from_filename(str(course.FOLDER / f"{name}.ipynb"))
    path = tmp_path / f"{name}.html"
    path.write_text(html, encoding="utf-8")
    page = visit(path)
    count = pictures(name)
    if count:
        page.locator(".mgp svg.mg").nth(count - 1).wait_for()
    assert step_through(page) == count


@pytest.mark.smoke
@pytest.mark.parametrize("name", ["code_02", "why_backward"])
def test_formulas_of_an_offline_page_need_no_network(browser, tmp_path, name):
    pytest.importorskip("nbconvert")
    from minigrad_viz.sharing.offline import OfflinePage

    path = tmp_path / f"{name}.html"
    path.write_text(OfflinePage().from_filename(str(course.FOLDER / f"{name}.ipynb"))[0], encoding="utf-8")
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    page.goto(path.as_uri())
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    texts = page.locator(".jp-RenderedMarkdown")
    assert not [text for text in texts.all_inner_texts() if "$" in text or "\\" in text]
    formula = page.locator("math[display=block]").first.bounding_box()
    assert formula["height"] > 20 and page.locator("math").count() > 10
    if pictures(name):
        page.locator(".mgp svg.mg").first.wait_for()
    page.close()
