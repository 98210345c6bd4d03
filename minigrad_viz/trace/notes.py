"""What a recorder notes while the cell runs, how tensors and nodes get ids, and how events are made of
notes later.

Note [Identity]
    A leaf or a constant is known by its object, found again by a weak reference. A result is known by
    (node, output number), because different objects may stand for the same result (a saved value rebuilt
    by its node). A node is known by its key: minigrad's by the sequence number, which is unique there, and
    its AccumulateGrads by their object; PyTorch's, where each thread counts for itself, by what is noted in
    the node's `metadata`, which is its id.

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
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad import Tensor
from minigrad.observing import LAST

from ..protocol import NATIVE, Value, bare_name, history_of, value_from
from ..snapshots import agree, sum_snapshots
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
from .source_positions import Span
from .statements import Progress

# ─── Which tensor and which node is which, without keeping any of them alive


Key = int | str  # of a node

_serial = itertools.count()


class Ids:
    """Ids of tensors (`t0`, `t1`, …) and nodes (`n0`, `n1`, …), given in the order in which they are first
    seen. `outputs` has the tensor made by a node, by the node's key, or by (key, number) where it is not the
    first output; `objects` the tensors by address, which another object may have later, `references` by
    id."""

    def __init__(self) -> None:
        self._note = f"minigrad_viz {next(_serial)}"  # text alone gives the cycle collector nothing to do
        self.objects: dict[int, tuple[str, weakref.ref[Any]]] = {}
        self.outputs: dict[Any, str] = {}
        self._ends: dict[int, tuple[str, weakref.ref[Any]]] = {}  # AccumulateGrads
        self.references: dict[str, weakref.ref[Any]] = {}
        self._numbers: dict[int, str] = {}
        self.tensors = itertools.count()
        self._nodes = itertools.count()
        self.earlier: tuple[Ids, ...] = ()  # those of earlier cells, the newest first
        self.same_tensors: dict[str, tuple[Ids, str]] = {}  # by id: what an earlier cell called the same
        self.same_nodes: dict[str, tuple[Ids, str]] = {}

    def key(self, node: Any) -> Key:
        """What a node is known by."""
        number = None if type(node) in NATIVE else getattr(node, "_seq", None)
        if number is None:
            metadata = node.metadata
            known = metadata.get(self._note)
            if known is None:
                known = f"n{next(self._nodes)}"
                if self.earlier and metadata:  # an earlier cell has seen it
                    seen = ((ids, metadata[ids._note]) for ids in self.earlier if ids._note in metadata)
                    self.same_nodes.update((known, each) for each in itertools.islice(seen, 1))
                metadata[self._note] = known
            return known
        if number != LAST:
            return number
        end = self._ends.get(id(node))
        if end is None or end[1]() is not node:
            end = self._ends[id(node)] = f"n{next(self._nodes)}", weakref.ref(node)
        return end[0]

    def name(self, key: Key) -> str:
        """The id of the node with this key, given on first sight."""
        if isinstance(key, str):
            return key
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = f"n{next(self._nodes)}"
        return known

    def node(self, node: Any) -> str:
        """The id of a node."""
        return self.name(self.key(node))

    def output(self, node: Any, nr: int = 0) -> str | None:
        """The id of a node's output, if it has one."""
        return self.outputs.get((self.key(node), nr) if nr else self.key(node))

    def known(self, tensor: Any) -> str | None:
        """The id of a tensor that was seen before."""
        if tensor.__class__ is Tensor and tensor._view is None:
            fn = tensor._fn  # without its properties, which would take half of the time
            if fn is not None:
                return self.outputs.get((fn._seq, tensor._nr) if tensor._nr else fn._seq)
            known = self.objects.get(id(tensor))
            return known[0] if known is not None and known[1]() is tensor else None
        fn = history_of(tensor)
        if fn is None:
            return self.object(tensor)
        if type(fn) not in NATIVE and not (hasattr(fn, "_seq") or hasattr(fn, "metadata")):
            return None  # of an engine that somebody writes: there is nowhere to keep an id
        return self.output(fn, tensor.output_nr)

    def object(self, tensor: Any) -> str | None:
        """The id that this object had last, whatever its history is now."""
        known = self.objects.get(id(tensor))
        return known[0] if known is not None and known[1]() is tensor else None

    def overwritten(self, node: Any) -> str | None:
        """The id that a tensor had before it was written to through a view, by which `node` became its
        history; for minigrad, where not every result is known as an object."""
        while type(node).__name__ == "CopySlices" and hasattr(node, "_seq"):
            node, nr = node.next_functions[0]
            known = None if node is None else self.output(node, nr)
            if known is not None:
                return known
        return None

    def claim(self, tensor: Any) -> str:
        """The id of a tensor, known or fresh."""
        return self.known(tensor) or self.new(tensor)

    def new(self, tensor: Any, place: Any = None) -> str:
        """A fresh id for a tensor; where its place in `outputs` is known already, that is `place`."""
        name = f"t{next(self.tensors)}"
        reference = self.references[name] = weakref.ref(tensor)
        self.objects[id(tensor)] = name, reference
        fn = history_of(tensor) if place is None else None
        if fn is not None:
            self._put(fn, tensor.output_nr, name)
        elif place is not None:
            self.outputs[place] = name
        for ids in self.earlier:
            known = ids.object(tensor)
            if known is not None:
                self.same_tensors[name] = ids, known
                break
        return name

    def match_numbers(self) -> None:
        """Find what earlier cells called the nodes, and their outputs, that are known by their numbers."""
        for ids in self.earlier:
            for number in self._numbers.keys() & ids._numbers.keys():
                self.same_nodes.setdefault(self._numbers[number], (ids, ids._numbers[number]))
            for place in self.outputs.keys() & ids.outputs.keys():
                number = place[0] if isinstance(place, tuple) else place
                if isinstance(number, int):  # a text is a name that only one cell gave
                    self.same_tensors.setdefault(self.outputs[place], (ids, ids.outputs[place]))

    def unseen(self, node: Any, nr: int) -> str:
        """A fresh id for output `nr` of a node, a tensor that nobody has any more."""
        name = f"t{next(self.tensors)}"
        self._put(node, nr, name)
        return name

    def _put(self, node: Any, nr: int, name: str) -> None:
        self.outputs[(self.key(node), nr) if nr else self.key(node)] = name

    def alive(self, name: str | None) -> Any:
        """The tensor of an id, if its object still exists."""
        reference = self.references.get(name or "")
        return None if reference is None else reference()

    def forget(self, first: int) -> None:
        """Forget the tensors from number `first` on. Those of outputs and references came in this order."""
        while self.outputs and int(next(reversed(self.outputs.values()))[1:]) >= first:
            self.outputs.popitem()
        while self.references and int(next(reversed(self.references))[1:]) >= first:
            name, reference = self.references.popitem()
            tensor = reference()
            if tensor is not None and self.objects.get(id(tensor), ("",))[0] == name:
                del self.objects[id(tensor)]

    def keep(self, tensors: set[str]) -> None:
        """Forget all tensors but these, and what made them."""
        for address in [a for a, (name, _) in self.objects.items() if name not in tensors]:
            del self.objects[address]
        for place in [place for place, name in self.outputs.items() if name not in tensors]:
            del self.outputs[place]
        for name in self.references.keys() - tensors:
            del self.references[name]
        made = {place[0] if isinstance(place, tuple) else place for place in self.outputs}
        for number in self._numbers.keys() - made:
            del self._numbers[number]
        for address in [a for a, (_, reference) in self._ends.items() if reference() is None]:
            del self._ends[address]


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
            if note.__class__ is tuple:
                WRITERS[note[0]](self, *note[1:])
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
    used: set[str | None] = set()
    for event in events if hiding else ():
        used.update(event.read)
        if event.__class__ is Snapshot:
            used.update(state.id for state in event.states)
    for i, event in hiding:
        first, *more = event.outputs
        events[i] = event._replace(outputs=(first, *(state for state in more if state.id in used)))
    return events


NOWHERE = None, None, None  # a place in the source that is not known

# ── notes ───────────────────────────────────────────────────────────────────────────────────────────────────


def write_use(writer: Writer, spot: Any, top: int | None, inner: tuple[Any, ...]) -> None:
    """The cell used tensors at a point of its source; see `Locator.reach`."""
    if spot is not None:
        top = spot.top if top is None else top
        writer.out += [Statement(span) for span in writer.progress.come(spot, top, inner)]


def write_cell_end(writer: Writer, top: int) -> None:
    """The cell ended in its `top`-th statement."""
    writer.out += [Statement(span) for span in writer.progress.upto(top)]


def write_forward(
    writer: Writer,
    op: str,
    given: tuple[Any, ...],
    rows: tuple[Any, ...],
    enabled: bool,
    at: tuple[int | None, int | None, tuple[Any, ...] | None],
    call: int,
    shares: str,
    ghost: str,
    counted: int = 0,
) -> None:
    """An op ran, and gave the tensors `rows`. `given` are ids of tensors, numbers, and other arguments as a
    tuple with their text. `at` is the number of the point in the source, and two arguments of `write_use`
    (the second is None if `write_use` has been called already)."""
    place, top, inner = at
    spot = None if place is None else writer.spots[place]
    if inner is not None:
        write_use(writer, spot, top, inner)
    span, name = (None, None) if spot is None else (spot.span, spot.name)
    inputs = tuple(g if g.__class__ is str else None for g in given)
    arguments = tuple(None if g.__class__ is str else g[0] if g.__class__ is tuple else str(g) for g in given)
    made = tuple(map(writer.state, rows))
    writer.out.append(Forward(op, inputs, arguments, made, enabled, span, name, call, shares, ghost, counted))


def write_module_call(
    writer: Writer, number: int, known: Any, place: int | None, inputs: tuple[str, ...]
) -> None:
    """A module was called; `known` is a `KnownModule` of the recorder, `place` the number of the point."""
    span = None if place is None else writer.spots[place].span
    path = known.place("" if span is None else span.flat)
    writer.calls[number] = len(writer.out)
    writer.out.append(ModuleCalled(number, path, known.kind, known.about, (), inputs, span))


def write_module_return(
    writer: Writer, number: int, outputs: tuple[str, ...], own: tuple[tuple[str, str], ...]
) -> None:
    """It returned; `own` are its own parameters, which by now have ids."""
    call = writer.calls.pop(number)
    writer.out[call] = writer.out[call]._replace(parameters=own)
    writer.out.append(ModuleReturned(number, outputs))


def write_backward_start(writer: Writer, event: BackwardStarted, nodes: list[tuple[Any, ...]]) -> None:
    """A backward call began; `nodes` has of each node its key, its sequence number, and how it stood: its
    state, or the further arguments of `node_state`."""
    rank, states, count = ranks(row[1] for row in nodes), [], numbering()
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


def write_node_run(
    writer: Writer, call: int, key: Any, received: Any, sent: tuple[Any, ...] = (), ids: Any = None,
    changed: tuple[Any, ...] = (),
) -> None:  # fmt: skip
    """A node ran; `received` is a tuple where it has several outputs, `ids` are those of gradients with a
    graph of their own. `changed` has of gradients that hooks may have changed the number of the output, what
    was sent and what came."""
    name = writer.ids.name(key)
    for nr, parts, taken in changed:
        write_changed(writer, call, name, nr, list(map(writer.value, parts)), writer.value(taken))
    values = tuple(map(writer.value, sent))
    got = tuple(map(writer.value, received if received.__class__ is tuple else (received,)))
    writer.out.append(NodeRan(call, name, got, values, ids or (None,) * len(values)))


def write_changed(writer: Writer, call: int, node: str, nr: int, parts: list[Any], after: Any) -> None:
    """A gradient is not what was sent: a hook that nobody knows ran before all else that the node did."""
    before = sum_snapshots(parts)
    if before is None or agree(before, after):
        return
    at = len(writer.out)
    while at and writer.out[at - 1].__class__ in (Inside, Recomputation) and writer.out[at - 1].node == node:
        at -= 1
    writer.out.insert(at, HookRan(call, node, "tensor", "", nr, (before,), (after,), None))


def write_backward_end(writer: Writer, event: BackwardEnded, gone: list[Any]) -> None:
    """The call ended; `gone` are the keys of the nodes whose saved values cannot be read any more."""
    writer.out.append(event._replace(freed=tuple(map(writer.ids.name, gone))))


WRITERS: dict[str, Callable[..., None]] = {  # by the first item of a note
    "reached": write_use,
    "finished": write_cell_end,
    "forward": write_forward,
    "called": write_module_call,
    "returned": write_module_return,
    "started": write_backward_start,
    "ran": write_node_run,
    "ended": write_backward_end,
}
