"""A formula as a tree, and its printed forms: plain text, LaTeX for notebooks, and lists for the player,
which draws fractions and says them aloud.

In LaTeX, `<`, `>` and `&` are never written as they are (except the `&` of a matrix), so a formula can be
put into HTML and Markdown; a name from the source cannot break out of it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# What a tree consists of. Leaves have a text:
LETTER, IDENTIFIER, WORDS, NUMBER, SIGN, OPERATOR = (
    "letter",
    "identifier",
    "words",
    "number",
    "sign",
    "operator",
)
COMMAND = "command"  # the name of a function: `ln`, `reshape`
SPACE, GAP, BESIDE = "space", "gap", "beside"  # BESIDE parts factors that stand side by side
SHAPE = "shape"  # `(2, 3)`, which the player writes as the picture does: 2×3
# Everything else has parts:
ROW, FRACTION, ROOT, OVERLINE, ACCENT, ARRAY = "row", "fraction", "root", "overline", "accent", "array"
BRACKETS, BARS, FUNCTION, POWER, RAISED, LOWERED = (
    "brackets",
    "bars",
    "function",
    "power",
    "raised",
    "lowered",
)
TRANSPOSED, INCOMING, RESULT = "transposed", "incoming", "result"
GROUP = "group"  # what a sign below or above the line belongs to
WRITTEN = "written"  # parts that plain text writes as the text says
EITHER = "either"  # two parts: plain text writes the first, the others write the second

OPEN, SUM, PRODUCT, TIGHT, ATOM = range(-1, 4)  # how tightly a part holds together
TONES = {INCOMING: "in", RESULT: "out"}
SUPERSCRIPTS = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
MINUS = ("-", "−")


class Formula(NamedTuple):
    """A formula, or a part of one."""

    kind: str
    text: str = ""
    parts: tuple[Formula, ...] = ()
    level: int = ATOM

    @property
    def plain(self) -> str:
        """The formula in one line of Unicode."""
        return "".join(text for _, text in toned_pieces(self))

    @property
    def latex(self) -> str:
        """The formula in LaTeX."""
        return latex(self)


# ─── Building


def row(*parts: Formula | str, level: int = ATOM) -> Formula:
    """Parts side by side; a text stands for an operator between two of them."""
    return Formula(ROW, "", tuple(operator(p) if isinstance(p, str) else p for p in parts), level)


def operator(text: str) -> Formula:
    """A sign between two parts, as plain text has it: with blanks around it, or without."""
    return Formula(OPERATOR, text)


def sign(text: str) -> Formula:
    """Any other sign."""
    return Formula(SIGN, text)


def command(name: str) -> Formula:
    """The name of a function."""
    return Formula(COMMAND, name)


def fraction(above: Formula, below: Formula) -> Formula:
    """One part over another."""
    return Formula(FRACTION, "", (above, below), PRODUCT)


def brackets(part: Formula) -> Formula:
    """A part in brackets."""
    return Formula(BRACKETS, "", (part,))


def within(part: Formula, level: int) -> Formula:
    """A part, in brackets unless it holds together at `level`."""
    return part if part.level >= level else brackets(part)


def either(plain: Formula, other: Formula) -> Formula:
    """A part that plain text writes in its own way."""
    return Formula(EITHER, "", (plain, other))


def plain_variant(text: str, *parts: Formula, level: int = ATOM) -> Formula:
    """Parts that plain text writes in its own way."""
    return Formula(WRITTEN, text, parts, level)


def array_formula(cells: list[Formula]) -> Formula:
    """Numbers in a row, or rows of them."""
    return Formula(ARRAY, "", tuple(cells))


def is_negative(formula: Formula) -> bool:
    """Whether it begins with a minus sign."""
    return formula.plain[:1] in MINUS


def without_minus(formula: Formula) -> Formula:
    """The same without the minus sign with which it begins."""
    text, parts = formula.text, formula.parts
    if parts and (not text or formula.kind == WRITTEN):
        count = 2 if formula.kind == EITHER else 1
        parts = (*map(without_minus, parts[:count]), *parts[count:])
    return formula._replace(text=text[1:] if text[:1] in MINUS and text else text, parts=parts)


# ─── Plain text


Toned = Iterator[tuple[str, str]]


def toned_pieces(formula: Formula, tone: str = "") -> Toned:
    """The pieces of the plain text, each with its tone: "in" what flowed in, "out" the result, "" others."""
    kind, text, parts, _ = formula
    if kind == WRITTEN or not parts:
        yield tone, text
    elif kind == EITHER:
        yield from toned_pieces(parts[0], tone)
    elif kind in SPELLING:
        yield from SPELLING[kind](formula, tone)
    else:
        for part in parts:
            yield from toned_pieces(part, TONES.get(kind, tone))


def in_signs(part: Formula, tone: str, around: str = "()") -> Toned:
    """A part between two signs."""
    yield tone, around[0]
    yield from toned_pieces(part, tone)
    yield tone, around[1]


def plain_fraction(formula: Formula, tone: str) -> Toned:
    """`1/(2x)`."""
    yield from toned_pieces(within(formula.parts[0], PRODUCT), tone)
    yield tone, "/"
    yield from toned_pieces(within(formula.parts[1], TIGHT), tone)


def plain_power(formula: Formula, tone: str) -> Toned:
    """`x²`, `x^(q − 1)`."""
    base, exponent = formula.parts
    yield from toned_pieces(base, tone)
    text = exponent.plain
    if exponent.kind == NUMBER and text.lstrip("−").isdigit():
        yield tone, text.translate(SUPERSCRIPTS)
    else:
        yield tone, "^"
        yield from toned_pieces(within(exponent, ATOM), tone)


def plain_function(formula: Formula, tone: str) -> Toned:
    """`ln x`, `√(x + 1)`."""
    name, (argument,) = formula.text, formula.parts
    if argument.level == ATOM and not re.search(r"[(\[]", argument.plain):
        yield tone, f"{name}{' ' if name.isascii() else ''}"
        yield from toned_pieces(argument, tone)
    else:
        yield tone, name
        yield from in_signs(argument, tone)


def plain_array(formula: Formula, tone: str) -> Toned:
    """`[[1 2] [3 4]]`."""
    for i, part in enumerate(formula.parts):
        yield tone, " " if i else "["
        yield from toned_pieces(part, tone)
    yield tone, "]"


def plain_transposed(formula: Formula, tone: str) -> Toned:
    """`Wᵀ`."""
    yield from toned_pieces(formula.parts[0], tone)
    yield tone, "ᵀ"


SPELLING = {
    BRACKETS: lambda formula, tone: in_signs(formula.parts[0], tone),
    BARS: lambda formula, tone: in_signs(formula.parts[0], tone, "||"),
    FRACTION: plain_fraction, POWER: plain_power, FUNCTION: plain_function, ARRAY: plain_array,
    TRANSPOSED: plain_transposed,
}  # fmt: skip


def tones_of(formula: Formula) -> tuple[tuple[str, str], ...]:
    """The plain text as (tone, text), neighbors of one tone together."""
    found: list[tuple[str, str]] = []
    for tone, text in toned_pieces(formula):
        if found and found[-1][0] == tone:
            found[-1] = (tone, found[-1][1] + text)
        elif text:
            found.append((tone, text))
    return tuple(found)


# ─── LaTeX


ESCAPES = {
    "_": r"\_", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "{": r"\{", "}": r"\}",
    "\\": r"\backslash ", "^": r"\wedge ", "~": r"\sim ", "<": r"\lt ", ">": r"\gt ", "∂": r"\partial ",
    "·": r"\cdot ", "⊙": r"\odot ", "×": r"\times ", "−": "-", "'": r"\prime ", "′": r"\prime ",
    "`": r"\prime ", "→": r"\to ", "←": r"\gets ", "≠": r"\neq ", "≥": r"\geq ", "≤": r"\leq ",
    "∧": r"\land ", "∨": r"\lor ", "¬": r"\lnot ", "∞": r"\infty ",
    "γ": r"\gamma ", "σ": r"\sigma ", "‖": r"\| ", "⌊": r"\lfloor ", "⌋": r"\rfloor ",
    "…": r"\dots ", "Σ": r"\sum",
}  # fmt: skip
COMMANDS = {"ln": r"\ln", "sin": r"\sin", "cos": r"\cos", "tanh": r"\tanh", "σ": r"\sigma", "¬": r"\lnot"}


def latex(formula: Formula) -> str:
    """A formula in LaTeX."""
    kind, text, parts, _ = formula
    if kind in TYPESETTING:
        return TYPESETTING[kind](text, parts)
    if kind == EITHER:
        return latex(parts[1])
    return "".join(map(latex, parts))


def latex_escape(text: str) -> str:
    """Signs of a text in LaTeX's mathematics."""
    return "".join(ESCAPES.get(c, c if c.isascii() else rf"\text{{{c}}}") for c in text)


def latex_command(name: str) -> str:
    """The name of a function."""
    return COMMANDS.get(name, rf"\operatorname{{{latex_escape(name)}}}")


def latex_function(name: str, parts: tuple[Formula, ...]) -> str:
    """`\\ln x`, `\\sqrt{x + 1}`."""
    argument = latex(parts[0])
    if name == "√":
        return rf"\sqrt{{{argument}}}"
    around = f" {argument}" if parts[0].level == ATOM else rf"\left({argument}\right)"
    return latex_command(name) + around


def latex_array(parts: tuple[Formula, ...]) -> str:
    """Rows of cells; an array of one dimension is one row."""
    rows = [part.parts for part in parts] if parts[0].kind == ARRAY else [parts]
    lines = [" & ".join(map(latex, cells)) for cells in rows]
    return r"\begin{bmatrix}" + r" \\ ".join(lines) + r"\end{bmatrix}"


def latex_shape(text: str) -> str:
    """`(2,\\,3)`."""
    return text.replace(", ", r",\,")


TYPESETTING: dict[str, Any] = {
    LETTER: lambda text, parts: text,
    IDENTIFIER: lambda text, parts: rf"\mathrm{{{text.replace('_', ESCAPES['_'])}}}",
    WORDS: lambda text, parts: rf"\text{{{text}}}",
    NUMBER: lambda text, parts: text.replace("−", "-"),
    SIGN: lambda text, parts: latex_escape(text),
    OPERATOR: lambda text, parts: f" {latex_escape(text.strip()).strip()} ",
    COMMAND: lambda text, parts: latex_command(text),
    SPACE: lambda text, parts: r"\ ",
    GAP: lambda text, parts: r" \quad ",
    BESIDE: lambda text, parts: " ",
    SHAPE: lambda text, parts: latex_shape(text),
    FRACTION: lambda text, parts: rf"\frac{{{latex(parts[0])}}}{{{latex(parts[1])}}}",
    OVERLINE: lambda text, parts: rf"\overline{{{latex(parts[0])}}}",
    ACCENT: lambda text, parts: rf"\{text}{{{latex(parts[0])}}}",
    ARRAY: lambda text, parts: latex_array(parts),
    BRACKETS: lambda text, parts: rf"\left({latex(parts[0])}\right)",
    BARS: lambda text, parts: rf"\left|{latex(parts[0])}\right|",
    FUNCTION: latex_function,
    POWER: lambda text, parts: rf"{{{latex(parts[0])}}}^{{{latex(parts[1])}}}",
    GROUP: lambda text, parts: rf"{{{''.join(map(latex, parts))}}}",
    RAISED: lambda text, parts: rf"^{{{''.join(map(latex, parts))}}}",
    LOWERED: lambda text, parts: rf"_{{{''.join(map(latex, parts))}}}",
    TRANSPOSED: lambda text, parts: rf"{latex(parts[0])}^{{\top}}",
}


# ─── Lists for the player


Page = list[Any]


def page(formula: Formula) -> Page:
    """A formula for the player, as a list. A text in it is a letter, a number or a sign; with blanks around
    it a sign between two parts. A list in it has its kind first:

        ["fr", above, below]   ["sup", part]   ["sub", part]   ["root", part]   ["over", part]
        ["bar" or "dot" or "hat", letter]   ["word", text]   ["sign", letter]   ["space"]   ["gap"]
        ["in" or "out", …]   ["mx", columns, cell, …]

    where a part, a cell and what is above or below are such lists again.
    """
    kind, text, parts, _ = formula
    if kind in LISTING:
        return LISTING[kind](text, parts)
    if kind == EITHER:
        return page(parts[1])
    return pages(parts)


def pages(parts: tuple[Formula, ...]) -> Page:
    """Parts side by side."""
    return [piece for part in parts for piece in page(part)]


def page_function(name: str, parts: tuple[Formula, ...]) -> Page:
    """A function and its argument."""
    inside = page(parts[0])
    if name == "√":
        return [["root", inside]]
    if parts[0].level < ATOM:
        return [*page_name(name), "(", *inside, ")"]
    return [*page_name(name), *([["space"]] if name.isascii() else []), *inside]


def page_name(name: str) -> Page:
    """The name of a function."""
    return [["word" if name.isascii() else "sign", name]]


def page_array(parts: tuple[Formula, ...]) -> Page:
    """Cells, row by row."""
    rows = [part.parts for part in parts] if parts[0].kind == ARRAY else [parts]
    return [["mx", len(rows[0]), *(page(cell) for cells in rows for cell in cells)]]


def page_shape(text: str) -> Page:
    """Sizes as they are in the picture: `3×2`; a single one stays `(16,)`, which is not a number."""
    sizes = re.findall(r"\d+", text)
    return [["word", "×".join(sizes)]] if len(sizes) > 1 else re.findall(r"\d+|\S", text)


@functools.cache
def page_sign(text: str) -> Page:
    """A sign; nothing of blanks."""
    text = text.strip().replace("-", "−")
    return [["sign", text]] if text.isalpha() else [text] if text else []


LISTING: dict[str, Any] = {
    LETTER: lambda text, parts: [text],
    IDENTIFIER: lambda text, parts: [["word", text]],
    WORDS: lambda text, parts: [["word", text]],
    NUMBER: lambda text, parts: [text.replace("−", "-")],  # live values find their numbers by ASCII
    SIGN: lambda text, parts: page_sign(text),
    OPERATOR: lambda text, parts: [f" {text.strip().replace('-', '−')} "],
    COMMAND: lambda text, parts: page_name(text),
    SPACE: lambda text, parts: [["space"]],
    GAP: lambda text, parts: [["gap"]],
    BESIDE: lambda text, parts: [],
    SHAPE: lambda text, parts: page_shape(text),
    FRACTION: lambda text, parts: [["fr", page(parts[0]), page(parts[1])]],
    OVERLINE: lambda text, parts: [["over", page(parts[0])]],
    ACCENT: lambda text, parts: [[text, *page(parts[0])]],
    ARRAY: lambda text, parts: page_array(parts),
    BRACKETS: lambda text, parts: ["(", *page(parts[0]), ")"],
    BARS: lambda text, parts: ["|", *page(parts[0]), "|"],
    FUNCTION: page_function,
    POWER: lambda text, parts: [*page(parts[0]), ["sup", page(parts[1])]],
    RAISED: lambda text, parts: [["sup", pages(parts)]],
    LOWERED: lambda text, parts: [["sub", pages(parts)]],
    TRANSPOSED: lambda text, parts: [*page(parts[0]), ["sup", [["sign", "T"]]]],
    INCOMING: lambda text, parts: [["in", *pages(parts)]],
    RESULT: lambda text, parts: [["out", *pages(parts)]],
}
