"""Errors about the inputs of `grad()`, and of `backward(inputs=…)`."""

from __future__ import annotations

from ..model.births import Birth, came_from, made_by, sources_of
from ..model.naming import plain_name
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import LISTED, Case, Values, rule
from .history import Cut, cut_at, cut_before, cut_marks

# Which sentence tells of a cut that a mode made, and not a call.
UNUSED = {"no_grad": "unused_input_why_no_grad", "inference": "unused_input_why_inference"}
ASKS_NOT = {"no_grad": "input_asks_not_why_no_grad", "inference": "input_asks_not_why_inference"}


def unused_input(case: Case, i: int | None) -> Explanation | None:
    """No gradient arrives at an input of `grad()`."""
    if case.started is None or case.started.wanted is None:
        return None
    i = unreached(case) if i is None else i
    if i is None or i >= len(case.started.wanted):
        return None
    id = case.started.wanted[i]
    values: Values = {"input": case.name(id), "roots": ", ".join(map(case.name, case.started.roots[:LISTED]))}
    marks = case.card(id, label=case.words("mark_unused"))
    cut = cut_between(case, id)
    earlier = None if leads_to(case, id) else renamed(case, id)
    if cut is not None:
        marks += cut_marks(case, cut)
        why = UNUSED.get(cut.how, "unused_input_why_cut")
        return case.explain(why, "unused_input_fix_cut", marks, cut.span, cut=cut.span, **values)
    if earlier is not None:
        values |= {"earlier": case.name(earlier), "plain": case.plain(id)}
        marks += case.card(earlier, CAUSE)
        return case.explain("unused_input_why_renamed", "unused_input_fix_renamed", marks, **values)
    why = "unused_input_why_none" if leads_to(case, id) else "unused_input_why"
    return case.explain(why, "unused_input_fix", marks, **values)


def renamed(case: Case, id: str) -> str | None:
    """The tensor that a root was computed from and that had the name of tensor `id` earlier."""
    name = plain_name(case.scene.named.get(id, ""))
    others = [other for other, known in case.scene.named.items() if name and plain_name(known) == name]
    found = [other for other in others if other != id and case.scene.asks(other) and leads_to(case, other)]
    return found[0] if len(found) == 1 else None


def unreached(case: Case) -> int | None:
    """Which input an older text means: the only one that the graph of the call does not have."""
    assert case.started is not None and case.started.wanted is not None
    nodes = {node.id for node in case.started.nodes} | {node.variable for node in case.started.nodes}
    ends = [(id, case.scene.node_at(id)) for id in case.started.wanted]
    missing = [i for i, (id, node) in enumerate(ends) if id not in nodes and node not in nodes]
    return missing[0] if len(missing) == 1 else None


def cut_between(case: Case, id: str) -> Cut | None:
    """Where the path from tensor `id` to the roots was cut; None if it was not, or in several places."""
    assert case.started is not None
    behind, tracked, cuts = {id: {id}}, {id}, list[Cut]()  # per tensor what it came from; those with a path
    for event in case.before:
        for state in made_by(event) if isinstance(event, Birth) else ():
            sources = [source for source in came_from(event) if source in behind]  # type: ignore[arg-type]
            if not sources or state.id in behind:
                continue
            behind[state.id] = {state.id}.union(*(behind[source] for source in sources))
            open_ends = [source for source in sources if source in tracked]
            if open_ends and state.node is not None:
                tracked.add(state.id)
            elif open_ends:
                cut = cut_at(case.scene.index, event, state.id, open_ends[0])  # type: ignore[arg-type]
                cuts += [cut] if cut is not None else []
    roots = [root for root in case.started.roots if root in behind]
    if any(root in tracked for root in roots):
        return None
    on_the_way = [cut for cut in cuts if any(cut.tensor in behind[root] for root in roots)]
    return on_the_way[0] if len(on_the_way) == 1 else None


def leads_to(case: Case, id: str) -> bool:
    """Whether a root was computed from tensor `id`, be there a path or not."""
    assert case.started is not None
    return any(id in sources_of(case.scene.index.births, root) for root in case.started.roots)


def needs_no_grad(case: Case) -> Explanation | None:
    """An input of `grad()` does not require gradients."""
    wanted = () if case.started is None else case.started.wanted or ()
    id = next((id for id in wanted if not case.scene.asks(id)), None)
    if id is None:
        return None
    values: Values = {"input": case.name(id), "call": case.span}
    cut, marks = cut_before(case, id), case.card(id, label=case.words("legend_constant"))
    if cut is None or cut.how == "made":
        cause = None if cut is None else cut.span
        return case.explain("input_asks_not_why", "input_asks_not_fix", marks, cause, **values)
    values |= {"cut": cut.span, "source": case.name(cut.source or id)}
    marks += cut_marks(case, cut, card=False)
    why = ASKS_NOT.get(cut.how, "input_asks_not_why_cut")
    return case.explain(why, "input_asks_not_fix_cut", marks, cut.span, **values)


RULES = [
    rule("unused_input", unused_input,
         r"[Tt]he differentiated Tensors?(?: at index (?P<i>\d+))? appears to not have been used"),
    rule("input_asks_not", needs_no_grad, "One of the differentiated Tensors does not require grad",
         "can't retain_grad on Tensor that has requires_grad=False"),  # says `backward(inputs=…)`
]  # fmt: skip
