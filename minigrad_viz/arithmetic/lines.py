"""Lines of arithmetic, and how sentences of the catalogue become part of them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..numbers import short
from ..protocol import Value
from ..snapshots import array_of
from ..words import text
from .glyphs import (
    IN,
    OUT,
    PARTS,
    Both,
    TooLarge,
    escaped,
    latex_array,
    marked,
    parts_of,
    plain_array,
    unmarked,
)

NONE = Both("None", r"\mathrm{None}")
SPACE, COLON = Both(" ", r"\ "), Both(": ", r":\ ")
COMPLEX = r"\mathrm{j}"  # how a complex number ends in LaTeX


class Line(NamedTuple):
    """One line of arithmetic.

    `kind` is what it shows: "chain_rule", "vjp", "broadcast", "sum" (gradients that met), "deposit" (what was
    in `.grad` before), "paths", "own" (the user's backward), "hook", "tangent" (forward mode), "words".
    `label` is the word before it in the reader's language; `parts` are (tone, text) with tone "" plain, "in"
    a number that flowed in, "out" the result; `formula` is the same in LaTeX, with the marks of `glyphs`
    around these numbers ("" where the line is no formula).
    """

    kind: str
    label: str
    parts: tuple[tuple[str, str], ...]
    formula: str = ""

    @property
    def latex(self) -> str:
        """The formula without marks."""
        return unmarked(self.formula)

    @property
    def text(self) -> str:
        """The line without its label."""
        return "".join(content for _, content in self.parts)


def line(kind: str, label: str, formula: Both) -> Line:
    """A line of a formula with marks around its numbers."""
    return Line(kind, label, parts_of(formula.plain), formula.latex)


def came(number: Both) -> Both:
    """A number that flowed in, marked."""
    return Both(marked(IN, number.plain), marked(IN, number.latex))


def result(number: Both) -> Both:
    """A result, marked."""
    return Both(marked(OUT, number.plain), marked(OUT, number.latex))


def sentence(key: str, lang: str | None, **values: Both) -> Both:
    """A sentence of the catalogue as part of a formula."""
    places = {name: chr(0xE000 + i) for i, name in enumerate(values)}
    filled = dict(zip(places.values(), (value.latex for value in values.values()), strict=True))
    pieces = re.split("([\ue000-\uf8ff])", text(key, lang, **places))
    latex = "".join(filled.get(p) or latex_words(p) for p in pieces if p)
    return Both(text(key, lang, **{name: value.plain for name, value in values.items()}), latex)


def worded(words: str) -> Both:
    """Words in a formula."""
    return Both(words, latex_words(words))


def latex_words(words: str) -> str:
    r"""Words in LaTeX's mathematics: `\text{through}` with its blanks, other signs as they are."""
    return "".join(escaped(part) for part in re.findall(PARTS, words))


def shaped(shapes: object) -> Both:
    """A shape, or `(2, 4)·(4, 3) → (2, 3)`."""
    told = str(shapes)
    return Both(told, told.replace("·", r" \cdot ").replace("→", r"\to").replace(", ", r",\,"))


def with_shapes(formula: Both, shapes: str) -> Both:
    """A formula, and behind it what it does to shapes ("" says nothing)."""
    told = shaped(shapes)
    return (
        Both(f"{formula.plain}   {told.plain}", rf"{formula.latex} \quad {told.latex}") if shapes else formula
    )


def joined(forms: list[Both], plain: str = " = ", latex: str = " = ") -> Both:
    """Forms of one number, as an equation; or with other signs between them."""
    return Both(plain.join(form.plain for form in forms), latex.join(form.latex for form in forms))


def listed(forms: list[Both]) -> Both:
    """Forms with commas between."""
    return joined(forms, ", ", r",\ ")


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────


def single(value: Value | None) -> bool:
    """Whether a value is one real number."""
    return value is not None and value.size == 1 and isinstance((value.items or ("",))[0], float | int)


def full(value: Value) -> Both | None:
    """A value as a formula has it; None if it is not written out."""
    return written(array_of(value), value.dtype)


def dotted(value: Value) -> Both:
    """A value as cards and pills show it (`1.`), with a minus sign; in LaTeX the shape where the numbers are
    not written out."""
    whole = full(value) or shaped(value.shape)
    return Both(short(value).replace("-", "−"), whole.latex)


def written(array: Any, dtype: str) -> Both | None:
    """Numbers as a formula has them; None if they are not written out."""
    try:
        return None if array is None else Both(plain_array(array, dtype), latex_array(array, dtype))
    except TooLarge:
        return None


def added(terms: list[Both]) -> Both:
    """`8 + 21 + 45`, `0.24 − 0.36`."""
    return Both(*(summed([term[way] for term in terms]) for way in (0, 1)))


def summed(terms: list[str]) -> str:
    """Terms with signs between, in Unicode or in LaTeX."""
    signs = {"−": " − ", "-": " - "}
    terms = [f"({t})" if t[-1:] == "j" or t.endswith(COMPLEX) else t for t in terms]
    return terms[0] + "".join(f"{signs[t[0]]}{t[1:]}" if t[0] in signs else f" + {t}" for t in terms[1:])


def in_brackets(number: Both) -> Both:
    """A number, marked or not: in brackets if it begins with a minus sign."""
    plain, latex = (f"({each})" if each.lstrip(IN)[:1] in ("-", "−") else each for each in number)
    return Both(plain, latex)


def held_number(number: Both) -> Both:
    """A number as a factor."""
    latex = rf"\left({number.latex}\right)" if number.latex[:1] == "-" else number.latex
    return in_brackets(number)._replace(latex=latex)
