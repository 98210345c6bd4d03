"""Where nan or inf first appeared in a cell, without anomaly mode: every value that was recorded is looked at
in order, and what is not finite is led back to the event that made it of finite numbers. Whether updates made
a tensor grow until it overflowed, and a learning rate that would not."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..model.naming import plain_name
from ..model.scene import Scenes
from ..numbers import number
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
from .case import Case
from .syntax import written_as

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


# ── updates that diverge ────────────────────────────────────────────────────────────────────────────────────

GROWN = 1e4  # times that a tensor grew before it counts as diverging
RATES = ("lr", "learning_rate", "step_size", "eta", "alpha", "rate")


class Divergence(NamedTuple):
    """The tensor `name` grew from `first` to `last` by `updates` of which the last stands in `line`. `rate`
    is the learning rate as it is written (None where that is not certain), `better` one that would converge,
    estimated from how the gradient changed between two updates."""

    name: str
    first: str
    last: str
    updates: int
    line: str
    rate: str | None
    better: str | None


def divergence_of(case: Case, origin: Origin) -> Divergence | None:
    """What grew by updates before nan or inf appeared; None if nothing did."""
    series: dict[str, list[Value]] = {}
    line = {}
    for event in case.trace.events[: origin.time + 1]:
        value = event.tensor.value if isinstance(event, Created | Mutated) else None
        if value is None or value.special:
            continue
        assert isinstance(event, Created | Mutated)
        if isinstance(event, Created):
            series[event.tensor.id] = [value]
        elif case.scene.asks(event.before) and event.before == event.tensor.id:
            series.setdefault(event.before, []).append(value)
            line[event.before] = event.span
    for tensor, values in series.items():
        sizes = [size for value in values if (size := largest(value)) is not None]
        if len(values) < 3 or len(sizes) != len(values) or sizes[-1] < GROWN * max(sizes[0], 1.0):
            continue
        name, dtype = plain_name(case.name(tensor)), values[0].dtype
        rate = rate_of(case)
        first, last = (number(sizes[i], dtype, 3) for i in (0, -1))
        better = None if rate is None else better_rate(case, tensor, float(rate))
        return Divergence(name, first, last, len(values) - 1, case.place(line[tensor]), rate, better)
    return None


def largest(value: Value) -> float | None:
    """The largest absolute value."""
    if value.low is None or value.high is None:
        return None
    return max(abs(value.low), abs(value.high))


def rate_of(case: Case) -> str | None:
    """The learning rate as the cell writes it: the only one that it gives by name, or in an update."""
    found: list[str] = []
    for part in case.executed(ast.AST):
        if isinstance(part, ast.keyword) and part.arg == "lr":
            found += numbers_in(case, part.value)
        elif isinstance(part, ast.Assign | ast.AugAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            named = any(ast.unparse(target) in RATES for target in targets)
            if named or ".grad" in ast.unparse(part.value):
                found += numbers_in(case, part.value)
    return found[0] if len(set(found)) == 1 else None


def numbers_in(case: Case, tree: ast.expr) -> list[str]:
    """The numbers in an expression, as they are written."""
    parts = (part for part in ast.walk(tree) if isinstance(part, ast.Constant))
    return [written_as(case, each) for each in parts if type(each.value) in (int, float)]


def better_rate(case: Case, tensor: str, rate: float) -> str | None:
    """A rate below 1 over the largest change of the gradient per change of the tensor that was seen: with it
    gradient descent does not grow. None where the numbers do not show it."""
    points: list[tuple[np.ndarray, np.ndarray]] = []
    now: Value | None = None
    for event in case.trace.events:
        if isinstance(event, Created | Mutated) and event.tensor.id == tensor:
            now = event.tensor.value
        elif isinstance(event, Deposited) and event.tensor == tensor:
            if now is None or now.items is None or event.added.items is None:
                return None
            points.append((np.array(now.items, float), np.array(event.added.items, float)))
    steepest = 0.0
    with np.errstate(all="ignore"):
        for (x, g), (y, h) in itertools.pairwise(points):
            moved, changed = np.abs(y - x).max(), np.abs(h - g).max()
            if moved > 0 and np.isfinite(changed) and np.isfinite(moved):
                steepest = max(steepest, float(changed / moved))
    if not steepest or not math.isfinite(steepest) or 1 / steepest >= rate:
        return None
    most = 1.001 / steepest  # as the differences are rounded
    size = 10.0 ** math.floor(math.log10(most))
    return f"{math.floor(most / size) * size:.1g}"
