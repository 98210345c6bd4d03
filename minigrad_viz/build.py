"""Trace → Graph: the picture of a recorded cell."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from .events import (
    BackwardEnded,
    BackwardStarted,
    Created,
    Detached,
    Forward,
    Mutated,
    NodeRan,
    NodeState,
    Snapshot,
    TensorState,
    Trace,
)
from .graph import CONSTANT, LEAF, PARAMETER, RESULT, ROOT, Card, Deck, Graph, Route, Saved, Station
from .naming import expression, names_of
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


class Builder:
    """Reads a trace once and puts the picture of its `call`-th backward call together (the last one by
    default)."""

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
        # Leaves that a node sends gradients to; they stand on an AccumulateGrad, even if nobody looked at it.
        self.users = {
            id
            for place in self.places
            if place.node is not None
            for id, edge in zip(place.inputs or (), self.guess(place), strict=True)
            if id is not None and edge is not None
        }
        self.named = self.names()

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

    # ── putting together ────────────────────────────────────────────────────────────────────────────────────

    def graph(self, note: tuple[str, dict[str, str]] | None = None) -> Graph:
        """The picture's model."""
        routes: list[Route] = []
        stations = []
        for place in self.places:
            deck, new = self.deck(place, len(routes))
            routes += new
            cards = tuple(self.card(place, i, state) for i, state in enumerate(place.states))
            stations.append(Station(place.id, cards, deck, place.order))
        return Graph(tuple(stations), tuple(routes), note)

    def names(self) -> dict[str, str]:
        """Variable names by tensor id; one that stood for several tensors gets subscripts."""
        named = names_of(self.places, self.trace.names)
        for id, (call, target) in self.gradient_of.items():
            root = named.get(self.of.get(call, ""))
            if root and target in named and id not in named:
                named[id] = f"∂{root}/∂{named[target]}"
        return numbered(named)

    def expression(self, place: Place) -> str | None:
        """What an op inside backward computed, written with the names of its inputs."""
        return expression(place, self.at, self.named)

    def deck(self, place: Place, first: int) -> tuple[Deck | None, list[Route]]:
        """The lower deck of a station and the routes that lead into it."""
        node = self.node_of(place)
        routes: list[Route] = []
        slots: list[str | None] = []
        edges = node.edges if node is not None and node.variable is None else ()
        for i, id in enumerate(self.match(list(place.inputs or ()), edges)):
            where = self.at.get(id) if id is not None else None
            tracked = i < len(edges) and edges[i] is not None
            if where is None or where[0] is place:
                slots.append(None)
                continue
            gradients = tuple(self.flows.get((node.id, i), ())) if node is not None and tracked else ()
            number = f"r{first + len(routes)}"
            routes.append(Route(number, where[0].id, place.id, where[1], i, tracked, gradients))
            slots.append(number if tracked else None)
        if node is None:
            return None, routes
        gone = node.id in self.freed
        saved = tuple(
            Saved(s.name, s.value, s.version, s.freed or (gone and isinstance(s.value, Value)))
            for s in node.saved
        )
        return Deck(node.id, node.name, saved, tuple(slots[: len(edges)]), node.hooks), routes

    def match(self, given: list[str | None], edges: tuple[Edge | None, ...]) -> list[str | None]:
        """The op's input tensors, one per entry of `next_functions` and then the others.

        An op's arguments and its edges agree in order, but an argument without gradient may have no edge
        (`where`'s condition): an edge takes the next argument that leads to it. An argument that needs a
        gradient and has no edge here has one further back, inside an op that is made of several.
        """
        if not edges:
            return given
        result: list[str | None] = []
        rest = list(given)
        for n, edge in enumerate(edges):
            if edge is None:
                left = sum(e is not None for e in edges[n + 1 :])
                result.append(rest.pop(0) if len(rest) > left else None)
                continue
            k = next((k for k, id in enumerate(rest) if id is not None and self.leads(id, edge)), None)
            result.append(self.tensor_of(edge) if k is None else rest.pop(k))
        return result + [id for id in rest if id is None or not self.asks(id)]

    def asks(self, id: str) -> bool:
        """Whether a tensor requires gradients."""
        return id in self.at and self.at[id][0].states[self.at[id][1]].requires_grad

    def leads(self, id: str, edge: Edge) -> bool:
        """Whether tensor `id` is what `edge` sends its gradient to."""
        if id not in self.at:
            return False
        place, i = self.at[id]
        if place.node is not None:
            return (place.node, i) == edge
        return self.nodes[edge[0]].variable == id if edge[0] in self.nodes else edge[0] == f"a{id}"

    def tensor_of(self, edge: Edge) -> str | None:
        """The tensor whose gradient an edge carries."""
        node = self.nodes.get(edge[0])
        if node is not None and node.variable is not None:
            return node.variable
        place = self.by_node.get(edge[0])
        return place.states[edge[1]].id if place is not None and edge[1] < len(place.states) else None

    def node_of(self, place: Place) -> NodeState | None:
        """The node below a station: the one that made it, or a leaf's AccumulateGrad."""
        state = place.states[0]
        if state.node is not None:
            known = self.nodes.get(state.node)
            return known or NodeState(state.node, state.grad_fn or "", (), self.guess(place), None, 0)
        known = self.nodes.get(self.accumulators.get(state.id, ""))
        if known is None and state.id in self.users:
            return NodeState(f"a{state.id}", "AccumulateGrad", (), (), state.id, 0)
        return known

    def guess(self, place: Place) -> tuple[Edge | None, ...]:
        """The edges of a node that was never looked at: to the inputs that need gradients."""
        edges: list[Edge | None] = []
        for id in place.inputs or ():
            if id is None or not self.asks(id):
                edges.append(None)
            else:
                source, i = self.at[id]
                edges.append((source.node or f"a{id}", i))
        return tuple(edges)

    def card(self, place: Place, i: int, state: TensorState) -> Card:
        """The upper deck of one tensor."""
        node = self.node_of(place)
        flowed = self.arrived.get(node.id) if node is not None and i == 0 else None
        flowed = self.captured.get(state.id, flowed)
        kept = state.grad is not None
        return Card(
            id=state.id,
            role=self.role(state, place),
            name=self.named.get(state.id),
            expr=place.expr or self.expression(place),
            value=state.value,
            grad=state.grad if kept else flowed,
            grad_kept=kept,
            requires_grad=state.requires_grad,
            is_leaf=state.is_leaf,
            retains_grad=state.retains_grad,
            version=state.version,
        )

    def role(self, state: TensorState, place: Place) -> str:
        """What a tensor is in the picture."""
        if state.id in self.roots:
            return ROOT
        if state.parameter:
            return PARAMETER
        if state.node is None and state.requires_grad:
            return LEAF
        return CONSTANT if place.inputs is None and not state.requires_grad else RESULT


def build(trace: Trace, call: int | None = None) -> Graph:
    """The picture's model of a recorded cell, at its `call`-th backward call (default: the last)."""
    builder = Builder(trace, call)
    return builder.graph(why_no_graph(trace, builder))


SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def numbered(named: dict[str, str]) -> dict[str, str]:
    """Names with a subscript where several tensors share one."""
    count = Counter(named.values())
    seen: Counter[str] = Counter()
    result = {}
    for id, name in named.items():
        seen[name] += 1
        result[id] = name if count[name] == 1 else name + str(seen[name]).translate(SUBSCRIPTS)
    return result


def why_no_graph(trace: Trace, builder: Builder) -> tuple[str, dict[str, str]] | None:
    """The sentence for a cell without any graph: nothing asked for gradients, or what did was used under
    no_grad."""
    states = [s for p in builder.places for s in p.states]
    if not states or any(s.requires_grad and s.node is not None for s in states):
        return None
    asked = [builder.named[s.id] for s in states if s.requires_grad and s.id in builder.named]
    if not any(s.requires_grad for s in states):
        return ("no_graph", {})
    hidden = [s.id for e in trace.events if isinstance(e, Forward) and not e.grad_enabled for s in e.outputs]
    names = [builder.named[id] for id in hidden if id in builder.named]
    if names:
        return ("no_graph_no_grad", {"names": ", ".join(names)})
    return ("no_graph_unused", {"names": ", ".join(asked) or "…"})


def remember(node: NodeState, before: NodeState | None) -> NodeState:
    """A node as a later call finds it, with the values that an earlier call saw before they were freed."""
    if before is None:
        return node
    known = {s.name: s.value for s in before.saved}
    saved = tuple(Saved(s.name, known.get(s.name), s.version, True) if s.freed else s for s in node.saved)
    return node._replace(saved=saved)
