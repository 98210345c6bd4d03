"""Where the path of gradients to a tensor ended; a note about a computed tensor that became a leaf there."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ..model.births import Birth, came_from, made_by
from ..model.scene import Scenes
from ..model.trace_index import TraceIndex
from ..trace.events import Asked, Created, Deposited, Detached, Forward, Left
from ..trace.explained import Explanation
from ..trace.graph import CAUSE, Mark
from ..trace.where import Span
from .case import Case, Said, Values
from .edits import quoted, with_tensors
from .syntax import statement_around

MODES = {"detach": "detach()", "data": ".data", "no_grad": "no_grad()", "inference": "inference_mode()"}
ENDED = {  # what ended a path, and what to do about it
    **dict.fromkeys(("detach", "data"), ("ended_detach", "ended_detach_fix")),
    **dict.fromkeys(("no_grad", "inference"), ("ended_no_grad", "ended_no_grad_fix")),
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
        names["mode"] = MODES.get(self.how, "")
        names["code"] = self.kept(case)
        why, fix = (case.words(key, cut=self.span, **names) for key in ENDED[self.how])
        return {"ended": why, "repair": fix}

    def kept(self, case: Case) -> str:
        """The statement that computes with numbers of tensors, with the tensors themselves; "" for any
        other."""
        tree = statement_around(case, self.span)
        text = "" if tree is None else ast.unparse(tree)
        code = "" if tree is None else with_tensors(case, tree)
        return "" if code == text else quoted(code) or ""

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
    if isinstance(event, Forward) and source not in came_from(event):
        return Cut("item", tensor, source, event.span)
    how = event.how if isinstance(event, Detached | Left) else place[0].cut if place else ""
    return Cut(how, tensor, source, event.span) if event is not None and how else None


def numbers_at(case: Case, event: Birth | None) -> list[str]:
    """The tensors whose numbers stand in the expression of an op, as in `2 * math.log(x)`."""
    return case.numbers.get(id(event), []) if isinstance(event, Forward) else []


def sources_at(case: Case, event: Birth) -> list[str]:
    """The tensors that a tensor was computed from, and those whose numbers it was computed with."""
    return list(dict.fromkeys((*came_from(event), *numbers_at(case, event))))


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
        span, sources = event.span, sources_at(case, event)
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
        sources = [] if event is None else sources_at(case, event)
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
