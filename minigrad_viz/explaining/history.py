"""What a trace knows of where a tensor came from, and of why it asks for no gradients."""

from __future__ import annotations

from typing import NamedTuple

from ..protocol import Value
from ..trace.events import Created, Detached, Forward, Left, ModeChanged, Mutated, TensorState, Trace
from ..trace.where import Span
from .case import Case

Birth = Created | Forward | Detached | Left | Mutated


class Cut(NamedTuple):
    """Where the path of gradients to a tensor ended: at `tensor`, which came from `source` (None: made from
    data). `how` is "detach", "data", "numpy", "item", "tensor", "no_grad", "inference", "integer", or "made"
    (it never asked for gradients)."""

    how: str
    tensor: str
    source: str | None
    span: Span | None


def births(trace: Trace) -> dict[str, Birth]:
    """The events by which tensors came to be, as they are now."""
    found: dict[str, Birth] = {}
    for event in trace.events:
        if isinstance(event, Forward):
            for state in event.outputs:
                found.setdefault(state.id, event)
        elif isinstance(event, Created | Detached) or (
            isinstance(event, Mutated) and event.tensor.id != event.before
        ):
            found.setdefault(event.tensor.id, event)
        elif isinstance(event, Left):
            found[event.tensor.id] = event
    return found


def came_from(event: Birth) -> list[str]:
    """The tensors that a tensor was computed from."""
    if isinstance(event, Created):
        return []
    if isinstance(event, Left):
        return list(event.sources)
    ids = (event.source,) if isinstance(event, Detached) else event.inputs
    return [id for id in ids if id is not None and id != "…"]


def sources_of(born: dict[str, Birth], root: str) -> set[str]:
    """All tensors that a tensor was computed from, itself included."""
    seen, todo = {root}, [root]
    while todo:
        event = born.get(todo.pop())
        new = [source for source in ([] if event is None else came_from(event)) if source not in seen]
        seen.update(new)
        todo += new
    return seen


def whole(state: TensorState) -> bool:
    """Whether a tensor holds whole numbers, so that it cannot ask for gradients."""
    return isinstance(state.value, Value) and state.value.dtype.startswith(("int", "uint", "bool"))


def inference_on(trace: Trace, event: Birth) -> bool:
    """Whether an event came about in inference mode."""
    on = False
    for other in trace.events:
        if other is event:
            return on
        if isinstance(other, ModeChanged) and other.mode == "inference":
            on = other.enabled
    return on


def made_by(event: object) -> tuple[TensorState, ...]:
    """The tensors that came to be by an event."""
    if isinstance(event, Forward):
        return event.outputs
    new = isinstance(event, Created | Detached | Left)
    new = new or (isinstance(event, Mutated) and event.tensor.id != event.before)
    return (event.tensor,) if new else ()  # type: ignore[attr-defined]


def cut_at(trace: Trace, event: Birth, tensor: str, source: str) -> Cut | None:
    """The cut between `source`, which asks for gradients, and `tensor`, which came from it by `event`; None
    if it is not certain what it was."""
    if isinstance(event, Detached | Left):
        return Cut(event.how, tensor, source, event.span)
    if not isinstance(event, Forward):
        return None
    how = "integer" if any(map(whole, event.outputs)) else ""
    how = "no_grad" if not event.grad_enabled else how
    how = "inference" if inference_on(trace, event) else how
    return Cut(how, tensor, source, event.span) if how else None


def cut_before(case: Case, tensor: str) -> Cut | None:
    """Where the path of gradients ended on the way to a tensor that asks for none; None if that is not
    certain."""
    born, seen = births(case.trace), set[str]()
    todo, made = [tensor], None
    while todo:
        id = todo.pop()
        event = None if id in seen else born.get(id)
        seen.add(id)
        if event is None:
            continue
        span, sources = event.span, came_from(event)
        asking = [source for source in sources if case.builder.asks(source)]
        if isinstance(event, Created):
            asked = span is None or event.tensor.requires_grad
            made = made or (None if asked else Cut("made", id, None, span))
        elif not asking:
            todo += sources
        else:
            return cut_at(case.trace, event, id, asking[0])
    return made if made is not None and made.tensor == tensor else None
