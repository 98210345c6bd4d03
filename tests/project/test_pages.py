"""The pages of documentation: their links and samples, and that the list of pages has all of them."""

from __future__ import annotations

import re

import pytest
from bare_shell import bare_shell
from pages import BLOCK, ROOT, dead_links, python

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
KOREAN = sorted((ROOT / "docs" / "ko").glob("*.md"))  # README.md comes first
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


def test_the_page_of_the_tests_names_all_that_they_share():
    folder = ROOT / "tests" / "helpers"
    named = re.findall(r"`(\w+)`", (folder / "README.md").read_text(encoding="utf-8"))
    assert {path.stem for path in folder.glob("*.py")} == set(named)


def test_the_readme_is_short_and_the_list_of_pages_is_whole():
    text = PAGES[0].read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80 and "](docs/index.md)" in text
    listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[2:] if page.stem != "index" and f"]({page.name})" not in listed] == []


@pytest.mark.parametrize("page", [PAGES[0], KOREAN[0]], ids=["en", "ko"])
def test_the_sample_of_the_readme_shows_a_player(page, tmp_path, monkeypatch):
    """Its two fences, each pasted into a cell of its own."""
    monkeypatch.chdir(tmp_path)
    samples = [code for kind, code in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == ""]
    assert [code.partition("\n")[0].split()[0] for code in samples] == ["%load_ext", "%%autograd"]
    with bare_shell(tmp_path) as shell:
        assert all(shell.run_cell(code, store_history=True).success for code in samples)
        assert shell.user_ns["x"].grad.item() == pytest.approx(0.6)
        shell.extension_manager.unload_extension("minigrad_viz")


PASTED = (  # in a notebook
    *("README.md", "first_steps.md", "predict.md", "live.md", "compare.md", "grade.md", "debug_training.md"),
    *("pictures.md", "explain.md", "class.md"),
)


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


@pytest.mark.full
def test_the_site_is_built_without_a_warning(tmp_path):
    """Sphinx warns about dead links, pages that no list names, and docstrings that it cannot read."""
    pytest.importorskip("sphinx", reason="the site needs Sphinx, MyST and Furo: pip install '.[docs]'")
    folders = [str(ROOT / "docs"), str(tmp_path)]
    python(["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", *folders], ROOT, limit=600)
    functions = (tmp_path / "api" / "minigrad.html").read_text(encoding="utf-8")
    assert 'id="minigrad.log"' in functions and "Return the natural logarithm of each element." in functions
