"""What the user's own backward computed, as the user wrote it, with its numbers.

    grad_output * result = 1. · 2.7183 = 2.7183

It is never run again: these are the ops that were recorded while it ran. Where none were (PyTorch does not
tell them all), what its `return` says, and what came in and went out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..numbers import short
from ..protocol import Value
from ..trace.events import Inside
from ..trace.statements import parsed
from ..trace.where import Span
from ..words import clean, shorten, text
from .glyphs import Both, both
from .lines import Line, came, dotted, full, in_brackets, joined, line, listed, result, worded
from .node_step import NodeStep

SIGNS = {"mul": "·", "add": "+", "sub": "−", "div": "/", "pow": "^"}
LATEX_SIGNS = {"·": r" \cdot ", "+": " + ", "−": " - ", "/": " / ", "^": " ^ "}
LOOSE = {"·": 1, "/": 1, "+": 0, "−": 0, "^": 2}
LONGEST = 100  # columns of an expression
LINES = 12  # of one backward


def own_lines(step: NodeStep) -> Iterator[Line]:
    """The expressions of a custom Function's backward that ran."""
    inside = step.inside
    name = text("own", step.lang, name=clean(step.node.name).rstrip("0123456789").removesuffix("Backward"))
    written = [op for op in inside if op.span is not None]
    whole = outermost(written)
    for op in whole[:LINES]:
        assert op.span is not None
        source = shorten(clean(op.span.flat), LONGEST)
        yield line("own", name, joined([worded(source), inserted(op, written), result(dotted(op.output))]))
    if not whole and step.node.code is not None:
        for said in returns(step.node.code.text):
            source = shorten(clean(said), LONGEST)
            yield line("own", name, worded(source))


def outermost(ops: list[Inside]) -> list[Inside]:
    """The ops whose expressions are not part of another's, in the order in which they ended. An expression
    that ran several times (in a loop) stands with its last run."""
    last: dict[Span | None, Inside] = {}
    for op in ops:
        last.pop(op.span, None)
        last[op.span] = op
    return [op for op in last.values() if not any(inside(op, other) for other in last.values())]


def inside(inner: Inside, outer: Inside) -> bool:
    """Whether the expression of an op is part of another's."""
    a, b = inner.span, outer.span
    return a is not None and b is not None and a != b and b.holds(a)


def begin(op: Inside) -> tuple[int, int]:
    """Where an op begins."""
    return (0, 0) if op.span is None else (op.span.line, op.span.column)


def inserted(op: Inside, ops: list[Inside], depth: int = 4) -> Both:
    """An op with the numbers of its inputs; an input that an op of the same expression made is written out
    likewise where it needs no brackets."""
    title = op.op.removesuffix("_scalar").removesuffix("_tensor")
    sign = SIGNS.get(title)
    if title == "neg":
        return both("−", in_brackets(value(op.inputs[0])))
    if sign is None or len(op.inputs) != 2:
        shown = listed([value(x) for x in op.inputs])
        return both(worded(title), Both("(", r"\left("), shown, Both(")", r"\right)"))
    left = operand(op, op.inputs[0], ops, sign, depth)
    left = in_brackets(left) if sign == "^" else left
    between = Both(f" {sign} ", f"{LATEX_SIGNS[sign]}{{")
    return both(left, between, in_brackets(value(op.inputs[1])), Both("", "}"))


def operand(op: Inside, x: Value | str, ops: list[Inside], sign: str, depth: int) -> Both:
    """The first input of an op."""
    parts = [
        o for o in ops if isinstance(x, Value) and o.output == x and inside(o, op)
        and begin(o) == begin(op) and LOOSE[sign] <= LOOSE.get(SIGNS.get(o.op, ""), -1) < 2
    ]  # fmt: skip
    if parts and depth:
        return inserted(parts[0], ops, depth - 1)
    return value(x)


def value(x: Value | str) -> Both:
    """One input: its numbers."""
    if isinstance(x, str):
        return worded(clean(x))
    known = came(dotted(x))
    return known if full(x) is not None else known._replace(plain=short(x))


def returns(source: str) -> list[str]:
    """The `return` statements of a function, as they are written."""
    tree = parsed(source)
    found = [] if tree is None else [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    return [f"return {ast.unparse(node.value)}" for node in found if node.value is not None]
