"""Pages of documentation: their code blocks, what these print, and their links."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
BETWEEN = "– next block –"


class Block(NamedTuple):
    """A block of code, and the text that stands below it as its output."""

    code: str
    output: str


def blocks(page: Path) -> list[Block]:
    """The Python blocks of a page. A text block directly below one is its output."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = None
    for match in BLOCK.finditer(text):
        language, body = match.groups()
        if language == "python":
            found.append(Block(body, ""))
            end = match.end()
        elif language == "text" and end is not None and not text[end : match.start()].strip():
            found[-1] = Block(found[-1].code, body)
            end = None
        else:
            end = None
    return found


def dead_links(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    targets = [t for t in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in t]
    return [t for t in targets if not (page.parent / t).exists()]


def python(arguments: list[str], folder: Path, given: str = "", limit: float = 120) -> str:
    """What a new interpreter prints that finds minigrad and the tests' own modules; it must succeed within
    `limit` seconds."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests" / "helpers")]),
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        input=given,
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=limit,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed(page: Path, folder: Path) -> list[str]:
    """What each Python block of a page prints when all run as one program, in a new interpreter. What they
    declare is gone when it ends.
    """
    program = folder / "page.py"
    program.write_text(f"print({BETWEEN!r})\n".join(b.code for b in blocks(page)), encoding="utf-8")
    return python([str(program)], folder).split(BETWEEN + "\n")
