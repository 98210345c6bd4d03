"""The steps of a closed box, which are one to the reader: what goes in and what comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..arithmetic import Line, lines_of
from ..model.stage import LISTED, Stage, in_cell
from ..numbers import brief, short
from ..trace.events import Created, NodeRan
from ..trace.graph import CHAIN, Fold, Group
from ..words import clean, text
from .told import Told, line, listed

FEW = 12  # nodes of a box: the formulas of a larger one are left out
PRODUCT = r") \cdot ("  # in a formula between the sizes of two arrays


def together(stage: Stage, events: Sequence[Any]) -> Told:
    """Events in a row that one station stands for."""
    return ran(stage, events) if isinstance(events[0], NodeRan) else computed(stage, events)


def computed(stage: Stage, events: Sequence[Any]) -> Told:
    """The ops of a box, by its result; of a chain by its ends."""
    ops = [event for event in events if not isinstance(event, Created)] or events
    first, last = (getattr(event, "outputs", None) or (event.tensor,) for event in (ops[0], ops[-1]))
    fold = stage.fold_at(last[0].id)
    group = None if fold is None else titled(stage, fold)
    if group is None:
        told = text("step_fold", stage.lang, n=len(ops), first=stage.made(first), last=stage.made(last))
    else:
        told = text("step_box", stage.lang, box=group.title, made=stage.made(last[:1]))
    return Told(stage.card_marks((last[0].id,)), clean(told), (), in_cell(events[-1].span))


def ran(stage: Stage, events: Sequence[NodeRan]) -> Told:
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
        passed = list(passes(stage, fold))
        key = "step_box_backward" if passed else "step_box_backward_end"
        told = text(key, stage.lang, box=group.title, value=value, sent=", ".join(passed))
        formulas = products(stage, events)
    span = stage.written_at(stage.place_of(last.node))
    return Told(stage.deck_marks(station), clean(told), (*formulas, *stored(stage, events)), span)


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


def stored(stage: Stage, events: Sequence[NodeRan]) -> Iterator[Line]:
    """The gradients that leaves inside the box have then."""
    deposits = stage.scene.now.deposits
    inside = [deposits[event.node] for event in events if event.node in deposits]
    for deposit in inside[:LISTED]:
        yield line("grad", f"{stage.name(deposit.tensor)}.grad", short(deposit.after))
    if len(inside) > LISTED:
        yield line("words", "…", stage.say("update_more", n=len(inside) - LISTED))
