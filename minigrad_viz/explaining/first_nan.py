"""Where nan or inf first appeared in a cell, without anomaly mode: every value that was recorded is looked at
in order, and what is not finite is led back to the event that made it of finite numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..model.scene import Scenes
from ..protocol import Value
from ..trace.events import (
    BackwardEnded,
    BackwardStarted,
    Created,
    Deposited,
    Detached,
    Forward,
    GradSet,
    Left,
    Mutated,
    NodeRan,
    TensorState,
)

Maker = Forward | Mutated | NodeRan | Created
Edge = tuple[str, int]


class Origin(NamedTuple):
    """The event that made nan or inf ("what"), when it did, and the values of its inputs, by id. `meant` says
    that the cell wrote such a number itself, as in `masked_fill(mask, -inf)`."""

    event: Maker
    time: int
    what: str
    inputs: tuple[tuple[str, Value], ...]
    meant: bool = False


class Symptom(NamedTuple):
    """What a learner sees of it: a root, or the gradient of a leaf (`grad`), that is not finite."""

    origin: Origin
    tensor: str
    call: int
    grad: bool


def first_symptom(scenes: Scenes) -> Symptom | None:
    """The first root or gradient that is not finite although the cell did not write such a number itself; of
    a cell without one the first variable that is nan in the end."""
    return Search(scenes).found


class Search:
    """One reading of the events: which tensors and gradients are not finite now, and why."""

    def __init__(self, scenes: Scenes) -> None:
        self.scenes = scenes
        self.now: dict[str, Value] = {}
        self.bad: dict[str, Origin] = {}
        self.grads: dict[str, Origin] = {}  # of leaves: what made their `.grad` what it is
        self.arriving: dict[Edge, Origin] = {}  # in the running call
        self.edges: dict[str, tuple[Edge | None, ...]] = {}
        self.leaves: dict[str, str] = {}
        self.found: Symptom | None = None
        for self.time, event in enumerate(scenes.trace.events):
            self.read(event)
            if self.found is not None:
                return
        self.in_the_end()

    def read(self, event: object) -> None:
        """Take one event in."""
        if isinstance(event, Created):
            known = self.grads.get(event.gradient_of) if event.gradient_of else None
            self.stands(event.tensor, known, event, ())
        elif isinstance(event, Forward):
            inputs = [id for id in event.inputs if id is not None]
            meant = any("inf" in (text or "") or "nan" in (text or "") for text in event.arguments)
            for state in event.outputs:
                self.stands(state, None, event, inputs, meant)
        elif isinstance(event, Mutated):
            inputs = [event.before, *(id for id in event.inputs if id is not None)]
            for state in (event.tensor, *event.also):
                self.stands(state, None, event, inputs)
        elif isinstance(event, Detached | Left):
            sources = (event.source,) if isinstance(event, Detached) else event.sources
            known = next((self.bad[id] for id in sources if id in self.bad), None)
            self.stands(event.tensor, known, None, sources)
        elif isinstance(event, GradSet):
            self.grads.pop(event.tensor, None)
        else:
            self.backward(event)

    def stands(
        self,
        state: TensorState,
        known: Origin | None,
        event: Maker | None,
        inputs: Iterable[str],
        meant: bool = False,
    ) -> None:
        """A tensor has a value."""
        if state.value is None:
            return
        what, given = state.value.special, self.values(inputs)
        self.now[state.id] = state.value
        if not what:
            self.bad.pop(state.id, None)
            return
        known = known or self.inherited((id for id, _ in given), what)
        if known is None and event is not None:
            meant = meant or (isinstance(event, Created) and what == "inf" and not event.gradient_of)
            known = Origin(event, self.time, what, given, meant)
        if known is not None:
            self.bad[state.id] = known

    def inherited(self, inputs: Iterable[str], what: str) -> Origin | None:
        """The origin of what an op used; none if it made nan of an infinity that was meant."""
        origins = [self.bad[id] for id in inputs if id in self.bad]
        accidents = [each for each in origins if not each.meant]
        if accidents:
            return min(accidents, key=lambda each: each.time)
        return next((each for each in origins if each.what == what or what == "inf"), None)

    def values(self, ids: Iterable[str]) -> tuple[tuple[str, Value], ...]:
        """Tensors with their values now, each once."""
        return tuple((id, self.now[id]) for id in dict.fromkeys(ids) if id in self.now)

    def backward(self, event: object) -> None:
        """What happens in backward calls."""
        if isinstance(event, BackwardStarted):
            self.arriving, self.edges = {}, {node.id: node.edges for node in event.nodes}
            for root in event.roots:
                self.seen(self.bad.get(root), root, event.call, grad=False)
        elif isinstance(event, NodeRan):
            self.ran(event)
        elif isinstance(event, Deposited):
            origin = self.arriving.get((event.node, 0))
            if event.after.special and origin is not None:
                self.grads[event.tensor] = origin
                self.seen(origin, event.tensor, event.call, grad=True)
        elif isinstance(event, BackwardEnded):
            for tensor, value in event.captured:
                if value is not None and value.special:
                    ends = [self.scenes.index.accumulators.get(tensor), self.node_of(tensor)]
                    came = (self.arriving.get((end, 0)) for end in ends if end is not None)
                    self.seen(next(filter(None, came), None), tensor, event.call, grad=True)

    def node_of(self, tensor: str) -> str | None:
        """The node that made a tensor."""
        state = self.scenes.index.state(tensor)
        return None if state is None else state.node

    def ran(self, event: NodeRan) -> None:
        """A node passed gradients on."""
        place = self.scenes.index.by_node.get(event.node)
        near = [] if place is None else [*(place.inputs or ()), *(state.id for state in place.states)]
        inputs = [id for id in near if id is not None]
        for value, edge in zip(event.sent, self.edges.get(event.node, ()), strict=False):
            if value is None or edge is None or not value.special:
                continue
            came = (self.arriving.get((event.node, nr)) for nr in range(len(event.received)))
            origin = next(filter(None, came), None) or self.inherited(inputs, value.special)
            own = Origin(event, self.time, value.special, self.values(inputs))
            self.arriving.setdefault(edge, origin or own)

    def seen(self, origin: Origin | None, tensor: str, call: int, grad: bool) -> None:
        """Something that matters is not finite."""
        if origin is not None and not origin.meant and self.found is None:
            self.found = Symptom(origin, tensor, call, grad)

    def in_the_end(self) -> None:
        """A variable that is nan when the cell has ended."""
        for id, _ in self.scenes.trace.names:
            origin = self.bad.get(id)
            if origin is not None and self.now[id].special == "nan" and isinstance(origin.event, Forward):
                self.seen(origin, id, 0, grad=False)
