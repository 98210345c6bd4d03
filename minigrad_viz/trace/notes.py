"""What a recorder notes while the cell runs, and how events are made of notes later.

Note [Notes]
    Most notes are the events themselves, in which numbers are still NumPy's, and nodes are known by their
    keys: to make a `Value` takes longer than to run an op, so that is done when the trace is read. A number
    that NumPy has as a scalar cannot change and stays what it is; small arrays are copied; of large ones the
    `Value` is made at once. What happens thousands of times has records of its own, the classes of this
    module whose names end in `Note`: they hold nothing but text, numbers and plain tuples of these, which
    Python's cycle collector leaves alone (else it would take as long as all the rest), and `write` makes
    their events.

Note [Fast notes]
    What minigrad does thousands of times, a plain result, a node with plain saved values, a node that ran
    without leaving a graph, is read from its attributes. Anything else is asked through properties, as of any
    library; a test holds both to the same events. On a chain of 10,000 scalar ops recording takes 12 µs
    longer per op; complete events made at once would take 60 µs, and asking nodes for their state 40 µs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..protocol import Value, bare_name, text_of, value_from
from ..snapshots import agree, keep_numbers, sum_snapshots
from .events import (
    BackwardEnded,
    BackwardStarted,
    Event,
    Forward,
    HookRan,
    Inside,
    ModuleCalled,
    ModuleReturned,
    NodeRan,
    NodeState,
    Recomputation,
    Snapshot,
    Statement,
    TensorState,
)
from .graph import SavedChip
from .graph_walk import numbering, ranks
from .ids import Ids
from .source_positions import Span
from .statements import Progress

# ─── What a recorder notes while the cell runs, and how events are made of it later


SMALL = 8192  # bytes of an array that is copied
ROOM = 2**25  # bytes of all such copies


class Numbers:
    """Takes what NumPy has, so that a `Value` can be made of it later."""

    def __init__(self) -> None:
        self.room = ROOM
        self.read = 0  # bytes of the arrays that were read or copied

    def take(self, data: Any, exact: bool = True) -> Any:
        """Something that stays as `data` is now; see `value_from`."""
        if not data.shape:
            return data[()]  # a number, which cannot change
        self.read += data.nbytes
        if data.nbytes <= SMALL < self.room:
            self.room -= data.nbytes
            return data.copy()
        return value_from(data, bare_name(data.dtype), exact)


Row = tuple[Any, ...]  # the fields of a `TensorState`, or one, with numbers as taken and the key of the node


class Writer:
    """Makes events of notes. `spots` are the points in the source that notes refer to by number; `progress`
    knows the statements of the cell."""

    def __init__(self, ids: Ids, spots: Sequence[Any], progress: Progress) -> None:
        self.ids = ids
        self.spots = spots
        self.progress = progress
        self.out: list[Event] = []
        self.values: dict[int, Value] = {}  # by identity of what was taken
        self.calls: dict[int, int] = {}  # of modules: where the event stands

    def events(self, notes: Iterable[Any]) -> list[Event]:
        """The events of all notes, in order."""
        for note in notes:
            kind = note.__class__
            if kind in RECORDS:
                note.write(self)
            else:
                self.out.append(self.settled(note))
        self.values.clear()
        return without_unasked(self.out)

    def value(self, taken: Any) -> Value | None:
        """The `Value` of what was taken (the notes keep that, so its identity holds)."""
        if taken is None or taken.__class__ is Value:
            return taken
        known = self.values.get(id(taken))
        if known is None:
            known = self.values[id(taken)] = value_from(taken, bare_name(taken.dtype))
        return known

    def value_of_leaf(self, taken: Any) -> Value | None:
        """The `Value` of a leaf, which keeps its numbers if they were copied."""
        value = self.value(taken)
        summary = None if value is None else value.summary
        if value is not None and summary and not summary.numbers and isinstance(taken, np.ndarray):
            value = self.values[id(taken)] = keep_numbers(value, taken)
        return value

    def settled(self, part: Any) -> Any:
        """An event or a part of one, with values instead of what was taken, and the ids of nodes."""
        kind = part.__class__
        if kind is TensorState:
            return self.state(part)
        if kind is tuple:
            return tuple(map(self.settled, part))
        if isinstance(part, tuple) and kind is not Value and kind is not Span:
            return part._make(map(self.settled, part))  # type: ignore[attr-defined]
        return self.value(part) if isinstance(part, (np.ndarray, np.generic)) else part

    def state(self, row: Row) -> TensorState:
        """A tensor from what `States.state_of` noted."""
        id, value, grad, requires, leaf, retains, title, key, version, parameter, tangent = row
        node = None if key is None else self.ids.name(key)
        how = requires, leaf, retains, title, node, version, parameter
        numbers = self.value_of_leaf(value) if leaf else self.value(value)
        return TensorState(id, numbers, self.value(grad), *how, self.value(tangent))


UNASKED = "_with_indices", "nll_loss_forward"  # ops whose further results PyTorch's functions hide


def without_unasked(events: list[Event]) -> list[Event]:
    """Events without the indices of a pooling and the total weight of a loss, where no code asks for them."""
    hiding = [(i, e) for i, e in enumerate(events) if isinstance(e, Forward) and e.op.endswith(UNASKED)]
    used: set[str | None] = set()
    for event in events if hiding else ():
        used.update(event.read)
        if event.__class__ is Snapshot:
            used.update(state.id for state in event.states)
    for i, event in hiding:
        first, *more = event.outputs
        events[i] = event._replace(outputs=(first, *(state for state in more if state.id in used)))
    return events


# ── notes ───────────────────────────────────────────────────────────────────────────────────────────────────


Place = tuple[int | None, int | None, tuple[Any, ...] | None]
NOWHERE: Place = None, None, None  # a place in the source that is not known


class PlaceNote(NamedTuple):
    """The cell used tensors at a point of its source; see `Locator.reach`."""

    spot: Any
    top: int | None
    inner: tuple[Any, ...]

    def write(self, writer: Writer) -> None:
        """The statements that have begun by then."""
        if self.spot is not None:
            top = self.spot.top if self.top is None else self.top
            writer.out += [Statement(span) for span in writer.progress.come(self.spot, top, self.inner)]


class CellEndNote(NamedTuple):
    """The cell ended in its `top`-th statement."""

    top: int

    def write(self, writer: Writer) -> None:
        """The statements that had begun by then."""
        writer.out += [Statement(span) for span in writer.progress.upto(self.top)]


class OpNote(NamedTuple):
    """An op ran and returned the tensors `rows`. `given` are ids of tensors, numbers, and other arguments: a
    tuple with one that cannot change, or with its text and what it is as plain data (see `template_of`). `at`
    is the number of the point in the source, and two parts of a `PlaceNote` (the second is None if that has
    been noted already). `run` is the function that computes this from `given`, of which the last are for its
    parameters `names`; None where a `CallNote` says more."""

    op: str
    given: tuple[Any, ...]
    rows: tuple[Row, ...]
    enabled: bool
    at: Place
    call: int
    shares: str = ""
    ghost: str = ""
    counted: int = 0
    run: Any = None
    names: tuple[str, ...] = ()

    def write(self, writer: Writer) -> None:
        """Its event."""
        place, top, inner = self.at
        spot = None if place is None else writer.spots[place]
        if inner is not None:
            PlaceNote(spot, top, inner).write(writer)
        span, name = (None, None) if spot is None else (spot.span, spot.name)
        inputs = tuple(g if g.__class__ is str else None for g in self.given)
        arguments = tuple(map(op_argument_text, self.given))
        how = self.enabled, span, name, self.call, self.shares, self.ghost, self.counted
        writer.out.append(Forward(self.op, inputs, arguments, tuple(map(writer.state, self.rows)), *how))


def op_argument_text(given: Any) -> str | None:
    """An argument of an `OpNote` as text; None for a tensor."""
    if given.__class__ is str:
        return None
    if given.__class__ is tuple:
        return given[0] if len(given) == 2 else text_of(given[0])
    return str(given)


class CallNote(NamedTuple):
    """What the events of a call do not say, for who computes the cell again: `run` with arguments as plain
    data, and the tensors that it returned by number, one by one (None: one that nobody knows). No event is
    made of it.

    `kind` is "call"; "draw" where `answer` is the state of random numbers before it; "ask" where the program
    went on with `answer` at `line`; "make" of a tensor that was made from data by the library `run`; "names"
    of variables that are the tensors `answer`; "backward" of such a call, number `answer`, and "captured" of
    what it returned; "fresh" of how the op that follows draws new numbers; "step" of that of an optimizer,
    whose settings are `answer`."""

    kind: str
    run: Any
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = MappingProxyType({})
    results: tuple[Any, ...] = ()
    enabled: bool = True
    answer: Any = None
    line: int = 0

    def write(self, writer: Writer) -> None:
        """Nothing."""


class ModuleCallNote(NamedTuple):
    """A module was called; `known` is a `KnownModule` of the recorder, `place` the number of the point."""

    number: int
    known: Any
    place: int | None
    inputs: tuple[str, ...]

    def write(self, writer: Writer) -> None:
        """Its event, whose parameters `ModuleReturnNote` tells."""
        span = None if self.place is None else writer.spots[self.place].span
        path = self.known.place("" if span is None else span.flat)
        writer.calls[self.number] = len(writer.out)
        kind, about = self.known.kind, self.known.about
        writer.out.append(ModuleCalled(self.number, path, kind, about, (), self.inputs, span))


class ModuleReturnNote(NamedTuple):
    """It returned; `parameters` are its own, which by now have ids."""

    number: int
    outputs: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()

    def write(self, writer: Writer) -> None:
        """Its event."""
        call = writer.calls.pop(self.number)
        writer.out[call] = writer.out[call]._replace(parameters=self.parameters)
        writer.out.append(ModuleReturned(self.number, self.outputs))


class BackwardStartNote(NamedTuple):
    """A backward call began; `nodes` has for each node its key, its sequence number, and its state: its
    state, or the further arguments of `node_state`."""

    event: BackwardStarted
    nodes: list[tuple[Any, ...]]

    def write(self, writer: Writer) -> None:
        """Its event."""
        rank, states, count = ranks(row[1] for row in self.nodes), [], numbering()
        for key, number, *rest in self.nodes:
            if isinstance(rest[0], NodeState):
                state = settled_node(rest[0], count, writer.value)
            else:
                state = node_state(writer, count, key, *rest)
            states.append(state._replace(sequence=rank[number]))
        writer.out.append(self.event._replace(nodes=tuple(states)))


class NodeNote(NamedTuple):
    """A node ran; `received` is a tuple where it has several outputs, `ids` are those of gradients with a
    graph of their own. For gradients that hooks may have changed, `changed` has the number of the output,
    what was sent and what arrived."""

    call: int
    key: Any
    received: Any
    sent: Sequence[Any] = ()
    ids: tuple[str | None, ...] | None = None
    changed: tuple[Any, ...] = ()

    def write(self, writer: Writer) -> None:
        """Its event, after those of the hooks."""
        name = writer.ids.name(self.key)
        for nr, parts, taken in self.changed:
            write_changed(writer, self.call, name, nr, list(map(writer.value, parts)), writer.value(taken))
        values, got = tuple(map(writer.value, self.sent)), self.received
        came = tuple(map(writer.value, got if got.__class__ is tuple else (got,)))
        writer.out.append(NodeRan(self.call, name, came, values, self.ids or (None,) * len(values)))


class BackwardEndNote(NamedTuple):
    """The call ended; `gone` are the keys of the nodes whose saved values cannot be read any more."""

    event: BackwardEnded
    gone: Sequence[Any] = ()

    def write(self, writer: Writer) -> None:
        """Its event."""
        writer.out.append(self.event._replace(freed=tuple(map(writer.ids.name, self.gone))))


RECORDS = frozenset((
    PlaceNote, CellEndNote, OpNote, CallNote, ModuleCallNote, ModuleReturnNote, BackwardStartNote, NodeNote,
    BackwardEndNote,
))  # fmt: skip


# ── nodes and hooks ─────────────────────────────────────────────────────────────────────────────────────────


def settled_node(
    state: NodeState, count: Callable[[int], int], value: Callable[[Any], Value | None]
) -> NodeState:
    """A node with a `value` for all that was taken of its saved tensors, and whose memories, known by what
    tells them apart, have the numbers that `count` gives them."""
    saved = tuple(
        s
        if s.memory is None and (s.value is None or isinstance(s.value, str))
        else s._replace(value=value(s.value), memory=None if s.memory is None else count(s.memory))
        for s in state.saved
    )
    return state._replace(saved=saved, memory=None if state.memory is None else count(state.memory))


class Slot(NamedTuple):
    """A place in which a node saves a value: its name, whether a tensor is there, and whether a number in
    it stands for a tensor."""

    name: str
    tensor: bool
    number: bool = False


def node_state(
    writer: Writer, count: Callable[[int], int], key: Any, title: str, slots: Sequence[Slot], versions: Any,
    memories: Any, nrs: Any, *values_and_edges: Any,
) -> NodeState:  # fmt: skip
    """A node of an op whose saved values can all be read. `memories` has what tells the memory of an array
    from others, and its size, by the place of the value (no memory: it stands for a number); a scalar is its
    own memory."""
    edges = values_and_edges[len(slots) :]
    saved = []
    for i, (slot, value, version) in enumerate(zip(slots, values_and_edges, versions or itertools.repeat(0))):
        if value is None:
            continue
        if value.__class__ in NUMBERS and slot.number:  # stands where a tensor could, and is shown as one
            number = np.array(value)
            saved.append(SavedChip(slot.name, value_from(number, bare_name(number.dtype)), version, nbytes=0))
        elif isinstance(value, (np.ndarray, np.generic, Value)) and slot.tensor:
            known = memories[i] if memories else None
            memory, size = known or (id(value), value.nbytes)  # type: ignore[union-attr]
            number_of = None if memory is None else count(memory)
            saved.append(SavedChip(slot.name, writer.value(value), version, nbytes=size, memory=number_of))
        else:
            saved.append(SavedChip(slot.name, str(value)))
    numbers = nrs or (0,) * len(edges)
    ends = (None if e is None else (writer.ids.name(e), nr) for e, nr in zip(edges, numbers, strict=True))
    return NodeState(writer.ids.name(key), title, tuple(saved), tuple(ends), None, 0)


NUMBERS = (int, float, bool, complex)


def write_changed(writer: Writer, call: int, node: str, nr: int, parts: list[Any], after: Any) -> None:
    """A gradient is not what was sent: a hook that nobody knows ran before all else that the node did."""
    before = sum_snapshots(parts)
    if before is None or agree(before, after):
        return
    at = len(writer.out)
    while at and writer.out[at - 1].__class__ in (Inside, Recomputation) and writer.out[at - 1].node == node:
        at -= 1
    writer.out.insert(at, HookRan(call, node, "tensor", "", nr, (before,), (after,), None))
