"""What else a reader can do with a cell that is played: predict it, and move its numbers. A player of either
kind is another run of the cell, so an offer is the line that asks for it.

    offers  {"word" (of the button), "how" (where the lines belong), "copied",
             "ways": [[word, what it is, line], …]}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..words import text

PREDICT, LIVE = "--predict", "--live"
WORDS = {PREDICT: ("quiz_predict", "offer_predict"), LIVE: ("live", "offer_live")}
MAGIC, PROGRAM = "%%autograd", "python -m minigrad_viz -o page.html"
WIDGET = "--step"  # where a kernel answers


def offers_of(flags: Sequence[str], source: str, loop: bool, page: bool, lang: str | None) -> Any:
    """The offers of these options, for a cell of this `source`; of a `loop` the live numbers are those of a
    training that goes on. A `page` may belong to a program that no notebook ran. None without any."""
    if not flags:
        return None
    first = source.partition("\n")[0].rstrip()
    program = page and not first.startswith(MAGIC)
    before = PROGRAM if program else first if first.startswith(MAGIC) else MAGIC
    return {
        "word": text("offer", lang),
        "how": text("offer_program" if program else "offer_cell", lang),
        "copied": text("copied", lang),
        "ways": [
            [*(text(key, lang) for key in WORDS[flag]), offer_line(before, flag, loop, program)]
            for flag in flags
        ],
    }


def offer_line(before: str, flag: str, loop: bool, program: bool) -> str:
    """The line that asks for it, with what the cell asks for already."""
    words = before.split(" ")
    widget = [WIDGET] if flag == LIVE and loop and not program and WIDGET not in words else []
    return " ".join([*words, *widget, flag, *["program.py"] * program])
