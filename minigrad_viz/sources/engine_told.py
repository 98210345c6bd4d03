"""What minigrad's engine tells while a backward call runs: which gradients each node received and sent."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import Tensor
from minigrad.observing import AccumulateGrad, is_released, is_untouched, numbers, wrap

from ..faults import has_arrived
from ..kept import saved_of
from ..protocol import Value
from ..trace.events import Deposited

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


class EngineTold:
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
        return [key for key, node in zip(keys, live, strict=True) if gone(node)]

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
        recorder.tape.notes.append(("ran", recorder.tape.call, key, added))
        name = recorder.tape.ids.known(leaf)
        if added is None or name is None:
            return
        grad, after = leaf._grad, added
        if grad is not None:
            after = added if before is None and self.calm else recorder.tape.numbers.take(grad._data)
            recorder.states.owners.hold(name, grad, after)
        event = Deposited(recorder.tape.call, key, name, before, added, late or after)
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
            self.recorder.tape.notes.append(("ran", self.recorder.tape.call, key, got, sums))
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


def gone(node: Any) -> bool:
    """Whether what a node saved cannot be read any more."""
    if is_released(node):
        return True
    return not is_untouched(node) and any(kept.freed for kept in saved_of(node))


def node_ran_of(recorder: Any, source: EngineTold) -> Callable[[Any, Any, Any], None]:
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
                tensors = [wrapped(g) for g in (received if isinstance(received, list) else [received])]
                recorder.backward.node_ran(node, tensors, [wrapped(g) for g in sent])
            else:
                if received is not None and received.__class__ not in SCALARS:
                    received = source.received(node, received)
                if len(sent) == 2:  # without a loop
                    a, b = sent
                    a = a if a is None or a.__class__ in SCALARS else source.sent(a)
                    b = b if b is None or b.__class__ in SCALARS else source.sent(b)
                    noted.append(("ran", recorder.tape.call, node._seq, received, (a, b)))
                    return
                taken = [g if g is None or g.__class__ in SCALARS else source.sent(g) for g in sent]
                noted.append(("ran", recorder.tape.call, node._seq, received, tuple(taken)))
        except Exception as problem:
            if has_arrived(problem):
                raise
            recorder.tape.problem = problem

    return node_ran


def wrapped(gradient: Any) -> Any:
    """A gradient as a tensor."""
    return gradient if gradient is None or isinstance(gradient, Tensor) else wrap(gradient)
