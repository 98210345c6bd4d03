"""Trace → places: which tensors came to stand where, which nodes ran, what flowed in each backward call."""

from __future__ import annotations

import functools
from bisect import bisect
from typing import Any

from ..protocol import Value
from ..trace.events import (
    Asked,
    BackwardEnded,
    BackwardStarted,
    Created,
    Deposited,
    Detached,
    Forward,
    GradSet,
    HookRan,
    Inside,
    Left,
    ModeChanged,
    Mutated,
    NodeRan,
    NodeState,
    Packed,
    Recomputed,
    Snapshot,
    TensorState,
    Trace,
    Unpacked,
)
from ..trace.graph import Update
from ..trace.source_text import SourceText
from .births import Birth, came_from, made_by
from .cuts import Cuts
from .execution import Execution
from .handles import Registered, registered
from .module_calls import ModuleCalls
from .moments import Moments
from .naming import name_indices, name_inner
from .node_details import remember
from .place import LIBRARY, BackwardCall, Lookup, Place, arranged
from .scope import Scopes
from .updates import UpdateReader


class TraceIndex(Lookup):
    """A trace, read once: what came to stand where, and what happened in each backward call.

    Places have tensors as they were made. A node is as it was first seen; `again` has what each call saw of
    those that several calls reached.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace, self.cuts = trace, Cuts(self)
        self.time, self.mode = 0, ""  # which event is being read; "inference" while that mode is on
        self.places, self.at, self.by_node, self.moments = [], {}, {}, Moments()
        self.bound: dict[
            str, list[tuple[int, str]]
        ] = {}  # variable -> the tensors that it was, and since when
        self.given: dict[int, str] = {}
        self.births: dict[str, Birth] = {}  # the events by which tensors came to be, as they are now
        self.nodes = {node.id: node for node in trace.nodes}
        self.again: dict[str, list[tuple[int, NodeState]]] = {}
        self.calls: dict[int, BackwardCall] = {}
        self.switches: dict[str, list[tuple[int, bool]]] = {}  # of each mode: when, and on or off
        self.freed: dict[str, int] = {}  # node -> the call that freed it
        self.named: dict[int, dict[str, TensorState]] = {}  # call -> the variables just before it, by id
        self.of: dict[int, str] = {}  # call -> its root, where there is one
        # Tensor of the second graph -> the call, and the tensor whose gradient it is.
        self.gradient_of: dict[str, tuple[int, str]] = {}
        self.met: list[TensorState] = []  # tensors that turned up while a node of such a call ran
        # tensor -> the first variable that it was, or the place of a parameter in its module
        self.seen_as: dict[str, str] = {}
        self.deposits: dict[str, Value] = {}  # leaf -> its `.grad` after the last deposit
        # What hooks packed, by node and name: the value, what they made of it.
        self.packed: dict[tuple[str, str], tuple[Value | None, str]] = {}
        for time, event in enumerate(trace.events):
            self.time = time
            self.read(event)
            self.moments.bind(time, event)
        self.places = arranged(self)
        name_inner(self, trace.events, self.module_calls)
        for id, (path, name) in self.module_calls.parameters.items():
            self.seen_as.setdefault(id, f"{path}.{name}")
        self.accumulators = {n.variable: n.id for n in self.nodes.values() if n.variable is not None}

    @property
    def started(self) -> list[BackwardStarted]:
        """The backward calls that were kept, as they began."""
        return [call.started for call in self.calls.values() if call.started is not None]

    @functools.cached_property
    def registered(self) -> list[Registered]:
        """The hooks that the cell registered."""
        return registered(self.trace.events, self.moments.variable)

    @functools.cached_property
    def module_calls(self) -> ModuleCalls:
        """The calls of modules."""
        return ModuleCalls(self.trace.events)

    @functools.cached_property
    def updates(self) -> list[Update]:
        """What the cell wrote into parameters and their gradients."""
        return UpdateReader(self.trace.events, self.moments, self.calls.values()).read()

    @functools.cached_property
    def scopes(self) -> Scopes:
        """Which places belong to which call."""
        return Scopes(self, self.calls, self.trace.skipped)

    def place(self, states: tuple[TensorState, ...], name: str | None, span: Any, order: int = 1) -> Place:
        """A new station for tensors that came into being together."""
        expr = None if span is None else LIBRARY.sub("", span.flat)
        line = span.line if span is not None and span.origin == 0 else 0
        own = getattr(self.trace.events[self.time], "span", None)
        place = Place(list(states), name, expr, order, self.time, own, line)
        self.places.append(place)
        for i, state in enumerate(states):
            self.stand(state, place, i)
        if place.node is not None:
            self.by_node[place.node] = place
        return place

    def stand(self, state: TensorState, place: Place, i: int) -> None:
        """A tensor has come, as the `i`-th of a station."""
        self.at[state.id] = (place, i)
        self.moments.add(self.time, state)

    def read(self, event: Any) -> None:
        """Take one event in."""
        for state in made_by(event):
            if state.id not in self.births or isinstance(event, Left):
                self.births[state.id] = event
        if isinstance(event, Created):
            self.create(event)
        elif isinstance(event, Forward):
            order = 2 if event.call else 1
            new = tuple(state for state in event.outputs if state.id not in self.at)
            for state in event.outputs:  # `unpack_dual` returns the very tangent that `make_dual` was given
                if state not in new:
                    self.seen(state)
            if not new:
                return
            place = self.place(new, event.name, None if event.call else event.span, order)
            place.inputs = list(event.inputs)
            place.event = event
            place.built = event.call
            self.use(event)
            name_indices(self, event)
            self.cuts.note(place, event, self.mode or ("" if event.grad_enabled else "no_grad"))
        elif isinstance(event, Asked):
            self.cuts.asked.add(event.tensor.id)
            self.seen(event.tensor)
        elif isinstance(event, Detached) and event.source == event.tensor.id:
            self.seen(event.tensor)
        elif isinstance(event, Detached | Left):
            place = self.place((event.tensor,), event.name, event.span)
            place.inputs = list[str | None](came_from(event))
            self.cuts.note(place, event, "")
        elif isinstance(event, ModeChanged):
            self.switches.setdefault(event.mode, []).append((self.time, event.enabled))
            if event.mode == "inference":
                self.mode = "inference" if event.enabled else ""
        elif isinstance(event, Mutated):
            self.use(event)
            self.mutate(event)
        elif isinstance(event, BackwardStarted):
            self.start(event)
        elif isinstance(event, NodeRan):
            self.ran(event)
        elif isinstance(event, HookRan):
            self.calls[event.call].hooks.setdefault(event.node, []).append(event)
        elif isinstance(event, Packed | Unpacked):
            self.packed[event.node, event.name] = event.value, event.kept
            if isinstance(event, Unpacked) and event.call in self.calls:
                self.calls[event.call].unpacked.setdefault(event.node, []).append(event)
        elif isinstance(event, Inside) and event.call in self.calls:
            self.calls[event.call].inside.setdefault(event.node, []).append(event)
        elif isinstance(event, Recomputed) and event.call in self.calls:
            self.calls[event.call].again.add(event.node)
        elif isinstance(event, Deposited):
            self.deposits[event.tensor] = event.after
            self.calls[event.call].deposits[event.node] = event
            if event.tensor in self.at:  # also for leaves that no variable names
                self.seen(self.last(event.tensor)._replace(grad=event.after))
        elif isinstance(event, GradSet):
            if event.tensor in self.at:
                self.seen(self.last(event.tensor)._replace(grad=event.after))
        elif isinstance(event, BackwardEnded):
            for node in event.freed:
                self.freed.setdefault(node, event.call)
            call = self.calls[event.call]
            call.ended, call.until = event, self.time
            if event.error is None:
                call.leave_out(self)
        elif isinstance(event, Snapshot):
            for name, state in event.rows:
                self.seen_as.setdefault(state.id, name)
                self.seen(state)
            if event.when == "before":
                self.named[event.call] = {state.id: state for _, state in event.rows}
            if event.when == "after" and event.call in self.calls:
                self.calls[event.call].end = self.time

    def create(self, event: Created) -> None:
        """A tensor came in; further outputs of one node stand beside the first."""
        state = event.tensor
        place = self.by_node.get(state.node or "") if event.span is None else None
        if place is not None:
            self.stand(state, place, len(place.states))
            place.states.append(state)
        else:
            place = self.place((state,), event.name, event.span)
            place.shares = event.shares
            place.brought = event.span is None
            if event.span is None and event.name is None and state.node is None and not state.requires_grad:
                place.gradient_of = [leaf for leaf, grad in self.deposits.items() if grad == state.value]
                if event.gradient_of and not event.call:
                    place.gradient_of = [event.gradient_of]
                elif event.call in self.calls:
                    self.gradient_of.setdefault(state.id, (event.call, event.gradient_of))
                place.brought = not (place.gradient_of or event.gradient_of)
                self.met.append(state)

    def use(self, event: Forward | Mutated) -> None:
        """What was written where an op used a tensor tells which of several equal gradients that is."""
        for id in event.inputs if event.span is not None and self.deposits else ():
            place = self.at[id][0] if id in self.at else None
            if place is not None and place.gradient_of and not place.used and event.span is not None:
                place.used = event.span.text

    def mutate(self, event: Mutated) -> None:
        """An op wrote into a tensor: a new station if it has a new history, else the card changes."""
        if event.tensor.id != event.before and event.before in self.at:
            old = self.at[event.before][0]
            self.place((event.tensor,), old.name, event.span).inputs = list(event.inputs)
        else:
            self.seen(event.tensor)
        for state in event.also:
            before = self.last(state.id) if state.id in self.at else state
            view = before.node is not None and state.node is None  # only its value and version are recorded
            self.seen(before._replace(value=state.value, version=state.version) if view else state)
        told = {event.before, *(state.id for state in event.also)}
        for id, together in self.cuts.same_numbers(event.before).items():
            if id not in told and id != event.tensor.id:  # nobody has it any more
                version = event.tensor.version if together else self.last(id).version
                self.seen(self.last(id)._replace(value=event.tensor.value, version=version))

    def start(self, event: BackwardStarted) -> None:
        """A backward call: the nodes it found, its roots, and its first gradients if they have a graph."""
        self.met = []
        self.calls[event.call] = BackwardCall(event, self.time, self.named.get(event.call, {}))
        for node in event.nodes:
            before = self.again[node.id][-1][1] if node.id in self.again else None
            known = remember(node, before)
            self.nodes.setdefault(node.id, known)
            self.again.setdefault(node.id, []).append((event.call, known))
            if node.variable is not None:
                state = self.last(node.variable) if node.variable in self.at else None
                if state is not None and not state.requires_grad:  # it asked later, inside a library
                    self.seen(state._replace(requires_grad=True))
        self.of[event.call] = event.roots[0] if len(event.roots) == 1 else ""
        for root, id in zip(event.roots, event.gradient_ids, strict=True):
            if id is not None:
                self.gradient_of[id] = (event.call, root)
                self.at[id][0].brought = False

    def ran(self, event: NodeRan) -> None:
        """A node ran: what flowed over its edges, and which tensors of the second graph that was."""
        call, node = self.calls[event.call], self.nodes.get(event.node)
        call.ran[event.node] = event
        if node is None:
            return  # of a part of the graph that nobody has seen
        for edge, id in zip(node.edges, event.sent_ids, strict=False):
            target = None if edge is None or id is None else self.tensor_of(edge)
            if target is not None and id is not None:
                self.gradient_of.setdefault(id, (event.call, target))
        call.flowed(event)
        self.arrived(event)

    def arrived(self, event: NodeRan) -> None:
        """A node that builds a graph may use the gradient that it received, which is no part of that graph
        itself; so it turned up while the node ran, with the value that the node received."""
        place, met, self.met = self.by_node.get(event.node), self.met, []
        for nr, value in enumerate(event.received if place is not None else ()):
            same = [state for state in met if state.value == value]
            if len(same) == 1 and place is not None and nr < len(place.states):
                self.gradient_of.setdefault(same[0].id, (event.call, place.states[nr].id))

    def switched(self, mode: str, time: float, first: bool = False) -> bool:
        """Whether a mode was on when so many events had happened; `first`: whether it was at the start."""
        before = self.switches.get(mode, [])
        place = bisect(before, time, key=lambda switch: switch[0])
        return before[place - 1][1] if place else first

    @functools.cached_property
    def execution(self) -> Execution:
        """Which parts of the source have run."""
        return Execution(SourceText(self.trace.source), self.trace.events)

    @functools.cached_property
    def times(self) -> dict[int, int]:
        """When each event came about, by its identity."""
        return {id(event): time for time, event in enumerate(self.trace.events)}

    def seen(self, state: TensorState) -> None:
        """A tensor was seen again. It keeps its tangent after forward mode unless it was written to since."""
        if state.id in self.at:
            before = self.last(state.id)
            if state.tangent is None and before.tangent is not None and before.version == state.version:
                state = state._replace(tangent=before.tangent)
            self.moments.add(self.time, state)
