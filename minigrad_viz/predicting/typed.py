"""What a person types, as data: `0.6`, `3/5`, `75*0.008`, `[[1, 2], [3, 4]]`, `(2, 3)`, `x and w`, `None`.

Nothing is run: a text is read as an expression of numbers, a few functions and names.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..equality import numbers, same

OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "ln": math.log, "sin": math.sin, "cos": math.cos,
    "tan": math.tan, "tanh": math.tanh, "abs": abs,
}  # fmt: skip
HOLDERS = ("tensor", "Tensor", "Size", "array", "list", "tuple", "set")  # `tensor([1., 2.])`
CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan, "None": None, "True": True, "False": False}
SIGNS = str.maketrans({"−": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "^": "**", "²": "**2", "³": "**3"})
YES = ("yes", "y", "true", "raises", "예", "네", "응", "맞아요")
NO = ("no", "n", "false", "아니요", "아니오", "아뇨")
LARGEST = 100  # of an exponent, so that nobody waits for `9**9**9`
LONGEST = 2000  # characters of an answer


class Unreadable(ValueError):
    """A text that is no answer of the kind that was asked for."""


def read(text: str) -> Any:
    """A text as numbers, nested lists of these, None, or names. Unreadable for anything else."""
    if len(text) > LONGEST:
        raise Unreadable(text)
    written = text.strip().translate(SIGNS)
    if written.lower() == "none":
        return None
    spaced = re.sub(r"(?<=[\d.\]])\s+(?=[-\d.\[])", ", ", written)  # `[1. 2.]`, as tensors are printed
    for attempt in dict.fromkeys((written, spaced)):
        try:
            return value_of(ast.parse(attempt, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError, ArithmeticError, TypeError):
            continue
    raise Unreadable(text)


def value_of(node: ast.expr) -> Any:
    """The value of an expression of numbers; a name is its text."""
    match node:
        case ast.Constant(value=int() | float() | None as value):
            return value
        case ast.Name(id=name):
            return CONSTANTS.get(name, name)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [value_of(item) for item in items]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -value_of(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return +value_of(inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            first, second = value_of(left), value_of(right)
            if isinstance(op, ast.Pow) and abs(second) > LARGEST:
                raise Unreadable("exponent")
            return OPERATORS[type(op)](float(first), float(second))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner]) if name in HOLDERS:
            return value_of(inner)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner]) if name in FUNCTIONS:
            return FUNCTIONS[name](float(value_of(inner)))
    raise Unreadable(ast.unparse(node))


def read_shape(answer: Any) -> tuple[int, ...]:
    """A shape: `(2, 3)`, `2x3`, `[2, 3]`, `3`, `()`. Unreadable for anything else."""
    if isinstance(answer, str):
        sizes = re.fullmatch(r"\s*\(?\s*(\d+(?:\s*[x×*]\s*\d+)+)\s*\)?\s*", answer)
        answer = [int(n) for n in re.findall(r"\d+", sizes[1])] if sizes else read(answer)
    found = [answer] if isinstance(answer, int | float) and not isinstance(answer, bool) else answer
    try:
        sizes_found = [float(size) for size in found]
    except (TypeError, ValueError):
        raise Unreadable(str(answer)) from None
    if any(size != int(size) for size in sizes_found):
        raise Unreadable(str(answer))
    return tuple(int(size) for size in sizes_found)


def read_names(answer: Any) -> frozenset[str]:
    """Names: `x, w`, `x and w`, `{"x", "w"}`, `none`. Unreadable for anything else."""
    if answer is None:
        return frozenset()
    if isinstance(answer, str):
        words = re.sub(r"\b(?:and|none|와|과)\b|[\s,;.{}()\[\]'\"]+", " ", answer).split()
        return frozenset(words)
    try:
        return frozenset(str(name) for name in answer)
    except TypeError:
        raise Unreadable(str(answer)) from None


def read_yes(answer: Any) -> bool:
    """Yes or no. Unreadable for anything else; the name of an error is a yes."""
    if isinstance(answer, bool):
        return answer
    word = str(answer).strip().strip(".!").lower()
    if word in NO or word.startswith(("no ", "no,", "아니")):
        return False
    if word in YES or word.endswith("error") or word.startswith(("yes", "예", "네")):
        return True
    raise Unreadable(str(answer))


def equal(answer: Any, truth: Any, written: str = "") -> bool:
    """Whether an answer is a truth, as a person rounds: to three digits, or to the digits that were written
    (at least two)."""
    mine, theirs = numbers(answer), numbers(truth)
    if mine is None or theirs is None:
        return same(answer, truth)
    if not mine.shape and theirs.size == 1:  # of a tensor with one element the number alone will do
        theirs = theirs.reshape(())
    if mine.shape != theirs.shape:
        return False
    if same(mine, theirs):
        return True
    noise = 1e-6 * float(np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0))
    if bool(np.allclose(mine, theirs, rtol=0.5e-2, atol=noise, equal_nan=True)):
        return True
    return not mine.shape and rounded(written, float(theirs)) == float(mine)


def rounded(written: str, truth: float) -> float | None:
    """A truth, rounded to the digits of a decimal number as it was written; None for fewer than two."""
    plain = written.strip().translate(SIGNS).lstrip("+-")
    if not re.fullmatch(r"\d*\.?\d*", plain) or len(plain.replace(".", "").lstrip("0")) < 2:
        return None
    return round(truth, len(plain.partition(".")[2]))
