"""Which tests may stop passing: those that need a name that minigrad leaves out on purpose."""

from __future__ import annotations

import re
from pathlib import Path

from .run import Verdict

# How AttributeErrors and ImportErrors name what is missing.
MISSING = re.compile(r"has no (?:attribute '(\w+)'|([\w.]*\w))|cannot import name '(\w+)'")


def read_left_out(file: Path) -> frozenset[str]:
    """The words in a file of lines `namespace: word word …`. A file that does not exist has none."""
    if not file.exists():
        return frozenset()
    words: set[str] = set()
    for line in file.read_text(encoding="utf-8").splitlines():
        _, colon, listed = line.partition("#")[0].partition(":")
        if colon:
            words.update(listed.split())
    return frozenset(words)


def is_excused(verdict: Verdict, left_out: frozenset[str]) -> bool:
    """Whether the test failed because minigrad does not have a name that was left out."""
    error = verdict.error.partition("\nat ")[0]
    if not error.startswith(("AttributeError", "ImportError", "ModuleNotFoundError")):
        return False
    names = (a or b.rpartition(".")[2] or c for a, b, c in MISSING.findall(error))
    return not left_out.isdisjoint(names)
