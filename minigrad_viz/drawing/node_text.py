"""What is said of a node beside its saved values and hooks: with what its op was called, a custom Function's
source."""

from __future__ import annotations

from ..protocol import op_of
from ..trace.graph import Code, Deck
from ..words import clean, text

LINES = 40  # of a method; more are left out
KINDS = {"tensor": "kind_tensor", "number": "kind_number"}  # of what an op was called with
SIGNS = {"add": "+", "sub": "-", "rsub": "-", "mul": "*", "div": "/", "pow": "**"}


def op_lines(deck: Deck, lang: str | None = None) -> list[str]:
    """With what the op was called that made a node, and what the digit of its name counts."""
    lines = []
    if len(deck.kinds) > 1:
        kinds = [text(KINDS[kind], lang) for kind in deck.kinds]
        sign = SIGNS.get(op_of(deck.name)) if len(kinds) == 2 else None
        called = f" {sign} ".join(kinds) if sign else f"{op_of(deck.name)}({', '.join(kinds)})"
        lines.append(text("tip_kinds", lang, called=called))
    digit = deck.name[len(deck.name.rstrip("0123456789")) :]
    if digit and deck.kinds:
        lines.append(text("tip_digit", lang, digit=digit, name=clean(deck.name)))
    return lines


def code_places(deck: Deck, lang: str | None = None) -> list[str]:
    """Where the methods of a custom Function stand, one short text each."""
    return [
        text("code_at" if code.line else "code_elsewhere", lang, name=clean(code.name), line=code.line)
        for code in deck.code
    ]


def code_text(code: Code, lang: str | None = None) -> str:
    """The source of a method under its name, with the numbers of its lines in the cell if it stands there. No
    line of it is empty, for an empty line ends it in a tooltip."""
    lines = [clean(line) or " " for line in code.text.split("\n")]
    wide = len(str(code.line + len(lines) - 1))
    shown = [
        f"{code.line + i:>{wide}}  {line}".rstrip() if code.line else line for i, line in enumerate(lines)
    ]
    more = [text("tip_code_more", lang, n=len(lines) - LINES)] * (len(lines) > LINES)
    name = clean(code.name)
    head = text("tip_code_line", lang, name=name, line=code.line) if code.line else f"{name}:"
    return "\n".join([head, *shown[:LINES], *more])
