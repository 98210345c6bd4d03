"""Reads the arithmetic of a step from text and computes it: `0.008 · 75 = 0.6`, `[4 7 9] · [2 3 5] = 74`.

A number shown stands for a range: it has five significant digits, three where a whole array is written so.
The ranges are carried through the arithmetic, and two sides of an equation agree if theirs meet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

TOKEN = re.compile(r"\s*(\d+\.?\d*(?:e[+−-]?\d+)?|nan|inf|Σ(?:\[dim [\d ]+\])?|[−+·⊙/()\[\],ᵀ-])")
MINUS = ("-", "−")


class Range(NamedTuple):
    """Numbers and how far off each may be."""

    value: Any
    slack: Any

    def brought_to(self, shape: tuple[int, ...]) -> Range | None:
        """The numbers in another shape: the same, or repeated; None if they have none such."""
        value, slack = np.asarray(self.value), np.asarray(self.slack)
        if value.size == math.prod(shape):
            return Range(value.reshape(shape), slack.reshape(shape))
        for axis in range(value.ndim + 1):
            try:
                spread = [np.broadcast_to(np.expand_dims(each, axis), shape) for each in (value, slack)]
            except ValueError:
                continue
            return Range(*spread)
        return None

    def meets(self, other: Range) -> bool:
        """Whether both may be the same numbers."""
        if np.shape(self.value) != np.shape(other.value):
            return False
        near = np.abs(self.value - other.value) <= 1.01 * (self.slack + other.slack) + 1e-12
        same = (self.value == other.value) | (np.isnan(self.value) & np.isnan(other.value))
        return bool(np.all(near | same))


class Unreadable(ValueError):
    """A text that is no arithmetic of numbers."""


def times(a: Range, b: Range, how: Callable[[Any, Any], Any]) -> Range:
    value = how(a.value, b.value)
    slack = how(np.abs(a.value), b.slack) + how(a.slack, np.abs(b.value)) + how(a.slack, b.slack)
    return Range(value, slack + 1e-9 * how(np.abs(a.value), np.abs(b.value)))


def products(a: Range, b: Range) -> list[Range]:
    """What `a · b` may mean: element by element, rows by columns, every element by every other."""
    found = []
    for how in (np.multiply, np.matmul, np.dot, np.outer):
        try:
            found.append(times(a, b, how))
        except ValueError:
            continue
    return found


def quotient(a: Range, b: Range) -> Range:
    with np.errstate(all="ignore"):
        value = a.value / b.value
        return Range(value, np.abs(value) * (a.slack / np.abs(a.value) + b.slack / np.abs(b.value) + 1e-9))


class Reader:
    """Reads one side of an equation; every part has a list of what it may mean."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        text = text.strip()
        while at < len(text):
            token = TOKEN.match(text, at)
            if token is None:
                raise Unreadable(text)
            self.tokens.append(token[1])
            at = token.end()
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise Unreadable(" ".join(self.tokens))
        self.at += 1
        return token

    def whole(self) -> list[Range]:
        found = self.sum()
        if self.peek():
            raise Unreadable(" ".join(self.tokens))
        return found

    def sum(self) -> list[Range]:
        found = self.product()
        while self.peek() in ("+", *MINUS):
            sign = 1 if self.take() == "+" else -1
            more = self.product()
            try:
                found = [
                    Range(a.value + sign * b.value, a.slack + b.slack + 1e-9 * (abs(a.value) + abs(b.value)))
                    for a in found
                    for b in more
                ]
            except ValueError:
                raise Unreadable(" ".join(self.tokens)) from None
        return found

    def product(self) -> list[Range]:
        found = self.factor()
        while self.peek() in ("·", "⊙", "/"):
            sign = self.take()
            more = self.factor()
            pairs = [(a, b) for a in found for b in more]
            if sign == "/":
                found = [quotient(a, b) for a, b in pairs]
            else:
                found = [p for a, b in pairs for p in products(a, b)][:40]
        return found

    def factor(self) -> list[Range]:
        if self.peek() in MINUS:
            self.take()
            return [Range(-v, e) for v, e in self.factor()]
        found = self.atom()
        while self.peek() == "ᵀ":
            self.take()
            found = [Range(np.transpose(v), np.transpose(e)) for v, e in found]
        return found

    def atom(self) -> list[Range]:
        token = self.take()
        if token == "(":
            found = self.sum()
            self.take(")")
            return found
        if token == "[":
            return [range_of([self.items()])]
        if token[0].isdigit() or token in ("nan", "inf"):
            return [range_of(token)]
        if token[0] == "Σ":
            return self.total(tuple(map(int, token[5:-1].split())) or None)
        raise Unreadable(" ".join(self.tokens))

    def items(self) -> list[Any]:
        """The items of an array whose bracket has been opened, as texts."""
        found: list[Any] = []
        while self.peek() != "]":
            sign = "-" if self.peek() in MINUS and self.take() else ""
            found.append(self.items() if self.peek() == "[" and self.take() else sign + self.take())
        self.take("]")
        return found

    def total(self, dims: tuple[int, ...] | None) -> list[Range]:
        """`Σ x`, `Σ[dim 0] x`: the dimensions may be gone, or have size 1."""
        found = self.factor()
        return [
            Range(*(np.sum(each, axis=dims, keepdims=kept) for each in one))
            for one in found
            for kept in ((False, True) if dims else (False,))
        ]


def range_of(written: Any) -> Range:
    """The range of a number, or of an array (in a list of its own), as it is written."""
    if isinstance(written, str):
        value = float(written.replace("−", "-"))
        return Range(np.float64(value), abs(value) * 5.1e-5 if np.isfinite(value) else np.float64(0))
    flat: list[str] = []

    def converted(item: Any) -> Any:
        if isinstance(item, list):
            return [converted(one) for one in item]
        flat.append(item)
        return float(item.replace("−", "-"))

    try:
        array = np.array(converted(written[0]))
    except ValueError:
        raise Unreadable(str(written)) from None
    digits = max((len(re.sub(r"^[-0.]+|e.*|\.|0+$", "", text)) for text in flat), default=0)
    slack = np.abs(array) * (5.1e-5 if digits > 3 else 5.1e-3)
    return Range(array, np.where(np.isfinite(array), slack, 0))


def read(text: str) -> list[Range]:
    """What a side of an equation may mean; Unreadable if it is no arithmetic of numbers."""
    return Reader(text).whole()


def without_reasons(text: str) -> str:
    """A text without its `(through w)` and without the shapes that stand after it."""
    text = text.split("   ")[0]
    while (start := text.find(" (through ")) >= 0:
        depth, end = 0, start + 1
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        text = text[:start] + text[end:]
    return text


def sides(text: str) -> list[list[Range]]:
    """The sides of a line of equations that are arithmetic of numbers; what is not is passed over."""
    found = []
    for side in without_reasons(text).split(" = "):
        try:
            found.append(read(side))
        except Unreadable:
            continue
    return found
