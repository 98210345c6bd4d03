"""Trace → steps: which events of a recorded cell are shown to a reader, in which order, and which of them
are one step.

Note [Which steps a call has]
    The steps of a backward call follow the order of the events: first the ops of the cell that are in the
    shown graph, then the nodes of this call. An op that `create_graph=True` adds is a step of the call that
    computes it. In a training loop the graph of a call shows only its own iteration: when its story begins,
    earlier iterations have already changed the parameters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..arithmetic import Line, change_lines, lines_of
from ..arithmetic.derivatives import tensor_label
from ..arithmetic.typeset import bar, multiplies_arrays
from ..arithmetic.vjps import NodeStep
from ..flow.backward_pass import flow_of
from ..model.naming import plain_name
from ..model.schedule import starts_backward
from ..model.updates import RESETS, optimizer_text
from ..model.views import LISTED, Stage, Where, first_names, in_cell
from ..number_text import one_line, value_in_sentence
from ..trace.events import (
    BackwardEnded,
    CellFailed,
    Event,
    Forward,
    GradSet,
    HookRan,
    InPlaceWrite,
    ModeChanged,
    NodeRan,
    NumbersReturned,
    Recomputation,
    RequiresGradSet,
    Statement,
    TensorCreated,
    TensorDetached,
    TensorState,
    of_kinds,
)
from ..trace.graph import CHAIN, Card, Change, Fold, Group, Update
from ..words import clean, shorten, text
from .backward import SoFar
from .forward import aside_of, is_single
from .frames import IN_WORDS, Frame, Shown, as_whole, line, saved_value_line, value_list
from .op_sentences import box_sentence

# ─── Trace → steps: which events of a recorded cell are shown to a reader


FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"


@dataclass(slots=True)
class Step:
    """An event that is shown, or an update. `modes` were switched just before it, and `ran` nodes of the call
    have run after it. `fold` is the station that stands for it and adjacent steps ("" if none does). `owner`
    is the node inside whose run an op ran, `time` when the event happened, and `state` the state of a given
    tensor when the story begins. `opens` is true for the first op of another backward call. `tensor` is the
    tensor that a statement is about."""

    phase: str
    event: Event | Update
    ran: int = 0
    fold: str = ""
    owner: str | None = None
    state: TensorState | None = None
    modes: list[ModeChanged] = field(default_factory=list)
    opens: bool = False
    tensor: str = ""
    time: int = 0

    @property
    def begin(self) -> int:
        """When it began. An update has the time of its last write, but it begins with its first."""
        return self.event.times[0] if isinstance(self.event, Update) else self.time


class Story:
    """The steps of one backward call (of the cell, if it has none). Every event is looked at once."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.scene = stage, stage.scene
        self.trace, self.call = self.scene.trace, self.scene.call
        self.started, self.ran = self.scene.now.started, self.scene.now.ran
        calls = self.scene.index.calls.values()
        self.starts = {call.number: call.begin for call in calls}  # call -> when it started
        # When a hook was removed, and the tensor that had it.
        hooks = self.scene.index.registered
        self.removals = {hook.until: hook.tensor for hook in hooks if hook.until is not None}
        self.schedule = self.scene.schedule
        self.so_far = self.sums()

    @property
    def total(self) -> int:
        """How many nodes the call was to run (0 if it found none)."""
        if self.schedule is not None:
            return len(self.schedule.order)
        return 0 if self.started is None else len(self.started.nodes)

    def sums(self) -> dict[str, list[SoFar]]:
        """Per node that ran, where gradients that it sent meet others, and their sum so far."""
        result: dict[str, list[SoFar]] = {}
        for ran, sums in flow_of(self.scene).sums().items():
            for so_far in sums:
                place, value, missing = self.stage.place_of(so_far.node), so_far.total, so_far.missing
                meet = missing or 1 < len(so_far.shares) <= LISTED
                if meet and value is not None and place is not None and len(place.states) == 1:
                    all_in = () if missing else so_far.shares
                    waits = SoFar(place.states[0].id, value, missing, all_in)
                    result.setdefault(ran, []).append(waits)
        return result

    # ── which events are steps ──────────────────────────────────────────────────────────────────────────────

    def steps(self) -> Iterator[Step]:
        """The steps, in the order in which things happened."""
        modes: dict[str, ModeChanged] = {}  # the last switch of each before a step
        told = {"grad": True}  # what a reader takes for granted, or has read
        error = None  # the error that is already a step
        for time, step in self.found():
            step.time = time
            match step.event:
                case ModeChanged() as event:
                    modes[event.mode] = event
                    continue
                case CellFailed() if step.event.error == error:
                    continue
                case BackwardEnded():
                    error = step.event.error
            if step.phase == FORWARD:
                step.modes = [each for each in modes.values() if told.get(each.mode) != each.enabled]
                told |= {each.mode: each.enabled for each in modes.values()}
                modes = {}
            yield step

    def found(self) -> Iterator[tuple[int, Step]]:
        """The events that become steps, and switches of modes, with the time of each."""
        updates = {update.times[-1]: update for update in self.scene.updates if self.concerns(update)}
        written = {time for found in self.scene.index.updates for time in found.times}
        reader = EventReader(self)
        for time, event in self.scene.index.events_for(self.call):
            if time not in written:
                step = reader.read(time, event)
            else:
                step = Step(UPDATE, updates[time], reader.ran) if time in updates else None
            if step is not None:
                yield time, step

    def concerns(self, update: Update) -> bool:
        """Whether an update changes what the picture shows."""
        return any(self.shown(change.tensor) for change in update.changes)

    def aside(self, time: int, event: Statement) -> str | None:
        """The tensor that a statement is about ("" if about none in particular); None if it is not a step."""
        if time in self.removals:
            return self.removals[time] if self.shown(self.removals[time]) else None
        told = aside_of(event.span.text)
        if told is None or not told.variable:
            return None if told is None else ""
        tensor = self.scene.moments.variable(told.variable, time)
        return tensor if tensor is not None and self.shown(tensor) else None

    def shown(self, tensor: str) -> bool:
        """Whether the picture shows a tensor."""
        where = self.scene.at.get(tensor)
        return where is not None and self.stage.station(where[0]) is not None

    def fold(self, tensor: str) -> str:
        """The fold that a tensor is in."""
        return self.stage.folds.get(self.scene.at[tensor][0].id, "")

    def is_seed(self, event: TensorCreated) -> bool:
        """Whether a tensor is the gradient that the call starts with."""
        return (
            self.started is not None and event.span is None and event.tensor.id in self.started.gradient_ids
        )

    def window(self) -> tuple[int, float]:
        """From when until when writing into a tensor is a step of this story."""
        starts = sorted(self.starts.values())
        here = self.starts.get(self.call, len(self.trace.events))
        return self.scene.span[0], next((time for time in starts if time > here), math.inf)

    def standing(self, state: TensorState, time: int, begin: int) -> TensorState:
        """A tensor that came to be at a time, in its state when the story begins."""
        if time >= begin:
            return state
        then = self.scene.moments.at(state.id, begin - 1) or state
        return state._replace(value=then.value, grad=then.grad, version=then.version)

    def used_at(self, steps: Iterable[Step]) -> Where | None:
        """Where the story first uses what was there before it begins."""
        tensors = {state.id for step in steps for state in getattr(step.event, "made", ())}
        begin = self.scene.span[0]
        users = (p for p in self.scene.shown if p.time >= begin and not tensors.isdisjoint(p.inputs or ()))
        return self.stage.written_at(min(users, key=lambda place: place.time, default=None))


class EventReader:
    """Makes steps of a story's events, one after the other. So far `ran` nodes have run, and `inside` are the
    calls whose ops need no word about where they ran."""

    def __init__(self, story: Story) -> None:
        self.story, self.scene, self.stage = story, story.scene, story.stage
        self.begin, self.end = story.window()
        self.last = max(story.starts, default=0)
        self.ran, self.inside = 0, {0, story.call}
        self.time, self.phase = 0, FORWARD

    def read(self, time: int, event: Event) -> Step | None:
        """The step of an event; None if it is none."""
        self.time, self.phase = time, BACKWARD if event.call == self.story.call != 0 else FORWARD
        make = self.READERS.get(event.__class__)
        return None if make is None else make(self, event)

    def running(self) -> bool:
        """Whether the story runs: what happened before and after it is left out."""
        return self.begin <= self.time < self.end

    def tensor(self, event: Any) -> Step | None:
        """A tensor came to be, or was written to."""
        state = event.states[0]
        if not self.story.shown(state.id):
            return None
        if not self.running() and state.id == getattr(event, "before", event.shares):
            return None  # it changes a tensor that the story begins with, or that has ended
        self.inside.add(event.call)
        owner = self.scene.index.running_nodes.get(self.time)
        return Step(self.phase, event, self.ran, self.story.fold(state.id), owner)

    def created(self, event: TensorCreated) -> Step | None:
        """A tensor was made from data, or brought along."""
        if self.story.is_seed(event):
            self.phase = BACKWARD
        step = self.tensor(event)
        if step is not None:
            step.state = self.story.standing(event.tensor, self.time, self.begin)
        return step

    def forward(self, event: Forward) -> Step | None:
        """An op ran."""
        opens = event.call not in self.inside
        step = self.tensor(event)
        if step is not None:
            step.opens = opens
        return step

    def mode(self, event: ModeChanged) -> Step | None:
        """A mode was switched."""
        return Step(self.phase, event) if self.running() else None

    def statement(self, event: Statement) -> Step | None:
        """A statement ran."""
        told = self.story.aside(self.time, event) if self.running() else None
        return None if told is None else Step(self.phase, event, tensor=told)

    def asked(self, event: RequiresGradSet) -> Step | None:
        """`requires_grad` of a tensor was set."""
        told = event.span is not None and event.tensor.is_leaf and self.running()
        return Step(self.phase, event, self.ran) if told and self.story.shown(event.tensor.id) else None

    def failed(self, event: CellFailed) -> Step | None:
        """An error ended the cell."""
        if self.story.call != self.last:
            return None
        return Step(BACKWARD if self.last or starts_backward(event.span) else FORWARD, event, self.ran)

    def node(self, event: NodeRan) -> Step | None:
        """A node ran."""
        if self.phase == FORWARD:
            return None
        self.ran += 1
        place = self.stage.place_of(event.node)
        known = event.node in self.scene.nodes and self.stage.station(place) is not None
        if not known or place is None:
            return None
        return Step(self.phase, event, self.ran, self.stage.folds.get(place.id, ""))

    def again(self, event: Recomputation) -> Step | None:
        """A checkpoint computed again."""
        return Step(self.phase, event, self.ran) if self.phase == BACKWARD else None

    def hook(self, event: HookRan) -> Step | None:
        """A hook ran; those at a node that ran belong to its step."""
        if self.phase == FORWARD or event.node in self.story.ran:
            return None
        first = event is self.scene.now.hooks[event.node][0]
        return Step(self.phase, event, self.ran) if first else None

    def ended(self, event: BackwardEnded) -> Step | None:
        """The call ended."""
        told = self.phase == BACKWARD and (event.captured or event.error)
        return Step(self.phase, event, self.ran) if told else None

    READERS: ClassVar[dict[type, Callable[[Any, Any], Step | None]]] = {  # of the kinds that become steps
        TensorCreated: created,
        TensorDetached: tensor,
        NumbersReturned: tensor,
        InPlaceWrite: tensor,
        Forward: forward,
        ModeChanged: mode,
        Statement: statement,
        RequiresGradSet: asked,
        CellFailed: failed,
        NodeRan: node,
        Recomputation: again,
        HookRan: hook,
        BackwardEnded: ended,
    }


# ─── Steps that a reader sees as one


LIMIT = 1000  # steps; if there are more, the middle ones become one step


def group_steps(steps: Iterable[Step]) -> list[list[Step]]:
    """Steps in a row that one station stands for, together."""
    groups: list[list[Step]] = []
    for step in steps:
        last = groups[-1][0] if groups else None
        if last is not None and step.fold and (step.fold, step.phase) == (last.fold, last.phase):
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def limit_steps(phases: Sequence[str], limit: int = LIMIT) -> list[list[int]]:
    """The places of steps of these phases, each alone, at most `limit` of them: of a phase with too many the
    places in its middle together.

    Each phase has half the room, and what the other leaves.
    """
    size = Counter(phases)
    result: list[list[int]] = []
    middle: dict[str, list[int]] = {}
    seen: Counter[str] = Counter()
    for place, phase in enumerate(phases):
        room = max(limit - size[BACKWARD if phase == FORWARD else FORWARD], limit // 2)
        head = room // 2
        seen[phase] += 1
        if size[phase] <= room or seen[phase] <= head or seen[phase] > size[phase] - (room - head - 1):
            result.append([place])
        elif phase in middle:
            middle[phase].append(place)
        else:
            middle[phase] = [place]
            result.append(middle[phase])
    return result


def shown_at(stage: Stage, times: Sequence[tuple[int, int]]) -> list[Shown]:
    """For each step, whose first and last event are given, the cards that show another moment than in the
    step before. A step shows how things are when the next one begins; what was there before shows its state
    at the beginning of the story."""
    shows: list[dict[str, int]] = [{} for _ in times]
    begin, end = stage.scene.span
    ends = [*(first - 1 for first, _ in times[1:]), end]
    until = [max(begin - 1, last, end) for (_, last), end in zip(times, ends)]
    for part, card in changing(stage):
        numbers = {pair: i for i, pair in enumerate(card.stood)}
        now = numbers.get((card.value, card.grad))
        for i, moment in stage.scene.moments.changes(card.id, until):
            number = numbers.get((moment.value, moment.grad if card.is_leaf else card.grad), now)
            if number is not None and number != now:
                shows[i][part] = now = number
    return [tuple(step.items()) for step in shows]


def changing(stage: Stage) -> Iterator[tuple[str, Card]]:
    """The cards that do not stay as they are, with their parts of the picture."""
    for station in stage.stations.values():
        for i, card in enumerate(station.cards):
            if card.stood:
                yield f"{station.id}-c{i}", card
    for fold in stage.graph.folds:
        last = len(stage.stations[fold.station].cards) - 1
        for i, (_, card) in enumerate(fold.parameters):
            if card.stood:
                yield f"{fold.station}-c{last}-p{i}", card


# ─── Events that are one step to the reader


OFF = {"no_grad": "step_forward_off", "inference": "step_forward_inference"}  # by what is on
FEW = 12  # nodes of a box: the formulas of a larger one are left out


def together(stage: Stage, events: Sequence[Any]) -> Frame:
    """Events in a row that one station stands for."""
    return box_backward(stage, events) if isinstance(events[0], NodeRan) else box_forward(stage, events)


def box_forward(stage: Stage, events: Sequence[Any]) -> Frame:
    """The ops of a box, by its result; of a chain by its ends. A box that computes nothing yet shows what it
    holds."""
    ops = [event for event in events if not isinstance(event, TensorCreated)] or events
    first, last = (getattr(event, "outputs", None) or (event.tensor,) for event in (ops[0], ops[-1]))
    fold = stage.fold_at(last[0].id)
    group = None if fold is None else group_of_box(stage, fold)
    if group is None:
        told = text("step_fold", stage.lang, n=len(ops), first=stage.made(first), last=stage.made(last))
    elif isinstance(ops[0], TensorCreated):
        told = text("step_box_holds", stage.lang, box=group.title, names=box_inputs(stage, fold, ops))
    else:
        box = group.title.removeprefix(f"{plain_name(stage.name(last[0].id))} = ")
        made = stage.made(box_results(stage, ops) or last[:1])
        off = OFF.get(stage.scene.at[last[0].id][0].fog)
        said = text("step_box", stage.lang, box=box, made=made)
        told = said if off is None else text(off, stage.lang, expr=box, made=made, ghost="")
    marks = stage.card_marks((last[0].id,), arrows=not isinstance(ops[0], TensorCreated))
    nodes = {state.node for op in ops for state in getattr(op, "outputs", ()) if state.node is not None}
    alone = len(nodes) == 1 and (fold is None or is_single(fold))
    node = stage.scene.nodes.get(nodes.pop()) if alone else None
    lines = [] if node is None else saved_value_line(stage, node.name, node.saved)
    lines += as_whole(stage, events[-1])
    return Frame(marks, clean(told), tuple(lines), in_cell(events[-1].span))


def box_results(stage: Stage, ops: Sequence[Any]) -> list[TensorState]:
    """What the ops of a box made that is used outside of it."""
    outputs = [state for op in ops for state in getattr(op, "outputs", ())]
    return [state for state in outputs if state.id in stage.cards]


def box_inputs(stage: Stage, fold: Fold | None, events: Sequence[TensorCreated]) -> str:
    """What was made before a box computed, its parameters in their order."""
    order = {card.id: i for i, (_, card) in enumerate(fold.parameters if fold else ())}
    ids = sorted((event.tensor.id for event in events), key=lambda id: order.get(id, len(order)))
    return first_names([stage.name(id) for id in ids])


def box_backward(stage: Stage, events: Sequence[NodeRan]) -> Frame:
    """The nodes of a box: what arrives, what it passes on, and what its parameters receive."""
    first, last = events[0], events[-1]
    station = stage.station(stage.place_of(first.node))
    fold = None if station is None else stage.fold_of(station.id)
    box = None if fold is None else group_of_box(stage, fold)
    group = None if fold is None or len(events) < fold.operations else box
    came = [each for each in first.received if each is not None]
    value, sent = value_list(came or first.received), value_list(v for v in last.sent if v is not None)
    formulas: list[Line] = []
    names = "" if fold is None or box is None else stored_gradients(stage, fold, events)
    if fold is None or group is None:  # a part of a box
        key = "step_box_backward_stores" if box is not None and names and not sent else "step_fold_backward"
        title = "" if box is None else box.title
        told = text(key, stage.lang, box=title, names=names, n=len(events), value=value, sent=sent or "None")
    else:
        passed = [sent for _, sent in passes(stage, fold)]
        end = "step_box_backward_stores" if names else "step_box_backward_end"
        key = "step_box_backward" if passed else end
        values = {"value": value, "sent": ", ".join(passed), "names": names}
        told = text(key, stage.lang, box=group.title, **values)
        nodes = [event for event in events if stage.scene.nodes[event.node].variable is None]
        said = box_sentence([NodeStep(stage.scene, node, stage.lang).op for node in nodes], stage.lang)
        goes_on = any(value is not None for event in nodes for value in event.sent)
        in_words = [line(IN_WORDS, stage.say("back_label"), said)] if said and came and goes_on else []
        formulas = [*in_words, *products(stage, events, [id for id, _ in passes(stage, fold)])]
    spans = (stage.written_at(stage.place_of(event.node)) for event in reversed(events))
    span = next(filter(None, spans), None)  # parameters of modules stand nowhere in the cell
    return Frame(stage.deck_marks(station), clean(told), (*formulas, *leaf_gradients(stage, events)), span)


def products(stage: Stage, events: Sequence[NodeRan], passed: Sequence[str]) -> list[Line]:
    """The formulas of the nodes of a box; none of a box of many nodes. First those of the gradients that it
    passes on, as its sentence says; where it passes none, the last one that multiplies two arrays, which
    leads to a parameter, or the last of all."""
    if len(events) > FEW:
        return []
    nodes = (event for event in events if stage.scene.nodes[event.node].variable is None)
    lines = [
        each for node in nodes for each in lines_of(stage.scene, node, stage.lang) if each.formula is not None
    ]
    first = [
        each for id in passed for each in lines if gives_gradient_of(each, tensor_label(stage.scene, id))
    ]
    if not first:
        matrix = [each for each in lines if each.formula is not None and multiplies_arrays(each.formula)]
        first = (matrix or lines)[-1:]
    return [*first, *(each for each in lines if each not in first)]


def gives_gradient_of(line: Line, name: str) -> bool:
    """Whether a line computes the gradient of the tensor `name`."""
    gradient, left = bar(name).plain, line.text.partition(" = ")[0]
    named = left == gradient or left.partition(" (")[0].endswith(f"/∂{name}")
    return named or f" → {gradient} " in f"{line.text} "


def group_of_box(stage: Stage, fold: Fold) -> Group | None:
    """The group that is closed to a station, if it has a name."""
    groups = (group for group in stage.graph.groups if group.id == fold.station and group.kind != CHAIN)
    return next(groups, None)


def passes(stage: Stage, fold: Fold) -> Iterator[tuple[str, str]]:
    """What a box passes to tensors outside of it: their ids, and what it sends them in words."""
    for route in stage.graph.routes:
        if route.target == fold.station and route.tracked and route.gradients:
            card = stage.stations[route.source].cards[route.card]
            values = {"value": value_in_sentence(route.gradients[-1]), "name": stage.cards[card.id]}
            yield card.id, text("step_sent", stage.lang, **values)


def stored_gradients(stage: Stage, fold: Fold, events: Sequence[NodeRan]) -> str:
    """The parameters inside a box whose gradients were stored, by their names there."""
    deposits = (stage.scene.now.deposits.get(event.node) for event in events)
    inside = {deposit.tensor for deposit in deposits if deposit is not None}
    return first_names([name for name, card in fold.parameters if card.id in inside])


def leaf_gradients(stage: Stage, events: Sequence[NodeRan]) -> Iterator[Line]:
    """The gradients that leaves inside the box have then."""
    deposits = stage.scene.now.deposits
    inside = [deposits[event.node] for event in events if event.node in deposits]
    for deposit in inside[:LISTED]:
        yield line("grad", f"{stage.name(deposit.tensor)}.grad", one_line(deposit.after))
    if len(inside) > LISTED:
        yield line("grad", "…", stage.say("update_more", n=len(inside) - LISTED))


GRADIENTS = {
    "zero": "step_grad_zero",
    "none": "step_grad_none",
    "empty": "step_grad_empty",
    "assigned": "step_grad_assigned",
    "written": "step_grad_written",
}
SOURCE = 60  # columns of the statement in a sentence


def update_text(stage: Stage, update: Update) -> Frame:
    """An update, with its arithmetic for the parameters that the picture shows first."""
    changes = update.changes
    tensors = (change.tensor for change in changes)
    marks = (update.id, *(f"{update.id}-{change.id}" for change in changes))
    marks += stage.card_marks(tensors, arrows=False)
    events = [stage.scene.trace.events[time] for time in update.times]
    how = [event.how for event in of_kinds(events, GradSet)]
    written = [change for change in changes if not is_unchanged(change)]
    if how and (how[-1] in RESETS or (len(changes) == 1 and written)):
        names = first_names([change.name for change in changes])
        value = "" if changes[-1].after is None else one_line(changes[-1].after)
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
    if told_of := optimizer_text(update):
        lines.append(line("words", stage.say("optimizer_label"), told_of))
    for change in sorted(changes, key=lambda change: not change.name)[:LISTED]:
        named = change if change.name else replace(change, name=stage.name(change.tensor))
        if len(changes) > 1:
            lines.append(line("update", named.name, before_after(change)))
        lines += change_lines(update, named)
    if len(changes) > LISTED:
        lines.append(line("update", "…", stage.say("update_more", n=len(changes) - LISTED)))
    return Frame(marks, clean(told), tuple(lines), in_cell(update.span))


def is_unchanged(change: Change) -> bool:
    """Whether a change left every number as it was, as `clip_grad_norm_` does below its limit."""
    return change.after is not None and change.after.items is not None and change.before == change.after


def before_after(change: Change) -> str:
    """`0.80764 → 0.99186`."""
    return " → ".join("None" if value is None else one_line(value) for value in (change.before, change.after))
