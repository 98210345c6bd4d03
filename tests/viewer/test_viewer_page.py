"""`docs/viewer.md` says which functions a cell enters. Here the cell runs in IPython, and is followed."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from magic_shell import Front
from pages import ROOT, blocks, dead_links, printed
from shells import Shell

import minigrad_viz
from minigrad_viz.trace.bundle import TRACE

PAGE = ROOT / "docs" / "viewer.md"
PACKAGE = Path(minigrad_viz.__file__).parent
STEP = re.compile(r"^(\d+)\. `([^`]+)` \(\[([^\]]+)\]\(([^)]+)\)\) (.+)$", re.MULTILINE)
CELL = re.compile(r"^```text\n(%%autograd\n.*?)^```$", re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str, str, str, str]]:
    """Number, function, file, link and sentence of each step on the page."""
    found = STEP.findall(PAGE.read_text(encoding="utf-8"))
    return [(n, function, file.replace("\\", ""), link, told) for n, function, file, link, told in found]


@pytest.fixture(scope="module")
def entered(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """The functions that the page's cell enters, each with its file, in the order of first entry."""
    found: dict[tuple[str, str], None] = {}

    def note(frame, event, argument):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PACKAGE):
            found.setdefault((file.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname))

    cell = CELL.search(PAGE.read_text(encoding="utf-8"))[1]
    with Shell(tmp_path_factory.mktemp("viewer")) as running:
        shell = running.shell
        shell.display_pub = Front(shell)
        shell.run_cell("import minigrad as torch")
        shell.run_cell(cell)  # which loads what is loaded on first use
        before, collects = sys.getprofile(), gc.isenabled()
        gc.disable()  # it would run finalizers of other tests' objects in between
        sys.setprofile(note)
        try:
            shell.run_cell(cell)
        finally:
            sys.setprofile(before)
            if collects:
                gc.enable()
        assert [set(sent) for sent in shell.display_pub.sent] == [{"text/plain", "text/html", TRACE}] * 2
    return list(found)


def in_order(wanted: list[tuple[str, str]], found: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Those that do not follow one after the other among what was found."""
    left = iter(found)
    for each in wanted:
        if each not in left:  # reads on to where it stands
            left = iter(found)
            yield each


def test_the_cell_enters_the_functions_in_this_order(entered):
    wanted = [(file, function) for _, function, file, _, _ in steps()]
    assert len(wanted) > 30
    assert list(in_order(wanted, entered)) == []


def test_another_order_is_noticed(entered):
    wanted = [(file, function) for _, function, file, _, _ in steps()]
    assert list(in_order([wanted[1], wanted[0]], entered)) == [wanted[0]]
    assert list(in_order([("shell/cell.py", "nobody")], entered)) == [("shell/cell.py", "nobody")]


def test_steps_are_numbered_and_linked():
    for n, (number, _, file, link, sentence) in enumerate(steps(), 1):
        assert int(number) == n
        assert link == f"../minigrad_viz/{file}"
        assert sentence.endswith(".")
    assert dead_links(PAGE) == []


def test_code_prints_what_the_page_says(tmp_path):
    assert printed(PAGE, tmp_path) == [block.output for block in blocks(PAGE)]
