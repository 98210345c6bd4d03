"""Names and numbers as mathematics writes them, in Unicode and in LaTeX.

In LaTeX, `<`, `>` and `&` are never written as they are (but for the `&` of a matrix), so a formula can stand
in HTML and Markdown; a name out of the source cannot leave its place.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any, NamedTuple

import numpy as np

from ..numbers import COLUMNS, DIGITS, MATRIX, VECTOR, number
from ..words import clean

SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
WORD = r"[^\W\d²³¹⁰⁴-⁹][^\W²³¹⁰⁴-⁹]*"  # an identifier, which x² is not
# x, x.grad, x[0], sqrt(w), net(x)₂: hold together by themselves
PIECE = re.compile(rf"{WORD}((\.{WORD})*(\[[^\[\]]*\])?|\([^()]*\)[₀-₉]*)|\([^()]*\)[₀-₉]+")
NUMBERED = re.compile(r"(.*[^₀-₉])([₀-₉]+)")
PARTIAL = re.compile(r"∂(\w+)/∂(\w+)")  # the name of a gradient that has a graph of its own
SHORT = re.compile(r"([^\W\d_])([0-9₀-₉]*)")  # one letter, which may have a number: x, W1, x₂
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
PARTS = r"[⁰¹²³⁴-⁹⁻]+|[^\W_⁰¹²³⁴-⁹]+| +|."  # exponents, words, blanks, single signs
IN, OUT, END = "\x02", "\x03", "\x04"  # around a number that flowed in, around a result
UNNAMED = "…"  # a tensor that has no name, and no short expression


class Both(NamedTuple):
    """A formula, or a part of one, in Unicode and in LaTeX."""

    plain: str
    latex: str


def both(*parts: str | Both) -> Both:
    """Parts of a formula one behind the other; signs that are written out are translated."""
    pairs = [part if isinstance(part, Both) else Both(part, latex_signs(part)) for part in parts]
    return Both("".join(pair.plain for pair in pairs), "".join(pair.latex for pair in pairs))


def latex_signs(signs: str) -> str:
    """Signs between the parts of a formula in LaTeX."""
    return signs.replace("·", r"\cdot").replace("→", r"\to").replace("−", "-")


class TooLarge(Exception):
    """An array that is not written out."""


def plain(x: Any, dtype: str = "float64", digits: int = DIGITS) -> str:
    """A number as a formula has it: `3`, `0.5`, `−2`, without the point that tells floats from integers."""
    if isinstance(x, complex | np.complexfloating):
        imaginary = plain(float(x.imag) + 0.0, dtype, digits)  # −0 as 0
        return f"{plain(float(x.real), dtype, digits)}{'' if imaginary[0] == '−' else '+'}{imaginary}j"
    short = number(float(x) if isinstance(x, float | np.floating) else x, dtype, digits)
    return short.replace(".e", "e").rstrip(".").replace("-", "−")


def plain_array(value: Any, dtype: str = "float64") -> str:
    """An array in one line (`[4 7 9]`, `[[1 2] [3 4]]`), with three digits where it would be long; TooLarge
    beyond 6 numbers or 3×3."""
    value = np.asarray(value)
    if value.ndim:
        sides = sorted(value.shape)
        if not value.size or sides[-1] > (VECTOR if value.ndim == 1 else MATRIX) or value.size > MATRIX**2:
            raise TooLarge
    line = nested(value, dtype, DIGITS)
    return line if not value.ndim or len(line) <= COLUMNS else nested(value, dtype, 3)


def nested(value: Any, dtype: str, digits: int) -> str:
    """The numbers of an array in brackets."""
    if not value.ndim:
        return plain(value.item(), dtype, digits)
    return "[" + " ".join(nested(part, dtype, digits) for part in value) + "]"


def latex_number(x: Any, dtype: str = "float64", digits: int = DIGITS) -> str:
    """A number in LaTeX: `6.4 \\times 10^{-5}`."""
    if isinstance(x, complex | np.complexfloating):
        parts = [latex_number(float(part), dtype, digits) for part in (x.real, x.imag + 0.0)]
        return rf"{parts[0]}{'' if parts[1][0] == '-' else '+'}{parts[1]}\mathrm{{j}}"
    if isinstance(x, bool | np.bool_):
        return rf"\mathrm{{{x}}}"
    text = plain(x, dtype, digits).replace("−", "-")
    if "e" in text:
        mantissa, exponent = text.split("e")
        return rf"{mantissa} \times 10^{{{int(exponent)}}}"
    return {"nan": r"\mathrm{nan}", "inf": r"\infty", "-inf": r"-\infty"}.get(text, latex_name(text)
        if not re.fullmatch(r"-?[\d.]+", text) else text)  # fmt: skip


def latex_array(value: Any, dtype: str = "float64") -> str:
    """An array in LaTeX: a row, a matrix, or rows of those."""
    value = np.asarray(value)
    if not value.ndim:
        return latex_number(value.item(), dtype)
    digits = DIGITS if plain_array(value, dtype) == nested(value, dtype, DIGITS) else 3
    table = value.reshape(1, -1) if value.ndim == 1 else value
    rows = [
        " & ".join(
            latex_number(x.item(), dtype, digits) if not x.ndim else latex_array(x, dtype) for x in row
        )
        for row in table
    ]
    return r"\begin{bmatrix}" + r" \\ ".join(rows) + r"\end{bmatrix}"


ESCAPES = {
    "_": r"\_", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "{": r"\{", "}": r"\}",
    "\\": r"\backslash ", "^": r"\wedge ", "~": r"\sim ", "<": r"\lt ", ">": r"\gt ", "∂": r"\partial ",
    "·": r"\cdot ", "−": "-", "'": r"\prime ", "`": r"\prime ",
}  # fmt: skip


@functools.lru_cache(4096)
def latex_name(name: str) -> str:
    """A name out of the source in LaTeX: a letter as it is, a longer one upright, anything else as text."""
    name = clean(name)
    partial, letter, counted = PARTIAL.fullmatch(name), SHORT.fullmatch(name), NUMBERED.fullmatch(name)
    if partial:
        return rf"\frac{{\partial {latex_name(partial[1])}}}{{\partial {latex_name(partial[2])}}}"
    if letter and letter[1].isascii():
        digits = letter[2].translate(SUBSCRIPTS)
        return f"{letter[1]}_{{{digits}}}" if digits else letter[1]
    if counted:
        return f"{{{latex_name(counted[1])}}}_{{{counted[2].translate(SUBSCRIPTS)}}}"
    if re.fullmatch(r"[A-Za-z0-9_.]+", name):
        return rf"\mathrm{{{name.replace('_', ESCAPES['_'])}}}"
    return "".join(map(escaped, re.findall(PARTS, name.translate(SUBSCRIPTS))))


def escaped(part: str) -> str:
    """A part of a text in LaTeX's mathematics: a word, blanks, or one sign."""
    if part.isspace():
        return r"\ "
    if part in ESCAPES:
        return ESCAPES[part]
    if part[0] in RAISED:
        return f"^{{{''.join(RAISED[c] for c in part)}}}"
    return rf"\text{{{part}}}" if part.isalnum() else part if part.isascii() else rf"\text{{{part}}}"


def named(name: str) -> Both:
    """A tensor by its name."""
    return Both(name, latex_name(name))


@functools.lru_cache(4096)
def bar(name: str) -> Both:
    """The gradient of a tensor: `x̄`, `W̄1`, `l̅o̅s̅s̅`; of one without a name `grad(x @ w)`."""
    longer = Both(f"grad({name})", rf"\operatorname{{grad}}({latex_name(name)})")
    if name.isidentifier():
        longer = Both("".join(c + "\u0305" for c in name), rf"\overline{{{latex_name(name)}}}")
    return over(name, "\u0304", "bar", longer)


@functools.lru_cache(4096)
def dot(name: str) -> Both:
    """The tangent of a tensor: `ẋ`, `Ẇ1`; of one with a longer name, or none, `tangent(loss)`."""
    longer = Both(f"tangent({name})", rf"\operatorname{{tangent}}({latex_name(name)})")
    return over(name, "\u0307", "dot", longer)


def over(name: str, mark: str, command: str, longer: Both) -> Both:
    """One letter, which may have a number, with a mark over it; any other name as what is `longer`."""
    letter = SHORT.fullmatch(name)
    if not letter:
        return longer
    plain, digits = (
        unicodedata.normalize("NFC", letter[1] + mark) + letter[2],
        letter[2].translate(SUBSCRIPTS),
    )
    if not letter[1].isascii():
        return longer._replace(plain=plain)
    return Both(plain, rf"\{command}{{{letter[1]}}}" + (f"_{{{digits}}}" if digits else ""))


@functools.lru_cache(4096)
def held(name: str) -> str:
    """A tensor's name as part of `∂…/∂…`: anything but a name or a call in brackets."""
    return name if PIECE.fullmatch(name) or name == UNNAMED else f"({name})"


def marked(sign: str, text: str) -> str:
    """A text with marks around: `sign` is IN or OUT."""
    return f"{sign}{text}{END}"


def unmarked(text: str) -> str:
    """A text without the marks around its numbers."""
    return re.sub(f"[{IN}{OUT}{END}]", "", text)


def parts_of(text: str) -> tuple[tuple[str, str], ...]:
    """A text with marks around numbers as (tone, text): "in" what flowed in, "out" the result."""
    parts, tone = [], ""
    for piece in re.split(f"([{IN}{OUT}{END}])", text):
        if piece in (IN, OUT, END):
            tone = {IN: "in", OUT: "out", END: ""}[piece]
        elif piece:
            parts.append((tone, piece))
    return tuple(parts)
