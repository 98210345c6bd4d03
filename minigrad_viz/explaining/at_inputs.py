"""Errors about the inputs of `grad()`, and of `backward(inputs=…)`."""

from __future__ import annotations

import re

from ..model.births import Birth, came_from, made_by, sources_of
from ..model.naming import plain_name
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import Case, ErrorRule, rule
from .history import Cut, cut_at, cut_before

LISTED = 4  # names that are listed in a sentence
# Which sentence tells of a cut that a mode made, and not a call.
UNUSED = {"no_grad": "unused_input_why_no_grad", "inference": "unused_input_why_inference"}
ASKS_NOT = {"no_grad": "input_asks_not_why_no_grad", "inference": "input_asks_not_why_inference"}


def unused_input(case: Case, match: re.Match[str]) -> Explanation | None:
    """No gradient arrives at an input of `grad()`."""
    if case.started is None or case.started.wanted is None:
        return None
    i = int(match[1]) if match[1] is not None else unreached(case)
    if i is None or i >= len(case.started.wanted):
        return None
    id = case.started.wanted[i]
    roots = ", ".join(case.name(root) for root in case.started.roots[:LISTED])
    values = {"input": case.name(id), "roots": roots}
    marks = case.card(id, label=case.words("mark_unused"))
    cut = cut_between(case, id)
    earlier = None if leads_to(case, id) else renamed(case, id)
    key, span = "unused_input_why", None
    if cut is not None:
        values |= {"cut": case.place(cut.span)}
        label = case.words("mark_cut")
        marks += case.arrow(cut.source or id, cut.tensor, CAUSE, label) or case.card(cut.tensor, CAUSE, label)
        key, span = UNUSED.get(cut.how, "unused_input_why_cut"), cut.span
    elif earlier is not None:
        values |= {"earlier": case.name(earlier), "plain": plain_name(case.name(id))}
        why = case.words("unused_input_why_renamed", **values)
        fix = case.words("unused_input_fix_renamed", **values)
        return case.explain("unused_input", why, fix, marks + case.card(earlier, CAUSE))
    elif leads_to(case, id):
        key = "unused_input_why_none"
    fix = case.words("unused_input_fix_cut" if cut else "unused_input_fix", **values)
    return case.explain("unused_input", case.words(key, **values), fix, marks, span)


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
        if not isinstance(event, Birth):
            continue
        for state in made_by(event):
            sources = [source for source in came_from(event) if source in behind]
            if not sources or state.id in behind:
                continue
            behind[state.id] = {state.id}.union(*(behind[source] for source in sources))
            open_ends = [source for source in sources if source in tracked]
            if open_ends and state.node is not None:
                tracked.add(state.id)
            elif open_ends:
                cut = cut_at(case.scene.index, event, state.id, open_ends[0])
                cuts += [cut] if cut is not None else []
    roots = [root for root in case.started.roots if root in behind]
    if any(root in tracked for root in roots):
        return None
    on_the_way = [cut for cut in cuts if any(cut.tensor in behind[root] for root in roots)]
    return on_the_way[0] if len(on_the_way) == 1 else None


def leads_to(case: Case, id: str) -> bool:
    """Whether a root was computed from tensor `id`, be there a path or not."""
    assert case.started is not None
    born = case.scene.index.births
    return any(id in sources_of(born, root) for root in case.started.roots)


def needs_no_grad(case: Case, match: re.Match[str]) -> Explanation | None:
    """An input of `grad()` does not ask for gradients."""
    if case.started is None or case.started.wanted is None:
        return None
    found = [id for id in dict.fromkeys(case.started.wanted) if not case.scene.asks(id)]
    if not found:
        return None
    id = found[0]
    values = {"input": case.name(id), "call": case.place(case.span)}
    cut, marks = cut_before(case, id), case.card(id, label=case.words("legend_constant"))
    if cut is None or cut.how == "made":
        why, fix = case.words("input_asks_not_why", **values), case.words("input_asks_not_fix", **values)
        return case.explain("input_asks_not", why, fix, marks, None if cut is None else cut.span)
    values |= {"cut": case.place(cut.span), "source": case.name(cut.source or id)}
    label = case.words("mark_cut")
    marks += case.arrow(cut.source or id, cut.tensor, CAUSE, label)
    why = case.words(ASKS_NOT.get(cut.how, "input_asks_not_why_cut"), **values)
    fix = case.words("input_asks_not_fix_cut", **values)
    return case.explain("input_asks_not", why, fix, marks, cut.span)


RULES: dict[str, ErrorRule] = {
    "unused_input": rule(
        r"[Tt]he differentiated Tensors?(?: at index (\d+))? appears to not have been used", unused_input
    ),
    "input_asks_not": rule(
        r"One of the differentiated Tensors does not require grad"
        r"|can't retain_grad on Tensor that has requires_grad=False",  # says `backward(inputs=…)`
        needs_no_grad,
    ),
}
