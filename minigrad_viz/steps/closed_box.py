"""Events that are one step to the reader: those of a closed box, by what goes in and what comes out; and
what a cell does to parameters and their gradients by one statement: `optimizer.step()`, `w -= lr *
w.grad`, `x.grad = None`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..arithmetic import Line, change_lines, lines_of
from ..model.naming import plain_name
from ..model.stage import LISTED, Stage, in_cell, some
from ..model.updates import RESETS, about
from ..numbers import brief, short
from ..trace.events import Created, GradSet, NodeRan, TensorState
from ..trace.graph import CHAIN, Change, Fold, Group, Update
from ..words import clean, shorten, text
from .told import Frame, as_whole, line, listed, saved

OFF = {"no_grad": "step_forward_off", "inference": "step_forward_inference"}  # by what is on
FEW = 12  # nodes of a box: the formulas of a larger one are left out
PRODUCT = r") \cdot ("  # in a formula between the sizes of two arrays


def together(stage: Stage, events: Sequence[Any]) -> Frame:
    """Events in a row that one station stands for."""
    return ran(stage, events) if isinstance(events[0], NodeRan) else computed(stage, events)


def computed(stage: Stage, events: Sequence[Any]) -> Frame:
    """The ops of a box, by its result; of a chain by its ends. A box that computes nothing yet shows what it
    holds."""
    ops = [event for event in events if not isinstance(event, Created)] or events
    first, last = (getattr(event, "outputs", None) or (event.tensor,) for event in (ops[0], ops[-1]))
    fold = stage.fold_at(last[0].id)
    group = None if fold is None else titled(stage, fold)
    if group is None:
        told = text("step_fold", stage.lang, n=len(ops), first=stage.made(first), last=stage.made(last))
    elif isinstance(ops[0], Created):
        told = text("step_box_holds", stage.lang, box=group.title, names=held(stage, fold, ops))
    else:
        box = group.title.removeprefix(f"{plain_name(stage.name(last[0].id))} = ")
        made = stage.made(results(stage, ops) or last[:1])
        off = OFF.get(stage.scene.at[last[0].id][0].fog)
        said = text("step_box", stage.lang, box=box, made=made)
        told = said if off is None else text(off, stage.lang, expr=box, made=made, ghost="")
    marks = stage.card_marks((last[0].id,), arrows=not isinstance(ops[0], Created))
    nodes = {state.node for op in ops for state in getattr(op, "outputs", ()) if state.node is not None}
    node = stage.scene.nodes.get(nodes.pop()) if len(nodes) == 1 else None
    lines = [] if node is None else saved(stage, node.name, node.saved)
    lines += as_whole(stage, events[-1])
    return Frame(marks, clean(told), tuple(lines), in_cell(events[-1].span))


def results(stage: Stage, ops: Sequence[Any]) -> list[TensorState]:
    """What the ops of a box made that is used outside of it."""
    outputs = [state for op in ops for state in getattr(op, "outputs", ())]
    return [state for state in outputs if state.id in stage.cards]


def held(stage: Stage, fold: Fold | None, events: Sequence[Created]) -> str:
    """What was made before a box computed, its parameters in their order."""
    order = {card.id: i for i, (_, card) in enumerate(fold.parameters if fold else ())}
    ids = sorted((event.tensor.id for event in events), key=lambda id: order.get(id, len(order)))
    return some([stage.name(id) for id in ids])


def ran(stage: Stage, events: Sequence[NodeRan]) -> Frame:
    """The nodes of a box: what arrives, what it passes on, and what its parameters receive."""
    first, last = events[0], events[-1]
    station = stage.station(stage.place_of(first.node))
    fold = None if station is None else stage.fold_of(station.id)
    group = None if fold is None or len(events) < fold.operations else titled(stage, fold)
    came = [each for each in first.received if each is not None]
    value, sent = listed(came or first.received), listed(v for v in last.sent if v is not None)
    formulas: list[Line] = []
    if fold is None or group is None:
        told = text("step_fold_backward", stage.lang, n=len(events), value=value, sent=sent or "None")
    else:
        passed, names = list(passes(stage, fold)), filled(stage, fold, events)
        end = "step_box_backward_stores" if names else "step_box_backward_end"
        key = "step_box_backward" if passed else end
        values = {"value": value, "sent": ", ".join(passed), "names": names}
        told = text(key, stage.lang, box=group.title, **values)
        formulas = products(stage, events)
    spans = (stage.written_at(stage.place_of(event.node)) for event in reversed(events))
    span = next(filter(None, spans), None)  # parameters of modules stand nowhere in the cell
    return Frame(stage.deck_marks(station), clean(told), (*formulas, *stored(stage, events)), span)


def products(stage: Stage, events: Sequence[NodeRan]) -> list[Line]:
    """The formulas of the nodes of a box; none of a box of many nodes. First the last one that multiplies two
    arrays, which leads to a parameter; without any, the last of all."""
    if len(events) > FEW:
        return []
    nodes = (event for event in events if stage.scene.nodes[event.node].variable is None)
    lines = [each for node in nodes for each in lines_of(stage.scene, node, stage.lang) if each.formula]
    first = ([each for each in lines if PRODUCT in each.formula] or lines)[-1:]
    return [*first, *(each for each in lines if each not in first)]


def titled(stage: Stage, fold: Fold) -> Group | None:
    """The group that is closed to a station, if it has a name."""
    groups = (group for group in stage.graph.groups if group.id == fold.station and group.kind != CHAIN)
    return next(groups, None)


def passes(stage: Stage, fold: Fold) -> Iterator[str]:
    """What a box passes to tensors outside of it, each once."""
    for route in stage.graph.routes:
        if route.target == fold.station and route.tracked and route.gradients:
            card = stage.stations[route.source].cards[route.card]
            yield text("step_sent", stage.lang, value=brief(route.gradients[-1]), name=stage.cards[card.id])


def filled(stage: Stage, fold: Fold, events: Sequence[NodeRan]) -> str:
    """The parameters inside a box whose gradients were stored, by their names there."""
    deposits = (stage.scene.now.deposits.get(event.node) for event in events)
    inside = {deposit.tensor for deposit in deposits if deposit is not None}
    return some([name for name, card in fold.parameters if card.id in inside])


def stored(stage: Stage, events: Sequence[NodeRan]) -> Iterator[Line]:
    """The gradients that leaves inside the box have then."""
    deposits = stage.scene.now.deposits
    inside = [deposits[event.node] for event in events if event.node in deposits]
    for deposit in inside[:LISTED]:
        yield line("grad", f"{stage.name(deposit.tensor)}.grad", short(deposit.after))
    if len(inside) > LISTED:
        yield line("grad", "…", stage.say("update_more", n=len(inside) - LISTED))


GRADIENTS = {
    "zero": "step_grad_zero",
    "none": "step_grad_none",
    "assigned": "step_grad_assigned",
    "written": "step_grad_written",
}
SOURCE = 60  # columns of the statement in a sentence


def updated(stage: Stage, update: Update) -> Frame:
    """An update, with its arithmetic for the parameters that the picture shows first."""
    changes = update.changes
    tensors = (change.tensor for change in changes)
    marks = (update.id, *(f"{update.id}-{change.id}" for change in changes))
    marks += stage.card_marks(tensors, arrows=False)
    how = [e.how for e in map(stage.scene.trace.events.__getitem__, update.times) if isinstance(e, GradSet)]
    written = [change for change in changes if not same(change)]
    if how and (how[-1] in RESETS or (len(changes) == 1 and written)):
        names = some([change.name for change in changes])
        value = "" if changes[-1].after is None else short(changes[-1].after)
        told = text(GRADIENTS[how[-1]], stage.lang, names=names, value=value)
        return Frame(marks, clean(told), (), in_cell(update.span))
    source = shorten(clean(update.title), SOURCE)
    if not written:
        told = stage.say("step_update_none", source=source)
    elif len(changes) == 1:
        values = {"name": changes[0].name, "change": before_after(changes[0])}
        told = text("step_update_one", stage.lang, source=source, **values)
    else:
        told = stage.say("step_update", source=source, n=len(written))
    lines = []
    if told_of := about(update):
        lines.append(line("words", stage.say("optimizer_label"), told_of))
    for change in sorted(changes, key=lambda change: not change.name)[:LISTED]:
        named = change if change.name else replace(change, name=stage.name(change.tensor))
        if len(changes) > 1:
            lines.append(line("update", named.name, before_after(change)))
        lines += change_lines(update, named)
    if len(changes) > LISTED:
        lines.append(line("update", "…", stage.say("update_more", n=len(changes) - LISTED)))
    return Frame(marks, clean(told), tuple(lines), in_cell(update.span))


def same(change: Change) -> bool:
    """Whether a change left every number as it was, as `clip_grad_norm_` does below its limit."""
    return change.after is not None and change.after.items is not None and change.before == change.after


def before_after(change: Change) -> str:
    """`0.80764 → 0.99186`."""
    return " → ".join("None" if value is None else short(value) for value in (change.before, change.after))
