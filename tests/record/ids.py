"""The ids of all tests, as `pytest --collect-only -q --full` prints them.

The tests of a function stand in one line, `file<TAB>function<TAB>parameters`; where another function has the
same parameters, which is often so in the tables of ops, `=line` says in which line they stand.
"""

from __future__ import annotations

import fnmatch
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .store import read, write

NAME, REMOVED = "test_ids.txt.xz", "removed.txt"
ROOT = Path(__file__).parents[2]
ID = re.compile(r"(?P<file>[^:\s]\S*?)::(?P<function>[^\[]+)(?:\[(?P<parameters>.*)\])?", re.S)
BETWEEN = "\x1f"  # parameters


def collected(arguments: Iterable[str] = ()) -> str:
    """What pytest prints when it collects all tests, not only the sample of large checks."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--full", "-p", "no:cacheprovider"]
    command += arguments
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout[-3000:] + done.stderr)
    return done.stdout


def ids(output: str) -> list[str]:
    """The ids among the lines that pytest printed."""
    return [line for line in output.splitlines() if ID.fullmatch(line)]


def packed(every: Iterable[str]) -> list[str]:
    """The lines of the record."""
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in sorted(set(every)):
        match = ID.fullmatch(one)
        assert match
        grouped[match["file"], match["function"]].append("" if match[3] is None else f"[{match[3]}]")
    lines: list[str] = []
    places: dict[str, int] = {}
    for (file, function), parameters in grouped.items():
        text = BETWEEN.join(parameters)
        place = places.setdefault(text, len(lines))
        if place < len(lines) and len(text) > 8:
            text = f"={place}"
        lines.append(f"{file}\t{function}\t{text}")
    return lines


@cache
def recorded() -> tuple[str, ...]:
    """All recorded ids."""
    lines = [line.split("\t", 2) for line in read(NAME)]
    found = []
    for file, function, text in lines:
        whole = lines[int(text[1:])][2] if text.startswith("=") else text
        found += [f"{file}::{function}{parameter}" for parameter in whole.split(BETWEEN)]
    return tuple(found)


def removed() -> dict[str, str]:
    """Pattern of ids → name of what they tested, from `removed.txt`."""
    lines = (line.partition("\t")[::2] for line in read(REMOVED) if line and not line.startswith("#"))
    return {pattern: name.strip() for pattern, name in lines}


def explains(pattern: str, one: str) -> bool:
    """Whether a pattern, in which only `*` stands for other text, fits an id."""
    return fnmatch.fnmatchcase(one, pattern.replace("[", "[[]"))


def unexplained(missing: Iterable[str]) -> list[str]:
    """What is missing, without what `removed.txt` explains."""
    patterns = [pattern for pattern, name in removed().items() if name]
    return [one for one in missing if not any(explains(pattern, one) for pattern in patterns)]


def place(one: str) -> str:
    """An id without the half of PyTorch's table of ops that it is in: which that is depends on the others."""
    return one.replace("test_opinfo_rest.py", "test_opinfo.py")


def report(output: str) -> int:
    """Print the recorded tests that were not collected and that nothing explains; how many there are. A test
    that has parameters by now is there.
    """
    now = set(map(place, ids(output)))
    now |= {one.partition("[")[0] for one in now}
    left = unexplained(one for one in recorded() if place(one) not in now)
    print("\n".join(left))
    return len(left)


def make() -> None:
    write(NAME, packed(ids(collected())))
