"""What is recorded and was removed for good, as `removed.txt` says."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from .store import read

NAME = "removed.txt"


def removed() -> dict[str, str]:
    """Pattern → name of what was left out."""
    lines = (line.partition("\t")[::2] for line in read(NAME) if line and not line.startswith("#"))
    return {pattern: name.strip() for pattern, name in lines}


def unexplained(missing: Iterable[str]) -> list[str]:
    """What is missing, without what was left out. In a pattern only `*` stands for other text."""
    patterns = [pattern.replace("[", "[[]") for pattern, name in removed().items() if name]
    return [one for one in missing if not any(fnmatch.fnmatchcase(one, pattern) for pattern in patterns)]
