"""Events of minigrad, which has observers for it.

Note [Fast notes]
    Here the time of recording is spent, so what is plain is noted without asking tensors and nodes through
    their properties: an op with one result that shares memory with nobody, a node with plain saved values,
    a node that ran without leaving a graph. Everything else goes through the recorder's methods, which ask
    minigrad as they ask any library; a test holds both ways to the same events.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dialect, modes
from minigrad.graph import LAST, RELEASED, AccumulateGrad
from minigrad.op import Op
from minigrad.tensor_base import TensorBase, edge

from ..protocol import Value, node_name, saved_of
from ..trace import notes

SCALARS = (np.float32, np.float64)
NUMBERS = (int, float, bool, type(None))
FIXED = frozenset((*SCALARS, *NUMBERS))  # what cannot change


def safely(method: Callable[..., None]) -> Callable[..., None]:
    """A method that must not raise in the cell: the recorder keeps the error."""

    @functools.wraps(method)
    def careful(self: Minigrad, *args: Any) -> None:
        if self.recorder.problem is None:
            try:
                method(self, *args)
            except Exception as problem:
                self.recorder.problem = problem

    return careful


class Minigrad:
    """An observer that passes on what it is told, in the recorder's terms."""

    def attach(self, recorder: Any) -> None:
        """Begin to tell `recorder` what happens on this thread."""
        self.recorder = recorder
        self.created = recorder.created
        self.detached = recorder.detached
        self.backward_ended = recorder.backward_ended
        self.mode_changed = recorder.mode_changed
        self.hook_starts = recorder.hook_starts
        self.hook_ended = recorder.hook_ended
        self.titles: dict[str, dict[type, str]] = {name: {} for name in dialect.DIALECTS}
        self.slots: dict[Any, list[Any]] = {}  # where the nodes of an op keep what they saved
        self.before: dict[Any, Any] = {}  # of each leaf, the gradient before the deposit
        self.calm = False  # whether no code of the user's runs inside the backward call
        self.flows: dict[int, tuple[Any, Any]] = {}  # large gradients that were sent, by address
        self.forward = forward_of(self)
        self.node_ran = node_ran_of(self)
        modes.add_observer(self)

    def detach(self) -> None:
        """Stop."""
        modes.remove_observer(self)
        self.before, self.flows = {}, {}

    # ── ops ─────────────────────────────────────────────────────────────────────────────────────────────────

    @safely
    def ran(self, op: Any, inputs: Any, outputs: Any) -> None:
        """An op or a custom Function ran, in general."""
        title = getattr(op, "name", None) or op.__name__
        results = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
        recorder, inputs = self.recorder, list(inputs)
        if recorder.inside is not None:
            recorder.ran_inside(title, inputs, results[0] if results else None)
        if title == "copy" and recorder.call:
            inputs = inputs[1:]  # the destination is new memory, nobody's tensor
        recorder.forward(title, inputs, results, modes.is_grad_enabled())

    @safely
    def mutated(self, op: Any, values: list[Any], version: int, history: tuple[Any, int]) -> None:
        """An op wrote into its first argument, which had another history before."""
        fn, nr = history
        before = None if fn is None else self.recorder.ids.output(fn, nr)
        self.recorder.mutated(op.name, values, version, before)

    def title(self, node: Any) -> str:
        """The name of a node in the dialect in force."""
        names = self.titles[dialect.get_dialect()]
        name = names.get(type(node))
        if name is None:
            name = names[type(node)] = node_name(node)
        return name

    # ── backward ────────────────────────────────────────────────────────────────────────────────────────────

    def backward_started(self, roots: Any, gradients: Any, options: Any) -> None:
        """A backward call starts."""
        wanted = options.inputs if options.call == "grad" else None
        self.recorder.backward_started(self, options.call, roots, gradients, options.create_graph, wanted)

    def node_at(self, tensor: Any) -> Any:
        """The node at which a tensor's gradient arrives, or None."""
        return edge(tensor)

    def freeze(self, roots: list[Any]) -> tuple[list[Any], list[Any]]:
        """The nodes that can be reached, and how they stand; as `Ledger.freeze_all`."""
        recorder, outputs = self.recorder, self.recorder.ids.outputs
        live, frozen, seen = [], [], set()
        stack = roots[::-1]
        self.calm = True
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            number = node._seq
            if node.op is not None and node._extra is None:
                if number not in outputs:
                    continue
                frozen.append(self.plain(node) or (number, number, recorder.freeze(number, node)))
            else:
                key = recorder.ids.key(node)
                if key not in outputs and number != LAST:
                    continue
                leaf = recorder.ids.object(node.variable) if number == LAST and node._extra is None else None
                self.calm = self.calm and leaf is not None
                how = (recorder.freeze(key, node),) if leaf is None else (self.title(node), leaf)
                frozen.append((key, number, *how))
            live.append(node)
            stack += [n for n in node._next[::-1] if n is not None]
        return live, frozen

    def plain(self, node: Any) -> tuple[Any, ...] | None:
        """Of a node of an op, what `notes.started` needs, if there is nothing to look after: none of the
        saved values was released, or written to since."""
        op, check = node.op, node._check
        if check is RELEASED:
            return None
        edges: list[Any] = []
        for n in node._next:
            if n is None:
                edges.append(None)
            else:
                number = n._seq
                edges.append(number if number != LAST else self.recorder.ids.key(n))
        slots = self.slots.get(op)
        if slots is None:
            slots = self.slots[op] = [slot_of(op, name) for name in notes.saved_names(op)]
        values: list[Any] = []
        versions: list[int] | None = None
        for slot, place, at in slots:
            value = getattr(node, slot)
            if value.__class__ not in FIXED:
                kind = isinstance(value, TensorBase)
                arrays = kind or isinstance(value, np.ndarray | np.generic)
                if not arrays:
                    values.append(str(value))
                    continue
                carrier = value if kind else node if place is None else node._next[place]
                if carrier is None or (
                    carrier.__class__ is AccumulateGrad and carrier.variable._data is not value
                ):
                    return None
                storage = carrier._storage
                if storage is not None:
                    expected = check[at] or 0 if check else 0
                    if storage.__class__ is dict or storage.version != expected:
                        return None
                    versions = versions or [0] * len(slots)
                    versions[len(values)] = expected
                value = self.recorder.numbers.take(value._data if kind else value)
            elif value.__class__ in SCALARS:
                carrier = node if place is None else node._next[place]
                if carrier is not None and carrier._storage is not None:
                    return None  # the scalar has become an array since
            values.append(value)
        number, told = node._seq, None if versions is None else tuple(versions)
        return number, number, op.name, self.title(node), told, node._nrs, *values, *edges

    def gone(self, node: Any) -> bool:
        """Whether what a node saved cannot be read any more."""
        check = node._check
        if check is RELEASED:
            return True
        if check is None and node.op is not None and node._storage is None:
            return False
        return any(kept.freed for kept in saved_of(node))

    def listen(self, live: Any, starts: Any) -> None:
        """The engine tells; there is nothing to do."""
        self.flows = {}

    @safely
    def deposit_starts(self, node: Any) -> None:
        """An AccumulateGrad is about to run."""
        recorder = self.recorder
        if recorder.depth == 1:
            grad = node.variable._grad
            self.before[node] = None if grad is None else recorder.numbers.take(grad._data)

    def deposited(self, node: Any, received: Any) -> None:
        """An AccumulateGrad ran."""
        recorder, leaf = self.recorder, node.variable
        before, key = self.before.pop(node, None), recorder.ids.key(node)
        added = None if received is None else self.received(node, getattr(received, "_data", received))
        recorder.notes.append(("ran", recorder.call, key, added))
        name = recorder.ids.known(leaf)
        if added is not None and leaf._grad is not None and name is not None:
            same = before is None and self.calm
            after = added if same else recorder.numbers.take(leaf._grad._data)
            recorder.notes.append(("deposited", recorder.call, key, name, before, added, after))

    @safely
    def custom_starts(self, node: Any) -> None:
        """The backward of a custom Function starts."""
        if self.recorder.depth == 1:
            self.recorder.inside = self.recorder.ids.key(node)

    @safely
    def custom_ended(self) -> None:
        """It ended."""
        if self.recorder.depth == 1:
            self.recorder.inside = None

    def sent(self, gradient: Any) -> Any:
        """A gradient that was sent, as it is now."""
        taken = self.recorder.numbers.take(gradient)
        if taken.__class__ is Value and self.calm:
            self.flows[id(gradient)] = weakref.ref(gradient), taken
        return taken

    def received(self, node: Any, gradient: Any) -> Any:
        """A gradient that arrived; a large one that arrives as it was sent need not be gone through again."""
        flow = self.flows.pop(id(gradient), None) if self.calm else None
        return flow[1] if flow and flow[0]() is gradient else self.recorder.numbers.take(gradient)


def forward_of(source: Minigrad) -> Callable[[Any, Any, Any], None]:
    """The observer's `forward`, with all it needs at hand. See Note [Fast notes]."""
    recorder, general = source.recorder, source.ran
    ids, numbers, noted, locator = recorder.ids, recorder.numbers, recorder.notes, recorder.locator
    outputs, objects, numbered, titles = ids.outputs, ids.objects, ids.tensors.__next__, source.titles
    namespace, spots = recorder.namespace, locator.spots
    frame_of, reference, kind = sys._getframe, weakref.ref, TensorBase.result_class
    places: dict[tuple[int, int], int] = {}  # numbers of points in the source, by code and offset

    def forward(op: Any, inputs: Any, output: Any) -> None:
        if recorder.call or op.__class__ is not Op or output.__class__ is not kind:
            return general(op, inputs, output)
        if output._storage is not None:
            return general(op, inputs, output)
        try:
            given: list[Any] = []
            for value in inputs:
                if not isinstance(value, TensorBase):
                    if value.__class__ not in NUMBERS:
                        return general(op, inputs, output)
                    given.append(value)
                    continue
                fn = value._fn
                if value._view is not None:
                    return general(op, inputs, output)
                if fn is not None:
                    name = outputs.get((fn._seq, value._nr) if value._nr else fn._seq)
                else:
                    known = objects.get(id(value))
                    name = known[0] if known is not None and known[1]() is value else None
                if name is None:
                    return general(op, inputs, output)
                given.append(name)
            fn = output._fn
            if recorder.problem is not None or (fn is None and not modes.state.grad_enabled):
                return general(op, inputs, output)
            frame: Any = frame_of(2)
            inner = 0
            while frame is not None and frame.f_globals is not namespace:
                inner, frame = frame.f_lasti, frame.f_back
            here = (0, 0) if frame is None else (id(frame.f_code), frame.f_lasti)
            place: Any = places.get(here)
            if place is None:
                spot, top, inner = locator.reach(frame_of(2))
                place = None if spot is None else recorder.place_of(spot)
                if spot is not None and spots.get(here) is spot:
                    places[here] = place
            else:
                spot = recorder.spots[place]
                top = locator.top(frame.f_back) if spot.nested else spot.top
            name = f"t{numbered()}"
            data = output._data
            taken = data if data.__class__ in SCALARS else numbers.take(data)
            key = title = None
            if fn is None:
                objects[id(output)] = name, reference(output)
            else:
                key = fn._seq
                outputs[key] = name
                title = titles[dialect._current].get(fn.__class__) or source.title(fn)
            unset = dialect.retains_grad_unset()
            noted.append(("forward", name, op.name, key, title, taken, unset, place, top, inner, *given))
        except Exception as problem:
            recorder.problem = problem

    return forward


def node_ran_of(source: Minigrad) -> Callable[[Any, Any, Any], None]:
    """The observer's `node_ran`, with all it needs at hand."""
    recorder = source.recorder
    noted = recorder.notes

    def node_ran(node: Any, received: Any, sent: Any) -> None:
        if recorder.depth != 1 or recorder.problem is not None:
            return
        try:
            if node.__class__ is AccumulateGrad:
                source.deposited(node, received)
            elif recorder.creates or received.__class__ is list or node.op is None:
                tensors = [wrapped(g) for g in (received if isinstance(received, list) else [received])]
                recorder.node_ran(node, tensors, [wrapped(g) for g in sent])
            else:
                if received is not None and received.__class__ not in SCALARS:
                    received = source.received(node, received)
                taken = [g if g is None or g.__class__ in SCALARS else source.sent(g) for g in sent]
                noted.append(("ran", recorder.call, node._seq, received, *taken))
        except Exception as problem:
            recorder.problem = problem

    return node_ran


def slot_of(op: Any, name: str) -> tuple[str, int | None, int]:
    """Where a node keeps what it saved as `name`: the slot, the edge to what carries it (None: it is the
    node's own result), and the place among the versions in `_check`."""
    place = op.inputs.index(name) if name in op.inputs else None
    return "_raw_" + name, place, [n for n, _ in op.saved].index(name)


def wrapped(gradient: Any) -> Any:
    """A gradient as a tensor."""
    from minigrad.tensor_base import wrap

    return gradient if gradient is None or isinstance(gradient, TensorBase) else wrap(gradient)
