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
