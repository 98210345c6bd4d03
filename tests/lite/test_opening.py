"""Where the edition for the browser opens, without JupyterLite: its first page leads to a notebook that is
there."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from lab import missing

SITE = Path(__file__).resolve().parents[2] / "site"

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]


@pytest.mark.smoke
def test_the_first_page_leads_to_start_here(browser, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SITE)
    for name in ("build", "student"):  # names that others have, too
        monkeypatch.delitem(sys.modules, name, raising=False)
    build = importlib.import_module("build")
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "index.html").write_text("<!doctype html><title>JupyterLab</title>")
    (tmp_path / "index.html").write_text(build.OPENING, encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    page.wait_for_url("**/lab/index.html?path=*")
    opened = page.url.partition("path=")[2]
    page.close()
    assert opened == "00_start_here.ipynb"
    build.copy_notebooks(tmp_path / "contents")
    assert (tmp_path / "contents" / opened).is_file()
