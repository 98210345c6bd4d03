"""Trace → steps: which events of a recorded cell are shown to a reader, in which order, and which of them are
shown as one step.

Note [Which steps a call has]
    The steps of a backward call follow the order of the events: first the ops of the cell that are in the
    shown graph, then the nodes of this call. An op that `create_graph=True` adds is a step of the call that
    computes it. In a training loop the graph of a call shows only its own iteration: when its story begins,
    earlier iterations have already changed the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..model.births import made_by
from ..model.schedule import Schedule
from ..model.stage import LISTED, Stage, Where
from ..model.stopped import starts_backward
from ..protocol import Value
from ..snapshots import summed
from ..trace.events import (
    Asked,
    BackwardEnded,
    Created,
    Detached,
    Event,
    Failed,
    Forward,
    HookRan,
    Left,
    ModeChanged,
    Mutated,
    NodeRan,
    Recomputed,
    Statement,
    TensorState,
)
from ..trace.graph import Update
from .backward import SoFar
from .forward import aside

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
        schedule = self.schedule = self.scene.schedule
        self.so_far: dict[str, list[SoFar]] = {} if schedule is None else self.sums(schedule)

    @property
    def total(self) -> int:
        """How many nodes the call was to run (0 if it found none)."""
        if self.schedule is not None:
            return len(self.schedule.order)
        return 0 if self.started is None else len(self.started.nodes)

    def sums(self, schedule: Schedule) -> dict[str, list[SoFar]]:
        """Per node that ran, where gradients that it sent meet others, and their sum so far."""
        assert self.started is not None
        missing, total = dict(schedule.missing), dict[str, Value | None]()
        shares: dict[str, list[Value]] = {}
        for root, given in zip(self.started.roots, self.started.gradients, strict=True):
            total[self.scene.node_at(root) or ""] = given
        result: dict[str, list[SoFar]] = {}
        for event in self.ran.values():
            if event.node not in schedule.at:
                continue
            reported: dict[str, None] = {}
            for edge, value in zip(self.scene.nodes[event.node].edges, event.sent, strict=False):
                if edge is None or edge[0] not in missing:
                    continue
                target = edge[0]
                missing[target] -= 1
                reported[target] = None
                if value is not None:
                    shares.setdefault(target, []).append(value)
                    before = total.get(target)
                    total[target] = value if before is None else summed([before, value])
            for target in reported:
                place, value, mine = self.stage.place_of(target), total.get(target), shares.get(target, [])
                meet = missing[target] or 1 < len(mine) <= LISTED
                if meet and value is not None and place is not None and len(place.states) == 1:
                    all_in = () if missing[target] else tuple(mine)
                    waits = SoFar(place.states[0].id, value, missing[target], all_in)
                    result.setdefault(event.node, []).append(waits)
        return result

    # ── which events are steps ──────────────────────────────────────────────────────────────────────────────

    def steps(self) -> Iterator[Step]:
        """The steps, in the order in which things happened."""
        modes: list[ModeChanged] = []
        error = None  # the error that is already a step
        for time, step in self.found():
            step.time = time
            if isinstance(step.event, ModeChanged):
                modes.append(step.event)
                continue
            if isinstance(step.event, Failed) and step.event.error == error:
                continue
            if isinstance(step.event, BackwardEnded):
                error = step.event.error
            if step.phase == FORWARD:
                step.modes, modes = modes, []
            yield step

    def found(self) -> Iterator[tuple[int, Step]]:
        """The events that become steps, and switches of modes, with the time of each."""
        begin, end = self.window()
        owner = self.owners()
        last, ran = max(self.starts, default=0), 0
        updates = {update.times[-1]: update for update in self.scene.updates if self.concerns(update)}
        written = {time for found in self.scene.index.updates for time in found.times}
        inside = {0, self.call}  # calls whose ops need no word about where they ran
        for time, event in enumerate(self.trace.events):
            phase = BACKWARD if getattr(event, "call", 0) == self.call != 0 else FORWARD
            if time in written:
                if time in updates:
                    yield time, Step(UPDATE, updates[time], ran)
                continue
            if isinstance(event, Created | Detached | Left | Mutated | Forward):
                state = event.outputs[0] if isinstance(event, Forward) else event.tensor
                if not self.shown(state.id):
                    continue
                if not begin <= time < end and state.id == getattr(
                    event, "before", getattr(event, "source", "")
                ):
                    continue  # it changes a tensor that the story begins with, or that has ended
                if isinstance(event, Created) and self.is_seed(event):
                    phase = BACKWARD
                now = self.standing(state, time, begin) if isinstance(event, Created) else None
                other = isinstance(event, Forward) and event.call not in inside
                inside.add(getattr(event, "call", 0))
                yield time, Step(phase, event, ran, self.fold(state.id), owner.get(time), now, opens=other)
            elif isinstance(event, ModeChanged | Statement):
                told = None if isinstance(event, ModeChanged) else self.aside(time, event)
                if begin <= time < end and (isinstance(event, ModeChanged) or told is not None):
                    yield time, Step(phase, event, tensor=told or "")
            elif isinstance(event, Asked):
                told_here = event.span is not None and event.tensor.is_leaf and begin <= time < end
                if told_here and self.shown(event.tensor.id):
                    yield time, Step(phase, event, ran)
            elif isinstance(event, Failed) and self.call == last:
                yield time, Step(BACKWARD if last or starts_backward(event.span) else FORWARD, event, ran)
            elif phase == FORWARD:
                continue
            elif isinstance(event, NodeRan):
                ran += 1
                place = self.stage.place_of(event.node)
                known = event.node in self.scene.nodes and self.stage.station(place) is not None
                if known and place is not None:
                    yield time, Step(phase, event, ran, self.stage.folds.get(place.id, ""))
            elif isinstance(event, Recomputed):
                yield time, Step(phase, event, ran)
            elif isinstance(event, HookRan) and event.node not in self.ran:
                if event is self.scene.now.hooks[event.node][0]:
                    yield time, Step(phase, event, ran)
            elif isinstance(event, BackwardEnded) and (event.captured or event.error):
                yield time, Step(phase, event, ran)

    def concerns(self, update: Update) -> bool:
        """Whether an update changes what the picture shows."""
        return any(self.shown(change.tensor) for change in update.changes)

    def aside(self, time: int, event: Statement) -> str | None:
        """The tensor that a statement is about ("" if about none in particular); None if it is no step."""
        if time in self.removals:
            return self.removals[time] if self.shown(self.removals[time]) else None
        told = aside(event.span.text)
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

    def is_seed(self, event: Created) -> bool:
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
        """A tensor that came to be at a time, as it stands when the story begins."""
        if time >= begin:
            return state
        then = self.scene.moments.at(state.id, begin - 1) or state
        return state._replace(value=then.value, grad=then.grad, version=then.version)

    def used_at(self, steps: Iterable[Step]) -> Where | None:
        """Where the story first uses what was there before it begins."""
        tensors = {state.id for step in steps for state in made_by(step.event)}
        begin = self.scene.span[0]
        users = (p for p in self.scene.shown if p.time >= begin and not tensors.isdisjoint(p.inputs or ()))
        return self.stage.written_at(min(users, key=lambda place: place.time, default=None))

    def owners(self) -> dict[int, str]:
        """For every op inside a backward call the node that was running: the next that has run."""
        found: dict[int, str] = {}
        waiting: list[int] = []
        for time, event in enumerate(self.trace.events):
            if isinstance(event, Forward) and event.call:
                waiting.append(time)
            elif isinstance(event, NodeRan):
                found.update(dict.fromkeys(waiting, event.node))
                waiting = []
            elif isinstance(event, BackwardEnded):
                waiting = []
        return found
