"""Trace → steps: which events of a recorded cell a reader is told of, in which order, and which of them as
one.

Note [Which steps a call has]
    The steps of a backward call are told in the order in which things happened: what the cell computed, as
    far as it is in the graph that is shown, then the nodes of this call. What `create_graph=True` computes
    is a step of the call that computes it. In a training loop the graph of a call shows its own iteration
    alone; what earlier iterations wrote into the parameters has happened when its story begins.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..model.build import Builder
from ..model.places import reader_of
from ..model.refused import starts_backward
from ..protocol import Value
from ..trace.events import (
    Asked,
    BackwardEnded,
    BackwardStarted,
    Created,
    Detached,
    Event,
    Failed,
    Forward,
    GradSet,
    HookRan,
    Left,
    ModeChanged,
    Mutated,
    NodeRan,
    Recomputed,
    Statement,
    TensorState,
    Trace,
)
from .asides import aside
from .narrate import Narrator, SoFar
from .schedule import Schedule, needed

LIMIT = 1000  # steps; of more the middle ones are told in one
FORWARD, BACKWARD = "forward", "backward"
TWICE, CHANGED = "backward through the graph a second time", "modified by an inplace operation"
NOT_A_NUMBER = re.compile(r"Function '(\w+)' returned nan values in its")  # says anomaly detection


@dataclass(slots=True)
class Step:
    """An event that is told: `modes` were switched just before it, `ran` nodes of the call have run after it;
    `fold` is the station that stands for it and its neighbours ("" if none does); `owner` the node inside
    whose run an op ran; `state` how a given tensor stands when the story begins. `opens` is true for the
    first op of another backward call; `tensor` is what a statement is about."""

    phase: str
    event: Event
    ran: int = 0
    fold: str = ""
    owner: str | None = None
    state: TensorState | None = None
    modes: list[ModeChanged] = field(default_factory=list)
    opens: bool = False
    tensor: str = ""


class Story:
    """The steps of one backward call (of the cell, if it has none). Every event is looked at once."""

    def __init__(self, trace: Trace, builder: Builder, narrator: Narrator) -> None:
        self.trace, self.builder, self.narrator = trace, builder, narrator
        self.call = builder.call
        self.started = narrator.started
        self.ran: list[str] = []
        self.ended: BackwardEnded | None = None
        self.starts: dict[int, int] = {}  # call -> when it started
        for time, event in enumerate(trace.events):
            if isinstance(event, BackwardStarted):
                self.starts[event.call] = time
            elif isinstance(event, NodeRan) and event.call == self.call:
                self.ran.append(event.node)
            elif isinstance(event, BackwardEnded) and event.call == self.call:
                self.ended = event
        # When a hook was removed, and the tensor that had it.
        hooks = reader_of(trace).registered
        self.removals = {hook.until: hook.tensor for hook in hooks if hook.until is not None}
        self.schedule = self.recomputed()
        self.so_far: dict[str, list[SoFar]] = {} if self.schedule is None else self.sums(self.schedule)

    # ── the queue ───────────────────────────────────────────────────────────────────────────────────────────

    def node_of(self, tensor: str) -> str:
        """The node at which a tensor's gradient arrives ("" if none)."""
        where = self.builder.at.get(tensor)
        made_by = None if where is None else where[0].states[where[1]].node
        return made_by or self.builder.accumulators.get(tensor, "")

    def recomputed(self) -> Schedule | None:
        """The queue of the call, unless it contradicts what was recorded."""
        if self.started is None:
            return None
        nodes, failed = self.started.nodes, self.ended is None or self.ended.error is not None
        limited: set[str] | None = None
        if self.started.kind == "grad" or (failed and self.started.wanted is not None):
            asked = [tensor for tensor, _ in self.ended.captured] if self.ended is not None else []
            asked = asked or list(self.started.wanted or ())
            if not asked:
                return None  # it failed, and nobody knows what it was asked for
            ends = {self.node_of(tensor) for tensor in asked}
            limited = needed(nodes, ends)
            if self.started.kind != "grad":
                limited |= {node.id for node in nodes if node.variable in asked}
        elif not failed:
            limited = set(self.ran)  # `backward(inputs=…)` leaves some out
        schedule = Schedule(nodes, [self.node_of(root) for root in self.started.roots], limited)
        return schedule if schedule.agrees(self.ran, failed) else None

    @property
    def total(self) -> int:
        """How many nodes the call was to run (0 if it found none)."""
        if self.schedule is not None:
            return len(self.schedule.order)
        return 0 if self.started is None else len(self.started.nodes)

    @property
    def guilty(self) -> str | None:
        """The node that would have run when the call failed; None if the failure came before any."""
        event, schedule = self.started, self.schedule
        if not self.trace.recorded:
            return self.unusable
        found = NOT_A_NUMBER.search((self.ended.error if self.ended is not None else None) or "")
        if found is not None and self.ran and self.builder.nodes[self.ran[-1]].name == found[1]:
            return self.ran[-1]  # it ran, and what it gave was looked at then
        if event is None or schedule is None or len(self.ran) >= len(schedule.order):
            return None
        for root, gradient in zip(event.roots, event.gradients, strict=True):
            where = self.builder.at.get(root)
            value = None if where is None else where[0].states[where[1]].value
            if gradient is None or (value is not None and value.shape != gradient.shape):
                return None
        return schedule.order[len(self.ran)]

    @property
    def unusable(self) -> str | None:
        """Where nobody saw what ran: the node of which the traceback tells; else the only one whose saved
        values are gone or were written to, if the error is about that. Nodes that ran in the call have let go
        of theirs too; behind one that still has them none did."""
        if self.ended is None or self.ended.stopped is not None or self.schedule is None:
            return None if self.ended is None else self.ended.stopped
        changed, freed = list[str](), list[str]()
        for node in self.schedule.order:
            saved = self.builder.nodes[node].saved
            if any(s.now is not None for s in saved):
                changed.append(node)
            if any(s.freed for s in saved):
                freed.append(node)
            elif any(isinstance(s.value, Value) or s.packed for s in saved):
                break
        error = self.ended.error or ""
        found = freed if TWICE in error else changed[:1] if CHANGED in error else []
        return found[0] if len(found) == 1 else None

    def sums(self, schedule: Schedule) -> dict[str, list[SoFar]]:
        """Per node that ran, where gradients that it sent have to wait for others, and their sum so far."""
        assert self.started is not None
        missing, total = dict(schedule.missing), dict[str, Value | None]()
        for root, given in zip(self.started.roots, self.started.gradients, strict=True):
            total[self.node_of(root)] = given
        result: dict[str, list[SoFar]] = {}
        for event in self.trace.events:
            if not isinstance(event, NodeRan) or event.call != self.call or event.node not in schedule.at:
                continue
            reported: dict[str, None] = {}
            for edge, value in zip(self.builder.nodes[event.node].edges, event.sent, strict=False):
                if edge is None or edge[0] not in missing:
                    continue
                target = edge[0]
                missing[target] -= 1
                reported[target] = None
                if value is not None:
                    before = total.get(target)
                    total[target] = value if before is None else plus(before, value)
            for target in reported:
                place, value = self.narrator.place_of(target), total.get(target)
                if missing[target] and value is not None and place is not None and len(place.states) == 1:
                    waits = SoFar(place.states[0].id, value, missing[target])
                    result.setdefault(event.node, []).append(waits)
        return result

    # ── which events are steps ──────────────────────────────────────────────────────────────────────────────

    def steps(self) -> Iterator[Step]:
        """The steps, in the order in which things happened."""
        modes: list[ModeChanged] = []
        error = None  # that was told already
        for step in self.found():
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

    def found(self) -> Iterator[Step]:
        """The events that are told, and switches of modes."""
        begin, end, old = self.window()
        owner = self.owners()
        here = self.starts.get(self.call, math.inf)
        before = max((time for time in self.starts.values() if time < here), default=-1)  # the call before
        last, ran, running = max(self.starts, default=0), 0, set(self.ran)
        bound: dict[str, str] = {}  # variable -> its tensor at the time
        inside = {0, self.call}  # calls whose ops need no word about where they ran
        for time, event in enumerate(self.trace.events):
            phase = BACKWARD if getattr(event, "call", 0) == self.call != 0 else FORWARD
            if isinstance(event, Created | Detached | Left | Mutated | Forward):
                state = event.outputs[0] if isinstance(event, Forward) else event.tensor
                if name := getattr(event, "name", None):
                    bound[name] = state.id
                if not self.shown(state.id):
                    continue
                if not begin <= time < end and state.id == getattr(
                    event, "before", getattr(event, "source", "")
                ):
                    continue  # it changes a tensor that the story begins with, or that has ended
                if isinstance(event, Created) and self.is_seed(event):
                    phase = BACKWARD
                now = old.get(state.id, state) if isinstance(event, Created) else None
                other = isinstance(event, Forward) and event.call not in inside
                inside.add(getattr(event, "call", 0))
                yield Step(phase, event, ran, self.fold(state.id), owner.get(time), now, opens=other)
            elif isinstance(event, ModeChanged | Statement):
                told = None if isinstance(event, ModeChanged) else self.aside(time, event, bound)
                if begin <= time < end and (isinstance(event, ModeChanged) or told is not None):
                    yield Step(phase, event, tensor=told or "")
            elif isinstance(event, Asked):
                told_here = event.span is not None and event.tensor.is_leaf and begin <= time < end
                if told_here and self.shown(event.tensor.id):
                    yield Step(phase, event, ran)
            elif isinstance(event, GradSet):
                told_here = max(begin, before) <= time < end and self.shown(event.tensor)
                if told_here and not self.is_told(time, event):
                    yield Step(FORWARD, event, ran, f"{event.how} {event.span}")
            elif isinstance(event, Failed) and self.call == last:
                yield Step(BACKWARD if last or starts_backward(event.span) else FORWARD, event, ran)
            elif phase == FORWARD:
                continue
            elif isinstance(event, NodeRan):
                ran += 1
                place = self.narrator.place_of(event.node)
                known = event.node in self.builder.nodes and self.narrator.station(place) is not None
                if known and place is not None:
                    yield Step(phase, event, ran, self.narrator.folds.get(place.id, ""))
            elif isinstance(event, Recomputed):
                yield Step(phase, event, ran)
            elif isinstance(event, HookRan) and event.node not in running:
                if event is self.narrator.hooks[event.node][0]:
                    yield Step(phase, event, ran)
            elif isinstance(event, BackwardEnded) and (event.captured or event.error):
                yield Step(phase, event, ran)

    def aside(self, time: int, event: Statement, bound: dict[str, str]) -> str | None:
        """The tensor that a statement is about ("" if about none in particular); None if it is no step."""
        if time in self.removals:
            return self.removals[time] if self.shown(self.removals[time]) else None
        told = aside(event.span.text)
        if told is None or not told.variable:
            return None if told is None else ""
        tensor = bound.get(told.variable)
        return tensor if tensor is not None and self.shown(tensor) else None

    def shown(self, tensor: str) -> bool:
        """Whether the picture shows a tensor."""
        where = self.builder.at.get(tensor)
        return where is not None and self.narrator.station(where[0]) is not None

    def fold(self, tensor: str) -> str:
        """The fold that a tensor is in."""
        return self.narrator.folds.get(self.builder.at[tensor][0].id, "")

    def is_told(self, time: int, event: GradSet) -> bool:
        """Whether a change of a gradient is told as one of a tensor, which the picture shows."""
        soon = self.trace.events[time + 1 : time + 4]
        return any(isinstance(e, Mutated) and e.span == event.span and self.shown(e.tensor.id) for e in soon)

    def is_seed(self, event: Created) -> bool:
        """Whether a tensor is the gradient that the call starts with."""
        return (
            self.started is not None and event.span is None and event.tensor.id in self.started.gradient_ids
        )

    def window(self) -> tuple[int, float, dict[str, TensorState]]:
        """From when until when writing into a tensor is a step of this story, and how the tensors stand at
        its beginning that were written to before."""
        events, starts = self.trace.events, sorted(self.starts.values())
        here = self.starts.get(self.call, len(events))
        end = next((time for time in starts if time > here), math.inf)
        ops = [
            place.time
            for place in self.builder.places
            if place.inputs is not None
            and place.id not in self.builder.given
            and self.narrator.station(place) is not None
        ]
        first = min(ops, default=0)
        begin = first if starts and starts[0] < first else 0
        old = {
            state.id: state
            for event in itertools.islice(events, begin)
            if isinstance(event, Mutated)
            for state in ((event.tensor,) if event.tensor.id == event.before else ()) + event.also
        }
        return begin, end, old

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


def plus(a: Value, b: Value) -> Value | None:
    """The sum of two gradients as the engine forms it, in their dtype; None where the numbers are not
    known."""
    if a.items is None or b.items is None or a.shape != b.shape or a.dtype != b.dtype:
        return None
    try:
        with np.errstate(all="ignore"):
            total = np.add(np.array(a.items, a.dtype), np.array(b.items, b.dtype))
    except TypeError:  # a dtype that NumPy lacks
        return None
    return a._replace(items=tuple(total.tolist()), low=None, high=None)


# ── several steps as one ────────────────────────────────────────────────────────────────────────────────────


def grouped(steps: Iterable[Step]) -> list[list[Step]]:
    """Steps in a row that one station stands for, together."""
    groups: list[list[Step]] = []
    for step in steps:
        last = groups[-1][0] if groups else None
        if last is not None and step.fold and (step.fold, step.phase) == (last.fold, last.phase):
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def limited(phases: Sequence[str], limit: int = LIMIT) -> list[list[int]]:
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
