"""Events of minigrad, which has observers for it."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any

from minigrad import (
    Tensor,
    get_dialect,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
)
from minigrad.observing import (
    DIALECTS,
    Op,
    add_observer,
    ghost_name,
    gradient_node,
    has_plain_results,
    in_saved_hook,
    is_differentiable,
    is_forward,
    is_recording,
    is_released,
    is_untouched,
    remove_observer,
)

from ..kept import saved_of
from ..protocol import Value, has_history, node_name
from .freezing import freeze_of
from .quick import forward_of, node_ran_of

STEPS = frozenset(("add", "sub", "mul", "div", "add_scaled", "sub_scaled"))  # do not write `t[key] = value`
OURS = ("minigrad.", "minigrad_viz.")  # modules between an op and the code of the user's that ran it


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
        self.backward_ended = recorder.backward_ended
        self.packed = recorder.packing.packed
        self.unpacked = recorder.packing.unpacked
        self.grad_set = recorder.grad_set
        self.called = recorder.modules.called
        self.returned = recorder.modules.returned
        self.hook_starts = recorder.listener.hook_starts
        self.hook_ended = recorder.listener.hook_ended
        self.step_starts = recorder.steps.starts
        self.step_ended = recorder.steps.ended
        self.titles: dict[str, dict[type, str]] = {name: {} for name in DIALECTS}
        self.before: dict[Any, Any] = {}  # of each leaf, the gradient before the deposit
        self.wraps = False  # whether gradients are tensors
        self.base: str | None = None  # the id of a tensor of which a part is being written
        self.calm = False  # whether no code of the user's runs inside the backward call
        self.flows: dict[int, tuple[Any, Any]] = {}  # large gradients that were sent, by address
        self.ghost = ghost_of
        self.freeze = freeze_of(self)
        self.fast = forward_of(self)
        self.forward: Any = self.fast
        self.node_ran = node_ran_of(self)
        for mode, enabled in standing().items():
            recorder.mode_stands(mode, enabled)
        self.choose()
        add_observer(self)

    def detach(self) -> None:
        """Stop."""
        remove_observer(self)
        self.before, self.flows = {}, {}

    # ── modes ───────────────────────────────────────────────────────────────────────────────────────────────

    def mode_changed(self, mode: str, enabled: bool) -> None:
        """The user switched a mode."""
        self.choose()
        self.recorder.mode_changed(mode, enabled)

    def recomputed(self, started: bool) -> None:
        """A checkpoint begins to run its function again, or ends."""
        self.recorder.packing.recomputed(started)
        self.choose()

    def choose(self) -> None:
        """How ops are told of: fast, unless they leave more than a plain result."""
        plain = has_plain_results() and not self.recorder.packing.again
        self.forward = self.fast if plain else self.ran

    # ── ops ─────────────────────────────────────────────────────────────────────────────────────────────────

    @safely
    def ran(self, op: Any, inputs: Any, outputs: Any) -> None:
        """An op or a custom Function ran, in general."""
        title = getattr(op, "name", None) or op.__name__
        results = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
        recorder, inputs = self.recorder, list(inputs)
        if recorder.rest.on and recorder.rest.skips(*(t for t in results if isinstance(t, Tensor))):
            return
        if recorder.packing.again:
            return recorder.packing.ran_again(title, inputs, results[0] if results else None)
        if in_saved_hook():
            return
        item = None if recorder.call or op.__class__ is not Op or not op.view else item_set()
        if item is not None:  # a step on the way to the part, or of the value to its shape
            self.base = recorder.states.id_of(item["self"])
            return
        if recorder.inside is not None:
            recorder.ran_inside(title, inputs, results[0] if results else None)
        written = [i for i, t in enumerate(inputs) if any(t is r for r in results)]
        if written and op.__class__ is not Op:  # by a custom Function, which says that its input is dirty
            return self.dirtied(title, inputs, written[0])
        if title == "copy" and recorder.call:
            inputs = inputs[1:]  # the destination is new memory, nobody's tensor
        recorder.forward(title, inputs, results, is_grad_enabled(), ghost_of(op, results))

    def dirtied(self, title: str, inputs: list[Any], i: int) -> None:
        """A custom Function wrote into input `i` and returned it; how often, nobody knows."""
        tensor = inputs[i]
        place = sum(isinstance(t, Tensor) for t in inputs[:i])
        edges = () if tensor.grad_fn is None else tensor.grad_fn.next_functions
        fn, nr = edges[place] if place < len(edges) else (None, 0)
        before = None if fn is None else self.recorder.states.source_of(fn, nr)
        values = [tensor, *(t for t in inputs if t is not tensor)]
        self.recorder.mutated(title, values, -1, before)

    @safely
    def created(self, tensor: Any, data: Any) -> None:
        """A tensor was made from data."""
        if self.rests(tensor):
            return
        if not in_saved_hook():
            self.recorder.crossing.created(tensor, data)

    @safely
    def detached(self, source: Any, result: Any, how: str) -> None:
        """`detach()` was called, or `.data`."""
        if self.rests(source):
            return
        if not in_saved_hook():
            self.recorder.crossing.detached(source, result, how)

    @safely
    def left(self, tensor: Any, how: str, value: Any) -> None:
        """Numbers of a tensor were given out."""
        if self.rests(tensor):
            return
        self.recorder.crossing.left(tensor, how, value)

    def rests(self, tensor: Any) -> bool:
        """Whether what happens to a tensor is only counted. See Note [Lighter watching]."""
        return self.recorder.rest.on and self.recorder.rest.skips(tensor)

    @safely
    def asked(self, tensor: Any) -> None:
        """`requires_grad` of a tensor was set."""
        self.recorder.crossing.asked(tensor)

    @safely
    def mutated(self, op: Any, values: list[Any], version: int, history: tuple[Any, int]) -> None:
        """An op wrote into its first argument, which had another history before."""
        if self.rests(values[0]):
            return
        fn, nr = history
        before = None if fn is None else self.recorder.ids.output(fn, nr)
        item = None if op.name in STEPS else item_set()
        if item is not None:
            before = before if values[0] is item["self"] else self.base
            keys = values[1:-2] if op.name == "index_put" else []
            values = [item["self"], *keys, item["value"]]
        self.recorder.mutated(op.name, values, version, before)

    def title(self, node: Any) -> str:
        """The name of a node in the dialect in force."""
        names = self.titles[get_dialect()]
        name = names.get(type(node))
        if name is None:
            name = names[type(node)] = node_name(node)
        return name

    # ── backward ────────────────────────────────────────────────────────────────────────────────────────────

    def backward_started(self, roots: Any, gradients: Any, options: Any) -> None:
        """A backward call starts."""
        self.wraps = options.create_graph or is_forward()
        batched = bool(getattr(options, "batched", False))
        told = options.call, roots, gradients, options.create_graph, options.inputs, batched
        self.recorder.backward_started(self, *told)

    def node_at(self, tensor: Any) -> Any:
        """The node at which a tensor's gradient arrives, or None."""
        return gradient_node(tensor) if has_history(tensor) else None

    def gone(self, node: Any) -> bool:
        """Whether what a node saved cannot be read any more."""
        if is_released(node):
            return True
        return not is_untouched(node) and any(kept.freed for kept in saved_of(node))

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
        late = recorder.listener.before_late_hooks(key) if leaf._post_accumulate else None
        recorder.notes.append(("ran", recorder.call, key, added))
        name = recorder.ids.known(leaf)
        if added is None or name is None:
            return
        grad, after = leaf._grad, added
        if grad is not None:
            after = added if before is None and self.calm else recorder.numbers.take(grad._data)
            recorder.grads.hold(name, grad, after)
        recorder.notes.append(("deposited", recorder.call, key, name, before, added, late or after))

    @safely
    def custom_starts(self, node: Any) -> None:
        """The backward of a custom Function starts."""
        if self.recorder.depth == 1:
            self.recorder.inside = self.recorder.ids.key(node)

    @safely
    def custom_ended(self) -> None:
        """It ended."""
        if self.recorder.depth == 1 and self.recorder.inside is not None:
            self.recorder.packing.told_again(self.recorder.ids.name(self.recorder.inside))
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


def item_set() -> dict[str, Any] | None:
    """The variables of `__setitem__`, if what is told happens inside it: the cell wrote `t[key] = value`."""
    frame: Any = sys._getframe(2)
    method: Any = Tensor.__setitem__
    code = method.__code__
    while frame is not None and (frame.f_globals.get("__name__") or "").startswith(OURS):
        if frame.f_code is code:
            return frame.f_locals
        frame = frame.f_back
    return None


def ghost_of(op: Any, results: list[Any]) -> str:
    """The name of the node that an op would have left, had it been recorded; "" for one that leaves none."""
    if is_recording() or not results or not is_differentiable(results[0]._data.dtype):
        return ""
    if op.__class__ is not Op:
        return f"{op.__name__}Backward"
    return ghost_name(op)


def standing() -> dict[str, bool]:
    """The modes of this thread that are not as usual."""
    on = {"inference": is_inference_mode_enabled(), "anomaly": is_anomaly_enabled()}
    off = {} if is_grad_enabled() or on["inference"] else {"grad": False}
    return off | {mode: True for mode, enabled in on.items() if enabled}
