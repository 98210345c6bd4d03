"""Puts measured tables into pages, between two comments that Markdown does not show."""

from __future__ import annotations

from pathlib import Path


def around(page: Path, name: str) -> tuple[str, str]:
    """The text up to `<!-- name -->`, and that from `<!-- end of name -->`; ValueError without these."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    text = page.read_text(encoding="utf-8")
    if not text.partition(begin)[2].partition(end)[1]:
        raise ValueError(f"{page.name} has no {begin.strip()} … {end}")
    return text[: text.index(begin) + len(begin)], text[text.index(end) :]


def put(page: Path, name: str, text: str) -> None:
    """Replace what stands between the two comments."""
    before, after = around(page, name)
    page.write_text(f"{before}\n{text}\n\n{after}", encoding="utf-8")
