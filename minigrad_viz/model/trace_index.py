"""Trace → places: where each tensor is, which nodes ran, what flowed in each backward call,
and which stations belong to it.

Note [What belongs to a call]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A cell may go backward twice through the same graph, or through the graph of a gradient: then one picture
holds all of it. In a training loop the calls have nothing in common but leaves: then a picture of everything
is a picture of nothing, and each call gets its own. Calls belong together if they share a node, if one built
a node that the other ran, or if a leaf of the one was detached from the other's graph before that ran (two
halves of a graph joined by hand). A call that found no node goes with the one before it.

To such a group belongs what its roots were computed from, through tracked and untracked inputs, and what its
calls built. The search does not go on into what another group made: there the tensor itself is shown, as
something given. What no group was computed from (a metric, the step of an optimizer) goes with the group that
it was computed from, or else with the iteration in which it was made.
"""

from __future__ import annotations

import functools
from bisect import bisect
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, ClassVar

from ..protocol import Value
from ..trace.events import (
    BackwardEnded,
    BackwardStarted,
    CellFailed,
    Forward,
    GradAccumulated,
    GradSet,
    HookRan,
    InPlaceWrite,
    Inside,
    ModeChanged,
    NodeRan,
    NodeState,
    NumbersReturned,
    Recomputation,
    RequiresGradSet,
    SavedPacked,
    SavedUnpacked,
    Snapshot,
    Statement,
    TensorCreated,
    TensorDetached,
    TensorState,
    Trace,
)
from ..trace.graph import Update
from ..trace.graph_walk import reachable
from ..trace.source_positions import SourceText
from .execution import Execution, ModuleCalls
from .naming import name_indices, name_inner
from .node_details import HookRegistration, hook_registrations, remember
from .provenance import Birth, Cuts
from .stations import LIBRARY, BackwardCall, Lookup, Moments, Place, arrange
from .updates import UpdateReader

# Events that are of interest to one backward call alone, whose number each has.
OF_ONE_CALL = frozenset((BackwardEnded, GradAccumulated, HookRan, NodeRan, Recomputation))

# ─── Which stations belong to a backward call, in a cell that has several


def call_groups(calls: list[BackwardCall], links: dict[int, set[int]]) -> list[list[BackwardCall]]:
    """The calls in groups that belong together. `links` has further calls that a call belongs to."""
    group = {call.number: [call] for call in calls}
    owner: dict[str, int] = {}  # node -> a call that has it
    for i, call in enumerate(calls):
        others = {owner[node] for node in call.inner if node in owner} | links[call.number]
        if not call.inner and i:
            others.add(calls[i - 1].number)
        for other in others:
            mine, theirs = group[call.number], group[other]
            if mine is not theirs:
                theirs += mine
                group.update((each.number, theirs) for each in mine)
        owner.update(dict.fromkeys(call.inner, call.number))
    return list({id(each): each for each in group.values()}.values())


class Scopes:
    """The stations of every group of calls. `of(call)` returns the places of the group of a call, and those
    of them that are shown as inputs; None if one picture contains everything. `skipped` calls were not
    kept."""

    def __init__(self, index: Lookup, known: Mapping[int, BackwardCall], skipped: int) -> None:
        self.index, self.skipped = index, skipped
        calls = list(known.values())
        self.groups = [calls] if len(calls) < 2 else call_groups(calls, self._links(calls))
        self.shown: list[dict[str, Place]] = []  # per group, by id of the place
        self.given: list[set[str]] = []  # those whose own inputs are not shown
        if len(self.groups) > 1:
            for group in self.groups:
                self._search(group)
            self._share_out()

    def of(self, call: int) -> tuple[dict[str, Place], set[str]] | None:
        """What the picture of a call shows."""
        for i, group in enumerate(self.groups if len(self.groups) > 1 else ()):
            if any(each.number == call for each in group):
                return self.shown[i], self.given[i]
        return None

    def _links(self, calls: list[BackwardCall]) -> dict[int, set[int]]:
        """Which other calls each call belongs to by what it was made from: nodes that they built, and graphs
        from which its leaves were detached before they ran."""
        by_node = self.index.by_node
        owner = {node: call for call in reversed(calls) for node in call.inner}
        origins = {
            leaf: self._origins(leaf, owner)
            for leaf in {leaf for call in calls for leaf in call.accumulators}
        }
        links: dict[int, set[int]] = {}
        for call in calls:
            built = {by_node[node].built for node in call.inner if node in by_node}
            links[call.number] = built & {each.number for each in calls}
            links[call.number].update(*(origins[leaf] for leaf in call.accumulators))
        return links

    def _origins(self, leaf: str, owner: dict[str, BackwardCall]) -> set[int]:
        """The calls through whose graphs a leaf was made, if that was before they ran."""
        if leaf not in self.index.at:
            return set()
        place, came_from = self.index.at[leaf][0], self.index.came_from

        def before(source: Place) -> list[Place]:
            return [] if source.node in owner or source is place else came_from(source)

        ran = (owner[p.node] for p in reachable(came_from(place), before) if p.node in owner)
        return {call.number for call in ran if place.time < call.begin}

    def _search(self, group: list[BackwardCall]) -> None:
        """Find what the roots of a group were computed from."""
        numbers = {call.number for call in group}
        own = set[str]().union(*(call.inner for call in group))
        others = [call for each in self.groups if each is not group for call in each]
        first = min((call.begin for each in self.groups for call in each), default=0)
        since = max((call.until for call in others if call.until < group[0].begin), default=-1)
        foreign = self._foreign(group)
        at = self.index.at
        stack = [at[root][0] for call in group for root in call.roots if root in at]
        stack += [place for place in self.index.places if place.built in numbers]
        shown, given = {place.id: place for place in stack}, set()
        while stack:
            place = stack.pop()
            here = place.node not in foreign and not first < place.time < since
            if place.node in own or place.built in numbers or here:
                new = [p for p in self.index.came_from(place) if p.id not in shown]
                shown.update((p.id, p) for p in new)
                stack += new
            else:
                given.add(place.id)
        self.shown.append(shown)
        self.given.append(given)

    def _foreign(self, group: list[BackwardCall]) -> set[str | None]:
        """The nodes of all other groups."""
        return {node for each in self.groups if each is not group for call in each for node in call.inner}

    def _share_out(self) -> None:
        """Give every other place to a group, with its inputs as something given."""
        owner: dict[str, int] = {}  # place -> its group, if it has but one
        for i, shown in enumerate(self.shown):
            for key in shown:
                owner[key] = -1 if key in owner else i
        begun = [self._begun(i, owner) for i in range(len(self.groups))]
        for place in self.index.places:
            if place.id in owner:
                continue
            sources = self.index.came_from(place)
            if self.skipped and place.time < begun[0] and (place.brought or sources):
                continue  # left over from a call that was not kept
            mine = max([self._iteration(place, begun), *(owner.get(p.id, -1) for p in sources)])
            owner[place.id] = mine
            for each in sources:
                if each.id not in self.shown[mine]:
                    self.given[mine].add(each.id)
                    self.shown[mine][each.id] = each
            self.shown[mine][place.id] = place
            self.given[mine].discard(place.id)

    def _begun(self, i: int, owner: dict[str, int]) -> float:
        """When the first place was made that only group `i` shows; else when its first call began."""
        alone = [p.time for key, p in self.shown[i].items() if owner[key] == i and p.built == 0]
        return min(alone, default=self.groups[i][0].begin)

    def _iteration(self, place: Place, begun: list[float]) -> int:
        """The group in whose iteration a place was made: between the call of one and the first op of the next
        the line in the source decides."""
        last = max((i for i, time in enumerate(begun) if time <= place.time), default=0)
        calls = self.groups[last]
        back = place.time > calls[-1].until and 0 < place.line < calls[-1].line
        return last + 1 if back and last + 1 < len(self.groups) else last


# ─── Trace → places: which tensors came to stand where


class TraceIndex(Lookup):
    """A trace, read once: what came to be where, and what happened in each backward call.

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
        self.places = arrange(self)
        failed = next((event.span for event in trace.of(CellFailed)), None)
        name_inner(self, self.statement_times, failed, self.module_calls)
        for id, (path, name) in self.module_calls.parameters.items():
            self.seen_as.setdefault(id, f"{path}.{name}")
        self.accumulators = {n.variable: n.id for n in self.nodes.values() if n.variable is not None}

    @property
    def started(self) -> list[BackwardStarted]:
        """The backward calls that were kept, as they began."""
        return [call.started for call in self.calls.values() if call.started is not None]

    @functools.cached_property
    def registered(self) -> list[HookRegistration]:
        """The hooks that the cell registered."""
        return hook_registrations(self.trace.events, self.moments.variable)

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

    def events_for(self, call: int) -> list[tuple[int, Any]]:
        """The events that tell the story of a backward call, with their times: its own, and all that are not
        of one call alone."""
        own = self._by_call.get(call, []) if call else []
        return sorted([*self._by_call.get(0, ()), *own], key=itemgetter(0))

    @functools.cached_property
    def _by_call(self) -> dict[int, list[tuple[int, Any]]]:
        """The events of each backward call, with their times; those that are not of one call alone as 0."""
        found: dict[int, list[tuple[int, Any]]] = {}
        for time, event in enumerate(self.trace.events):
            found.setdefault(event.call if type(event) in OF_ONE_CALL else 0, []).append((time, event))
        return found

    @functools.cached_property
    def statement_times(self) -> list[int]:
        """When statements began."""
        return [time for time, event in enumerate(self.trace.events) if event.__class__ is Statement]

    @functools.cached_property
    def running_nodes(self) -> dict[int, str]:
        """For every op inside a backward call the node that was running: the next that has run."""
        found: dict[int, str] = {}
        waiting: list[int] = []
        for time, event in enumerate(self.trace.events):
            match event:
                case Forward() if event.call:
                    waiting.append(time)
                case NodeRan():
                    found.update(dict.fromkeys(waiting, event.node))
                    waiting = []
                case BackwardEnded():
                    waiting = []
        return found

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
        for state in event.made:
            if state.id not in self.births or isinstance(event, NumbersReturned):
                self.births[state.id] = event
        reader = self.READERS.get(event.__class__)
        if reader is not None:
            reader(self, event)

    def forward(self, event: Forward) -> None:
        """An op ran: a new station."""
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

    def ask(self, event: RequiresGradSet) -> None:
        """A tensor starts or stops requiring gradients."""
        self.cuts.asked.add(event.tensor.id)
        self.seen(event.tensor)

    def cut(self, event: TensorDetached | NumbersReturned) -> None:
        """Numbers went on without their graph: a new station, unless a tensor has left its own graph."""
        if not event.made:
            self.seen(event.tensor)
            return
        place = self.place((event.tensor,), event.name, event.span)
        place.inputs = list[str | None](event.read)
        self.cuts.note(place, event, "")

    def switch(self, event: ModeChanged) -> None:
        """A mode was switched."""
        self.switches.setdefault(event.mode, []).append((self.time, event.enabled))
        if event.mode == "inference":
            self.mode = "inference" if event.enabled else ""

    def write(self, event: InPlaceWrite) -> None:
        """An op wrote into a tensor."""
        self.use(event)
        self.mutate(event)

    def hook(self, event: HookRan) -> None:
        """A hook ran."""
        self.calls[event.call].hooks.setdefault(event.node, []).append(event)

    def pack(self, event: SavedPacked | SavedUnpacked) -> None:
        """A hook packed a saved value, or unpacked it."""
        self.packed[event.node, event.name] = event.value, event.kept

    def unpack(self, event: SavedUnpacked) -> None:
        """A hook unpacked it."""
        self.pack(event)
        if event.call in self.calls:
            self.calls[event.call].unpacked.setdefault(event.node, []).append(event)

    def compute_inside(self, event: Inside) -> None:
        """The backward of a custom Function ran an op."""
        if event.call in self.calls:
            self.calls[event.call].inside.setdefault(event.node, []).append(event)

    def recompute(self, event: Recomputation) -> None:
        """A checkpoint computed again."""
        if event.call in self.calls:
            self.calls[event.call].again.add(event.node)

    def accumulate(self, event: GradAccumulated) -> None:
        """A gradient was added to that of a leaf."""
        self.deposits[event.tensor] = event.after
        self.calls[event.call].deposits[event.node] = event
        self.set_grad(event)  # also for leaves that no variable names

    def set_grad(self, event: GradAccumulated | GradSet) -> None:
        """A leaf has another gradient."""
        if event.tensor in self.at:
            self.seen(self.last(event.tensor)._replace(grad=event.after))

    def end(self, event: BackwardEnded) -> None:
        """A backward call ended."""
        for node in event.freed:
            self.freed.setdefault(node, event.call)
        call = self.calls[event.call]
        call.ended, call.until = event, self.time
        if event.error is None:
            call.leave_out(self)

    def look(self, event: Snapshot) -> None:
        """The state of the variables."""
        for name, state in event.rows:
            self.seen_as.setdefault(state.id, name)
            self.seen(state)
        if event.when == "before":
            self.named[event.call] = {state.id: state for _, state in event.rows}
        if event.when == "after" and event.call in self.calls:
            self.calls[event.call].end = self.time

    def create(self, event: TensorCreated) -> None:
        """A tensor came in; further outputs of one node are beside the first."""
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

    def use(self, event: Forward | InPlaceWrite) -> None:
        """What was written where an op used a tensor tells which of several equal gradients that is."""
        for id in event.inputs if event.span is not None and self.deposits else ():
            place = self.at[id][0] if id in self.at else None
            if place is not None and place.gradient_of and not place.used and event.span is not None:
                place.used = event.span.text

    def mutate(self, event: InPlaceWrite) -> None:
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
        """A node that builds a graph may use the gradient that it received, which is not part of that graph
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

    READERS: ClassVar[dict[type, Callable[[Any, Any], None]]] = {  # how events of each kind are taken in
        TensorCreated: create,
        Forward: forward,
        RequiresGradSet: ask,
        TensorDetached: cut,
        NumbersReturned: cut,
        ModeChanged: switch,
        InPlaceWrite: write,
        BackwardStarted: start,
        NodeRan: ran,
        HookRan: hook,
        SavedPacked: pack,
        SavedUnpacked: unpack,
        Inside: compute_inside,
        Recomputation: recompute,
        GradAccumulated: accumulate,
        GradSet: set_grad,
        BackwardEnded: end,
        Snapshot: look,
    }
