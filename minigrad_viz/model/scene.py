"""One backward call of a trace as it is shown: which tensors and nodes belong to it, their names, their
graph, and the order in which the engine ran."""

from __future__ import annotations

import functools
from bisect import bisect_right
from dataclasses import replace

from ..protocol import Value, op_of
from ..trace.events import NodeState, TensorState, Trace
from ..trace.graph import (
    CONSTANT,
    LEAF,
    PARAMETER,
    RESULT,
    ROOT,
    Card,
    Change,
    Deck,
    Graph,
    Hook,
    Route,
    Station,
    Update,
)
from .cuts import ghost_of, memory_of
from .engine_run import guilty_in, schedule_of
from .handles import gone
from .moments import span_of, stood_in
from .naming import expression, gradient_name, names_of, numbered
from .node_code import code_of, kinds_of
from .place import BackwardCall, Edge, Lookup, Place
from .reasons import tests_for_nan, why_no_graph
from .refused import given_there
from .saved_values import as_saved
from .schedule import Schedule
from .trace_index import TraceIndex, unpacked
from .updates import UpdateFound


class Scene(Lookup):
    """What there is to show of a backward call of a trace (of the whole cell, if it has no call).

    `places` are all stations, with their tensors as they stood at that call; `shown` those that belong to the
    call, `given` the ids of those whose inputs do not.
    """

    def __init__(self, index: TraceIndex, call: int) -> None:
        self.index, self.trace, self.call = index, index.trace, call
        self.now = now = index.calls.get(call) or BackwardCall()
        self.arrived, self.captured, self.before = now.arrived, now.captured, now.before
        self.accumulators = index.accumulators | now.accumulators
        self.of, self.gradient_of = index.of, index.gradient_of
        self.freed = {node for node, freed_by in index.freed.items() if freed_by <= call}
        self.nodes = index.nodes | self.met_again()
        if index.packed:
            self.nodes = {id: unpacked(node, index.packed) for id, node in self.nodes.items()}
        self.at, self.by_node = dict(index.at), dict(index.by_node)
        self.places = self.at_the_moment(now.end)
        shown, self.given = index.scopes.of(call) or (None, set())
        left_out = given_there(self.trace, self.places)
        self.shown = [p for p in self.places if p.id not in left_out and (shown is None or p.id in shown)]
        # Leaves that a node sends gradients to; they stand on an AccumulateGrad, even if nobody looked at it.
        self.users = {
            id
            for place in self.shown
            if place.node is not None
            for id in place.inputs or ()
            if id is not None and self.asks(id)
        }
        self.named = self.names()
        self.held = {id for id, _ in self.trace.names}
        earlier = [seen for number, seen in index.calls.items() if number < call]
        if now.error is not None and not now.ran:  # what is known of these gradients an earlier call computed
            before = (seen for seen in reversed(earlier) if not seen.found.keys().isdisjoint(now.found))
            known = next(before, now).arrived
            self.arrived = {end: value for end, value in known.items() if end[0] in now.found}
        ran = {
            node: [Hook(e.kind, e.name, e.before, e.after, gave=e.gave) for e in events]
            for node, events in now.hooks.items()
        }
        lost = gone(index.registered, earlier, now, self.node_at)
        self.hooks = {node: [*ran.get(node, ()), *lost.get(node, ())] for node in ran | lost}

    @functools.cached_property
    def graph(self) -> Graph:
        """The picture's model, with the sentence that stands below it."""
        graph = self.drawn()
        if self.trace.roots is not None and not self.trace.nodes:
            return replace(graph, note=self.no_graph())
        if not self.trace.recorded:
            return graph
        return replace(graph, note=why_no_graph(self) or tests_for_nan(self))

    def no_graph(self) -> tuple[str, dict[str, str]]:
        """What is told of tensors that no node made, in a trace of a finished graph."""
        states = [state for place in self.shown for state in place.states]
        asking = [self.named.get(t.id, f"[{i}]") for i, t in enumerate(states) if t.requires_grad]
        return ("no_graph_leaf", {"names": ", ".join(asking)}) if asking else ("no_graph", {})

    @functools.cached_property
    def schedule(self) -> Schedule | None:
        """The queue of the call, unless it contradicts what was recorded."""
        return schedule_of(self)

    @functools.cached_property
    def guilty(self) -> str | None:
        """The node that would have run when the call failed; None if the failure came before any."""
        return guilty_in(self)

    def met_again(self) -> dict[str, NodeState]:
        """The nodes that several calls reached, as this call, or the last one before it, saw them."""
        found = {}
        for node, seen in self.index.again.items():
            states = [state for call, state in seen if call <= self.call]
            if states:
                found[node] = states[-1]
        return found

    def at_the_moment(self, end: float) -> list[Place]:
        """All places; those of tensors that changed before `end` with what they had become."""
        states: dict[str, list[TensorState]] = {}
        for tensor, later in self.index.later.items():
            known = bisect_right(later, end, key=lambda seen: seen[0])
            if known:
                place, i = self.index.at[tensor]
                states.setdefault(place.id, list(place.states))[i] = later[known - 1][1]
        places = [p.standing(states[p.id]) if p.id in states else p for p in self.index.places]
        for place in places:
            if place.id in states:
                self.at.update((state.id, (place, i)) for i, state in enumerate(place.states))
                if place.node is not None:
                    self.by_node[place.node] = place
        return places

    def drawn(self) -> Graph:
        """Stations and routes."""
        routes: list[Route] = []
        stations = []
        for place in self.shown:
            deck, new = self.deck(place, len(routes))
            routes += new
            cards = tuple(self.card(place, i, state) for i, state in enumerate(place.states))
            stations.append(Station(place.id, cards, deck, place.order))
        graph = Graph(
            tuple(stations),
            tuple(routes),
            omitted=self.trace.omitted,
            updates=self.updates,
            counted=self.trace.counted,
        )
        return replace(graph, unseen=not self.trace.recorded and graph.has_gradients)

    @functools.cached_property
    def updates(self) -> tuple[Update, ...]:
        """What was written into parameters and their gradients around the call."""
        mine = (found for found in self.index.updates if found.call == self.call)
        return tuple(
            Update(
                f"u{i}", u.kind, u.title, u.about, u.span, tuple(u.times), u.early,
                tuple(replace(each, name=self.changed(u, each)) for each in u.changes),
            )
            for i, u in enumerate(mine)
        )  # fmt: skip

    def changed(self, update: UpdateFound, change: Change) -> str:
        """What to call what a line of an update changes."""
        known = self.named.get(change.tensor) or self.index.seen_as.get(change.tensor, "")
        return f"{known}.grad" if update.of_gradients else known

    def names(self) -> dict[str, str]:
        """Variable names by tensor id; one that stood for several tensors gets subscripts."""
        named = names_of(self.shown, self.trace.names)
        for place in self.shown:
            id, name = place.states[0].id, gradient_name(place, named)
            if name is not None and named.get(id, ".grad").endswith(".grad"):
                named[id] = name
        shown = [state.id for place in self.shown for state in place.states]
        seen_as = self.index.seen_as
        named |= {id: seen_as[id] for id in shown if id in seen_as and id not in named}
        for id, (call, target) in self.gradient_of.items():
            root = named.get(self.of.get(call, ""))
            if root and target in named and id not in named:
                named[id] = f"∂{root}/∂{named[target]}"
        return numbered({id: named[id] for id in shown if id in named})

    def expression(self, place: Place) -> str | None:
        """What an op whose source is not known computed, written with the names of its inputs."""
        return expression(place, self.at, self.named) or self.unseen(place)

    def unseen(self, place: Place) -> str | None:
        """What an op computed that nobody saw, from its node and the tensors that it used:
        `t(net.0.weight)`; None for what has a name, and where those have none."""
        node = self.nodes.get(place.node or "")
        found = self.trace.roots is not None  # in a finished graph, where tensors are known by their nodes
        if node is None or found or any(state.id in self.named for state in place.states):
            return None
        sources = [self.tensor_of(edge) for edge in node.edges if edge is not None]
        names = [self.named[id] for id in sources if id in self.named]
        if not names or len(names) < len(sources):
            return None
        if op_of(node.name) == "t":
            return f"{names[0]}.T"
        names += ["…"] * any(not isinstance(saved.value, Value) and not saved.freed for saved in node.saved)
        return f"{op_of(node.name)}({', '.join(names)})"

    def deck(self, place: Place, first: int) -> tuple[Deck | None, list[Route]]:
        """The lower deck of a station and the routes that lead into it."""
        node = self.node_of(place)
        routes: list[Route] = []
        slots: list[str | None] = []
        given = place.id in self.given
        edges = node.edges if node is not None and node.variable is None and not given else ()
        inputs = [] if given else list(place.inputs or ())
        for i, id in enumerate(self.match(inputs, edges)):
            where = self.at.get(id) if id is not None else None
            tracked = i < len(edges) and edges[i] is not None
            if where is None or where[0] is place:
                slots.append(None)
                continue
            gradients = tuple(self.now.flows.get((node.id, i), ())) if node is not None and tracked else ()
            number = f"r{first + len(routes)}"
            cut = place.cut if not tracked and id in place.asking else ""
            routes.append(Route(number, where[0].id, place.id, where[1], i, tracked, gradients, cut=cut))
            slots.append(number if tracked else None)
        if node is None:
            return None, routes
        gone = node.id in self.freed
        saved = tuple(
            replace(s, freed=s.freed or (gone and (isinstance(s.value, Value) or bool(s.packed))))
            for s in node.saved
        )
        saved = as_saved(self, self.index, node, saved)
        ran, left_out = tuple(self.hooks.get(node.id, ())), node.id in self.now.skipped
        entries = tuple(slots[: len(edges)])
        age = node.sequence if self.trace.roots is not None else 0
        told = Deck(node.id, node.name, saved, entries, node.hooks, age, ran, left_out)
        return replace(told, code=code_of(node), kinds=kinds_of(node, place.event)), routes

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

    def node_at(self, id: str) -> str | None:
        """The node at which a tensor's gradient arrives."""
        state = self.state(id)
        return (None if state is None else state.node) or self.accumulators.get(id)

    def asks(self, id: str) -> bool:
        """Whether a tensor requires gradients."""
        state = self.state(id)
        return state is not None and state.requires_grad

    def leads(self, id: str, edge: Edge) -> bool:
        """Whether tensor `id` is what `edge` sends its gradient to."""
        if id not in self.at:
            return False
        place, i = self.at[id]
        if place.node is not None:
            return (place.node, i) == edge
        return self.nodes[edge[0]].variable == id if edge[0] in self.nodes else edge[0] == f"a{id}"

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
        """The edges of a node that was never looked at: to the tensors that the op was given."""
        edges: list[Edge | None] = []
        for id in place.inputs or ():
            if id is not None and self.asks(id):
                source, i = self.at[id]
                edges.append((source.node or f"a{id}", i))
            elif id is not None:
                edges.append(None)
        return tuple(edges)

    def card(self, place: Place, i: int, state: TensorState) -> Card:
        """The upper deck of one tensor."""
        node = self.node_of(place)
        flowed = None if node is None else self.arrived.get((node.id, i))
        returned = self.captured.get(state.id)
        grad = flowed if state.grad is None and returned is None else state.grad
        return Card(
            id=state.id,
            role=self.role(state, place),
            name=self.named.get(state.id),
            expr=place.expr or self.expression(place),
            value=state.value,
            grad=grad,
            grad_kept=state.grad is not None,
            requires_grad=state.requires_grad,
            is_leaf=state.is_leaf,
            retains_grad=state.retains_grad,
            version=state.version,
            held=state.id in self.held,
            before=self.before.get(state.id),
            asked=state.id in (self.now.wanted or ()),
            tangent=state.tangent,
            fog=place.fog,
            ghost=ghost_of(self.index, place),
            shares=memory_of(self, place),
            stood=stood_in(self, state, grad),
            seed=self.now.seeds.get(state.id),
            returned=returned,
        )

    @functools.cached_property
    def span(self) -> tuple[int, int]:
        """The first and the last event of what the call's story tells."""
        return span_of(self)

    def role(self, state: TensorState, place: Place) -> str:
        """What a tensor is in the picture."""
        if state.id in self.now.roots or state.id in (self.trace.roots or ()):
            return ROOT
        if state.parameter:
            return PARAMETER
        if state.node is None and state.requires_grad:
            return LEAF
        known = self.trace.roots is None and place.inputs is None  # else nobody saw where it came from
        return CONSTANT if known and not state.requires_grad else RESULT


class Scenes:
    """The scenes of a trace, one for each backward call that was kept (one without any call). Each is built
    when it is first asked for, once."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.index = TraceIndex(trace)
        self._built: dict[int, Scene] = {}

    @property
    def calls(self) -> list[int]:
        """The numbers of the calls; 0 if there is none."""
        return list(self.index.calls) or [0]

    @property
    def last(self) -> Scene:
        """The scene of the last call."""
        return self.of(self.calls[-1])

    def of(self, call: int) -> Scene:
        """The scene of a call; the last one for 0, which is no call."""
        call = call or self.calls[-1]
        if call not in self._built:
            self._built[call] = Scene(self.index, call)
        return self._built[call]
