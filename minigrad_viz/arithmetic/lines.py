"""Lines of arithmetic, and how sentences of the catalogue become part of them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from ..numbers import short
from ..protocol import Value
from ..words import text
from .glyphs import END as CLOSED
from .glyphs import (
    IN,
    OUT,
    PARTS,
    TooLarge,
    escaped,
    latex_array,
    parts_of,
    plain_array,
    unmarked,
)

COMPLEX = r"\mathrm{j}"  # how a complex number ends in LaTeX
PRECISION = {"float64": 1e-9, "complex128": 1e-9, "float16": 4e-3, "bfloat16": 3e-2}  # else 1e-5


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


def line(kind: str, label: str, marked: str, latex: str) -> Line:
    """A line of a text with marks around its numbers."""
    return Line(kind, label, parts_of(marked), latex)


def came(written: str) -> str:
    """A number that flowed in, marked."""
    return f"{IN}{written}{CLOSED}"


def result(written: str) -> str:
    """A result, marked."""
    return f"{OUT}{written}{CLOSED}"


def latex_result(value: Value) -> str:
    """A result in LaTeX, marked."""
    return result(latex_full(value))


def latex_sentence(key: str, lang: str | None, **values: str) -> str:
    """A sentence of the catalogue in LaTeX; `values` are LaTeX already."""
    places = {name: chr(0xE000 + i) for i, name in enumerate(values)}
    filled = dict(zip(places.values(), values.values(), strict=True))
    pieces = re.split("([\ue000-\uf8ff])", text(key, lang, **places))
    return "".join(filled.get(p) or latex_words(p) for p in pieces if p)


def latex_words(words: str) -> str:
    r"""Words in LaTeX's mathematics: `\text{through}` with its blanks, other signs as they are."""
    return "".join(escaped(part) for part in re.findall(PARTS, words))


def latex_shape(shapes: str) -> str:
    """`(2, 4)·(4, 3) → (2, 3)` in LaTeX."""
    return shapes.replace("·", r" \cdot ").replace("→", r"\to").replace(", ", r",\,")


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────


def array_of(value: Value | None) -> Any:
    """A snapshot as NumPy data; None where its numbers are not known."""
    if value is None or value.items is None:
        return None
    try:
        dtype = np.dtype("float32" if value.dtype == "bfloat16" else value.dtype)
    except TypeError:
        return None
    return np.array(value.items, dtype).reshape(value.shape)[()]


def single(value: Value | None) -> bool:
    """Whether a value is one real number."""
    return value is not None and value.size == 1 and isinstance((value.items or ("",))[0], float | int)


def full(value: Value) -> str | None:
    """A value as a formula has it; None if it is not written out."""
    return written(array_of(value), value.dtype)


def dotted(value: Value) -> str:
    """A value as cards and pills show it (`1.`), with a minus sign."""
    return short(value).replace("-", "−")


def written(array: Any, dtype: str) -> str | None:
    """Numbers as a formula has them; None if they are not written out."""
    try:
        return None if array is None else plain_array(array, dtype)
    except TooLarge:
        return None


def latex_full(value: Value) -> str:
    """The same in LaTeX, the shape where the numbers are not written out."""
    try:
        array = array_of(value)
        return latex_shape(str(value.shape)) if array is None else latex_array(array, value.dtype)
    except TooLarge:
        return latex_shape(str(value.shape))


def added(terms: list[str]) -> str:
    """`8 + 21 + 45`, `0.24 − 0.36`; in LaTeX as well."""
    signs = {"−": " − ", "-": " - "}
    terms = [f"({t})" if t[-1:] == "j" or t.endswith(COMPLEX) else t for t in terms]
    return terms[0] + "".join(f"{signs[t[0]]}{t[1:]}" if t[0] in signs else f" + {t}" for t in terms[1:])


def held_number(number: str) -> str:
    """A number as a factor, marked or not: in brackets if it begins with a minus sign."""
    return f"({number})" if number.lstrip(IN)[:1] in ("-", "−") else number


def coarser(*values: Value) -> str:
    """The dtype with the fewest digits."""
    return max((v.dtype for v in values), key=lambda dtype: PRECISION.get(dtype, 1e-5))


def close(computed: Any, recorded: Any, dtype: str, scale: Any = None) -> bool:
    """Whether two results agree within the rounding of a dtype; `scale` is the size of the terms of a sum."""
    computed, recorded = np.asarray(computed), np.asarray(recorded)
    if computed.ndim and computed.shape != recorded.shape:
        return False
    precision = PRECISION.get(dtype, 1e-5)
    with np.errstate(all="ignore"):
        slack = 0 if scale is None else precision * np.where(np.isfinite(scale), scale, 0)
        same = np.abs(computed - recorded) <= precision * np.abs(recorded) + slack
    return bool(np.all(same | (computed == recorded) | (np.isnan(computed) & np.isnan(recorded))))


def add_up(shares: list[Value], total: Value) -> bool:
    """Whether gradients add up to their sum; those whose numbers are not known do not."""
    arrays, whole = [array_of(v) for v in shares], array_of(total)
    if whole is None or any(a is None or np.shape(a) != total.shape for a in arrays):
        return False
    with np.errstate(all="ignore"):
        return close(sum(arrays[1:], arrays[0]), whole, total.dtype, sum(np.abs(a) for a in arrays))
