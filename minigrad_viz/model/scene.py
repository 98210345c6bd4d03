"""One backward call of a trace as it is shown: which tensors and nodes belong to it, their names, their
graph, and the order in which the engine ran."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from ..protocol import Value
from ..trace.events import COMPILED, NodeState, TensorState, Trace
from ..trace.graph import Card, Change, Deck, Graph, Hook, Route, Station, Update
from .naming import (
    gradient_name,
    letters_for,
    loop_states,
    names_of,
    op_expression,
    unseen_op_expression,
    with_subscripts,
)
from .node_details import as_saved, code_of, kinds_of, match, node_of, removed_hooks, unpack_saved
from .provenance import memory_of
from .schedule import Schedule, given_there, guilty_in, schedule_of, why_no_graph
from .stations import BackwardCall, Lookup, Place, role_of
from .trace_index import TraceIndex


class Scene(Lookup):
    """What there is to show of a backward call of a trace (of the whole cell, if it has no call).

    `places` are all stations, with the state of their tensors at that call; `shown` those that belong to the
    call, `given` the ids of those whose inputs do not.
    """

    def __init__(self, index: TraceIndex, call: int) -> None:
        self.index, self.trace, self.call = index, index.trace, call
        self.now = now = index.calls.get(call) or BackwardCall()
        self.arrived, self.captured, self.before = now.arrived, now.captured, now.before
        self.derived: dict[str, Any] = {}  # what is worked out of it once, by name
        self.accumulators = index.accumulators | now.accumulators
        self.of, self.gradient_of = index.of, index.gradient_of
        self.freed = {node for node, freed_by in index.freed.items() if freed_by <= call}
        self.nodes = index.nodes | self.met_again()
        if index.packed:
            self.nodes = {id: unpack_saved(node, index.packed) for id, node in self.nodes.items()}
        self.at, self.by_node, self.moments = dict(index.at), dict(index.by_node), index.moments
        self.places = self.at_the_moment(now.end)
        shown, self.given = index.scopes.of(call) or (None, set())
        left_out = given_there(self.trace, self.places)
        self.shown = [p for p in self.places if p.id not in left_out and (shown is None or p.id in shown)]
        self.number()
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
        if now.error is not None and not now.ran:  # an earlier call computed these gradients
            before = (seen for seen in reversed(earlier) if not seen.found.keys().isdisjoint(now.found))
            known = next(before, now).arrived
            self.arrived = {end: value for end, value in known.items() if end[0] in now.found}
        ran = {
            node: [Hook(e.kind, e.name, e.before, e.after, gave=e.gave) for e in events]
            for node, events in now.hooks.items()
        }
        lost = removed_hooks(index.registered, earlier, now, self.node_at)
        self.hooks = {node: [*ran.get(node, ()), *lost.get(node, ())] for node in ran | lost}

    @functools.cached_property
    def graph(self) -> Graph:
        """The picture's model, with the sentence below it."""
        graph = self.drawn()
        if self.trace.roots is not None and not self.trace.nodes:
            return replace(graph, note=self.no_graph())
        if not self.trace.recorded:
            return graph
        tested = self.now.started is not None and self.index.switched("anomaly", self.now.begin)
        note = why_no_graph(self.trace, self.places, self.named)
        return replace(graph, note=note or (("note_anomaly", {}) if tested else None))

    def no_graph(self) -> tuple[str, dict[str, str]]:
        """The sentence about roots that no node made, in a trace of a finished graph."""
        states = [state for place in self.shown for state in place.states]
        asking = [self.named.get(t.id, f"[{i}]") for i, t in enumerate(states) if t.requires_grad]
        return ("no_graph_leaf", {"names": ", ".join(asking)}) if asking else ("no_graph", {})

    @functools.cached_property
    def schedule(self) -> Schedule | None:
        """The queue of the call, unless it contradicts what was recorded."""
        return schedule_of(self.trace, self.now, self)

    @functools.cached_property
    def guilty(self) -> str | None:
        """The node that would have run when the call failed; None if the failure came before any."""
        return guilty_in(self.trace, self.now, self, self.schedule)

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
        for tensor in self.moments.of:
            (place, i), state = self.index.at[tensor], self.moments.at(tensor, end)
            if state is not None and state is not place.states[i]:
                states.setdefault(place.id, list(place.states))[i] = state
        places = [p.standing(states[p.id]) if p.id in states else p for p in self.index.places]
        for place in places:
            if place.id in states:
                self.at.update((state.id, (place, i)) for i, state in enumerate(place.states))
                if place.node is not None:
                    self.by_node[place.node] = place
        return places

    def number(self) -> None:
        """Give places the ids that they have in this scene: what is shown is counted from 0, so rounds of a
        loop have the same ids. Those that belong to other calls follow."""
        if all(place.id == f"s{i}" for i, place in enumerate(self.shown)):
            return
        mine = {place.id for place in self.shown}
        order = [*self.shown, *(place for place in self.places if place.id not in mine)]
        twins = {place.id: place.called(f"s{i}") for i, place in enumerate(order)}
        self.places = [twins[place.id] for place in self.places]
        self.shown = [twins[place.id] for place in self.shown]
        self.given = {twins[id].id for id in self.given}
        self.at = {tensor: (twins[place.id], i) for tensor, (place, i) in self.at.items()}
        self.by_node = {node: twins[place.id] for node, place in self.by_node.items()}

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
            passed=self.trace.passed,
            light=self.trace.light,
        )
        return replace(graph, unseen=not self.trace.recorded and graph.has_gradients)

    @functools.cached_property
    def updates(self) -> tuple[Update, ...]:
        """What was written into parameters and their gradients around the call."""
        mine = (found for found in self.index.updates if found.call == self.call)
        return tuple(
            replace(u, id=f"u{i}", changes=[replace(each, name=self.changed(u, each)) for each in u.changes])
            for i, u in enumerate(mine)
        )

    def changed(self, update: Update, change: Change) -> str:
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
        named = {id: named[id] for id in shown if id in named}
        return with_subscripts(named, loop_states(self.shown, named))

    def expression(self, place: Place) -> str | None:
        """What an op whose source is not known computed, written with the names of its inputs."""
        known = op_expression(place, self.at, self.named) or self.gradient(place)
        finished = self.trace.roots is not None  # there tensors are known by their nodes
        names = self.letters | self.named
        return known or (None if finished else unseen_op_expression(self, place, names))

    def gradient(self, place: Place) -> str | None:
        """What to write for a gradient of a tensor that has a letter for a name."""
        call, target = self.gradient_of.get(place.states[0].id, (0, ""))
        root, of = (self.named.get(id) or self.letters.get(id) for id in (self.of.get(call, ""), target))
        return f"∂{root}/∂{of}" if root and of else None

    def deck(self, place: Place, first: int) -> tuple[Deck | None, list[Route]]:
        """The lower deck of a station and the routes that lead into it."""
        node = node_of(self, place, self.users)
        routes: list[Route] = []
        slots: list[str | None] = []
        given = place.id in self.given
        edges = node.edges if node is not None and node.variable is None and not given else ()
        inputs = [] if given else list(place.inputs or ())
        for i, id in enumerate(match(self, inputs, edges)):
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
            s._replace(freed=s.freed or (gone and (isinstance(s.value, Value) or bool(s.packed))))
            for s in node.saved
        )
        saved = as_saved(self, self.index, node, saved)
        ran, left_out = tuple(self.hooks.get(node.id, ())), node.id in self.now.skipped
        entries = tuple(slots[: len(edges)])
        age = node.sequence if self.trace.roots is not None else 0
        told = Deck(node.id, node.name, saved, entries, node.hooks, age, ran, left_out)
        return replace(told, code=code_of(node), kinds=kinds_of(node, place.event)), routes

    def card(self, place: Place, i: int, state: TensorState) -> Card:
        """The upper deck of one tensor."""
        node = node_of(self, place, self.users)
        flowed = None if node is None else self.arrived.get((node.id, i))
        returned = self.captured.get(state.id)
        grad = flowed if state.grad is None and returned is None else state.grad
        return Card(
            id=state.id,
            role=role_of(
                state, place, {*self.now.roots, *(self.trace.roots or ())}, self.trace.roots is not None
            ),
            name=self.named.get(state.id),
            expr=place.expr or self.expression(place),
            letter=self.letters.get(state.id, ""),
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
            ghost=self.index.cuts.ghost_of(place),
            shares=memory_of(self, place),
            stood=self.moments.stood_in(self.span, state, grad),
            seed=self.now.seeds.get(state.id),
            returned=returned,
            compiled=place.event is not None and place.event.op == COMPILED,
            counted=0 if place.event is None else place.event.counted,
        )

    @functools.cached_property
    def letters(self) -> dict[str, str]:
        """Letters of results without a name, by tensor id."""
        return letters_for(self.shown, self.named, self.trace.source, self.index.module_calls)

    @functools.cached_property
    def span(self) -> tuple[int, int]:
        """The first and the last event of the call's story. It begins with the ops that the call
        differentiates, or with what follows the call before; data that was computed long before is shown in
        its state at that moment."""
        last = len(self.trace.events) - 1
        if self.now.started is None:
            return 0, last
        earlier = [seen for number, seen in self.index.calls.items() if number < self.call]
        before = [found.times[-1] for found in self.index.updates if found.call < self.call]
        over = max([*before, *(min(seen.until, last) for seen in earlier)], default=0)
        own = (p for p in self.shown if p.id not in self.given)
        ops = [place.time for place in own if place.node is not None or place.time > over]
        mine = [found.times for found in self.index.updates if found.call == self.call]
        begin = min([int(self.now.begin), *ops, *(times[0] for times in mine)])
        end = max([int(min(self.now.until, last)), *(times[-1] for times in mine)])
        return begin if any(seen.begin < begin for seen in earlier) else 0, end


class Scenes:
    """The scenes of a trace, one for each backward call that was kept (one without any call). Each is built
    when it is first asked for, once. Of a trace of several cells the last one has its first event at
    `begin`."""

    def __init__(self, trace: Trace, begin: int = 0) -> None:
        self.trace, self.begin = trace, begin
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
        """The scene of a call; the last one for 0, which is not a call."""
        call = call or self.calls[-1]
        if call not in self._built:
            self._built[call] = Scene(self.index, call)
        return self._built[call]
