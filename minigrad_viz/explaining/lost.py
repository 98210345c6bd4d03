"""How a gradient got lost on the way from the roots of a backward call to a tensor that requires it."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from ..model.births import came_from, made_by
from ..model.scene import Scenes
from ..model.trace_index import TraceIndex
from ..trace.events import Asked, Deposited
from ..trace.explained import Explanation
from ..trace.graph import CAUSE, Mark
from ..trace.where import Span
from .case import Case, Values
from .history import Cut, cut_at


class Lost(NamedTuple):
    """A gradient that does not get past `tensor`, which came from `source`, although both lead to the root.
    `cut` is what ended the path there, if that is certain; `leaf` is a computed tensor between it and the
    root that was made a leaf, and gets the gradients that `source` should have had ("" if there is none)."""

    tensor: str
    source: str
    cut: Cut | None
    leaf: str


class Silent(Case):
    """What is no error but may be a mistake: at `span`, about the backward call `call` (0: about none)."""

    def __init__(self, scenes: Scenes, call: int, span: Span | None, lang: str | None = None) -> None:
        self._begin(scenes, len(scenes.trace.events), lang, "", call, span)

    def note(
        self,
        key: str,
        why: str,
        fix: str = "",
        marks: tuple[Mark, ...] = (),
        cause: Span | None = None,
        of_cell: bool = False,
        **values: Any,
    ) -> Explanation:
        """A note: about the call, or (`of_cell`) about the whole cell."""
        told = self.explain(why, fix, marks, cause, key, **values)
        return told._replace(call=0) if of_cell else told

    @functools.cached_property
    def leaves(self) -> set[str]:
        """The leaves that the call can reach."""
        nodes = () if self.started is None else self.started.nodes
        return {node.variable for node in nodes if node.variable is not None}

    @functools.cached_property
    def complete(self) -> bool:
        """Whether all of the graph of the call is known."""
        nodes = () if self.started is None else self.started.nodes
        known = {node.id for node in nodes}
        return all(edge is None or edge[0] in known for node in nodes for edge in node.edges)

    @functools.cached_property
    def lost(self) -> dict[str, Lost]:
        """The tensors that the roots were computed from but no gradient can reach, each with the place
        nearest to the roots where its path ended."""
        born, roots = self.scene.index.births, () if self.started is None else self.started.roots
        found, leaf = dict[str, Lost](), dict[str, str]()
        reached, seen, todo = self.reached(), set(roots), list(roots)
        for id in todo:  # grows while it is read
            event = born.get(id)
            sources = [] if event is None else came_from(event)
            through = leaf.get(id) or (id if id in self.leaves and sources else "")
            for source in sources:
                passed = found.get(id)
                if passed is None and event is not None and self.scene.asks(source):
                    passed = Lost(id, source, cut_at(self.scene.index, event, id, source), through)
                if passed is not None and source not in reached:
                    found.setdefault(source, passed)
                leaf.setdefault(source, through)
                if source not in seen:
                    seen.add(source)
                    todo.append(source)
        return found

    def reached(self) -> set[str]:
        """The tensors whose gradients the call can compute."""
        nodes = () if self.started is None else self.started.nodes
        known = {node.id for node in nodes}
        born = (state for event in self.trace.events for state in made_by(event))
        return self.leaves | {state.id for state in born if state.node in known}


def new_leaves(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """For each backward call that left a leaf without gradient because a computed tensor was made a leaf of
    its own on the way: where that was. Not where the leaf got its gradient by another call; of what a loop
    does many times, the last."""
    born, found = scenes.index.births, dict[object, Explanation]()
    for started in scenes.index.started:
        computed = any(came_from(born[n.variable]) for n in started.nodes if n.variable in born)
        if started.kind != "backward" or started.wanted is not None or not computed:
            continue
        case = Silent(scenes, started.call, started.span, lang)
        ends: dict[str, list[str]] = {}
        for id, lost in case.lost.items() if case.complete else ():
            if lost.leaf and lost.cut is not None and expects(case, id):
                ends.setdefault(lost.leaf, []).append(id)
        for leaf, ids in ends.items():
            told = new_leaf(case, case.lost[ids[0]], ids)
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


def new_leaf(case: Silent, lost: Lost, leaves: list[str]) -> Explanation:
    """The explanation of one such leaf, which stands between the root and `leaves`."""
    assert lost.cut is not None
    made, cut = asked_at(case.scene.index, lost.leaf), lost.cut.span
    values: Values = {"new": case.name(lost.leaf), "made": made, "source": case.name(lost.source), "cut": cut}
    values["names"] = case.names(leaves)
    marks = case.card(lost.leaf, CAUSE, case.words("mark_new_leaf"))
    marks += case.arrow(lost.source, lost.tensor, CAUSE, case.words("mark_cut"))
    why = "new_leaf_why_at_once" if made == cut else "new_leaf_why"
    return case.note("new_leaf", why, FIXES.get(lost.cut.how, ""), marks, cut, **values)


FIXES = {  # by what cut the path
    "detach": "new_leaf_fix_detach",
    "data": "new_leaf_fix_detach",
    "numpy": "new_leaf_fix_numbers",
    "item": "new_leaf_fix_numbers",
    "tensor": "new_leaf_fix_numbers",
    "no_grad": "new_leaf_fix_mode",
    "inference": "new_leaf_fix_mode",
}
