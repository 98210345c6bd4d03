"""Notes about what a training loop forgets or does twice, although nothing fails: a call without parentheses,
no backward, no step, probabilities where a loss takes scores."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.births import by_number, came_from
from ..model.scene import Scenes
from ..trace.events import Forward, Mutated, OptimizerStepped
from ..trace.explained import Explanation
from .case import Case, Values
from .not_learning import CLASSES, changed, learners
from .syntax import assignments, is_read, last_name, span_at

METHODS = ("backward", "step", "zero_grad")
TWICE = {"softmax": ("log_softmax", "cross_entropy"), "sigmoid": ("binary_cross_entropy_with_logits",)}


def forgotten(scenes: Scenes, lang: str | None = None) -> Iterator[Explanation]:
    """The notes about a cell that did not fail."""
    started = scenes.index.started
    case = Case(scenes, started[-1].call if started else 0, None, lang)
    if not case.trace.error:
        found = list(not_called(case))
        yield from found or [*no_backward(case), *no_step(case)]
        yield from scores_twice(case)


def not_called(case: Case) -> Iterator[Explanation]:
    """A statement that is only the name of a method: `opt.step`."""
    for part in case.each(ast.Expr):
        if isinstance(part.value, ast.Attribute) and part.value.attr in METHODS:
            place = span_at(case, part)
            values: Values = {"place": place, "code": f"{place.text}()"}
            yield case.note(
                "not_called", "not_called_why", "not_called_fix", (), place, of_cell=True, **values
            )


def no_backward(case: Case) -> Iterator[Explanation]:
    """Optimizers took steps, but no gradient was ever computed."""
    steps = [event for event in case.trace.events if isinstance(event, OptimizerStepped)]
    moved = any(isinstance(event, Mutated) and event.op == "step" for event in case.trace.events)
    if steps and steps[0].span is not None and not moved and not case.scene.index.started:
        values: Values = {"step": steps[0].span}
        keys = ("no_backward", "no_backward_why", "no_backward_fix")
        yield case.note(*keys, (), steps[0].span, of_cell=True, **values)


def no_step(case: Case) -> Iterator[Explanation]:
    """An optimizer resets gradients that are computed again and again, and nothing takes a step."""
    learning = by_number(learners(case))
    if len(case.scene.index.started) < 2 or not learning or set(learning) & changed(case):
        return
    for name, part in assignments(case):
        if not isinstance(part.value, ast.Call) or last_name(part.value) not in CLASSES:
            continue
        used = [each for each in case.each(ast.Name) if each.id == name and is_read(each)]
        resets = [
            each for each in case.each(ast.Attribute) if each.value in used and each.attr == "zero_grad"
        ]
        if used and len(resets) == len(used):
            span = case.scene.index.started[-1].span
            values: Values = {"opt": name, "names": case.names(learning), "backward": span}
            yield case.note("no_step", "no_step_why", "no_step_fix", (), span, of_cell=True, **values)


def scores_twice(case: Case) -> Iterator[Explanation]:
    """A loss that applies softmax or sigmoid itself was given the result of one."""
    born, found = case.scene.index.births, dict[object, Explanation]()
    for event in case.trace.events:
        given = came_from(event)[:1] if isinstance(event, Forward) else []
        source = born.get(given[0]) if given else None
        if not isinstance(event, Forward) or not isinstance(source, Forward) or event.span == source.span:
            continue
        if event.op in TWICE.get(source.op, ()):
            values: Values = {"call": event.span, "function": source.op, "source": source.span}
            keys = ("scores_twice", "scores_twice_why", "scores_twice_fix")
            found[event.span] = case.note(*keys, (), source.span, of_cell=True, **values)
    yield from found.values()
