"""Trace → places: which tensors came to stand where, which nodes ran, and what flowed in one backward
call."""

from __future__ import annotations

import re
from typing import Any

from .events import (
    BackwardEnded,
    BackwardStarted,
    Created,
    Deposited,
    Detached,
    Forward,
    Mutated,
    NodeRan,
    NodeState,
    Snapshot,
    TensorState,
    Trace,
)
from .graph import Saved
from .protocol import Value

LIBRARY = re.compile(r"(?<![\w.])(?:torch|minigrad)\.")  # left out of expressions: `log(y)`
Edge = tuple[str, int]  # node id, output number


class Place:
    """A station while it is being put together.

    `states` are its tensors as they stood at the call that is shown; `inputs` tensor ids in the order of
    the op `event`; `brought` says that nobody saw it being made.
    """

    def __init__(
        self, states: tuple[TensorState, ...], name: str | None, expr: str | None, order: int
    ) -> None:
        self.id = ""
        self.states = list(states)
        self.name = name
        self.expr = expr
        self.order = order
        self.inputs: list[str | None] | None = None
        self.event: Forward | None = None
        self.brought = False

    @property
    def node(self) -> str | None:
        """The id of the node below."""
        return self.states[0].node if self.states else None


class Reader:
    """Reads a trace once: what there is to draw at its `call`-th backward call (the last one by default)."""

    def __init__(self, trace: Trace, call: int | None = None) -> None:
        self.trace = trace
        calls = [e.call for e in trace.events if isinstance(e, BackwardStarted)]
        self.call = (calls[-1] if calls else 0) if call is None else call
        self.past = False  # whether what is read now happened after the call that is shown
        self.places: list[Place] = []
        self.at: dict[str, tuple[Place, int]] = {}  # tensor -> where its card is
        self.by_node: dict[str, Place] = {}
        self.nodes: dict[str, NodeState] = {n.id: n for n in trace.nodes}
        self.freed: set[str] = set()
        self.flows: dict[tuple[str, int], list[Value]] = {}  # (node, input) -> what it sent
        self.arrived: dict[str, Value] = {}  # node -> gradient of its first output
        self.captured: dict[str, Value] = {}
        self.roots: set[str] = set()
        self.of: dict[int, str] = {}  # call -> its root, where there is one
        self.gradient_of: dict[
            str, tuple[int, str]
        ] = {}  # tensor of the second graph -> (call, whose gradient)
        self.accumulators: dict[str, str] = {}  # leaf -> its AccumulateGrad
        for event in trace.events:
            self.read(event)
        self.arrange()
        for node in self.nodes.values():
            if node.variable is not None:
                self.accumulators[node.variable] = node.id

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────

    def place(self, states: tuple[TensorState, ...], name: str | None, span: Any, order: int = 1) -> Place:
        """A new station for tensors that came into being together."""
        expr = None if span is None else LIBRARY.sub("", " ".join(span.text.split()))
        place = Place(states, name, expr, order)
        self.places.append(place)
        for i, state in enumerate(states):
            self.at[state.id] = (place, i)
        if place.node is not None:
            self.by_node[place.node] = place
        return place

    def read(self, event: Any) -> None:
        """Take one event in."""
        if isinstance(event, Created):
            self.create(event)
        elif isinstance(event, Forward):
            order = 2 if event.call else 1
            place = self.place(event.outputs, event.name, None if event.call else event.span, order)
            place.inputs = list(event.inputs)
            place.event = event
        elif isinstance(event, Detached):
            self.place((event.tensor,), event.name, event.span).inputs = [event.source]
        elif isinstance(event, Mutated):
            self.mutate(event)
        elif isinstance(event, BackwardStarted):
            self.start(event)
        elif isinstance(event, NodeRan):
            self.ran(event)
        elif isinstance(event, Deposited):
            if not self.past and event.tensor in self.at:  # also for leaves that no variable names
                place, i = self.at[event.tensor]
                place.states[i] = place.states[i]._replace(grad=event.after)
        elif isinstance(event, BackwardEnded):
            if event.call <= self.call:
                self.freed.update(event.freed)
            if event.call == self.call:
                self.captured = {name: value for name, value in event.captured if value is not None}
        elif isinstance(event, Snapshot):
            if not self.past:
                for _, state in event.rows:
                    self.update(state)
            self.past = self.past or (event.when == "after" and event.call == self.call)

    def create(self, event: Created) -> None:
        """A tensor came in; further outputs of one node stand beside the first."""
        state = event.tensor
        place = self.by_node.get(state.node or "") if event.span is None else None
        if place is not None:
            self.at[state.id] = (place, len(place.states))
            place.states.append(state)
        else:
            self.place((state,), event.name, event.span).brought = event.span is None

    def mutate(self, event: Mutated) -> None:
        """An op wrote into a tensor: a new station if it has a new history, else the card changes, unless
        that was after the call that is shown."""
        if event.tensor.id != event.before and event.before in self.at:
            old = self.at[event.before][0]
            self.place((event.tensor,), old.name, event.span).inputs = list(event.inputs)
        elif not self.past:
            self.update(event.tensor)

    def start(self, event: BackwardStarted) -> None:
        """A backward call: the nodes it found, its roots, and its first gradients if they have a graph."""
        for node in event.nodes:
            if event.call <= self.call or node.id not in self.nodes:
                self.nodes[node.id] = remember(node, self.nodes.get(node.id))
        self.roots.update(event.roots if event.call == self.call else ())
        self.of[event.call] = event.roots[0] if len(event.roots) == 1 else ""
        for root, id in zip(event.roots, event.gradient_ids, strict=True):
            if id is not None:
                self.gradient_of[id] = (event.call, root)
                self.at[id][0].brought = False

    def ran(self, event: NodeRan) -> None:
        """A node ran: what flowed over its edges, and which tensors of the second graph that was."""
        node = self.nodes[event.node]
        for edge, id in zip(node.edges, event.sent_ids, strict=False):
            target = None if edge is None or id is None else self.tensor_of(edge)
            if target is not None and id is not None:
                self.gradient_of.setdefault(id, (event.call, target))
        if event.call != self.call:
            return
        for i, value in enumerate(event.sent):
            if value is not None:
                self.flows.setdefault((event.node, i), []).append(value)
        if event.received and event.received[0] is not None:
            self.arrived[event.node] = event.received[0]

    def update(self, state: TensorState) -> None:
        """A tensor was seen again, later."""
        if state.id in self.at:
            place, i = self.at[state.id]
            place.states[i] = state

    def arrange(self) -> None:
        """Number the stations in program order. What was there before the cell comes first, inputs before
        users."""
        older: dict[int, bool] = {}  # by identity of the place: whether it and all it came from were brought
        order: list[Place] = []
        for place in self.places:
            stack = [(place, False)] if place.brought else []
            while stack:
                current, left = stack.pop()
                sources = self.sources(current)
                if left:
                    older[id(current)] = all(older.get(id(p), False) for p in sources)
                    order.append(current)
                elif id(current) not in older:
                    older[id(current)] = False
                    stack.append((current, True))
                    stack.extend((p, False) for p in reversed(sources) if p.brought)
        first = [p for p in order if older[id(p)]]
        self.places = first + [p for p in self.places if not older.get(id(p), False)]
        for i, place in enumerate(self.places):
            place.id = f"s{i}"

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


def remember(node: NodeState, before: NodeState | None) -> NodeState:
    """A node as a later call finds it, with the values that an earlier call saw before they were freed."""
    if before is None:
        return node
    known = {s.name: s.value for s in before.saved}
    saved = tuple(Saved(s.name, known.get(s.name), s.version, True) if s.freed else s for s in node.saved)
    return node._replace(saved=saved)
