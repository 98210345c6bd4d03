"""What minigrad's engine reports of a backward call: its nodes as it begins, and which gradients each
received and sent."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import Tensor, get_dialect
from minigrad.observing import LAST, AccumulateGrad, is_released, is_untouched, numbers, wrap
from minigrad.observing import numbers as raw

from ..isolation import has_arrived
from ..protocol import Value, owner_of
from ..saved_values import saved_of
from ..trace.events import GradAccumulated, NodeState
from ..trace.notes import NodeNote, Slot

# ─── What minigrad's engine tells while a backward call runs


SCALARS = (np.float32, np.float64)  # of these a gradient is a number, which cannot change


def safely(method: Callable[..., None]) -> Callable[..., None]:
    """A method whose faults must not be raised in the cell: the recorder keeps them."""

    @functools.wraps(method)
    def careful(self: Any, *args: Any) -> None:
        tape = self.recorder.tape
        if tape.problem is None and not tape.rounds.light and not tape.rest.whole:
            try:
                method(self, *args)
            except Exception as problem:
                if has_arrived(problem):
                    raise
                self.recorder.tape.problem = problem

    return careful


class EngineEvents:
    """The part of the source that listens to the engine. `wraps` says that gradients are tensors, `calm` that
    no code of the user's runs inside the backward call."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.wraps = self.calm = False
        self.before: dict[Any, Any] = {}  # of each leaf, the gradient before the deposit
        self.flows: dict[int, tuple[Any, Any]] = {}  # large gradients that were sent, by address
        # what nodes that stand for others send, by the edge over which it leaves
        self.leaving: dict[tuple[Any, int], tuple[list[Any], int]] = {}

    def begin(self, wraps: bool) -> None:
        """A backward call begins, or (without `wraps`) reporting ends."""
        self.wraps, self.before, self.flows, self.leaving = wraps, {}, {}, {}

    def lost(self, keys: list[Any], live: list[Any], ran: set[Any], sure: bool) -> list[Any]:
        """The keys of the nodes of a call whose saved values cannot be read any more."""
        return [key for key, node in zip(keys, live, strict=True) if has_released_values(node)]

    @safely
    def deposit_starts(self, node: Any) -> None:
        """An AccumulateGrad is about to run."""
        recorder = self.recorder
        if recorder.tape.depth == 1:
            grad = node.variable._grad
            self.before[node] = None if grad is None else recorder.tape.numbers.take(grad._data)

    def deposited(self, node: Any, received: Any) -> None:
        """An AccumulateGrad ran."""
        recorder, leaf = self.recorder, node.variable
        before, key = self.before.pop(node, None), recorder.tape.ids.key(node)
        added = None if received is None else self.received(node, getattr(received, "_data", received))
        late = recorder.listener.before_late_hooks(key) if leaf._post_accumulate else None
        recorder.tape.notes.append(NodeNote(recorder.tape.call, key, added))
        name = recorder.tape.ids.known(leaf)
        if added is None or name is None:
            return
        grad, after = leaf._grad, added
        if grad is not None:
            after = added if before is None and self.calm else recorder.tape.numbers.take(grad._data)
            recorder.states.owners.hold(name, grad, after)
        event = GradAccumulated(recorder.tape.call, key, name, before, added, late or after)
        recorder.tape.notes.append(event)

    @safely
    def custom_starts(self, node: Any) -> None:
        """The backward of a custom Function starts."""
        if self.recorder.tape.depth == 1:
            self.recorder.tape.inside = self.recorder.tape.ids.key(node)

    @safely
    def custom_ended(self) -> None:
        """It ended."""
        if self.recorder.tape.depth == 1 and self.recorder.tape.inside is not None:
            self.recorder.packing.told_again(self.recorder.tape.ids.name(self.recorder.tape.inside))
            self.recorder.tape.inside = None

    def sent(self, gradient: Any) -> Any:
        """A gradient that was sent, as it is now."""
        taken = self.recorder.tape.numbers.take(gradient)
        if taken.__class__ is Value and self.calm:
            self.flows[id(gradient)] = weakref.ref(gradient), taken
        return taken

    def received(self, node: Any, gradient: Any) -> Any:
        """A gradient that arrived; a large one that arrives as it was sent need not be gone through again."""
        flow = self.flows.pop(id(gradient), None) if self.calm else None
        return flow[1] if flow and flow[0]() is gradient else self.recorder.tape.numbers.take(gradient)

    def contracted(self, node: Any, received: Any, sent: Any) -> bool:
        """Whether a node that ran stands for others, or is one of these: only what leaves them is noted."""
        states, key = self.recorder.states, node._seq
        if key in states.contracted:
            edges = states.edges(node)
            sums: list[Any] = [None] * len(edges)
            for i, (target, nr) in enumerate(edges):
                self.leaving.setdefault((states.ids.key(target), nr), (sums, i))
            got = tuple(map(data_of, received)) if isinstance(received, list) else data_of(received)
            self.recorder.tape.notes.append(NodeNote(self.recorder.tape.call, key, got, sums))
        elif key in states.ids.outputs or node.__class__ is AccumulateGrad:
            return False
        for (target, nr), gradient in zip(node.next_functions, sent, strict=True):
            place = None if target is None else self.leaving.get((states.ids.key(target), nr))
            if place is not None and gradient is not None:
                sums, i = place
                data = data_of(gradient)
                sums[i] = data if sums[i] is None else sums[i] + data
        return True


def data_of(gradient: Any) -> Any:
    """A copy of a gradient's numbers."""
    if gradient is None or gradient.__class__ in SCALARS:
        return gradient
    return np.array(numbers(gradient) if isinstance(gradient, Tensor) else gradient)[()]


def has_released_values(node: Any) -> bool:
    """Whether what a node saved cannot be read any more."""
    if is_released(node):
        return True
    return not is_untouched(node) and any(kept.freed for kept in saved_of(node))


def node_ran_of(recorder: Any, source: EngineEvents) -> Callable[[Any, Any, Any], None]:
    """The observer's `node_ran`, with all it needs at hand. See Note [Fast notes] in `notes`."""
    noted, light = recorder.tape.notes, recorder.tape.rounds

    def node_ran(node: Any, received: Any, sent: Any) -> None:
        if recorder.tape.depth != 1 or recorder.tape.problem is not None or light.light:
            return
        try:
            if recorder.states.contracted and source.contracted(node, received, sent):
                return
            if node.__class__ is AccumulateGrad:
                source.deposited(node, received)
            elif source.wraps or received.__class__ is list or type(node).op is None:
                tensors = [as_tensor(g) for g in (received if isinstance(received, list) else [received])]
                recorder.backward.node_ran(node, tensors, [as_tensor(g) for g in sent])
            else:
                if received is not None and received.__class__ not in SCALARS:
                    received = source.received(node, received)
                if len(sent) == 2:  # without a loop
                    a, b = sent
                    a = a if a is None or a.__class__ in SCALARS else source.sent(a)
                    b = b if b is None or b.__class__ in SCALARS else source.sent(b)
                    noted.append(NodeNote(recorder.tape.call, node._seq, received, (a, b)))
                    return
                taken = [g if g is None or g.__class__ in SCALARS else source.sent(g) for g in sent]
                noted.append(NodeNote(recorder.tape.call, node._seq, received, tuple(taken)))
        except Exception as problem:
            if has_arrived(problem):
                raise
            recorder.tape.problem = problem

    return node_ran


def as_tensor(gradient: Any) -> Any:
    """A gradient as a tensor."""
    return gradient if gradient is None or isinstance(gradient, Tensor) else wrap(gradient)


# ─── How the nodes of minigrad stand when a backward call begins


FIXED = frozenset((*SCALARS, int, float, bool, type(None), complex))  # what cannot change
Places = list[tuple[int | None, int]]


def freeze_of(recorder: Any, engine: EngineEvents) -> Callable[[list[Any]], tuple[list[Any], list[Any]]]:
    """The source's `freeze`: the nodes that can be reached, and their state; as `States.freeze_all`."""
    outputs, key_of, known = recorder.tape.ids.outputs, recorder.tape.ids.key, Getters()
    take, states = recorder.tape.numbers.take, recorder.states

    def freeze(roots: list[Any]) -> tuple[list[Any], list[Any]]:
        live: list[Any] = []
        frozen: list[Any] = []
        seen: set[Any] = {None}
        keys: dict[Any, Any] = {}  # of AccumulateGrads
        names = states.titles[get_dialect()]
        stack = roots[::-1]
        engine.calm = True
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            number, targets, kind = node._seq, node._next, node.__class__
            if number in states.contracted:
                frozen.append((number, number, states.freeze(number, node)))
                live.append(node)
                stack += [target for target, _ in reversed(states.edges(node))]
                continue
            if kind.op is None or node._extra is not None:
                key = key_of(node)
                if key not in outputs and number != LAST:
                    continue
                row = accumulator(recorder, node, key) if number == LAST and node._extra is None else None
                if row is None:
                    engine.calm = False
                    row = key, number, states.freeze(key, node)
                frozen.append(row)
            elif number not in outputs:
                continue
            else:
                touched = node._check is not None or node._storage is not None
                edges: list[Any] = []
                for n in targets:
                    if n is None:
                        edges.append(None)
                        continue
                    nr = n._seq
                    if nr == LAST:
                        nr = keys.get(n) or keys.setdefault(n, key_of(n))
                    edges.append(nr)
                    if n._storage is not None:
                        touched = True
                values_of, places, slots = known[kind]
                values, versions, memories = values_of(node), None, None
                if touched or not FIXED.issuperset(map(type, values)):
                    found = None if is_released(node) else looked_at(take, node, places, values)
                    if found is None:
                        frozen.append((number, number, states.freeze(number, node)))
                        live.append(node)
                        stack += targets[::-1]
                        continue
                    values, versions, memories = found
                how = names.get(kind) or states.title_of(node), slots, versions, memories, node._nrs
                frozen.append((number, number, *how, *values, *edges))
            live.append(node)
            stack += targets[::-1]
        return live, frozen

    return freeze


def accumulator(recorder: Any, node: Any, key: Any) -> tuple[Any, ...] | None:
    """The state of a plain AccumulateGrad; None for a leaf that nobody has seen."""
    leaf, memory = recorder.tape.ids.object(node.variable), id(owner_of(node.variable._data))
    return leaf and (key, LAST, NodeState(key, "AccumulateGrad", (), (), leaf, 0, memory=memory))


def looked_at(take: Callable[[Any], Any], node: Any, places: Places, saved: tuple[Any, ...]) -> Any:
    """Of saved values that are not all numbers which cannot change: what was taken of them, their versions
    and memories; None if one was released, or written to since.
    """
    check = node._check
    values: list[Any] = []
    versions: list[int] | None = None
    memories: list[tuple[int, int] | None] = [None] * len(places)
    for (place, at), value in zip(places, saved, strict=True):
        kind = value.__class__
        if kind in SCALARS:
            carrier = node if place is None else node._next[place]
            if carrier is not None and carrier._storage is not None:
                return None  # the scalar has become an array since
        elif kind not in FIXED:
            tensor = kind is not np.ndarray and isinstance(value, Tensor)
            if not (tensor or isinstance(value, (np.ndarray, np.generic))):
                if kind is list or (isinstance(value, tuple) and holds_arrays(value)):
                    return None
                values.append(str(value))
                continue
            carrier = value if tensor else node if place is None else node._next[place]
            if carrier is None or (
                carrier.__class__ is AccumulateGrad and carrier.variable._data is not value
            ):
                return None
            storage = carrier._storage
            if storage is not None:
                expected = check[at] or 0 if check else 0
                if storage.__class__ is dict or storage.version != expected:
                    return None
                versions = versions or [0] * len(places)
                versions[len(values)] = expected
            value = raw(value) if tensor else value
            whole = value if value.base is None else owner_of(value)
            memories[len(values)] = id(whole), whole.nbytes
            value = take(value)
        values.append(value)
    return values, None if versions is None else tuple(versions), tuple(memories) if any(memories) else None


def holds_arrays(values: tuple[Any, ...]) -> bool:
    """Whether there are tensors among saved values."""
    return any(isinstance(value, Tensor | np.ndarray) for value in values)


class Getters(dict[Any, tuple[Callable[[Any], Any], Places, tuple[Slot, ...]]]):
    """By class of node: what gives all that such a node saved; of each value the edge to what carries it
    (None: it is the node's own result), and its place among the versions in `_check`; and the slots, as
    `kept.saved_of` orders them.
    """

    def __missing__(self, kind: Any) -> Any:
        op = kind.op
        order = [*op.names]
        names = sorted(n for n in order if not n.endswith("_scalar_type") and "_sym_" not in n)
        attributes = ["_raw_" + name for name in names]
        several = operator.attrgetter(*attributes) if len(attributes) > 1 else None
        places = [(op.inputs.index(n) if n in op.inputs else None, order.index(n)) for n in names]
        slots = tuple(Slot(n, n in op.tensors, n in op.inputs) for n in names)
        one = several or (lambda node: tuple([getattr(node, name) for name in attributes]))
        self[kind] = one, places, slots
        return self[kind]
