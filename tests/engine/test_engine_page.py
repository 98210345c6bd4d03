"""`docs/engine.md` says which functions a program enters. Here the program runs, and is followed."""

from __future__ import annotations

import gc
import re
import runpy
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks, printed, python

import minigrad

pytestmark = pytest.mark.quick

PAGE = ROOT / "docs" / "engine.md"
PACKAGE = Path(minigrad.__file__).parent
STEP = re.compile(r"^(\d+)\. `([^`]+)` \(\[([^\]]+)\]\(([^)]+)\)\) (.+)$", re.MULTILINE)


def steps() -> list[tuple[str, str, str, str, str]]:
    """Number, function, file, link and sentence of each step on the page."""
    return STEP.findall(PAGE.read_text(encoding="utf-8"))


def program(folder: Path) -> Path:
    """The page's first block as a file."""
    path = folder / "program.py"
    path.write_text(blocks(PAGE)[0].code.rpartition("print(")[0], encoding="utf-8")
    return path


def entered(path: Path) -> list[tuple[str, str]]:
    """The functions of minigrad that a program enters, each with its file, in the order of first entry."""
    found: dict[tuple[str, str], None] = {}

    def note(frame, event, argument):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PACKAGE):
            found.setdefault((file.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname))

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # it would run finalizers of other tests' objects in between
    sys.setprofile(note)
    try:
        runpy.run_path(str(path))
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return list(found)


def test_the_page_names_every_function_in_order(tmp_path):
    path = program(tmp_path)
    assert [(file, function) for _, function, file, _, _ in steps()] == entered(path)
    assert entered(path) == entered(path)  # nothing is loaded or prepared by the first call alone


def test_steps_are_numbered_and_linked():
    for n, (number, _, file, link, sentence) in enumerate(steps(), 1):
        assert int(number) == n
        assert link == f"../minigrad/{file}"
        assert sentence.endswith(".")


def test_a_function_more_is_noticed(tmp_path):
    path = program(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + "torch.exp(x)\n", encoding="utf-8")
    assert ("ops/elementary.py", "exp") in entered(path)


def test_code_prints_what_the_page_says(tmp_path):
    assert printed(PAGE, tmp_path) == [block.output for block in blocks(PAGE)]


def test_breakpoints_stop_where_the_page_says(tmp_path):
    session = re.search(r"^```pdb\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    prompt = "(Pdb) "
    lines = session[1].splitlines()
    commands = [line.removeprefix(prompt) for line in lines if line.startswith(prompt)]
    given = "\n".join([*commands, "quit", ""])
    seen = python(["-m", "pdb", str(program(tmp_path))], tmp_path, given).replace(prompt, "").splitlines()
    wanted = [line for line in lines if not line.startswith(prompt)]
    assert [line for line in seen if line in wanted] == wanted


@pytest.mark.parametrize("name", re.findall(r"`(\w+)`(?: and `(\w+)`)?, \[core", PAGE.read_text("utf-8")))
def test_functions_to_stop_in_exist(name):
    text = PAGE.read_text(encoding="utf-8")
    file = re.search(rf"`{name[0]}`.*?\(\.\./minigrad/([\w/]+\.py)\) \|$", text, re.MULTILINE)
    source = (PACKAGE / file[1]).read_text(encoding="utf-8")
    for each in filter(None, name):
        assert f"def {each}(" in source
