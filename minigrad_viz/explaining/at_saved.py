"""The error about a saved value that was written to: which node saved it, and which line wrote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..model.births import came_from
from ..model.node_details import tensor_saved_as
from ..protocol import op_of
from ..trace.events import Detached, Forward, Mutated, Statement
from ..trace.explained import Explanation
from ..trace.graph import CAUSE, Mark
from ..trace.where import Span
from .case import Case, need, sure
from .edits import Shape, out_of_place
from .rules import rule

VIEWS = ("t", "transpose", "permute", "view", "expand", "slice", "select", "squeeze", "unsqueeze")


class Write(NamedTuple):
    """An op wrote into the memory of a tensor that was saved, through the tensor `through`."""

    event: Mutated
    through: str


@rule(
    "saved_modified",
    r"modified by an inplace operation: .*(?P<shape>\[[\d, ]*\])\].* version {now};.* version {then}",
)
def saved_modified(case: Case, shape: Shape, now: int, then: int) -> Explanation | None:
    """A node has to run that saved a tensor which was written to since."""
    found = sure(case.started).nodes
    stale = {n.id: [s.name for s in n.saved if s.now == now and s.version == then] for n in found}
    nodes = [node for node, names in stale.items() if names]
    guilty = sure(case.guilty or (nodes[0] if len(nodes) == 1 else None))
    need(guilty in nodes)
    tensor = the_saved(case, guilty, stale[guilty], then, shape)
    write = None if tensor is None else first_write(case, guilty, tensor, then, now)
    marks = case.stopped(guilty)
    marks += tuple(mark for name in stale[guilty] for mark in case.chip(guilty, name))
    marks += changed(case, tensor, write)
    return told(case, tensor, write, marks, node=case.titled(guilty), then=then, now=now)


def the_saved(case: Case, node: str, names: list[str], version: int, shape: tuple[int, ...]) -> str | None:
    """The tensor that a node saved under one of `names`: the op says which; else the only one of its inputs
    and outputs with that version and shape."""
    state = case.scene.nodes[node]
    known = {id for name in names if (id := tensor_saved_as(case.scene, state, name)) is not None}
    place = case.scene.by_node.get(node)
    if not known and place is not None:
        near = [*(id for id in place.inputs or () if id is not None), *(s.id for s in place.states)]
        known = {id for id in near if case.scene.at.get(id)}
        known = {id for id in known if (s := case.made(id)) is not None and s.version <= version}
    fits = {id for id in known if (s := case.made(id)) is None or s.value is None or s.value.shape == shape}
    found = sorted((id for id in fits if writes(case, node, id)) if len(fits) > 1 else fits)
    one_memory = bool(found) and sharing(case, found[0]).issuperset(found)
    return found[0] if one_memory else None


def first_write(case: Case, node: str, tensor: str, then: int, now: int) -> Write | None:
    """The op that first wrote into a tensor's memory after `node` saved it; None where that is not known."""
    found = [w for w in writes(case, node, tensor) if then <= w.event.version < now]
    first = [w for w in found if w.event.version == then]
    return first[0] if len(first) == 1 else found[0] if len(found) == 1 and not first else None


def writes(case: Case, node: str, tensor: str) -> list[Write]:
    """The ops that wrote into the memory of a tensor after `node` saved it, in order."""
    place = case.scene.by_node.get(node)
    saved_at = 0 if place is None else place.time
    same = sharing(case, tensor)
    found = []
    born = case.scene.index.births
    for time, event in enumerate(case.before):
        if time > saved_at and isinstance(event, Mutated) and event.span is not None and event.before in same:
            view = born.get(event.before)
            item = isinstance(view, Forward) and view.span == event.span  # the `y[0]` of `y[0] = 1.`
            found.append(Write(event, came_from(view)[0] if item and view is not None else event.before))
    return found


def statement(case: Case, write: Write) -> Span | None:
    """Where an op wrote: the whole assignment, if the expression is its target."""
    for event in reversed(case.before[: case.before.index(write.event)]):
        if isinstance(event, Statement):
            whole, part = event.span, write.event.span
            inside = part is not None and whole.text.startswith(part.text) and whole.line == part.line
            return whole if inside else part
    return write.event.span


def sharing(case: Case, tensor: str) -> set[str]:
    """The tensors with the same memory and the same version: views, what `detach()` gave, and what an op in
    place made of them."""
    pairs = [pair for event in case.before for pair in pairs_of(event)]
    same, grown = {tensor, *viewed(case, tensor)}, True
    while grown:
        more = {id for pair in pairs if same & {*pair} for id in pair}
        grown = not more <= same
        same |= more
    return same


def viewed(case: Case, tensor: str) -> list[str]:
    """What a tensor is a view of, if nobody saw the op but its node says so."""
    where = case.scene.at.get(tensor)
    node = None if where is None or where[0].node is None else case.scene.nodes.get(where[0].node)
    if where is None or node is None or where[0].event is not None or op_of(node.name) not in VIEWS:
        return []
    return [state.id for place in case.scene.sources(where[0]) for state in place.states]


def pairs_of(event: object) -> Iterable[tuple[str, str]]:
    """Two tensors that an event left with one memory."""
    if isinstance(event, Detached):
        own = event.span is not None and event.span.text.rstrip().endswith(".data")
        return () if own else ((event.source, event.tensor.id),)  # `.data` counts its versions for itself
    if isinstance(event, Mutated):
        return ((event.before, event.tensor.id),)
    if isinstance(event, Forward) and event.shares:
        return tuple((event.shares, state.id) for state in event.outputs)
    return ()


def told(
    case: Case, tensor: str | None, write: Write | None, marks: tuple[Mark, ...], **values: Any
) -> Explanation:
    """The explanation, as far as the tensor and what wrote to it are known."""
    if tensor is None:
        return case.explain("saved_modified_why_unknown", "saved_modified_fix_unknown", marks, **values)
    values["name"] = case.name(tensor)
    values["written"] = written = case.plain(tensor if write is None else write.through)
    fix = "saved_modified_fix_copy" if written.isidentifier() else "saved_modified_fix_unknown"
    if write is None:
        return case.explain("saved_modified_why_unseen", fix, marks, **values)
    span = write.event.span
    values |= {"writer": statement(case, write), "through": case.name(write.through), "second": case.span}
    other = write.through not in (tensor, *renamed(case, tensor))
    why = case.words("saved_modified_why_through" if other else "saved_modified_why", **values)
    state, index = case.state(write.through), case.scene.index
    off = not index.switched("grad", index.times[id(write.event)], first=True)
    if state is not None and state.is_leaf and state.requires_grad and off:
        values["name"] = values["through"]
        return case.explain(why, "saved_modified_fix_update", marks, span, **values)
    new = out_of_place(case, span)
    fix = fix if new is None else "saved_modified_fix"
    return case.explain(why, fix, marks, span, new=new, **values)


def renamed(case: Case, tensor: str) -> set[str]:
    """What ops in place made of a tensor: the same variable with a new history."""
    found = {tensor}
    for event in case.before:
        if isinstance(event, Mutated) and event.before in found:
            found.add(event.tensor.id)
    return found


def changed(case: Case, tensor: str | None, write: Write | None) -> tuple[Mark, ...]:
    """The tensor that was written to, and the one through which that was done."""
    if tensor is None:
        return ()
    label = case.words("mark_changed", line="" if write is None else case.line(write.event.span) or "")
    marks = case.card(tensor, CAUSE, label)
    if write is not None and write.event.tensor.id != tensor:
        marks += case.card(write.event.tensor.id, CAUSE, label)
    return marks
