"""The page about explanations lists the keys of all of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def keys() -> set[str]:
    """The keys that the source gives to explanations."""
    found = set()
    for path in (ROOT / "minigrad_viz" / "explaining").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            place = {"case.explain": 0, "about": 1, "without_graph": 0}.get(called)
            given = node.args[place] if place is not None else None
            if isinstance(given, ast.Constant) and given.value:
                found.add(given.value)
    return found


def test_the_page_lists_every_key():
    page = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    listed = re.search(r"Each explanation has a key.*?\): (.*?)\.\n", page, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", listed[1])) == keys()
