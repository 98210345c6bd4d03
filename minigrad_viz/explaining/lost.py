"""A note about a computed tensor that was made a leaf, and gets the gradients of those that it came from."""

from __future__ import annotations

from ..model.births import came_from
from ..model.scene import Scenes
from ..model.trace_index import TraceIndex
from ..trace.events import Asked, Deposited
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from ..trace.where import Span
from .case import Case, Values
from .history import Lost, complete, lost_by


def new_leaves(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """For each backward call that left a leaf without gradient because a computed tensor was made a leaf of
    its own on the way: where that was. Not where the leaf got its gradient by another call; of what a loop
    does many times, the last."""
    born, found = scenes.index.births, dict[object, Explanation]()
    for started in scenes.index.started:
        computed = any(came_from(born[n.variable]) for n in started.nodes if n.variable in born)
        if started.kind != "backward" or started.wanted is not None or not computed:
            continue
        case = Case(scenes, started.call, started.span, lang)
        lost, ends = lost_by(case) if complete(case) else {}, dict[str, list[str]]()
        for id, end in lost.items():
            if end.leaf and end.cut is not None and expects(case, id):
                ends.setdefault(end.leaf, []).append(id)
        for leaf, ids in ends.items():
            told = new_leaf(case, lost[ids[0]], ids)
            found[told.cause, asked_at(scenes.index, leaf)] = told
    return list(found.values())


def expects(case: Case, tensor: str) -> bool:
    """Whether a tensor is a leaf that requires gradients and got none in all of the cell."""
    state = case.state(tensor)
    deposited = any(isinstance(e, Deposited) and e.tensor == tensor for e in case.trace.events)
    return state is not None and state.is_leaf and state.requires_grad and not deposited


def asked_at(index: TraceIndex, leaf: str) -> Span | None:
    """Where a tensor was made a leaf that requires gradients."""
    asked = [
        event.span for event in index.trace.events if isinstance(event, Asked) and event.tensor.id == leaf
    ]
    born = index.births.get(leaf)
    return asked[-1] if asked else None if born is None else born.span


def new_leaf(case: Case, lost: Lost, leaves: list[str]) -> Explanation:
    """The explanation of one such leaf, which stands between the root and `leaves`."""
    assert lost.cut is not None
    made, cut = asked_at(case.scene.index, lost.leaf), lost.cut
    values: Values = {"new": case.name(lost.leaf), "made": made, **cut.told(case)}
    values["source"] = case.name(lost.source)
    marks = case.card(lost.leaf, CAUSE, case.words("mark_new_leaf")) + cut.marks(case, card=False)
    why = "new_leaf_why_at_once" if made == cut.span else "new_leaf_why"
    names = case.names(leaves)
    return case.note("new_leaf", why, "new_leaf_fix", marks, cut.span, names=names, cut=cut.span, **values)
