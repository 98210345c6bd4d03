"""Live values: a recorded cell as it would be with another number.

Note [Exactness]
    A program is trusted only after it ran with the cell's own numbers and reproduced the cell's trace, to the
    last digit. Whatever was overlooked when it was taken down (numbers that left and came back, memory that
    two tensors share, random numbers) shows there, or in a question that gets another answer.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..isolation import pass_on
from ..trace.calls import InputTensor
from ..trace.events import ModeChanged, TensorCreated, Trace
from ..trace.source_positions import Span
from ..words import text
from .program import Program
from .runs import Changes, Differs, OtherBranch, graft, run

# ─── Where the number of a leaf stands in the source of a cell


def line_of_number(source: str, span: Span, place: tuple[int, ...]) -> tuple[int, str, str] | None:
    """The line in which the expression at `span`, a call like `torch.tensor([1.0, 2.0])`, has the number at a
    place, with the text before and after that number; None if it has none there."""
    lines = source.split("\n")
    try:
        call = ast.parse(
            f"(\n{span.text}\n)", mode="eval"
        ).body  # in a line of its own, from its first column
    except SyntaxError:
        return None
    if span.origin or not isinstance(call, ast.Call) or not call.args:
        return None
    node = call.args[0]
    for index in place:
        if not isinstance(node, ast.List | ast.Tuple) or index >= len(node.elts):
            return None
        node = node.elts[index]
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    if not isinstance(plain, ast.Constant) or isinstance(plain.value, bool):
        return None
    if not isinstance(plain.value, int | float) or node.end_lineno != node.lineno:
        return None
    row = span.line + node.lineno - 3  # the expression begins in the second line
    if not 0 <= row < len(lines):
        return None
    line, shift = lines[row].encode(), span.column if node.lineno == 2 else 0
    before, number, after = (
        line[: node.col_offset + shift],
        line[node.col_offset + shift : (node.end_col_offset or 0) + shift],
        line[(node.end_col_offset or 0) + shift :],
    )
    if number.decode() != ast.get_source_segment(f"(\n{span.text}\n)", node):
        return None
    return row + 1, before.decode(), after.decode()


# ─── Live values: a recorded cell as it would be with another number


ELEMENTS = 64  # of an array that has handles
HALVINGS = 24  # until the number is found at which a branch changes


class ReplayRefusal(ValueError):
    """A cell, or a leaf of it, that cannot be computed again."""


class Handle(NamedTuple):
    """A number of a leaf that can be changed. `name` is its name (`x`, `w[0, 1]`) and `value` its value in
    the cell; `leaf` is the variable, `id` the tensor in the trace, `number` the tensor in the program, and
    `place` the element in it."""

    name: str
    leaf: str
    id: str
    number: int
    place: tuple[int, ...]
    value: float
    dtype: str


class Branch(NamedTuple):
    """Where the cell would take another branch: the condition at `line` has the cell's answer up to `near`,
    and another from `far` on."""

    line: int
    near: float
    far: float


class Live:
    """The cell of a trace, whose leaves can have other numbers. Refused, with the reason, where that cannot
    be."""

    def __init__(self, trace: Trace, program: Program | None, lang: str | None = None) -> None:
        self.trace, self.lang = trace, lang
        if program is None:
            raise ReplayRefusal(text("live_no_program", lang))
        self.program = program
        self._check()

    def _check(self) -> None:
        """Refused unless the program gives the cell's own numbers."""
        if self.program.why_not is not None:
            key, values = self.program.why_not
            raise ReplayRefusal(text(key, self.lang, **values))
        for event in self.trace.of(ModeChanged):
            if event.mode != "grad":
                raise ReplayRefusal(text("live_no_mode", self.lang, mode=event.mode))
        try:
            again = graft(self.trace, run(self.program, {}, self.trace.source))
        except Exception as problem:
            pass_on(problem)
            said = f"{type(problem).__name__}: {problem}"
            raise ReplayRefusal(text("live_no_same", self.lang, problem=said)) from problem
        if again != self.trace:
            raise ReplayRefusal(text("live_no_same", self.lang, problem=first_difference(self.trace, again)))
        if not self.handles:
            raise ReplayRefusal(text("live_no_leaf", self.lang))

    @cached_property
    def handles(self) -> dict[str, Handle]:
        """What can be changed, by name, in the order of the cell."""
        made = {step.results.number: step.made for step in self.program.steps if step.made is not None}
        known: dict[int, InputTensor] = {**self.program.given, **made}
        names = dict(reversed(self.trace.names))
        found = {}
        for number, id in self.program.leaves.items():
            given, name = known.get(number), names.get(id)
            if given is None or name is None or given.data.dtype.kind != "f":
                continue
            if given.data.size <= ELEMENTS:
                for handle in handles_of(name, id, number, given):
                    found[handle.name] = handle
        return found

    def handle(self, name: str) -> Handle:
        """The handle of this name. Refused, with the names that there are, if there is none."""
        known = self.handles.get(name)
        if known is None:
            names = ", ".join(self.handles)
            raise ReplayRefusal(text("live_no_handle", self.lang, name=name, names=names))
        return known

    def changes(self, numbers: Mapping[str, float]) -> Changes:
        """Numbers by name as changes of the program."""
        found: dict[int, dict[tuple[int, ...], float]] = {}
        for name, value in numbers.items():
            handle = self.handle(name)
            found.setdefault(handle.number, {})[handle.place] = float(value)
        return found

    def at(self, numbers: Mapping[str, float]) -> Trace:
        """The trace of the cell with these numbers. Refused where it would not run the same operations."""
        try:
            return graft(self.trace, run(self.program, self.changes(numbers), self.trace.source))
        except OtherBranch as turned:
            said = {"line": turned.line, "before": turned.before, "after": turned.after}
            raise ReplayRefusal(text("live_turned", self.lang, **said)) from turned
        except (Differs, ArithmeticError, IndexError, RuntimeError, TypeError, ValueError) as problem:
            pass_on(problem)
            said = {"problem": f"{type(problem).__name__}: {problem}"}
            raise ReplayRefusal(text("live_failed", self.lang, **said)) from problem

    def branch(self, name: str, value: float, others: Mapping[str, float] | None = None) -> Branch | None:
        """Where a branch changes between the cell's number and `value`, with `others` for other leaves; None
        if none does."""
        others = others or {}
        near, far = self.handle(name).value, float(value)
        line = self._turns({**others, name: far})
        if line is None:
            return None
        for _ in range(HALVINGS):
            middle = (near + far) / 2
            if middle in (near, far):
                break
            turned = self._turns({**others, name: middle})
            if turned is None:
                near = middle
            else:
                far, line = middle, turned
        return Branch(line, near, far)

    def written(self, handle: Handle) -> tuple[int, str, str] | None:
        """The line of the cell that gives a leaf its number, with the text before and after the
        number; None where no line does so plainly."""
        made = (e for e in self.trace.of(TensorCreated) if e.tensor.id == handle.id)
        span = next((event.span for event in made), None)
        return None if span is None else line_of_number(self.trace.source, span, handle.place)

    def _turns(self, numbers: Mapping[str, float]) -> int | None:
        """The line at which the cell would take another branch; None if there is none."""
        try:
            run(self.program, self.changes(numbers), self.trace.source)
        except OtherBranch as turned:
            return turned.line
        return None


def handles_of(name: str, id: str, number: int, given: InputTensor) -> Iterator[Handle]:
    """Those of one leaf."""
    data = np.asarray(given.data)
    for place in itertools.product(*map(range, data.shape)):
        called = f"{name}[{', '.join(map(str, place))}]" if place else name
        yield Handle(called, name, id, number, place, float(data[place]), str(data.dtype))


def first_difference(a: Trace, b: Trace) -> str:
    """What two traces differ in first, for the reason of a refusal."""
    for mine, theirs in zip(a.events, b.events):
        if mine != theirs:
            return type(mine).__name__
    return next(name for name, mine, theirs in zip(a._fields, a, b) if mine != theirs)
