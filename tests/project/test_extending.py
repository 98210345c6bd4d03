"""`docs/extending.md` adds to the viewer. Its changes are made in a copy, and its examples run there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from pages import BETWEEN, ROOT, blocks, python

PAGE = ROOT / "docs" / "extending.md"
CHANGE = re.compile(r"^```(?:python|text)\n# ([\w/]+\.\w+)(?:, (above|in) (\w+))?\n(.*?)^```$", re.M | re.S)
FILES = {
    "A part of a box": 3,
    "A kind of question": 3,
    "A rule": 3,
    "A language": 2,
}


def changes(text: str) -> list[tuple[str, ...]]:
    """The changes of a part of the page: file, where in it, and what is added."""
    return CHANGE.findall(text)


def change(package: Path, name: str, where: str, symbol: str, added: str) -> None:
    """Make one change."""
    file = package / name
    file.parent.mkdir(exist_ok=True)
    text = file.read_text("utf-8") if file.exists() else ""
    begin = re.search(rf"^{symbol}\b.* = [\[{{].*\n", text, re.M) if symbol else None
    if begin is None:
        assert not symbol, f"{name} has no table {symbol}"
        at, added = len(text), f"\n\n{added}" if name.endswith(".py") else added
    elif where == "above":
        at, added = begin.start(), f"{added}\n\n"
    else:
        at = begin.end() + re.search(r"^[\]}]", text[begin.end() :], re.M).start()
    file.write_text(text[:at] + added + text[at:], "utf-8")


def sections() -> dict[str, str]:
    """The parts of the page by their headings."""
    _, *parts = re.split(r"^## (.*)\n", PAGE.read_text("utf-8"), flags=re.M)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.quick
def test_each_extension_touches_few_files():
    touched = {name: len({each[0] for each in changes(text)}) for name, text in sections().items()}
    assert touched == FILES


def test_examples_print_what_the_page_says(tmp_path):
    package = tmp_path / "minigrad_viz"
    shutil.copytree(ROOT / "minigrad_viz", package, ignore=shutil.ignore_patterns("__pycache__"))
    for each in changes(PAGE.read_text("utf-8")):
        change(package, *each)
    examples = [block for block in blocks(PAGE) if not block.code.startswith("# ")]
    program = tmp_path / "page.py"  # beside the copy, which is found first
    program.write_text(f"print({BETWEEN!r})\n".join(block.code for block in examples), "utf-8")
    printed = python([str(program)], tmp_path).split(BETWEEN + "\n")
    assert printed == [block.output for block in examples]
