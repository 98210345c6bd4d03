"""Trace → Graph: the picture of a recorded cell."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from .events import BackwardEnded, BackwardStarted, Created, Deposited, Detached, Forward, Mutated, NodeRan, NodeState, Snapshot, TensorState, Trace
from .graph import CONSTANT, LEAF, PARAMETER, RESULT, ROOT, Card, Deck, Graph, Route, Saved, Station
from .numbers import number
from .protocol import Value

OPERATORS = {
    "add": "+", "add_scalar": "+", "sub": "-", "sub_scalar": "-", "mul": "*", "mul_scalar": "*", "div": "/", "div_scalar": "/",
    "pow_scalar": "**", "pow_tensor": "**",
}  # fmt: skip
LIBRARY = re.compile(r"(?<![\w.])(?:torch|minigrad)\.")  # left out of expressions: `log(y)`
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class _Place:
    """A station while it is being put together."""

    def __init__(self, states: tuple[TensorState, ...], name: str | None, expr: str | None, order: int) -> None:
        self.id = ""
        self.states = list(states)
        self.name = name
        self.expr = expr
        self.order = order
        self.inputs: list[str | None] | None = None  # tensor ids in the op's order
        self.event: Forward | None = None
        self.brought = False  # from before the cell

    @property
    def node(self) -> str | None:
        """The id of the node below."""
        return self.states[0].node if self.states else None


class Builder:
    """Reads a trace once and puts the picture of its `call`-th backward call together (the last one by default)."""

    def __init__(self, trace: Trace, call: int | None = None) -> None:
        self.trace = trace
        calls = [e.call for e in trace.events if isinstance(e, BackwardStarted)]
        self.call = (calls[-1] if calls else 0) if call is None else call
        self.places: list[_Place] = []
        self.at: dict[str, tuple[_Place, int]] = {}
        self.nodes: dict[str, NodeState] = {n.id: n for n in trace.nodes}
        self.freed: set[str] = set()
        self.flows: dict[tuple[str, int], list[Value]] = {}  # (node, input) -> what it sent
        self.arrived: dict[str, Value] = {}  # node -> gradient of its first output
        self.captured: dict[str, Value] = {}
        self.roots: set[str] = set()
        self.of: dict[int, str] = {}  # call -> its root, where there is one
        self.gradient_of: dict[str, tuple[int, str]] = {}  # tensor of the second graph -> (call, whose gradient it is)
        self.users: set[str] = set()  # leaves that a node sends gradients to
        self.accumulators: dict[str, str] = {}  # leaf -> its AccumulateGrad
        for event in trace.events:
            self.read(event)
        self.arrange()
        for node in self.nodes.values():
            if node.variable is not None:
                self.accumulators[node.variable] = node.id
        for place in self.places:
            if place.node is not None:
                self.users.update(id for id, edge in zip(place.inputs or (), self.guess(place), strict=True) if edge is not None and id)
        self.named = self.names()

    def place(self, states: tuple[TensorState, ...], name: str | None, span: Any, order: int = 1) -> _Place:
        """A new station for tensors that came into being together."""
        expr = None if span is None else LIBRARY.sub("", " ".join(span.text.split()))
        place = _Place(states, name, expr, order)
        self.places.append(place)
        for i, state in enumerate(states):
            self.at[state.id] = (place, i)
        return place

    def read(self, event: Any) -> None:
        """Take one event in."""
        if isinstance(event, Created):
            self.place((event.tensor,), event.name, event.span).brought = event.span is None
        elif isinstance(event, Forward):
            place = self.place(event.outputs, event.name, None if event.call else event.span, 2 if event.call else 1)
            place.inputs = list(event.inputs)
            place.event = event
        elif isinstance(event, Detached):
            self.place((event.tensor,), event.name, event.span).inputs = [event.source]
        elif isinstance(event, Mutated):
            self.mutate(event)
        elif isinstance(event, BackwardStarted):
            for node in event.nodes:
                self.nodes[node.id] = remember(node, self.nodes.get(node.id))
            self.roots.update(event.roots if event.call == self.call else ())
            self.of[event.call] = event.roots[0] if len(event.roots) == 1 else ""
            for root, id in zip(event.roots, event.gradient_ids, strict=True):
                if id is not None:
                    self.gradient_of[id] = (event.call, root)
                    self.at[id][0].brought = False
        elif isinstance(event, NodeRan):
            self.ran(event)
        elif isinstance(event, BackwardEnded):
            self.freed.update(event.freed)
            if event.call == self.call:
                self.captured = {name: value for name, value in event.captured if value is not None}
        elif isinstance(event, Snapshot):
            for _, state in event.rows:
                self.update(state)

    def arrange(self) -> None:
        """Number the stations: those of tensors from before the cell first, inputs before users, then program order."""
        older = [p for p in self.places if p.brought]
        order, done = [], set()
        for place in older:
            stack = [(place, False)]
            while stack:
                place, left = stack.pop()
                if left:
                    order.append(place)
                elif id(place) not in done:
                    done.add(id(place))
                    stack.append((place, True))
                    node = self.nodes.get(place.node or "")
                    sources = [self.at[t][0] for e in (node.edges if node else ()) if e and (t := self.tensor_of(e)) in self.at]
                    stack.extend((p, False) for p in reversed(sources) if p.brought)
        self.places = order + [p for p in self.places if not p.brought]
        for i, place in enumerate(self.places):
            place.id = f"s{i}"

    def ran(self, event: NodeRan) -> None:
        """A node ran: what flowed over its edges, and which tensors of the second graph that was."""
        node = self.nodes[event.node]
        for edge, id in zip(node.edges, event.sent_ids, strict=False):
            if edge is not None and id is not None:
                target = self.tensor_of(edge)
                if target is not None:
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

    def mutate(self, event: Mutated) -> None:
        """An op wrote into a tensor: a new station if it has a new history, else the card changes."""
        if event.tensor.id == event.before or event.before not in self.at:
            self.update(event.tensor)
            return
        old = self.at[event.before][0]
        place = self.place((event.tensor,), old.name, event.span)
        place.inputs = list(event.inputs)

    # ── putting together ────────────────────────────────────────────────────────────────────────────────────────────

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
        """Variable names by tensor id: where the source names the result, else what the namespace says at the end. A
        name that stood for several tensors gets subscripts."""
        final: dict[str, str] = {}
        for id, name in self.trace.names:
            final.setdefault(id, name)
        named = {}
        for place in self.places:
            for state in place.states:
                name = place.name if len(place.states) == 1 and place.name else final.get(state.id)
                if name is not None:
                    named[state.id] = name
        for id, (call, target) in self.gradient_of.items():
            root = named.get(self.of.get(call, ""))
            if root and target in named and id not in named:
                named[id] = f"∂{root}/∂{named[target]}"
        count = Counter(named.values())
        seen: Counter[str] = Counter()
        for id, name in named.items():
            if count[name] > 1:
                seen[name] += 1
                named[id] = name + str(seen[name]).translate(SUBSCRIPTS)
        return named

    def deck(self, place: _Place, first: int) -> tuple[Deck | None, list[Route]]:
        """The lower deck of a station and the routes that lead into it."""
        node = self.node_of(place)
        routes: list[Route] = []
        slots: list[str | None] = []
        given = list(place.inputs or ())
        edges = node.edges if node is not None and node.variable is None else ()
        tensors = self.match(given, edges)
        for i, id in enumerate(tensors):
            where = self.at.get(id) if id is not None else None
            tracked = i < len(edges) and edges[i] is not None
            if where is None or where[0] is place:
                slots.append(None)
                continue
            gradients = tuple(self.flows.get((node.id, i), ())) if node is not None and tracked else ()
            route = Route(f"r{first + len(routes)}", where[0].id, place.id, where[1], i, tracked, gradients)
            routes.append(route)
            slots.append(route.id if tracked else None)
        if node is None:
            return None, routes
        saved = tuple(self.saved(node))
        return Deck(node.id, node.name, saved, tuple(slots[: len(edges)]), node.hooks), routes

    def match(self, given: list[str | None], edges: tuple[Any, ...]) -> list[str | None]:
        """The op's input tensors, one per entry of `next_functions` and then the others.

        An op's arguments and its edges agree in order, but an argument without gradient may have no edge (`where`'s
        condition): an edge takes the next argument that leads to it.
        """
        if not edges:
            return given
        result: list[str | None] = []
        rest = list(given)
        for edge in edges:
            if edge is None:
                result.append(rest.pop(0) if rest and len(rest) > sum(e is not None for e in edges[len(result) + 1 :]) else None)
                continue
            k = next((k for k, id in enumerate(rest) if id is not None and self.leads(id, edge)), None)
            if k is None:
                result.append(self.tensor_of(edge))
            else:
                result.append(rest.pop(k))
        return result + rest

    def leads(self, id: str, edge: tuple[str, int]) -> bool:
        """Whether tensor `id` is what `edge` sends its gradient to."""
        place, i = self.at[id] if id in self.at else (None, 0)
        if place is None:
            return False
        if place.node is not None:
            return (place.node, i) == edge
        return self.nodes[edge[0]].variable == id if edge[0] in self.nodes else True

    def tensor_of(self, edge: tuple[str, int]) -> str | None:
        """The tensor whose gradient an edge carries."""
        node = self.nodes.get(edge[0])
        if node is not None and node.variable is not None:
            return node.variable
        return next((p.states[edge[1]].id for p in self.places if p.node == edge[0]), None)

    def node_of(self, place: _Place) -> NodeState | None:
        """The node below a station: the one that made it, or a leaf's AccumulateGrad."""
        state = place.states[0]
        if state.node is not None:
            fallback = NodeState(state.node, state.grad_fn or "", (), self.guess(place), None, 0)
            return self.nodes.get(state.node, fallback)
        known = self.nodes.get(self.accumulators.get(state.id, ""))
        if known is None and state.id in self.users:
            return NodeState(f"a{state.id}", "AccumulateGrad", (), (), state.id, 0)
        return known

    def guess(self, place: _Place) -> tuple[Any, ...]:
        """The edges of a node that was never looked at: to the inputs that need gradients."""
        edges: list[Any] = []
        for id in place.inputs or ():
            source, i = self.at.get(id, (None, 0)) if id is not None else (None, 0)
            if source is None or not source.states[i].requires_grad:
                edges.append(None)
            else:
                edges.append((source.node or f"a{id}", i))
        return tuple(edges)

    def expression(self, place: _Place) -> str | None:
        """What an op inside backward computed, written with the names of its inputs."""
        event = place.event
        if event is None:
            return None
        operands = [self.operand(id, text) for id, text in zip(event.inputs, event.arguments, strict=True)]
        sign = OPERATORS.get(event.op)
        if sign is not None and len(operands) == 2:
            return f"{operands[0]} {sign} {operands[1]}"
        if event.op == "copy":
            return operands[0]
        return f"{event.op.removesuffix('_scalar')}({', '.join(operands)})"

    def operand(self, id: str | None, text: str | None) -> str:
        """One input of such an op: its name, its number, or its own expression in brackets."""
        if id is None:
            return text or ""
        if id in self.named:
            return self.named[id]
        place, i = self.at[id]
        value = place.states[i].value
        if place.event is None and value is not None and value.size == 1 and value.items:
            return number(value.items[0], value.dtype)
        whole = place.expr or self.expression(place) or "…"
        return f"({whole})" if len(whole) <= 24 else "(…)"

    def saved(self, node: NodeState) -> list[Saved]:
        """The chips of a node, struck out once they were freed."""
        gone = node.id in self.freed
        return [Saved(s.name, s.value, s.version, s.freed or (gone and isinstance(s.value, Value))) for s in node.saved]

    def card(self, place: _Place, i: int, state: TensorState) -> Card:
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
            retains_grad=bool(state.retains_grad),
            version=state.version,
        )

    def role(self, state: TensorState, place: _Place) -> str:
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


def why_no_graph(trace: Trace, builder: Builder) -> tuple[str, dict[str, str]] | None:
    """The sentence for a cell without any graph: nothing asked for gradients, or what did was used under no_grad."""
    states = [s for p in builder.places for s in p.states]
    if not states or any(s.requires_grad and s.node is not None for s in states):
        return None
    ops = [e for e in trace.events if isinstance(e, Forward)]
    asked = [builder.named.get(s.id, s.id) for s in states if s.requires_grad]
    if not asked:
        return ("no_graph", {})
    hidden = [builder.named.get(s.id, "") for e in ops if not e.grad_enabled for s in e.outputs]
    if hidden:
        return ("no_graph_no_grad", {"names": ", ".join(filter(None, hidden))})
    return ("no_graph_unused", {"names": ", ".join(asked)})


def remember(node: NodeState, before: NodeState | None) -> NodeState:
    """A node as a later call finds it, with the values that an earlier call saw before they were freed."""
    if before is None:
        return node
    known = {s.name: s.value for s in before.saved}
    saved = tuple(Saved(s.name, known.get(s.name), s.version, True) if s.freed else s for s in node.saved)
    return node._replace(saved=saved)
