"""The pages of documentation: their links, and that the README lists all of them."""

from __future__ import annotations

import re

import pytest
from bare_shell import bare_shell
from pages import BLOCK, ROOT, dead_links, python

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
KOREAN = sorted((ROOT / "docs" / "ko").glob("*.md"))
SOURCE = re.compile(r"`((?:core|ops|inplace|tensor|autograd|nn|optim|utils)/[\w/]+\.py)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    assert dead_links(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page):
    named = SOURCE.findall(page.read_text(encoding="utf-8"))
    assert [file for file in named if not (ROOT / "minigrad" / file).is_file()] == []


@pytest.mark.parametrize("page", KOREAN, ids=lambda page: f"ko/{page.name}")
def test_links_of_korean_pages_lead_somewhere(page):
    assert dead_links(page) == []


def test_the_korean_page_on_explanations_has_every_row_and_section():
    here, there = (
        (ROOT / "docs" / name / "explain.md").read_text(encoding="utf-8").split("\n") for name in ("", "ko")
    )
    for mark in ("#", "|", "- ", "```"):
        lines = [sum(line.startswith(mark) for line in text) for text in (here, there)]
        assert lines[0] == lines[1] > 0, f"lines that begin with {mark}: translate what is new"


def test_a_dead_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[there](page.md) [gone](gone.md) [elsewhere](https://example.org)", encoding="utf-8")
    assert dead_links(page) == ["gone.md"]


def test_the_readme_lists_every_page():
    text = PAGES[0].read_text(encoding="utf-8")
    assert [page.name for page in PAGES[2:] if f"](docs/{page.name}) |" not in text] == []
    assert len(text.splitlines()) < 150


PASTED = ("README.md", "first_steps.md", "usage.md", "pictures.md", "explain.md")  # in a notebook


@pytest.mark.parametrize(
    "page",
    [page for page in (*PAGES, *KOREAN) if page.name in PASTED],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_each_sample_runs_as_it_is_pasted(page, tmp_path, monkeypatch):
    """Each fence is one cell of a notebook that begins with the page."""
    monkeypatch.chdir(tmp_path)
    samples = [
        code for kind, code in BLOCK.findall(page.read_text(encoding="utf-8")) if kind in ("", "python")
    ]
    with bare_shell(tmp_path) as shell:
        failed = [code for code in samples if not shell.run_cell(code, store_history=True).success]
        shell.extension_manager.unload_extension("minigrad_viz")
    assert samples and not failed


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    """Sphinx warns about dead links, pages that no list names, and docstrings that it cannot read."""
    pytest.importorskip("sphinx", reason="the site needs Sphinx, MyST and Furo: pip install '.[docs]'")
    folders = [str(ROOT / "docs"), str(tmp_path)]
    python(["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", *folders], ROOT)
    functions = (tmp_path / "api" / "minigrad.html").read_text(encoding="utf-8")
    assert 'id="minigrad.log"' in functions and "Return the natural logarithm of each element." in functions
