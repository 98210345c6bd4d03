"""Lines of arithmetic, and how sentences of the catalogue become part of them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..number_text import numbers_line, shape_text
from ..protocol import Value
from ..snapshots import array_of
from ..words import text
from .formula_tree import (
    GAP,
    IDENTIFIER,
    INCOMING,
    RESULT,
    SPACE,
    Formula,
    brackets,
    either,
    is_negative,
    plain_variant,
    row,
    sign,
    tones_of,
    without_minus,
)
from .typeset import TooLarge, array_tree, shape_formula, text_formula

NONE = Formula(IDENTIFIER, "None")
BLANK, COLON, EQUALS = Formula(SPACE, " "), row(sign(":"), Formula(SPACE, " ")), sign(" = ")
COMMA = row(sign(","), Formula(SPACE, " "))


class Line(NamedTuple):
    """One line of arithmetic.

    `kind` is what it shows: "chain_rule", "vjp", "broadcast", "sum" (gradients that met), "deposit" (what was
    in `.grad` before), "paths", "own" (the user's backward), "hook", "tangent" (forward mode), "words".
    `label` is the word before it in the reader's language; `parts` are (tone, text) with tone "" plain, "in"
    a number that flowed in, "out" the result; `formula` is the same as a tree (None where the line is not a
    formula).
    """

    kind: str
    label: str
    parts: tuple[tuple[str, str], ...]
    formula: Formula | None = None

    @property
    def latex(self) -> str:
        """The formula in LaTeX."""
        return "" if self.formula is None else self.formula.latex

    @property
    def text(self) -> str:
        """The line without its label."""
        return "".join(content for _, content in self.parts)


def line(kind: str, label: str, formula: Formula) -> Line:
    """A line of a formula."""
    return Line(kind, label, tones_of(formula), formula)


def incoming_number(number: Formula) -> Formula:
    """A number that flowed in, marked."""
    return Formula(INCOMING, "", (number,))


def result(number: Formula) -> Formula:
    """A result, marked."""
    return Formula(RESULT, "", (number,))


def sentence(key: str, lang: str | None, **values: Formula) -> Formula:
    """A sentence of the catalogue as part of a formula."""
    places = {name: chr(0xE000 + i) for i, name in enumerate(values)}
    filled = dict(zip(places.values(), values.values(), strict=True))
    pieces = re.split("([\ue000-\uf8ff])", text(key, lang, **places))
    parts = [filled[piece] if piece in filled else text_formula(piece) for piece in pieces if piece]
    return plain_variant(text(key, lang, **{name: value.plain for name, value in values.items()}), *parts)


def words_formula(words: str) -> Formula:
    """Words in a formula."""
    return text_formula(words)


def with_shapes(formula: Formula, shapes: Formula | None) -> Formula:
    """A formula, and behind it what it does to shapes (None says nothing)."""
    return formula if shapes is None else row(formula, Formula(GAP, "   "), shapes)


def join_with_sign(forms: list[Formula], between: Formula) -> Formula:
    """Forms with a sign between them."""
    return row(*(each for i, form in enumerate(forms) for each in ((between, form) if i else (form,))))


def join_forms(forms: list[Formula]) -> Formula:
    """Forms of one number, as an equation."""
    return join_with_sign(forms, EQUALS)


def comma_separated(forms: list[Formula]) -> Formula:
    """Forms with commas between."""
    return join_with_sign(forms, COMMA)


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────


def full(value: Value) -> Formula | None:
    """A value as a formula has it; None if it is not written out."""
    return number_formula(array_of(value), value.dtype)


def card_number(value: Value) -> Formula:
    """A value as cards and pills show it (`1.`), with a minus sign; the numbers of a longer array as other
    formulas have them, and its shape where these are not written out."""
    told, numbers = numbers_line(value).replace("-", "−"), full(value)
    if not told:
        told = shape_text(value) if numbers is None else numbers.plain
    return plain_variant(told, numbers or shape_formula(value.shape))


def number_formula(array: Any, dtype: str) -> Formula | None:
    """Numbers as a formula has them; None if they are not written out."""
    try:
        return None if array is None else array_tree(array, dtype)
    except TooLarge:
        return None


def addition(terms: list[Formula]) -> Formula:
    """`8 + 21 + 45`, `0.24 − 0.36`."""
    parts: list[Formula | str] = []
    for term in terms:
        term = brackets(term) if term.plain[-1:] == "j" else term
        negative = bool(parts) and is_negative(term)
        parts += [" − " if negative else " + "] if parts else []
        parts.append(without_minus(term) if negative else term)
    return row(*parts)


def in_brackets(number: Formula) -> Formula:
    """A number, marked or not: in brackets if it begins with a minus sign."""
    return brackets(number) if is_negative(number) else number


def as_written(text: str, formula: Formula) -> Formula:
    """A formula for which plain text has a text without marks."""
    return either(plain_variant(text), formula)
