"""What a class answered: a file with a line for each answer, and which mistakes were made how often.

Nothing is written unless `%config Autograd.log` names a file. A line has the question, whether the answer was
right and the keys of the misconceptions that give it, but neither the answer nor who gave it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from ..words import CATALOGUES, text
from ..words.display_text import columns

BAR = 30  # columns of the longest bar
file: Path | None = None  # where answers are noted


def note_answer(question: str, right: bool, keys: Iterable[str]) -> None:
    """Add a line, if answers are noted. A file that cannot be written is named once, and left alone."""
    global file
    if file is None:
        return
    line = json.dumps({"question": question, "right": right, "keys": list(keys)})
    try:
        with file.open("a", encoding="utf-8") as opened:
            opened.write(line + "\n")
    except OSError as problem:
        print(text("file_failed", file=file, problem=problem.strerror or problem), file=sys.stderr)
        file = None


def read_answers(paths: Iterable[Path]) -> list[tuple[str, bool, tuple[str, ...]]]:
    """The answers of some files: question, whether right, keys. ValueError for a line that is none."""
    found = []
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                answer = json.loads(line)
                found.append(
                    (str(answer["question"]), answer["right"] is True, tuple(map(str, answer["keys"])))
                )
            except (KeyError, TypeError, ValueError) as problem:
                raise ValueError(text("answers_no_line", file=path, line=number)) from problem
    return found


def answers_text(answers: Iterable[tuple[str, bool, tuple[str, ...]]], lang: str | None = None) -> str:
    """A table of the questions: how many answers, how many right, as a bar; below each its mistakes."""
    right, all_of = Counter[str](), Counter[str]()
    mistakes: dict[str, Counter[str]] = defaultdict(Counter)
    for question, was_right, keys in answers:
        all_of[question] += 1
        right[question] += was_right
        if not was_right:
            mistakes[question].update(keys or [text("answers_other", lang)])
    if not all_of:
        return text("answers_none", lang)
    most, width = max(all_of.values()), max(map(columns, all_of))
    lines = [text("answers_head", lang, answers=sum(all_of.values()), questions=len(all_of))]
    for question, count in sorted(all_of.items()):
        good = round(BAR * right[question] / most)
        bar = "█" * good + "░" * (round(BAR * count / most) - good)
        name = question + " " * (width - columns(question))
        lines.append(f"{name}  {bar:<{BAR}}  {right[question]} / {count}")
        lines += [
            f"{'':{width}}    {n} × {mistake_line(key, lang)}" for key, n in mistakes[question].most_common(3)
        ]
    return "\n".join(lines)


def mistake_line(key: str, lang: str | None) -> str:
    """What is said to whoever makes a mistake, behind its key."""
    known = CATALOGUES["en"].get(key)
    return key if known is None or "{" in known else f"{key}: {text(key, lang)}"


def answers_command(arguments: list[str]) -> int:
    """`python -m minigrad_viz answers FILE …`: print the table; 1 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m minigrad_viz answers", description=text("answers_about"))
    parser.add_argument("file", nargs="+", type=Path, help=text("answers_file"))
    parser.add_argument("--lang", choices=list(CATALOGUES), help=text("option_lang"))
    given = parser.parse_args(arguments)
    try:
        print(answers_text(read_answers(given.file), given.lang))
    except OSError as problem:
        print(f"{problem.filename}: {problem.strerror}", file=sys.stderr)
        return 1
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0
