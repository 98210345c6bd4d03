"""Names, numbers and symbols as formulas.

A gradient is written with a bar over the tensor's name (`x̄` is the gradient of `x`), a tangent with a dot
(`ẋ`), a product element by element as `⊙`, a matrix product as `Ȳ Wᵀ`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

import numpy as np

from ..flow.symbols import ADD, CALL, DIV, GIVEN, MATMUL, MUL, NEG, POW, SUB, TOTAL, TRANSPOSE, Symbol
from ..flow.symbols import NUMBER as LITERAL
from ..number_text import COLUMNS, DIGITS, is_in_formulas, number
from ..words import clean
from .formula_tree import (
    ACCENT,
    ATOM,
    BARS,
    BESIDE,
    FUNCTION,
    GROUP,
    IDENTIFIER,
    INCOMING,
    LETTER,
    LOWERED,
    NUMBER,
    OPEN,
    OPERATOR,
    OVERLINE,
    POWER,
    PRODUCT,
    RAISED,
    SHAPE,
    SPACE,
    SUM,
    TIGHT,
    TRANSPOSED,
    WORDS,
    WRITTEN,
    Formula,
    array_formula,
    brackets,
    command,
    either,
    fraction,
    is_negative,
    operator,
    plain_variant,
    row,
    sign,
    within,
)

# ─── Names as mathematics writes them


SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
WORD = r"[^\W\d²³¹⁰⁴-⁹][^\W²³¹⁰⁴-⁹]*"  # an identifier, which x² is not
# x, x.grad, x[0], sqrt(w), net(x)₂: hold together by themselves
PIECE = re.compile(rf"{WORD}((\.{WORD})*(\[[^\[\]]*\])?|\([^()]*\)[₀-₉]*)|\([^()]*\)[₀-₉]+")
NUMBERED = re.compile(r"(.*[^₀-₉])([₀-₉]+)")
PARTIAL = re.compile(r"∂(\w+)/∂(\w+)")  # the name of a gradient that has a graph of its own
SHORT = re.compile(r"([^\W\d_])([0-9₀-₉]*)")  # one letter, which may have a number: x, W1, x₂
RAISED_DIGITS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789−", strict=True))
PARTS = r"[⁰¹²³⁴-⁹⁻]+|[^\W_⁰¹²³⁴-⁹]+| +|."  # exponents, words, blanks, single signs
BETWEEN = frozenset("·×→←<>+-−~⊙")  # signs of a name that stand between two parts of it
OPENING = frozenset("([|")
UNNAMED = "…"  # a tensor that has no name, and no short expression


def name_formula(name: str) -> Formula:
    """A tensor by its name."""
    return plain_variant(name, name_parts(name))


@functools.lru_cache(4096)
def name_parts(name: str) -> Formula:
    """A name out of the source: a letter as it is, a longer one upright, anything else as text."""
    name = clean(name)
    partial, letter, counted = PARTIAL.fullmatch(name), SHORT.fullmatch(name), NUMBERED.fullmatch(name)
    if partial:
        return fraction(row(sign("∂"), name_parts(partial[1])), row(sign("∂"), name_parts(partial[2])))
    if letter and letter[1].isascii():
        digits = letter[2].translate(SUBSCRIPTS)
        return row(Formula(LETTER, letter[1]), *([subscript_number(digits)] if digits else []))
    if name.endswith("ᵢ"):
        return row(name_parts(name[:-1]), Formula(LOWERED, "", (Formula(LETTER, "i"),)))
    if counted:
        return row(
            Formula(GROUP, "", (name_parts(counted[1]),)), subscript_number(counted[2].translate(SUBSCRIPTS))
        )
    if re.fullmatch(r"[A-Za-z0-9_.]+", name):
        return Formula(IDENTIFIER, name)
    return text_formula(name.translate(SUBSCRIPTS))


def subscript_number(digits: str) -> Formula:
    """A number below the line."""
    return Formula(LOWERED, "", (Formula(NUMBER, digits),))


def text_formula(text: str) -> Formula:
    """A text out of the source, or of a sentence."""
    parts: list[Formula] = []
    for piece in re.findall(PARTS, text):
        parts.append(text_part(piece, parts[-1] if parts else None))
    return plain_variant(text, *parts)


def text_part(piece: str, before: Formula | None) -> Formula:
    """A part of a text: a word, blanks, or one sign."""
    if piece.isspace():
        return Formula(SPACE, piece)
    if piece[0] in RAISED_DIGITS:
        exponent = Formula(NUMBER, "".join(RAISED_DIGITS[c] for c in piece))
        return plain_variant(piece, Formula(RAISED, "", (exponent,)))
    if piece.isalnum() or piece == "=":  # which is no `=` between forms
        return Formula(WORDS, piece)
    if piece not in BETWEEN:
        return sign(piece)
    first = before is None or before.kind in (SPACE, OPERATOR) or before.text in OPENING
    return sign(piece) if piece in "-−" and first else operator(piece)


@functools.lru_cache(4096)
def bar(name: str) -> Formula:
    """The gradient of a tensor: `x̄`, `W̄1`, `l̅o̅s̅s̅`; of one without a name `grad(x @ w)`."""
    longer = row(command("grad"), sign("("), name_formula(name), sign(")"))
    if name.isidentifier():
        lines = "".join(c + "\u0305" for c in name)
        longer = plain_variant(lines, Formula(OVERLINE, "", (name_parts(name),)))
    return letter_with_mark(name, "\u0304", "bar", longer)


@functools.lru_cache(4096)
def dot(name: str) -> Formula:
    """The tangent of a tensor: `ẋ`, `Ẇ1`; of one with a longer name, or none, `tangent(loss)`."""
    longer = row(command("tangent"), sign("("), name_formula(name), sign(")"))
    return letter_with_mark(name, "\u0307", "dot", longer)


def letter_with_mark(name: str, mark: str, accent: str, longer: Formula) -> Formula:
    """One letter, which may have a number, with a mark over it; any other name as what is `longer`."""
    letter = SHORT.fullmatch(name)
    if not letter:
        return longer
    digits = letter[2].translate(SUBSCRIPTS)
    plain = unicodedata.normalize("NFC", letter[1] + mark) + letter[2]
    if not letter[1].isascii():
        return plain_variant(plain, *(longer.parts if longer.kind == WRITTEN else (longer,)))
    marked = Formula(ACCENT, accent, (Formula(LETTER, letter[1]),))
    return plain_variant(plain, marked, *([subscript_number(digits)] if digits else []))


@functools.lru_cache(4096)
def bracket_name(name: str) -> str:
    """A tensor's name as part of `∂…/∂…`: anything but a name or a call in brackets."""
    return name if PIECE.fullmatch(name) or name == UNNAMED else f"({name})"


# ─── Numbers as mathematics writes them


class TooLarge(Exception):
    """An array that is not written out."""


def plain_number(x: Any, dtype: str = "float64", digits: int = DIGITS) -> str:
    """A number as a formula has it: `3`, `0.5`, `−2`, without the point that tells floats from integers."""
    if isinstance(x, complex | np.complexfloating):
        imaginary = plain_number(float(x.imag) + 0.0, dtype, digits)  # −0 as 0
        return f"{plain_number(float(x.real), dtype, digits)}{'' if imaginary[0] == '−' else '+'}{imaginary}j"
    short = number(float(x) if isinstance(x, float | np.floating) else x, dtype, digits)
    return short.replace(".e", "e").rstrip(".").replace("-", "−")


def number_tree(x: Any, dtype: str = "float64", digits: int = DIGITS) -> Formula:
    """A number: `−2`, `6.4 × 10⁻⁵`, `1+2j`."""
    if isinstance(x, complex | np.complexfloating):
        real, imaginary = (number_tree(float(part), dtype, digits) for part in (x.real, x.imag + 0.0))
        plus = () if is_negative(imaginary) else (sign("+"),)
        return row(real, *plus, imaginary, Formula(IDENTIFIER, "j"), level=SUM)
    text = plain_number(x, dtype, digits)
    level = PRODUCT if text[0] == "−" else ATOM
    if isinstance(x, bool | np.bool_) or text == "nan":
        return Formula(IDENTIFIER, text)
    if "e" in text:
        mantissa, exponent = text.split("e")
        exponent = str(int(exponent.replace("−", "-")))
        raised = Formula(RAISED, "", (Formula(NUMBER, exponent),))
        parts = Formula(NUMBER, mantissa), operator(" × "), Formula(NUMBER, "10"), raised
        return plain_variant(text, *parts, level=level)
    if text.lstrip("−") == "inf":
        return plain_variant(text, *([sign("−")] if level == PRODUCT else []), sign("∞"), level=level)
    digits_alone = re.fullmatch(r"−?[\d.]+", text)
    return Formula(NUMBER, text, level=level) if digits_alone else name_formula(text)._replace(level=level)


def array_tree(value: Any, dtype: str = "float64") -> Formula:
    """A number or an array (`[4 7 9]`, `[[1 2] [3 4]]`), with three digits where its line would be long."""
    value = np.asarray(value)
    if not is_in_formulas(value.shape):
        raise TooLarge
    whole = nested_numbers(value, dtype, DIGITS)
    return whole if not value.ndim or len(whole.plain) <= COLUMNS else nested_numbers(value, dtype, 3)


def nested_numbers(value: Any, dtype: str, digits: int) -> Formula:
    """The numbers of an array in brackets."""
    if not value.ndim:
        return number_tree(value.item(), dtype, digits)
    return array_formula([nested_numbers(part, dtype, digits) for part in value])


def shape_formula(shape: object) -> Formula:
    """A shape."""
    return Formula(SHAPE, str(shape))


# ─── Trees of symbols as formulas


LETTERS = re.compile(r"[^\W\d]\w?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*")  # what a number may stand before without a dot: 3x²
FUNCTIONS = {"log": "ln", "sqrt": "√", "sigmoid": "σ", "logical_not": "¬"}
TEXTBOOK_LETTERS = {
    "x̂": plain_variant("x̂", Formula(ACCENT, "hat", (Formula(LETTER, "x"),))),
    "γ": sign("γ"), "σ": sign("σ"), "‖x‖": plain_variant("‖x‖", sign("‖"), Formula(LETTER, "x"), sign("‖")),
}  # fmt: skip
FEW = 3  # digits of numbers in longer formulas
NUMBER_FIRST = ("polygamma",)  # functions that are written with their tensor last
SHAPED = (
    "expand",
    "reshape",
    "unsqueeze",
    "squeeze",
)  # leave the numbers: their sizes stand behind a formula
DIMENSIONED = ("mean", "flip", "cumsum", "cumprod", "amax", "amin", "var", "std", "logsumexp", "softmax")
FAR = 2**62  # PyTorch writes the end of an open slice as the largest integer


class Typesetter:
    """Makes formulas of symbols. With `numbers` each part that the gradient has no share in gives way to its
    value, and the gradient to its own; TooLarge where such a value is not written out."""

    def __init__(self, numbers: bool = False, dtype: str = "float64", tangent: bool = False) -> None:
        self.numbers, self.dtype = numbers, dtype
        self.mark = dot if tangent else bar  # on what came in
        self.spaced = numbers or tangent

    def within(self, s: Symbol, level: int) -> Formula:
        """A part, in brackets unless it holds together at `level`."""
        return within(self.formula(s), level)

    def factor(self, s: Symbol) -> Formula:
        """The tree as the second factor of a product."""
        part = self.within(s, PRODUCT)
        return brackets(part) if is_negative(part) else part

    def formula(self, s: Symbol) -> Formula:
        """The whole tree."""
        if self.numbers and s.head != LITERAL and (not s.given or s.head == GIVEN):
            value = self.value(s)
            return Formula(INCOMING, "", (value,), value.level) if s.given else value
        made: Formula = getattr(self, s.head)(s)
        return made

    def value(self, s: Symbol) -> Formula:
        """The value of a part."""
        if s.value is None:
            raise TooLarge
        return array_tree(s.value, self.dtype)

    def number(self, s: Symbol) -> Formula:
        return number_tree(s.value)

    def name(self, s: Symbol) -> Formula:
        if s.text in TEXTBOOK_LETTERS:
            return TEXTBOOK_LETTERS[s.text]
        if s.text[:1] == "√":
            return Formula(FUNCTION, "√", (Formula(NUMBER, s.text[1:]),))
        level = PRODUCT if "∂" in s.text else ATOM if PIECE.fullmatch(s.text) else SUM
        return name_formula(s.text)._replace(level=level)

    def given(self, s: Symbol) -> Formula:
        return self.mark(s.text) if s.text else Formula(LETTER, "g")

    def add(self, s: Symbol) -> Formula:
        a, b = s.args
        return row(self.within(a, SUM), " + ", self.within(b, SUM), level=SUM)

    def sub(self, s: Symbol) -> Formula:
        a, b = s.args
        return row(self.within(a, SUM), " − ", self.within(b, PRODUCT), level=SUM)

    def neg(self, s: Symbol) -> Formula:
        return row(sign("−"), self.within(s.args[0], PRODUCT), level=PRODUCT)

    def mul(self, s: Symbol) -> Formula:
        a, b = s.args
        left, right = self.within(a, PRODUCT), self.factor(b)
        if a.head == LITERAL and not self.numbers and LETTERS.fullmatch(Typesetter().formula(b).plain):
            return row(left, Formula(BESIDE), right, level=PRODUCT)
        wide = bool(a.shape and b.shape)
        return row(left, " ⊙ " if wide else " · " if self.spaced else "·", right, level=PRODUCT)

    def div(self, s: Symbol) -> Formula:
        a, b = s.args
        return fraction(self.formula(a), self.formula(b))

    def pow(self, s: Symbol) -> Formula:
        base, exponent = s.args
        return Formula(POWER, "", (self.within(base, ATOM), self.formula(exponent)), TIGHT)

    def function(self, s: Symbol) -> Formula:
        argument = self.formula(s.args[0])
        if s.text == "abs":
            return Formula(BARS, "", (argument,))
        if s.text == "conj":
            return row(command("conj"), brackets(argument))
        name = FUNCTIONS.get(s.text, s.text)
        return Formula(FUNCTION, name, (argument,), TIGHT)

    def call(self, s: Symbol) -> Formula:
        """Any other function, as mathematics writes it and not with its arguments in Python's form."""
        name, x, more = s.text, s.args[0], s.args[1:]
        if name in SHAPED:
            return self.formula(x)
        if name in ("slice", "select"):
            return row(self.within(x, ATOM), index_formula(index_text(name, x.shape, *more)))
        if name in ("select_backward", "slice_backward"):
            index = index_text(name.removesuffix("_backward"), s.shape, *more[1:])
            place = row(sign(", "), index_formula(index), operator(" ← "))
            return row(Formula(NUMBER, "0"), place, self.within(x, SUM), level=OPEN)
        if name in ("permute", "transpose"):
            turned = Formula(TRANSPOSED, "", (self.within(x, ATOM),))
            order = new_order(name, len(x.shape), more)
            return turned if order == (1, 0) else row(turned, subscript_number("".join(map(str, order))))
        if name in ("sum", "sum_to"):
            dims = summed_dims(x.shape, s.shape) if name == "sum_to" else dims_of(x, more)
            return row(sign("Σ"), *below(dims), Formula(BESIDE, " "), self.sized(x), level=PRODUCT)
        if name == "diagonal_backward":
            return row(command("diag"), brackets(self.formula(x)))
        if name in DIMENSIONED:
            return row(command(name), *below(dims_of(x, more)), brackets(self.formula(x)))
        parts = [self.formula(x), *(name_formula(each) for each in map(argument_text, more) if each)]
        return row(
            command(name), sign("("),
            comma_list(parts[::-1] if name in NUMBER_FIRST else parts), sign(")"),
        )  # fmt: skip

    def sized(self, s: Symbol) -> Formula:
        """What is summed over dimensions, with its sizes below where it was brought into another shape."""
        whole = self.within(s, ATOM)
        if s.head != CALL or s.text not in SHAPED:
            return whole
        size = "×".join(map(str, s.shape))
        return plain_variant(f"({whole.plain} as {size})", whole, Formula(LOWERED, "", (sign(size),)))

    def matmul(self, s: Symbol) -> Formula:
        a, b = s.args
        between = operator(" · ") if self.numbers else Formula(BESIDE, " ")
        return row(self.within(a, TIGHT), between, self.within(b, TIGHT), level=PRODUCT)

    def transpose(self, s: Symbol) -> Formula:
        return Formula(TRANSPOSED, "", (self.within(s.args[0], ATOM),))

    def bracket(self, s: Symbol) -> Formula:
        negated = s.text == "not"
        inside = row(sign("¬"), self.within(s.args[0], ATOM)) if negated else self.formula(s.args[0])
        return row(sign("["), inside, sign("]"))

    def relation(self, s: Symbol) -> Formula:
        a, b = s.args
        return row(self.within(a, SUM), f" {s.text} ", self.within(b, SUM), level=SUM)

    def element(self, s: Symbol) -> Formula:
        return with_index(self.within(s.args[0], ATOM), s.text)

    def total(self, s: Symbol) -> Formula:
        if self.numbers:
            raise TooLarge
        part = self.within(s.args[0], PRODUCT)
        return row(sum_sign(s.text), part, level=PRODUCT) if s.text else part


ELEMENTWISE = (ADD, SUB, MUL, DIV, NEG, POW)
TERMS = 3  # products of a sum that are written out


class ElementTypesetter(Typesetter):
    """Writes how one element of a result came about, with the numbers at its index."""

    def __init__(self, index: tuple[int, ...], dtype: str) -> None:
        super().__init__(numbers=True, dtype=dtype)
        self.index = index

    def formula(self, s: Any) -> Formula:
        """The whole tree."""
        if not isinstance(s, Symbol) or s.head == LITERAL:
            return super().formula(s)
        if s.head in ELEMENTWISE:
            made: Formula = getattr(self, s.head)(s)
            return made
        if s.head == TOTAL and s.args[2] is not None:
            return self.products(s.args[2].of(self.index))
        part = self.number_at(s)
        return Formula(INCOMING, "", (part,), part.level) if s.head == GIVEN else part

    def mul(self, s: Symbol) -> Formula:
        a, b = s.args
        return row(self.factor(a), " · ", self.factor(b), level=PRODUCT)

    def number_at(self, s: Symbol) -> Formula:
        """The number of a part that belongs to the element."""
        if s.value is None or len(s.shape) > len(self.index):
            raise TooLarge
        at = self.index[len(self.index) - len(s.shape) :]
        if any(n not in (1,) and i >= n for i, n in zip(at, s.shape, strict=True)):
            raise TooLarge
        value = np.asarray(s.value)[tuple(0 if n == 1 else i for i, n in zip(at, s.shape, strict=True))]
        return number_tree(value.item(), self.dtype, FEW)

    def products(self, terms: list[tuple[float, ...]]) -> Formula:
        """The largest products of a sum; the last factor is what arrived."""
        joined: list[Formula] = []
        for factors in terms[:TERMS]:
            numbers = [number_tree(x, self.dtype, FEW) for x in factors]
            numbers[-1] = Formula(INCOMING, "", (numbers[-1],), numbers[-1].level)
            for i, each in enumerate(numbers):
                joined.append(operator(" · " if i else " + "))
                joined.append(brackets(each) if is_negative(each) and len(joined) > 1 else each)
        more = [operator(" + "), sign("…")] if len(terms) > TERMS else []
        return row(*joined[1:], *more, level=SUM if len(terms) > 1 else PRODUCT)


def element_with_numbers(s: Symbol, index: tuple[int, ...], dtype: str) -> Formula | None:
    """How the element of a tree at `index` came about; None where the numbers are not known."""
    try:
        return ElementTypesetter(index, dtype).formula(s)
    except TooLarge:
        return None


SMALL_LETTERS = str.maketrans("aeijknortuvx", "ₐₑᵢⱼₖₙₒᵣₜᵤᵥₓ")


def sum_sign(letters: str) -> Formula:
    """`Σᵤᵥ `: a sum over indices."""
    below = Formula(LOWERED, "", tuple(Formula(LETTER, each) for each in letters))
    return plain_variant(f"Σ{letters.translate(SMALL_LETTERS)} ", sign("Σ"), below, Formula(BESIDE))


def with_index(part: Formula, index: str) -> Formula:
    """`x[u+i, v+j]`; below the line where there is one."""
    pieces = re.findall(r"\d+|[a-z]+| |.", index)
    kinds = (
        Formula(NUMBER, p) if p.isdigit() else Formula(LETTER, p) if p.isalpha() else sign(p) for p in pieces
    )
    lowered = Formula(GROUP, "", (part,)), Formula(LOWERED, "", tuple(kinds))
    return either(row(part, sign(f"[{index}]")), row(*lowered))


def is_given(s: Symbol) -> bool:
    """Whether a tree is the incoming gradient itself, in its own shape or in another."""
    return s.head == GIVEN or (s.head == CALL and s.text in SHAPED and is_given(s.args[0]))


def comma_list(parts: list[Formula]) -> Formula:
    """Parts with commas between."""
    return row(*(each for i, part in enumerate(parts) for each in ((sign(", "), part) if i else (part,))))


def index_formula(index: str) -> Formula:
    """`[:, 0:2]`."""
    return row(
        *(Formula(NUMBER, each) if each.isdigit() else sign(each) for each in re.findall(r"\d+|.", index))
    )


def typeset(s: Symbol, **options: Any) -> Formula:
    """A tree of symbols as a formula."""
    return Typesetter(**options).formula(s)


def with_numbers(s: Symbol, dtype: str, **options: Any) -> Formula | None:
    """A tree with its numbers; None where they are not known or not written out."""
    try:
        return None if s.value is None else typeset(s, numbers=True, dtype=dtype, **options)
    except TooLarge:
        return None


def summed_dims(large: tuple[int, ...], small: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions over which a sum back to a smaller shape goes; none if it is over all."""
    lead = len(large) - len(small)
    kept = (i + lead for i, n in enumerate(small) if n == 1 != large[i + lead])
    return (*range(lead), *kept) if small else ()


def dims_of(x: Symbol, more: tuple[Any, ...]) -> tuple[int, ...]:
    """The dimensions that a function was called with, counted from the first; none if there is no such
    argument, or they are all."""
    dims = next((each for each in more if not isinstance(each, bool)), ())
    found = tuple(d % max(1, len(x.shape)) for d in ((dims,) if isinstance(dims, int) else dims or ()))
    return found if len(found) < len(x.shape) or len(found) == 1 < len(x.shape) else ()


def new_order(name: str, count: int, more: tuple[Any, ...]) -> tuple[int, ...]:
    """The order in which `permute` and `transpose` leave dimensions."""
    if name == "permute":
        return tuple(d % count for d in more[0])
    order = list(range(count))
    a, b = (d % count for d in more)
    order[a], order[b] = b, a
    return tuple(order)


def below(dims: tuple[int, ...]) -> list[Formula]:
    """The dimensions that a function goes over, below its sign."""
    if not dims:
        return []
    said = f"dim {' '.join(map(str, dims))}"
    return [plain_variant(f"[{said}]", Formula(LOWERED, "", (Formula(WORDS, said),)))]


def index_text(name: str, shape: tuple[int, ...], dim: int, start: int, end: int = 0, step: int = 1) -> str:
    """`[1]`, `[:, 0:2]`: what `select` and `slice` take of a tensor."""
    part = str(start)
    if name == "slice":
        part = f"{start or ''}:{end if end < shape[dim] else ''}" + (f":{step}" if step != 1 else "")
    return f"[{':, ' * (dim % len(shape))}{part}]"


def argument_text(x: Any) -> str:
    """An argument that is not a tensor: a number, or several, as those of a shape; "" for a switch."""
    if isinstance(x, bool) or x is None:
        return ""
    if isinstance(x, tuple | list):
        return "×".join(map(argument_text, x))
    return "end" if isinstance(x, int) and x >= FAR else str(x)


def shapes(s: Symbol) -> Formula:
    """What a matrix product does to shapes: `(2, 4)·(4, 3) → (2, 3)`; of anything else that a gradient is put
    through, from its shape to the result's."""
    if s.head == MATMUL:
        a, b = s.args
        left = a.shape if b.head != TRANSPOSE or len(b.args[0].shape) > 1 else (*a.shape, 1)
        right = b.shape if len(b.shape) > 1 or b.head != TRANSPOSE else (1, *b.shape)
        return row(shape_formula(left), "·", shape_formula(right), " → ", shape_formula(s.shape))
    if s.head == MUL and s.args[0].head == LITERAL and s.args[1].head == MATMUL:
        return shapes(s.args[1])
    inner = incoming(s)
    after = shape_formula(s.shape)
    return after if inner is None else row(shape_formula(inner.shape), " → ", after)


def incoming(s: Symbol) -> Symbol | None:
    """The gradient that came in, in a tree."""
    if s.head == GIVEN:
        return s
    return next((incoming(a) for a in s.args if isinstance(a, Symbol) and a.given), None)


def multiplies_arrays(formula: Formula) -> bool:
    """Whether a formula says what a product does to the shapes of two arrays."""
    kinds = [part.kind for part in formula.parts]
    product = kinds[:3] == [SHAPE, OPERATOR, SHAPE] and len(kinds) > 3
    return product or any(map(multiplies_arrays, formula.parts))
