"""Phrases that sound translated, or that a reader has to guess at, and where people read."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from sources import nodes_of

ROOT = Path(__file__).resolve().parents[2]

REFUSED = {  # what to write instead: a pattern of what is not to be written
    "because": r"[,;:] for (?:they|it|there|he|she|neither|none|nothing|nobody|whoever) (?!example)\w+",
    "with respect to": r"\b(?:derivative|gradient|Jacobian|differentiate)[sd]?(?: of \S+)? by "
    r"(?:`?[a-z]`?\b(?!\.)|(?:each|its|their|all|the) (?:input|leaf|leaves|parameter|tensor|weight)s?\b)",
    "instead of": r"\bin (?:the )?place of\b",
    "has, records, sees": r"\bknow(?:s|n)? (?:of|no|nothing)\b",
    "requires gradients": r"\bask(?:s|ed|ing)? (?:for (?:no |its |their )?|to require )gradients?\b",
    "is described, is shown, receives": r"\b(?:is|are|was|were|be|been) told\b",
    "compute, calculate": r"\b[Rr]eckon",
    "largest, maximum": r"\bgreatest\b",
    "a sentence with a subject": r"\bWhoever\b|\bbe (?:it|they|there) \w+ or\b",
    "Common misunderstandings": r"[Kk]ind corrections?\b|\bA word on\b",
    "the plain word": r"\bno real numbers\b|\bof (?:its|their) own accord\b|\btaken along\b"
    r"|\b(?:lest|thereof|therein|whence|henceforth|wherein|upon|whilst|amongst|anew|nought)\b",
    "American spelling": r"(?i)\b\w*(?:colour|behaviour|neighbour|optimis|recognis|normalis|initialis|"
    r"serialis|minimis|maximis|summaris|organis|favour|centre)\w*",
}
COMMENT = re.compile(r"^(?:.*  | *)# (.*)", re.MULTILINE)  # the formatter sets it apart like this
READ = (".py", ".md", ".ipynb")
PATTERNS = {instead: re.compile(pattern) for instead, pattern in REFUSED.items()}


def found_in(text: str) -> list[str]:
    """The refused phrases of a text, with what stands around them."""
    line = " ".join(text.split())
    hits = ((instead, hit) for instead, pattern in PATTERNS.items() for hit in pattern.finditer(line))
    return [f"{line[max(0, h.start() - 30) : h.end() + 30]!r} ({instead})" for instead, h in hits]


def read_in(path: Path) -> Iterator[str]:
    """What a person reads in a file: docstrings and comments of code, Markdown of notebooks, a whole page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        kinds = (ast.Module, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
        docs = (ast.get_docstring(node) for node in nodes_of(path) if isinstance(node, kinds))
        yield from filter(None, docs)
        yield from COMMENT.findall(text)
    elif path.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "markdown":
                yield "".join(cell["source"])
    else:
        yield text


if __name__ == "__main__":  # python tests/helpers/phrases.py FOLDER …: what is left there
    import sys

    for name in sys.argv[1:]:
        top = ROOT / name
        for path in sorted(top.rglob("*") if top.is_dir() else [top]):
            if path.suffix in READ:
                for phrase in (phrase for text in read_in(path) for phrase in found_in(text)):
                    print(f"{path.relative_to(ROOT)}: {phrase}")
