"""The page of keys has every key of an explanation, with its sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from sources import nodes_of

from minigrad_viz.explaining.case import RULES
from minigrad_viz.explaining.diagnosis import MODULES
from minigrad_viz.words import CATALOGUES

ROOT = Path(__file__).resolve().parents[2]


def keys() -> set[str]:
    """The keys of the rules, and those that the source gives to notes and to other explanations."""
    found = {rule.key for module in MODULES for rule in RULES[module.__name__]}
    for path in (ROOT / "minigrad_viz" / "explaining").glob("*.py"):
        for node in nodes_of(path):
            found |= {each.value for each in given(node) if isinstance(each, ast.Constant) and each.value}
    return found


def given(node: ast.AST) -> Iterator[ast.AST]:
    """The keys of explanations in a part of the source: of a note, of a table for one, of an option."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "case.note":
        yield node.args[0]
    elif isinstance(node, ast.Tuple) and len(node.elts) == 3:
        key, why = node.elts[:2]
        named = isinstance(key, ast.Constant) and isinstance(why, ast.Constant)
        if named and why.value in CATALOGUES["en"] and key.value not in CATALOGUES["en"]:
            yield key
    elif isinstance(node, ast.keyword) and node.arg == "key":
        yield node.value
    elif isinstance(node, ast.Dict):
        yield from (value for key, value in zip(node.keys, node.values) if getattr(key, "value", "") == "key")


def test_the_page_lists_every_key():
    page = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| \S.*\. \|$", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == keys()
