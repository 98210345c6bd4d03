"""What a cell does to gradients itself, as one step: `x.grad = None`, `optimizer.zero_grad()`."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.stage import LISTED, Stage, in_cell
from ..numbers import short
from ..trace.events import GradSet
from ..words import clean, text
from .told import Told

HOW = {
    "zero": "step_grad_zero",
    "none": "step_grad_none",
    "assigned": "step_grad_assigned",
    "written": "step_grad_written",
}


def reset(stage: Stage, events: Sequence[GradSet]) -> Told:
    """One expression changed some gradients, all in the same way."""
    last = events[-1]
    names = [f"{stage.name(event.tensor)}.grad" for event in events[:LISTED]] + ["…"] * (len(events) > LISTED)
    value = "" if last.after is None else short(last.after)
    told = text(HOW[last.how], stage.lang, names=", ".join(names), value=value)
    marks = [mark for event in events for mark in stage.card_marks((event.tensor,))[:1]]
    return Told(tuple(dict.fromkeys(marks)), clean(told), (), in_cell(last.span))
