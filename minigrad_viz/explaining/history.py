"""Where the path of gradients to a tensor ended."""

from __future__ import annotations

from typing import NamedTuple

from ..model.births import came_from, made_by
from ..trace.events import Created, Detached, Left
from ..trace.graph import CAUSE, Mark
from ..trace.where import Span
from .case import Case, Said

ENDED = {  # what ended a path, and what to do about it
    "detach": ("ended_detach", "ended_detach_fix"),
    "data": ("ended_detach", "ended_data_fix"),
    "no_grad": ("ended_no_grad", "ended_no_grad_fix"),
    "inference": ("ended_inference", "ended_inference_fix"),
    "numpy": ("ended_numpy", "ended_numbers_fix"),
    "item": ("ended_item", "ended_numbers_fix"),
    "tensor": ("ended_tensor", "ended_tensor_fix"),
    "integer": ("ended_integer", "ended_integer_fix"),
    "made": ("ended_made", "ended_made_fix"),
}


class Cut(NamedTuple):
    """Where the path of gradients to a tensor ended: at `tensor`, which came from `source` (None: made from
    data). `how` is "detach", "data", "numpy", "item", "tensor", "no_grad", "inference", "integer", or "made"
    (it never required gradients)."""

    how: str
    tensor: str
    source: str | None
    span: Span | None

    def told(self, case: Case) -> dict[str, Said]:
        """What ended the path ("ended"), and what to do about it ("repair"), as sentences."""
        names = {"name": case.name(self.tensor), "source": case.name(self.source or self.tensor)}
        why, fix = (case.words(key, cut=self.span, **names) for key in ENDED[self.how])
        return {"ended": why, "repair": fix}

    def marks(self, case: Case, card: bool = True) -> tuple[Mark, ...]:
        """A mark on the arrow that was cut; where the picture has none, with `card` on the tensor behind
        it."""
        label = case.words("mark_cut")
        marks = case.arrow(self.source or "", self.tensor, CAUSE, label)
        return marks or (case.card(self.tensor, CAUSE, label) if card else ())


def cut_at(case: Case, tensor: str, source: str) -> Cut | None:
    """The cut between `source`, which requires gradients, and `tensor`, which came from it; None if it is not
    certain what it was."""
    event, place = case.scene.index.births.get(tensor), case.scene.index.at.get(tensor)
    how = event.how if isinstance(event, Detached | Left) else place[0].cut if place else ""
    return Cut(how, tensor, source, event.span) if event is not None and how else None


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
            return cut_at(case, id, asking[0])
    return made if made is not None and made.tensor == tensor else None


# ── from the roots of a call ────────────────────────────────────────────────────────────────────────────────


class Lost(NamedTuple):
    """A gradient that does not get past `tensor`, which came from `source`, although both lead to the root.
    `cut` is what ended the path there, if that is certain; `leaf` is a computed tensor between it and the
    root that was made a leaf, and gets the gradients that `source` should have had ("" if there is none)."""

    tensor: str
    source: str
    cut: Cut | None
    leaf: str


def complete(case: Case) -> bool:
    """Whether all of the graph of the call is known."""
    nodes = () if case.started is None else case.started.nodes
    known = {node.id for node in nodes}
    return all(edge is None or edge[0] in known for node in nodes for edge in node.edges)


def reached(case: Case) -> set[str]:
    """The tensors whose gradients the call can compute."""
    nodes = case.scene.now.found
    born = (state for event in case.trace.events for state in made_by(event))
    return {*case.scene.now.accumulators} | {state.id for state in born if state.node in nodes}


def lost_by(case: Case) -> dict[str, Lost]:
    """The tensors that the roots of the call were computed from but no gradient can reach, each with the
    place nearest to the roots where its path ended."""
    born, ends, can = case.scene.index.births, case.scene.now.accumulators, reached(case)
    todo = list(case.scene.now.roots)
    found, leaf, seen = dict[str, Lost](), dict[str, str](), set(todo)
    for id in todo:  # grows while it is read
        event = born.get(id)
        sources = [] if event is None else came_from(event)
        through = leaf.get(id) or (id if id in ends and sources else "")
        for source in sources:
            passed = found.get(id)
            if passed is None and case.scene.asks(source):
                passed = Lost(id, source, cut_at(case, id, source), through)
            if passed is not None and source not in can:
                found.setdefault(source, passed)
            leaf.setdefault(source, through)
            if source not in seen:
                seen.add(source)
                todo.append(source)
    return found
