"""Where a tensor of a trace came from, and why it does not require gradients."""

from __future__ import annotations

from typing import NamedTuple

from ..model.births import Birth, came_from
from ..model.cuts import is_whole
from ..model.trace_index import TraceIndex
from ..trace.events import Created, Detached, Forward, Left
from ..trace.graph import CAUSE, Mark
from ..trace.where import Span
from .case import Case


class Cut(NamedTuple):
    """Where the path of gradients to a tensor ended: at `tensor`, which came from `source` (None: made from
    data). `how` is "detach", "data", "numpy", "item", "tensor", "no_grad", "inference", "integer", or "made"
    (it never required gradients)."""

    how: str
    tensor: str
    source: str | None
    span: Span | None


def cut_at(index: TraceIndex, event: Birth, tensor: str, source: str) -> Cut | None:
    """The cut between `source`, which requires gradients, and `tensor`, which came from it by `event`; None
    if it is not certain what it was."""
    if isinstance(event, Detached | Left):
        return Cut(event.how, tensor, source, event.span)
    if not isinstance(event, Forward):
        return None
    how = "integer" if any(map(is_whole, event.outputs)) else ""
    how = "no_grad" if not event.grad_enabled else how
    how = "inference" if index.switched("inference", index.times[id(event)]) else how
    return Cut(how, tensor, source, event.span) if how else None


def cut_before(case: Case, tensor: str) -> Cut | None:
    """Where the path of gradients ended on the way to a tensor that requires none; None if that is not
    certain."""
    born, seen = case.scene.index.births, set[str]()
    todo, made = [tensor], None
    while todo:
        id = todo.pop()
        event = None if id in seen else born.get(id)
        seen.add(id)
        if event is None:
            continue
        span, sources = event.span, came_from(event)
        asking = [source for source in sources if case.scene.asks(source)]
        if isinstance(event, Created):
            asked = span is None or event.tensor.requires_grad
            made = made or (None if asked else Cut("made", id, None, span))
        elif not asking:
            todo += sources
        else:
            return cut_at(case.scene.index, event, id, asking[0])
    return made if made is not None and made.tensor == tensor else None


def cut_marks(case: Case, cut: Cut, card: bool = True) -> tuple[Mark, ...]:
    """A mark on the arrow that a cut ended; where the picture has none, with `card` on the tensor behind
    it."""
    label = case.words("mark_cut")
    marks = case.arrow(cut.source or "", cut.tensor, CAUSE, label)
    return marks or (case.card(cut.tensor, CAUSE, label) if card else ())
