"""What a cell does to parameters and their gradients around a backward call, as one step for each statement:
`optimizer.step()`, `w -= lr * w.grad`, `x.grad = None`."""

from __future__ import annotations

from dataclasses import replace

from ..arithmetic import change_lines
from ..model.stage import LISTED, Stage, in_cell
from ..model.updates import about
from ..numbers import short
from ..trace.events import GradSet
from ..trace.graph import Change, Update
from ..words import clean, shorten, text
from .told import Told, line

GRADIENTS = {
    "zero": "step_grad_zero",
    "none": "step_grad_none",
    "assigned": "step_grad_assigned",
    "written": "step_grad_written",
}
RESETS = ("zero", "none")
SOURCE = 60  # columns of the statement in a sentence


def updated(stage: Stage, update: Update) -> Told:
    """An update, with its arithmetic for the parameters that the picture shows first."""
    changes = update.changes
    tensors = tuple(change.tensor for change in changes)
    marks = (update.id, *(f"{update.id}-{change.id}" for change in changes), *cards(stage, tensors))
    how = [e.how for e in map(stage.scene.trace.events.__getitem__, update.times) if isinstance(e, GradSet)]
    if how and (len(changes) == 1 or how[-1] in RESETS):
        names = ", ".join([change.name for change in changes[:LISTED]] + ["…"] * (len(changes) > LISTED))
        value = "" if changes[-1].after is None else short(changes[-1].after)
        told = text(GRADIENTS[how[-1]], stage.lang, names=names, value=value)
        return Told(marks, clean(told), (), in_cell(update.span))
    source = shorten(clean(update.title), SOURCE)
    if len(changes) == 1:
        values = {"name": changes[0].name, "change": before_after(changes[0])}
        told = text("step_update_one", stage.lang, source=source, **values)
    else:
        told = stage.say("step_update", source=source, n=len(changes))
    lines = []
    if told_of := about(update):
        lines.append(line("words", stage.say("optimizer_label"), told_of))
    for change in sorted(changes, key=lambda change: not change.name)[:LISTED]:
        named = change if change.name else replace(change, name=stage.name(change.tensor))
        if len(changes) > 1:
            lines.append(line("update", named.name, before_after(change)))
        lines += change_lines(update, named)
    if len(changes) > LISTED:
        lines.append(line("words", "…", stage.say("update_more", n=len(changes) - LISTED)))
    return Told(marks, clean(told), tuple(lines), in_cell(update.span))


def cards(stage: Stage, tensors: tuple[str, ...]) -> tuple[str, ...]:
    """The cards of tensors that are changed."""
    return tuple(mark for mark in stage.card_marks(tensors) if "-c" in mark)


def before_after(change: Change) -> str:
    """`0.80764 → 0.99186`."""
    return " → ".join("None" if value is None else short(value) for value in (change.before, change.after))
