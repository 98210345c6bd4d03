"""What a class answered: a file with a line for each answer.

Nothing is written unless `%config Autograd.log` names a file. A line has the question, whether the answer was
right and the keys of the misconceptions that give it, but neither the answer nor who gave it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..words import text

file: Path | None = None  # where answers are noted


class Answer(NamedTuple):
    """An answer as it is noted."""

    question: str
    right: bool
    keys: tuple[str, ...]


def note_answer(question: str, right: bool, keys: Iterable[str]) -> bool:
    """Add a line, if answers are noted; whether it was. A file that cannot be written is named once, and left
    alone."""
    global file
    if file is None:
        return False
    line = json.dumps({"question": question, "right": right, "keys": list(keys)})
    try:
        with file.open("a", encoding="utf-8") as opened:
            opened.write(line + "\n")
    except OSError as problem:
        print(text("file_failed", file=file, problem=problem.strerror or problem), file=sys.stderr)
        file = None
        return False
    return True


def parse_note(data: Any) -> Answer:
    """An answer out of a file, or from a page. ValueError for anything else."""
    match data:
        case {"question": str(question), "right": bool(right), "keys": list(keys)}:
            if all(isinstance(key, str) for key in keys):
                return Answer(question, right, tuple(keys))
    raise ValueError("no noted answer")


def read_answers(paths: Iterable[Path]) -> list[Answer]:
    """The answers of some files. ValueError for a line that is none."""
    found = []
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                found.append(parse_note(json.loads(line)))
            except ValueError as problem:
                raise ValueError(text("answers_no_line", file=path, line=number)) from problem
    return found
