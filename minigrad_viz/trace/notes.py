"""What a recorder notes while the cell runs, and how events are made of it later.

Note [Notes]
    Most notes are the events themselves, in which numbers still stand as NumPy has them, and nodes by their
    keys: to make a `Value` takes longer than to run an op, so that is done when the trace is read. A number
    that NumPy has as a scalar cannot change and stays what it is; small arrays are copied; of large ones the
    `Value` is made at once. What happens thousands of times is noted as a plain tuple, (the name of a
    function of this module, its arguments), that holds nothing but text and numbers. Such tuples Python's
    cycle collector leaves alone: else it would take as long as all the rest.

Note [Fast notes]
    What minigrad does thousands of times, a plain result, a node with plain saved values, a node that ran
    without leaving a graph, is read from its attributes. Anything else is asked through properties, as of any
    library; a test holds both to the same events. On a chain of 10,000 scalar ops recording takes 12 µs
    longer an op; complete events made at once would take 60 µs, and asking nodes as they stand 40 µs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..protocol import Value, bare_name, value_from
from .events import (
    BackwardEnded,
    BackwardStarted,
    Called,
    Event,
    Forward,
    NodeRan,
    NodeState,
    Returned,
    Snapshot,
    Statement,
    TensorState,
)
from .graph import Saved
from .ids import Ids
from .spots import Span
from .statements import Progress
from .walk import counting, ranks

SMALL = 8192  # bytes of an array that is copied
ROOM = 2**25  # bytes of all such copies


class Numbers:
    """Takes what NumPy has, so that a `Value` can be made of it later."""

    def __init__(self) -> None:
        self.room = ROOM
        self.read = 0  # bytes of the arrays that were read or copied

    def take(self, data: Any) -> Any:
        """Something that stays as `data` is now."""
        if not data.shape:
            return data[()]  # a number, which cannot change
        self.read += data.nbytes
        if data.nbytes <= SMALL < self.room:
            self.room -= data.nbytes
            return data.copy()
        return value_from(data, bare_name(data.dtype))


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
            if note.__class__ is tuple:
                KINDS[note[0]](self, *note[1:])
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
        return TensorState(id, self.value(value), self.value(grad), *how, self.value(tangent))


UNASKED = "_with_indices", "nll_loss_forward"  # ops whose further results PyTorch's functions hide


def without_unasked(events: list[Event]) -> list[Event]:
    """Events without the indices of a pooling and the total weight of a loss, where no code asks for them."""
    hiding = [(i, e) for i, e in enumerate(events) if isinstance(e, Forward) and e.op.endswith(UNASKED)]
    used = {id for e in (events if hiding else ()) for id in (*getattr(e, "inputs", ()), *passed_on(e))}
    for i, event in hiding:
        first, *more = event.outputs
        events[i] = event._replace(outputs=(first, *(state for state in more if state.id in used)))
    return events


def passed_on(event: Event) -> Iterable[str]:
    """The tensors that variables name at an event, or that a module returns."""
    named = (state.id for _, state in event.rows) if isinstance(event, Snapshot) else ()
    return event.outputs if isinstance(event, Returned) else named


NOWHERE = None, None, None  # a place in the source that is not known

# ── notes ───────────────────────────────────────────────────────────────────────────────────────────────────


def reached(writer: Writer, spot: Any, top: int | None, inner: tuple[Any, ...]) -> None:
    """The cell used tensors at a point of its source; see `Locator.reach`."""
    if spot is not None:
        top = spot.top if top is None else top
        writer.out += [Statement(span) for span in writer.progress.come(spot, top, inner)]


def finished(writer: Writer, top: int) -> None:
    """The cell ended in its `top`-th statement."""
    writer.out += [Statement(span) for span in writer.progress.upto(top)]


def forward(
    writer: Writer,
    op: str,
    given: tuple[Any, ...],
    rows: tuple[Any, ...],
    enabled: bool,
    at: tuple[int | None, int | None, tuple[Any, ...] | None],
    call: int,
    shares: str,
    ghost: str,
) -> None:
    """An op ran, and gave the tensors `rows`. `given` are ids of tensors, numbers, and other arguments as a
    tuple with their text. `at` is the number of the point in the source, and two arguments of `reached` (the
    second is None if `reached` has been called already)."""
    place, top, inner = at
    spot = None if place is None else writer.spots[place]
    if inner is not None:
        reached(writer, spot, top, inner)
    span, name = (None, None) if spot is None else (spot.span, spot.name)
    inputs = tuple(g if g.__class__ is str else None for g in given)
    arguments = tuple(None if g.__class__ is str else g[0] if g.__class__ is tuple else str(g) for g in given)
    made = tuple(map(writer.state, rows))
    writer.out.append(Forward(op, inputs, arguments, made, enabled, span, name, call, shares, ghost))


def called(writer: Writer, number: int, known: Any, place: int | None, inputs: tuple[str, ...]) -> None:
    """A module was called; `known` is a `KnownModule` of the recorder, `place` the number of the point."""
    span = None if place is None else writer.spots[place].span
    path = known.place("" if span is None else span.flat)
    writer.calls[number] = len(writer.out)
    writer.out.append(Called(number, path, known.kind, known.about, (), inputs, span))


def returned(writer: Writer, number: int, outputs: tuple[str, ...], own: tuple[tuple[str, str], ...]) -> None:
    """It returned; `own` are its own parameters, which by now have ids."""
    call = writer.calls.pop(number)
    writer.out[call] = writer.out[call]._replace(parameters=own)  # type: ignore[attr-defined]
    writer.out.append(Returned(number, outputs))


def started(writer: Writer, event: BackwardStarted, nodes: list[tuple[Any, ...]]) -> None:
    """A backward call began; `nodes` has of each node its key, its sequence number, and how it stood: its
    state, or the further arguments of `node_state`."""
    rank, states, count = ranks(row[1] for row in nodes), [], counting()
    for key, number, *rest in nodes:
        if isinstance(rest[0], NodeState):
            state = settled_node(rest[0], count, writer.value)
        else:
            state = node_state(writer, count, key, *rest)
        states.append(state._replace(sequence=rank[number]))
    writer.out.append(event._replace(nodes=tuple(states)))


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
    """A place in which a node saves a value: its name, whether a tensor stands there, and whether a number in
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
            saved.append(Saved(slot.name, value_from(number, bare_name(number.dtype)), version, nbytes=0))
        elif isinstance(value, (np.ndarray, np.generic, Value)) and slot.tensor:
            known = memories[i] if memories else None
            memory, size = known or (id(value), value.nbytes)  # type: ignore[union-attr]
            number_of = None if memory is None else count(memory)
            saved.append(Saved(slot.name, writer.value(value), version, nbytes=size, memory=number_of))
        else:
            saved.append(Saved(slot.name, str(value)))
    numbers = nrs or (0,) * len(edges)
    ends = (None if e is None else (writer.ids.name(e), nr) for e, nr in zip(edges, numbers, strict=True))
    return NodeState(writer.ids.name(key), title, tuple(saved), tuple(ends), None, 0)


NUMBERS = (int, float, bool, complex)


def ran(
    writer: Writer, call: int, key: Any, received: Any, sent: tuple[Any, ...] = (), ids: Any = None
) -> None:
    """A node ran; `received` is a tuple where it has several outputs, `ids` are those of gradients with a
    graph of their own."""
    name = writer.ids.name(key)
    values = tuple(map(writer.value, sent))
    got = tuple(map(writer.value, received if received.__class__ is tuple else (received,)))
    writer.out.append(NodeRan(call, name, got, values, ids or (None,) * len(values)))


def ended(writer: Writer, event: BackwardEnded, gone: list[Any]) -> None:
    """The call ended; `gone` are the keys of the nodes whose saved values cannot be read any more."""
    writer.out.append(event._replace(freed=tuple(map(writer.ids.name, gone))))


KINDS = {f.__name__: f for f in (reached, finished, forward, called, returned, started, ran, ended)}
