"""A backward call that was refused before it began, of which no event tells but the error."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..trace.events import Created, Failed, Trace
from ..trace.where import Span
from .place import Place

STARTS = ("backward", "grad")


def refused(trace: Trace) -> Failed | None:
    """The error that ended the cell, if it came up where the cell wrote a backward call."""
    last = trace.events[-2:]  # an event with the variables follows it
    failed = next((event for event in last if isinstance(event, Failed)), None)
    return failed if failed is not None and starts_backward(failed.span) else None


def starts_backward(span: Span | None) -> bool:
    """Whether an expression is a call of `backward` or `grad`."""
    try:
        tree = None if span is None else ast.parse(f"({span.text}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return False
    if not isinstance(tree, ast.Call):
        return False
    return getattr(tree.func, "attr", getattr(tree.func, "id", "")) in STARTS


def given_there(trace: Trace, places: Iterable[Place]) -> set[str]:
    """The ids of the places of tensors that were made inside such a call, to be its gradients, and that
    nothing else has used: nothing leads to them or from them."""
    failed = refused(trace)
    if failed is None or failed.span is None:
        return set()
    places, span = list(places), failed.span
    used = {id for place in places for id in place.inputs or ()}
    made = {
        event.tensor.id
        for event in trace.events
        if isinstance(event, Created) and event.span is not None and span.holds(event.span)
    }
    return {p.id for p in places if p.name is None and p.states[0].id in made - used}
