"""What a cell writes into its parameters and their gradients around a backward call: the steps of
optimizers,
`zero_grad`, clipping, and what is written by hand.

Note [What is an update]
    A write counts as an update if it changes a `.grad`, or, outside the graph, a leaf that has one or that
    comes after a backward call: before the first call the cell prepares data. The writes of one
    statement are one update, also if a loop comes to it for each parameter; if it comes to the same parameter
    again, that is another one. An update belongs to the call before it; in a loop, where the source goes back
    to a line above that call, to the call after it (`opt.zero_grad()` at the head of a round).
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..protocol import Value
from ..trace.events import BackwardEnded, Forward, GradSet, InPlaceWrite, OptimizerStepped, Stepping
from ..trace.graph import Change, Update
from ..trace.source_positions import Span
from ..trace.statements import parse_expression
from .stations import BackwardCall, Moments

STEP, ZERO, CLIP, WRITTEN = "step", "zero", "clip", "written"
RESETS = ("none", "zero", "empty")
NUMBER = re.compile(r"-?\d[\d.]*(?:e[+-]?\d+)?")
SETTINGS = {  # of an optimizer, as they are shown
    "lr": "lr={:g}",
    "momentum": "momentum={:g}",
    "nesterov": "nesterov=True",
    "weight_decay": "weight_decay={:g}",
}


class UpdateReader:
    """Goes through the events of a trace with the values and gradients of its tensors at hand."""

    def __init__(self, events: Sequence[Any], moments: Moments, calls: Iterable[BackwardCall]) -> None:
        self.events, self.moments = events, moments
        self.calls = sorted(calls, key=lambda call: call.begin)
        self.begun = False  # whether a backward call has ended
        self.found: list[Update] = []
        self.open: dict[tuple[Any, ...], Update] = {}  # since the last backward call, by statement
        self.leaves: set[str] = set()  # those that require gradients
        self.step: dict[str, Stepping] = {}  # of the optimizer that steps, by tensor
        self.optimizer = ""
        self.numbers: list[tuple[Span, str, float]] = []  # that statements name, since the last write

    def read(self) -> list[Update]:
        """All updates in the order in which they began, each with its call."""
        for time, event in enumerate(self.events):
            self.look(time, event)
            asking = (state for state in event.states if state.is_leaf and state.requires_grad)
            self.leaves.update(state.id for state in asking)
        for each in self.found:
            self.assign(each)
        return self.found

    def look(self, time: int, event: Any) -> None:
        """Take in an event, if it is part of an update."""
        match event:
            case OptimizerStepped():
                self.optimizer, self.step = event.kind, {row.tensor: row for row in event.rows}
                update = self.update(time, STEP, event.span, source_line(event.span), event.kind)
                update.times.append(time)
            case GradSet():
                self.reset(time, event)
            case InPlaceWrite():
                self.written(time, event)
            case Forward() if time not in self.moments.given:
                self.numbers += gradient_factor(event)
            case Forward():
                tensor = self.moments.given[time]
                if tensor in self.leaves and self.counts(tensor, time):
                    title = f"{event.name} = {source_line(event.span)}"
                    self.change(time, WRITTEN, event.span, title, tensor, event.outputs[0].value)
            case BackwardEnded():
                self.begun, self.open = True, {}

    def counts(self, leaf: str, time: int) -> bool:
        """Whether a write into a leaf is an update: only after the leaf had a gradient."""
        before = self.moments.at(leaf, time - 1)
        return self.begun or (before is not None and before.grad is not None)

    def reset(self, time: int, event: GradSet) -> None:
        """A gradient was changed."""
        text = source_line(event.span)
        kind = ZERO if event.how in RESETS else CLIP if "clip_grad" in text else WRITTEN
        title = f"{text} = None" if event.how in ("none", "empty") and text.endswith(".grad") else text
        update = self.update(time, kind, event.span, title, tensor=event.tensor)
        number = f"c{len(update.changes)}"
        update.changes.append(Change(number, event.tensor, "", event.before, None, event.after))
        update.times.append(time)
        update.of_gradients = True
        if title not in update.title:
            update.title = f"{update.title.removesuffix(' = None')} = {title}"

    def written(self, time: int, event: InPlaceWrite) -> None:
        """A leaf was written to, or a tensor that shares its memory, or a gradient that has an update."""
        leaf = next((s.id for s in (event.tensor, *event.also) if s.is_leaf and s.requires_grad), None)
        if leaf is not None and event.tensor.id == event.before and self.counts(leaf, time):
            kind = STEP if event.op == "step" and leaf in self.step else WRITTEN
            after = next(s.value for s in (event.tensor, *event.also) if s.id == leaf)
            self.change(time, kind, event.span, source_line(event.span), leaf, after)
        elif self.found and self.found[-1].span == event.span:
            self.found[-1].times.append(time)

    def change(
        self, time: int, kind: str, span: Span | None, title: str, tensor: str, after: Value | None
    ) -> None:
        """A parameter has another value."""
        update = self.update(time, kind, span, title, self.optimizer if kind == STEP else "", tensor)
        known = self.step.get(tensor) if kind == STEP else None
        names = ((name, number) for at, name, number in self.numbers if span is not None and span.holds(at))
        more = (tuple(names),) if known is None else (known.settings, known.state)
        self.numbers = []
        then = self.moments.at(tensor, time - 1)
        before, gradient = (None, None) if then is None else (then.value, then.grad)
        number = f"c{len(update.changes)}"
        update.changes.append(Change(number, tensor, "", before, gradient, after, *more))
        update.times.append(time)

    def update(
        self, time: int, kind: str, span: Span | None, title: str, about: str = "", tensor: str = ""
    ) -> Update:
        """The update that a write belongs to."""
        line = title if span is None else (span.origin, span.line)
        key = kind, line, about
        known = self.open.get(key)
        again = known is not None and any(change.tensor == tensor for change in known.changes)
        if known is None or again or (kind == STEP and not tensor):
            known = self.open[key] = Update(kind, title, about, span, [], [])
            self.found.append(known)
        return known

    def assign(self, update: Update) -> None:
        """Find the call that an update belongs to."""
        place = bisect_right([call.begin for call in self.calls], update.times[0])
        before, after = self.calls[:place][-1:], self.calls[place:][:1]
        line = 0 if update.span is None or update.span.origin else update.span.line
        back = any(0 < line < call.line for call in before) and any(line < call.line for call in after)
        update.early = bool(after) and (back or not before)
        for call in after if update.early else before:
            update.call = call.number


def gradient_factor(event: Forward) -> Iterator[tuple[Span, str, float]]:
    """The number that an op multiplies a gradient with, and its name: `lr` in `lr * w.grad`."""
    text = "" if event.span is None else event.span.text
    match parse_expression(text) if ".grad" in text else None:
        case ast.BinOp(left, _, right):
            factor = left if ".grad" in ast.unparse(right) else right
            sign = -1 if isinstance(factor, ast.UnaryOp) and isinstance(factor.op, ast.USub) else 1
            name = ast.unparse(factor.operand if isinstance(factor, ast.UnaryOp) else factor)
            numbers = [given for given in event.arguments if given and NUMBER.fullmatch(given)]
            if len(numbers) == 1 and event.span is not None and not isinstance(factor, ast.Constant):
                yield event.span, name, sign * float(numbers[0])


def source_line(span: Span | None) -> str:
    """The source of a span in one line."""
    return "" if span is None else span.flat


def optimizer_text(update: Update) -> str:
    """`SGD lr=0.1 momentum=0.9`; "" without an optimizer."""
    known = dict(update.changes[0].settings) if update.changes else {}
    told = [form.format(known[name]) for name, form in SETTINGS.items() if known.get(name)]
    return " ".join([update.about, *told]) if update.about else ""
