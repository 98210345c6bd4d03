"""Trees of symbols as text: in Unicode for the picture and in LaTeX for notebooks.

A gradient is written with a bar over the tensor's name (`x̄` is the gradient of `x`), a tangent with a dot
(`ẋ`), a product element by element as `⊙`, a matrix product as `Ȳ Wᵀ`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .glyphs import (
    END,
    ESCAPES,
    IN,
    PIECE,
    Both,
    TooLarge,
    bar,
    dot,
    latex_array,
    latex_name,
    latex_number,
    plain,
    plain_array,
)
from .symbols import GIVEN, MATMUL, MUL, NUMBER, TRANSPOSE, Symbol

SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly a text holds together
SUPERSCRIPTS = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
LETTER = re.compile(r"[^\W\d]\w?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*")  # what a number may stand before without a dot: 3x²
FUNCTIONS = {"log": "ln", "sqrt": "√", "sigmoid": "σ", "logical_not": "¬"}
COMMANDS = {"ln": r"\ln", "sin": r"\sin", "cos": r"\cos", "tanh": r"\tanh", "σ": r"\sigma", "¬": r"\lnot"}
SIGNS = {"=": "=", "≠": r"\neq", ">": r"\gt", "≥": r"\geq", "<": r"\lt", "≤": r"\leq", "∧": r"\land",
         "∨": r"\lor"}  # fmt: skip
NUMBER_FIRST = ("polygamma",)  # functions that are written with their tensor last
FAR = 2**62  # PyTorch writes the end of an open slice as the largest integer


class Typesetter:
    """Writes trees down. With `numbers` each part that the gradient has no share in gives way to its value,
    and the gradient to its own; TooLarge where such a value is not written out."""

    def __init__(
        self, latex: bool = False, numbers: bool = False, dtype: str = "float64", tangent: bool = False
    ) -> None:
        self.latex, self.numbers, self.dtype = latex, numbers, dtype
        self.mark = dot if tangent else bar  # on what came in
        self.spaced = numbers or tangent

    def text(self, s: Symbol) -> str:
        """The whole tree."""
        return self.write(s)[0]

    def within(self, s: Any, level: int) -> str:
        """A part, in brackets unless it holds together at `level`."""
        text, own = self.write(s)
        return text if own >= level else self.bracketed(text)

    def factor(self, s: Symbol) -> str:
        """The tree as the second factor of a product."""
        text = self.within(s, PRODUCT)
        return self.bracketed(text) if text[:1] in ("-", "−") else text

    def bracketed(self, text: str) -> str:
        return rf"\left({text}\right)" if self.latex else f"({text})"

    def write(self, s: Any) -> tuple[str, int]:
        """Text and level."""
        if not isinstance(s, Symbol):
            return (latex_name(spelled(s)) if self.latex else spelled(s)), ATOM
        if self.numbers and s.head != NUMBER and (not s.given or s.head == GIVEN):
            text, level = self.value(s)
            return (f"{IN}{text}{END}" if s.given else text), level
        written: tuple[str, int] = getattr(self, s.head)(s)
        return written

    def value(self, s: Symbol) -> tuple[str, int]:
        """The value of a part."""
        if s.value is None:
            raise TooLarge
        text = (latex_array if self.latex else plain_array)(s.value, self.dtype)
        return text, tightness(text, s.value)

    def number(self, s: Symbol) -> tuple[str, int]:
        text = (latex_number if self.latex else plain)(s.value)
        return text, tightness(text, s.value)

    def name(self, s: Symbol) -> tuple[str, int]:
        partial = "∂" in s.text
        level = PRODUCT if partial else ATOM if PIECE.fullmatch(s.text) else SUM
        return (latex_name(s.text) if self.latex else s.text), level

    def given(self, s: Symbol) -> tuple[str, int]:
        return self.mark(s.text)[self.latex], ATOM

    def add(self, s: Symbol) -> tuple[str, int]:
        a, b = s.args
        return f"{self.within(a, SUM)} + {self.within(b, SUM)}", SUM

    def sub(self, s: Symbol) -> tuple[str, int]:
        a, b = s.args
        return f"{self.within(a, SUM)} {'-' if self.latex else '−'} {self.within(b, PRODUCT)}", SUM

    def neg(self, s: Symbol) -> tuple[str, int]:
        return ("-" if self.latex else "−") + self.within(s.args[0], PRODUCT), PRODUCT

    def mul(self, s: Symbol) -> tuple[str, int]:
        a, b = s.args
        left, right = self.within(a, PRODUCT), self.factor(b)
        wide = bool(a.shape and b.shape)
        if a.head == NUMBER and not self.numbers and LETTER.fullmatch(Typesetter().text(b)):
            return left + (" " if self.latex else "") + right, PRODUCT
        if self.latex:
            return rf"{left} \{'odot' if wide else 'cdot'} {right}", PRODUCT
        return left + (" ⊙ " if wide else " · " if self.spaced else "·") + right, PRODUCT

    def div(self, s: Symbol) -> tuple[str, int]:
        a, b = s.args
        if self.latex:
            return rf"\frac{{{self.text(a)}}}{{{self.text(b)}}}", PRODUCT
        return f"{self.within(a, PRODUCT)}/{self.within(b, POWER)}", PRODUCT

    def pow(self, s: Symbol) -> tuple[str, int]:
        base, exponent = s.args
        left = self.within(base, ATOM)
        if self.latex:
            return f"{{{left}}}^{{{self.text(exponent)}}}", POWER
        text = self.text(exponent)
        if exponent.head == NUMBER and text.lstrip("−").isdigit():
            return left + text.translate(SUPERSCRIPTS), POWER
        return f"{left}^{self.within(exponent, ATOM)}", POWER

    def function(self, s: Symbol) -> tuple[str, int]:
        x = s.args[0]
        if s.text == "abs":
            return (rf"\left|{self.text(x)}\right|" if self.latex else f"|{self.text(x)}|"), ATOM
        name = FUNCTIONS.get(s.text, s.text)
        argument, level = self.write(x)
        if name == "conj":
            return (r"\operatorname{conj}" if self.latex else name) + self.bracketed(argument), ATOM
        if self.latex:
            if name == "√":
                return rf"\sqrt{{{argument}}}", ATOM
            command = COMMANDS.get(name, rf"\operatorname{{{name}}}")
            return f"{command}{' ' + argument if level == ATOM else self.bracketed(argument)}", POWER
        if level == ATOM and not re.search(r"[(\[]", argument):
            return f"{name}{' ' if name.isascii() else ''}{argument}", POWER
        return f"{name}({argument})", POWER

    def call(self, s: Symbol) -> tuple[str, int]:
        name, more = s.text, s.args[1:]
        if name == "sum_to":
            name, more = summed(s.args[0].shape, s.shape)
        if name in ("slice", "select"):
            return self.within(s.args[0], ATOM) + indexed(name, s.args[0].shape, *more), ATOM
        parts = [self.text(s.args[0]), *(self.write(m)[0] for m in more)]
        listed = ", ".join(reversed(parts) if name in NUMBER_FIRST else parts)
        head = rf"\operatorname{{{name.replace('_', ESCAPES['_'])}}}" if self.latex else name
        return f"{head}({listed})", ATOM

    def matmul(self, s: Symbol) -> tuple[str, int]:
        a, b = s.args
        between = " " if not self.numbers else r" \cdot " if self.latex else " · "
        return self.within(a, POWER) + between + self.within(b, POWER), PRODUCT

    def transpose(self, s: Symbol) -> tuple[str, int]:
        return self.within(s.args[0], ATOM) + (r"^{\top}" if self.latex else "ᵀ"), ATOM

    def bracket(self, s: Symbol) -> tuple[str, int]:
        inside = self.text(s.args[0])
        if s.text == "not":
            inside = (r"\lnot " if self.latex else "¬") + self.within(s.args[0], ATOM)
        return f"[{inside}]", ATOM

    def relation(self, s: Symbol) -> tuple[str, int]:
        a, b = s.args
        sign = SIGNS[s.text] if self.latex else s.text
        return f"{self.within(a, SUM)} {sign} {self.within(b, SUM)}", SUM


def typeset(s: Symbol, **options: Any) -> Both:
    """A tree in both ways."""
    return Both(Typesetter(**options).text(s), Typesetter(latex=True, **options).text(s))


def with_numbers(s: Symbol, dtype: str, **options: Any) -> Both | None:
    """A tree with its numbers; None where they are not known or not written out."""
    try:
        return None if s.value is None else typeset(s, numbers=True, dtype=dtype, **options)
    except TooLarge:
        return None


def tightness(text: str, value: Any) -> int:
    """How tightly a written number holds together: a complex one is a sum."""
    if np.iscomplexobj(value) and not np.ndim(value):
        return SUM
    return PRODUCT if text[0] in "-−" else ATOM


def summed(large: tuple[int, ...], small: tuple[int, ...]) -> tuple[str, tuple[Any, ...]]:
    """A sum back to a smaller shape as a call of `sum`: all, or some dimensions."""
    lead = len(large) - len(small)
    kept = tuple(i + lead for i, n in enumerate(small) if n == 1 != large[i + lead])
    if not small:
        return "sum", ()
    if lead and not kept:
        return "sum", (tuple(range(lead)),)
    return ("sum", (kept, True)) if kept and not lead else ("sum_to", (small,))


def indexed(name: str, shape: tuple[int, ...], dim: int, start: int, end: int = 0, step: int = 1) -> str:
    """`[1]`, `[:, 0:2]`: what `select` and `slice` take of a tensor."""
    part = str(start)
    if name == "slice":
        part = f"{start or ''}:{end if end < shape[dim] else ''}" + (f":{step}" if step != 1 else "")
    return f"[{':, ' * (dim % len(shape))}{part}]"


def spelled(x: Any) -> str:
    """An argument that is no tensor: a number, a shape, a dtype."""
    if isinstance(x, int) and not isinstance(x, bool) and x >= FAR:
        return "end"
    return str(x)


def shapes(s: Symbol) -> str:
    """What a matrix product does to shapes: `(2, 4)·(4, 3) → (2, 3)`; of anything else that a gradient is put
    through, from its shape to the result's."""
    if s.head == MATMUL:
        a, b = s.args
        left = a.shape if b.head != TRANSPOSE or len(b.args[0].shape) > 1 else (*a.shape, 1)
        right = b.shape if len(b.shape) > 1 or b.head != TRANSPOSE else (1, *b.shape)
        return f"{left}·{right} → {s.shape}"
    if s.head == MUL and s.args[0].head == NUMBER and s.args[1].head == MATMUL:
        return shapes(s.args[1])
    inner = incoming(s)
    return f"{inner.shape} → {s.shape}" if inner is not None else f"{s.shape}"


def incoming(s: Symbol) -> Symbol | None:
    """The gradient that came in, in a tree."""
    if s.head == GIVEN:
        return s
    return next((incoming(a) for a in s.args if isinstance(a, Symbol) and a.given), None)
