"""A trace as pictures need it: places of tensors, their order, their state at every moment, and
what happened in a backward call.

Note [True at this moment]
    A card of a picture is drawn as its tensor was when the call had ended. A leaf has another value before
    and after an update, and another `.grad` before a deposit and after a reset. So a card also has the other
    moments of its call, and each step of the player says which of them it shows.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any

import numpy as np

from ..protocol import Value
from ..trace.events import (
    BackwardEnded,
    BackwardStarted,
    Forward,
    GradAccumulated,
    HookRan,
    Inside,
    NodeRan,
    NodeState,
    SavedUnpacked,
    Snapshot,
    TensorState,
)
from ..trace.graph import CONSTANT, LEAF, PARAMETER, RESULT, ROOT
from ..trace.source_positions import Span

# ─── How tensors stood at every moment of a trace


MOMENTS = 8  # of one tensor in one call
ASSIGNED = ".data"  # how the name of what is assigned to the numbers of a tensor ends


class Moments:
    """How each tensor was seen, and when: as it came, and after what happened to it; and which tensor each
    variable was. `given` are the tensors that were given other numbers by `x.data = …`, by the time."""

    def __init__(self) -> None:
        self.of: dict[str, list[tuple[int, TensorState]]] = {}
        self.bound: dict[str, list[tuple[int, str]]] = {}
        self.given: dict[int, str] = {}

    def add(self, time: int, state: TensorState) -> None:
        """The state of a tensor when event `time` is over."""
        self.of.setdefault(state.id, []).append((time, state))

    def last(self, tensor: str) -> TensorState:
        """A tensor as it was seen last."""
        return self.of[tensor][-1][1]

    def at(self, tensor: str, time: float) -> TensorState | None:
        """The state of a tensor when event `time` was over; None before it came."""
        known = self.of.get(tensor, [])
        place = bisect_right(known, time, key=lambda seen: seen[0])
        return known[place - 1][1] if place else None

    def changes(self, tensor: str, times: Sequence[float]) -> Iterator[tuple[int, TensorState]]:
        """Those of `times` at which the state of a tensor differs from the time before, by their places,
        with the state. Thousands of tensors are asked for thousands of times."""
        known = self.of.get(tensor, [])
        places = np.searchsorted([time for time, _ in known], times, side="right")
        for i in np.flatnonzero(np.diff(places, prepend=0)).tolist():
            if places[i]:
                yield i, known[places[i] - 1][1]

    def bind(self, time: int, event: Any) -> None:
        """Follow the variables."""
        name = getattr(event, "name", None) or ""
        assigned = self.variable(name.removesuffix(ASSIGNED), time) if name.endswith(ASSIGNED) else None
        if isinstance(event, Forward) and assigned in self.of:
            self.given[time] = assigned
            self.add(time, self.last(assigned)._replace(value=event.outputs[0].value))
        rows = event.rows if isinstance(event, Snapshot) else [(name, state) for state in event.states][:1]
        for variable, state in rows:
            self.bound.setdefault(variable, []).append((time, state.id))

    def variable(self, name: str, time: float) -> str | None:
        """The tensor that a variable was when event `time` was over."""
        known = self.bound.get(name, [])
        place = bisect_right(known, time, key=lambda bound: bound[0])
        return known[place - 1][1] if place else None

    def stood_in(
        self, span: tuple[int, int], state: TensorState, passed: Value | None
    ) -> tuple[tuple[Value | None, Value | None], ...]:
        """The states of a tensor in a `span` of events, if it changed; () for too many moments. The gradient
        of a result is the one that `passed` through it, at all moments: when it was kept is not known before
        the end."""
        (begin, end), first = span, self.at(state.id, span[0] - 1)
        inside = [then for time, then in self.of.get(state.id, ()) if begin <= time <= end]
        moments = inside if first is None else [first, *inside]
        pairs = [(then.value, then.grad if state.is_leaf else passed) for then in moments]
        distinct = tuple(dict.fromkeys(pairs))
        drawn = state.value, state.grad if state.is_leaf else passed
        changed = any(pair != drawn for pair in distinct)
        return distinct if changed and len(distinct) <= MOMENTS else ()


# ─── What a trace is read into


LIBRARY = re.compile(r"(?<![\w.])(?:torch|minigrad)\.")  # left out of expressions: `log(y)`
Edge = tuple[str, int]  # node id, output number


@dataclass(eq=False)
class Place:
    """A station while it is being put together.

    `states` are its tensors; `inputs` tensor ids in the order of the op `event`; `brought` says that nobody
    saw it being made; `built` is the backward call that made it (0 outside). `time` counts events, `span` is
    the expression and `line` that of the cell (0 where unknown). `gradient_of` are the leaves whose `.grad`
    had this very value when a tensor turned up that nobody made; `used` is the source of its first use.
    `asking` are the inputs that were to get a gradient then, and `cut` is what kept it from them; `fog` and
    `shares` are those of the cards.
    """

    states: list[TensorState]
    name: str | None
    expr: str | None
    order: int
    time: int = 0
    span: Span | None = None
    line: int = 0
    id: str = ""
    inputs: list[str | None] | None = None
    event: Forward | None = None
    brought: bool = False
    built: int = 0
    gradient_of: Sequence[str] = ()
    used: str = ""
    asking: Collection[str] = ()
    cut: str = ""
    fog: str = ""
    shares: str = ""

    def standing(self, states: list[TensorState]) -> Place:
        """The same place with its tensors as they were at another moment."""
        twin = self.twin()
        twin.states = states
        if self.node is not None and twin.node is None:
            twin.cut = "detach"  # by `detach_()`
        return twin

    def called(self, id: str) -> Place:
        """The same place with another id."""
        twin = self.twin()
        twin.id = id
        return twin

    def twin(self) -> Place:
        """A copy; `copy.copy` takes five times as long, and a loop of 20 rounds needs thousands."""
        made = object.__new__(Place)
        vars(made).update(vars(self))
        return made

    @property
    def node(self) -> str | None:
        """The id of the node below."""
        return self.states[0].node if self.states else None

    @property
    def leaf(self) -> bool:
        """Whether it is a leaf that gradients are computed for."""
        return self.node is None and any(state.requires_grad for state in self.states)


class Lookup:
    """Tensors and nodes, with their places and their state at every moment."""

    at: dict[str, tuple[Place, int]]  # tensor -> where its card is
    by_node: dict[str, Place]
    nodes: dict[str, NodeState]
    places: list[Place]
    moments: Moments
    accumulators: dict[str, str]  # leaf -> its AccumulateGrad

    def state(self, tensor: str) -> TensorState | None:
        """A tensor in its present state; None if it has no place."""
        place, i = self.at.get(tensor, (None, 0))
        return None if place is None else place.states[i]

    def last(self, tensor: str) -> TensorState:
        """A tensor as it was seen last."""
        return self.moments.last(tensor)

    def asks(self, tensor: str) -> bool:
        """Whether a tensor requires gradients."""
        state = self.state(tensor)
        return state is not None and state.requires_grad

    def node_at(self, tensor: str) -> str | None:
        """The node at which a tensor's gradient arrives."""
        state = self.state(tensor)
        return (None if state is None else state.node) or self.accumulators.get(tensor)

    def came_from(self, place: Place) -> list[Place]:
        """The stations that a station was computed from, tracked or not."""
        inputs = [self.at[id][0] for id in place.inputs or () if id in self.at]
        return [p for p in (*inputs, *self.sources(place)) if p is not place]

    def sources(self, place: Place) -> list[Place]:
        """The stations that a station's node sends gradients to."""
        node = self.nodes.get(place.node or "")
        tensors = [self.tensor_of(edge) for edge in (node.edges if node else ()) if edge is not None]
        return [self.at[t][0] for t in tensors if t in self.at]

    def tensor_of(self, edge: Edge) -> str | None:
        """The tensor whose gradient an edge carries."""
        node = self.nodes.get(edge[0])
        if node is not None and node.variable is not None:
            return node.variable
        place = self.by_node.get(edge[0])
        return place.states[edge[1]].id if place is not None and edge[1] < len(place.states) else None


class BackwardCall:
    """What happened in one backward call, by its events; of no call, where a cell has none.

    `begin` is when it began, `until` when it ended, and `end` when what is seen after it begins; `named` are
    the tensors that were variables just before it, with their state then.
    """

    def __init__(
        self,
        started: BackwardStarted | None = None,
        begin: float = inf,
        named: Mapping[str, TensorState] = MappingProxyType({}),
    ) -> None:
        self.started, self.begin, self.named = started, begin, named
        self.until = self.end = inf
        self.ended: BackwardEnded | None = None
        self.ran: dict[str, NodeRan] = {}
        self.hooks: dict[str, list[HookRan]] = {}  # by the node with which they ran
        self.deposits: dict[str, GradAccumulated] = {}  # by node
        self.unpacked: dict[str, list[SavedUnpacked]] = {}  # by node
        self.inside: dict[str, list[Inside]] = {}  # by the node in whose run they ran
        self.skipped: set[str] = set()  # nodes that it left out, because nothing behind them was wanted
        self.again: set[str] = set()  # nodes of checkpoints, which ran a function again
        self.flows: dict[tuple[str, int], list[Value]] = {}  # (node, input) -> what it sent
        self.arrived: dict[tuple[str, int], Value] = {}  # node, output -> its gradient
        nodes = () if started is None else started.nodes
        self.number = 0 if started is None else started.call
        self.roots = () if started is None else started.roots
        self.found = {node.id: node.variable for node in nodes}  # node -> the leaf of an AccumulateGrad
        self.accumulators = {leaf: node for node, leaf in self.found.items() if leaf is not None}
        self.inner = {node for node, leaf in self.found.items() if leaf is None}
        span = None if started is None else started.span
        self.line = span.line if span is not None and span.origin == 0 else 0  # of the cell; 0 where unknown
        # The tensors whose gradients were asked for, if not all leaves.
        self.wanted = None if started is None or started.wanted is None else set(started.wanted)

    def flowed(self, event: NodeRan) -> None:
        """A node ran whose edges are known."""
        for i, value in enumerate(event.sent):
            if value is not None:
                self.flows.setdefault((event.node, i), []).append(value)
        for nr, value in enumerate(event.received):
            if value is not None:
                self.arrived[event.node, nr] = value

    def sends(self, node: NodeState) -> Iterator[tuple[Edge, Value]]:
        """Where a node sent gradients, in the order of its edges, and these."""
        pairs = zip(node.edges, self.ran[node.id].sent, strict=False) if node.id in self.ran else ()
        return ((edge, value) for edge, value in pairs if edge is not None and value is not None)

    @functools.cached_property
    def freed(self) -> dict[str, list[str]]:
        """The names of the values that nodes let go of when they had run."""
        gone = self.ran.keys() & (self.ended.freed if self.ended is not None else ())
        nodes = () if self.started is None else self.started.nodes
        held = {
            node.id: [s.name for s in node.saved if (isinstance(s.value, Value) or s.packed) and not s.freed]
            for node in nodes
        }
        return {node: names for node, names in held.items() if names and node in gone}

    def leave_out(self, found: Lookup) -> None:
        """Note which nodes it left out, now that it has ended."""
        if self.wanted is not None:
            ends = {state.node for id in self.wanted if (state := found.state(id)) is not None}
            left = (node for node, leaf in self.found.items() if leaf not in self.wanted)
            self.skipped = {node for node in left if node not in self.ran and node not in ends}

    @property
    def error(self) -> str | None:
        """The error that ended the call."""
        return None if self.ended is None else self.ended.error

    @functools.cached_property
    def seeds(self) -> dict[str, Value]:
        """The gradients that the call was given, by root; not the 1 that it starts with of itself."""
        if self.started is None:
            return {}
        given = zip(self.started.roots, self.started.gradients, strict=True)
        return {root: value for root, value in given if value is not None and value.items != (1.0,)}

    @property
    def captured(self) -> dict[str, Value]:
        """The gradients that `grad()` returned."""
        found = () if self.ended is None else self.ended.captured
        return {tensor: value for tensor, value in found if value is not None}

    @property
    def before(self) -> dict[str, Value]:
        """What the `.grad` of leaves held already."""
        return {d.tensor: d.before for d in self.deposits.values() if d.before is not None}


def arrange(found: Lookup) -> list[Place]:
    """Give the places of a trace ids `s0`, `s1`, … in program order, and return them so. What was there
    before the cell comes first, inputs before users."""
    older: dict[int, bool] = {}  # by identity of the place: whether it and all it came from were brought
    order: list[Place] = []
    for place in found.places:
        stack = [(place, False)] if place.brought else []
        while stack:
            current, left = stack.pop()
            sources = found.sources(current)
            if left:
                older[id(current)] = all(older.get(id(p), False) for p in sources)
                order.append(current)
            elif id(current) not in older:
                older[id(current)] = False
                stack.append((current, True))
                stack.extend((p, False) for p in reversed(sources) if p.brought)
    first = [p for p in order if older[id(p)]]
    places = first + [p for p in found.places if not older.get(id(p), False)]
    for i, place in enumerate(places):
        place.id = f"s{i}"
    return places


def role_of(state: TensorState, place: Place, roots: Container[str], finished: bool) -> str:
    """What a tensor is in the picture of a call with these `roots`, or of a `finished` graph."""
    if state.id in roots:
        return ROOT
    if state.parameter:
        return PARAMETER
    if state.node is None and state.requires_grad:
        return LEAF
    known = not finished and place.inputs is None  # else nobody saw where it came from
    return CONSTANT if known and not state.requires_grad else RESULT
