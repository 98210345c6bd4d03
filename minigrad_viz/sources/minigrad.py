"""Events of minigrad, which has observers for it."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad import Tensor, is_anomaly_enabled, is_grad_enabled, is_inference_mode_enabled
from minigrad.observing import (
    Observer,
    Op,
    Tensors,
    add_observer,
    ghost_name,
    gradient_node,
    has_plain_results,
    in_saved_hook,
    is_differentiable,
    is_forward,
    is_recording,
    is_running,
    numbers,
    observers,
    remove_observer,
)

from ..protocol import has_history
from ..trace.calls import RANDOM
from .minigrad_engine import EngineEvents, freeze_of, node_ran_of, safely

STEPS = frozenset(("add", "sub", "mul", "div", "add_scaled", "sub_scaled"))  # do not write `t[key] = value`
OURS = ("minigrad.", "minigrad_viz.")  # modules between an op and the code of the user's that ran it


class Minigrad:
    """An observer that translates the events of minigrad into calls of the recorder."""

    budget = 40_000
    is_running = staticmethod(is_running)
    engine: Any = None  # until it is attached

    def attach(self, recorder: Any) -> None:
        """Begin to tell `recorder` what happens on this thread."""
        self.recorder, self.op_ran = recorder, recorder.forward
        self.keeps_rounds = recorder.calls.rounds is not None
        self.backward_ended = recorder.backward.backward_ended
        self.packed = recorder.packing.packed
        self.unpacked = recorder.packing.unpacked
        self.grad_set = recorder.grad_set
        self.retained = functools.partial(recorder.calls.effect, Tensor.retain_grad)
        self.called = recorder.modules.called
        self.returned = recorder.modules.returned
        self.hook_starts = recorder.listener.hook_starts
        self.hook_ended = recorder.listener.hook_ended
        self.step_starts = recorder.steps.starts
        self.step_ended = recorder.steps.ended
        self.base: str | None = None  # the id of a tensor of which a part is being written
        self.engine = EngineEvents(recorder)
        self.lost = self.engine.lost
        self.deposit_starts = self.engine.deposit_starts
        self.custom_starts, self.custom_ended = self.engine.custom_starts, self.engine.custom_ended
        self.freeze = freeze_of(recorder, self.engine)
        self.node_ran = node_ran_of(recorder, self.engine)
        for mode, enabled in active_modes().items():
            recorder.mode_stands(mode, enabled)
        self.choose()
        add_observer(self)

    def detach(self) -> None:
        """Stop."""
        if self in observers():
            remove_observer(self)
        if self.engine is not None:
            self.engine.begin(wraps=False)

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
        """Note whether ops give plain results and nothing else runs."""
        self.plain = has_plain_results() and not self.recorder.tape.again

    # ── transforms ──────────────────────────────────────────────────────────────────────────────────────────

    def transform_starts(self) -> None:
        """A transform begins."""
        self.recorder.transforms.starts()
        self.be_quiet()

    def transform_ended(self, name: str, args: Any, result: Any) -> None:
        """A transform ended."""
        self.recorder.transforms.ended(name, args, result)

    def be_quiet(self) -> None:
        """Let another observer count ops, if they are only counted."""
        if self.recorder.transforms.silent:
            remove_observer(self)
            add_observer(Counter(self))

    def come_back(self, counter: Counter) -> None:
        """Observe again; the counter has done its work."""
        remove_observer(counter)
        self.choose()
        add_observer(self)

    # ── ops ─────────────────────────────────────────────────────────────────────────────────────────────────

    def forward(self, op: Any, inputs: Any, outputs: Any) -> None:
        """An op or a custom Function ran."""
        tape, transforms = self.recorder.tape, self.recorder.transforms
        if tape.rest.whole:
            tape.rest.passed += not tape.call
            return None
        if transforms.depth and transforms.many():
            return self.be_quiet()
        if self.keeps_rounds and op.__class__ is Op and op.name == "mul":
            self.drops_out()
        if not self.plain or tape.call or op.__class__ is not Op or op.view or tape.rest.on:
            return self.ran(op, inputs, outputs)
        results = outputs if outputs.__class__ is tuple else (outputs,)
        enabled = is_grad_enabled()
        self.op_ran(op.name, inputs, results, enabled, "" if enabled else ghost_of(op, results), False, op)

    @safely
    def drops_out(self) -> None:
        """Tell how dropout draws again, whose noise is the second factor of a product: in each round of a
        loop it is another one."""
        frame: Any = sys._getframe(2)
        while frame is not None and str(frame.f_globals.get("__name__")).startswith(OURS):
            if frame.f_code.co_name == "drop":
                known = frame.f_locals
                if not (known["feature"] or known["inplace"]):  # else the noise of each round is new data
                    calls, run = self.recorder.calls, minigrad.nn.functional.dropout
                    calls.add("fresh", run, (calls.ref(known["input"]), known["p"]))
                return
            frame = frame.f_back

    @safely
    def ran(self, op: Any, inputs: Any, outputs: Any) -> None:
        """The same, if it may not be a step of the cell, or a step that something else reports."""
        recorder, plain = self.recorder, op.__class__ is Op
        title = op.name if plain else op.__name__
        results = outputs if isinstance(outputs, tuple | list) else [outputs]
        results = [t for t in results if isinstance(t, Tensor)]
        if recorder.tape.rest.on and recorder.tape.rest.skips(*results):
            return
        if recorder.tape.again:
            return recorder.packing.ran_again(title, inputs, results[0] if results else None)
        if in_saved_hook():
            return
        item = None if recorder.tape.call or not plain or not op.view else item_set()
        if item is not None:  # a step on the way to the part, or of the value to its shape
            self.base = recorder.states.id_of(item["self"])
            return
        if recorder.tape.inside is not None:
            recorder.backward.ran_inside(title, inputs, results[0] if results else None)
        written = [] if plain else [i for i, t in enumerate(inputs) if any(t is r for r in results)]
        if written:  # by a custom Function, which says that its input is dirty
            return self.dirtied(title, list(inputs), written[0])
        if title == "copy" and recorder.tape.call:
            inputs = inputs[1:]  # the destination is new memory, nobody's tensor
        recorder.forward(title, inputs, results, is_grad_enabled(), ghost_of(op, results), False, op)

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
    def answered(self, tensor: Any, value: Any) -> None:
        """Python asked a tensor for its truth, or for a whole number; or whether all of it holds."""
        run = all_of if tensor.numel() != 1 else type(value)
        self.recorder.calls.answered(run, (tensor,), {}, value)

    @safely
    def left(self, tensor: Any, how: str, value: Any) -> None:
        """Numbers of a tensor were given out."""
        if self.rests(tensor):
            return
        self.recorder.crossing.left(tensor, how, value)
        self.recorder.calls.left()

    def rests(self, tensor: Any) -> bool:
        """Whether what happens to a tensor is only counted. See Note [Lighter watching]."""
        return self.recorder.tape.rest.on and self.recorder.tape.rest.skips(tensor)

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
        before = None if fn is None else self.recorder.tape.ids.output(fn, nr)
        item = None if op.name in STEPS else item_set()
        run: Any = op
        args: Sequence[Any] = regroup_arguments(op, values)
        enabled = is_grad_enabled()
        if item is not None:
            run, args = operator.setitem, (item["self"], item["key"], item["value"])
        elif op.view or op.name.rstrip("_") in RANDOM:
            run = None
        if item is not None:
            before = before if values[0] is item["self"] else self.base
            keys = values[1:-2] if op.name == "index_put" else []
            values = [item["self"], *keys, item["value"]]
        self.recorder.mutated(op.name, values, version, before, run, args, None, enabled)
        if run is None and self.recorder.tape.ids.known(values[0]) is not None:
            self.recorder.calls.hinder("live_no_op", name=op.name)

    # ── backward ────────────────────────────────────────────────────────────────────────────────────────────

    def backward_started(self, roots: Any, gradients: Any, options: Any) -> None:
        """A backward call starts."""
        self.engine.begin(wraps=options.create_graph or is_forward())
        batched = bool(getattr(options, "batched", False))
        run = minigrad.autograd.grad if options.call == "grad" else minigrad.autograd.backward
        keeps = options.retain_graph, run
        told = options.call, roots, gradients, options.create_graph, options.inputs, batched, *keeps
        self.recorder.backward.backward_started(self, *told)

    def node_at(self, tensor: Any) -> Any:
        """The node at which a tensor's gradient arrives, or None."""
        return gradient_node(tensor) if has_history(tensor) else None

    def listen(self, live: Any, frozen: Any, starts: Any) -> None:
        """The engine tells; there is nothing to do."""


class Counter(Observer):
    """Counts the ops of a transform while its `source` does not observe."""

    only_ops = True  # so the engine takes the ways that nobody watches

    def __init__(self, source: Minigrad) -> None:
        self.source, self.transforms = source, source.recorder.transforms

    def forward(self, op: Any, inputs: Any, outputs: Any) -> None:
        """An op ran."""
        self.transforms.ran += 1

    def transform_starts(self) -> None:
        """A transform begins inside another."""
        self.transforms.starts()

    def transform_ended(self, name: str, args: Any, result: Any) -> None:
        """A transform ended, perhaps the outermost."""
        self.transforms.ended(name, args, result)
        if not self.transforms.depth:
            self.source.come_back(self)


def item_set() -> dict[str, Any] | None:
    """The variables of `__setitem__` if the event happens inside it: the cell wrote `t[key] = value`."""
    frame: Any = sys._getframe(2)
    method: Any = Tensor.__setitem__
    code = method.__code__
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(OURS):
        if frame.f_code is code:
            return frame.f_locals
        frame = frame.f_back
    return None


def ghost_of(op: Any, results: Sequence[Any]) -> str:
    """The name of the node that an op would have left, had it been recorded; "" for one that leaves none."""
    if is_recording() or not results or not is_differentiable(results[0]._data.dtype):
        return ""
    if op.__class__ is not Op:
        return f"{op.__name__}Backward"
    return ghost_name(op)


def regroup_arguments(op: Any, values: Any) -> list[Any]:
    """The arguments of an op, of which observers see a list of tensors one by one."""
    values, more = list(values), len(values) - len(op.params) + 1
    if op.listed:
        return [values[:more], *values[more:]]
    if "indices" in op.params:
        at = op.params.index("indices")
        return [*values[:at], Tensors(values[at : at + more]), *values[at + more :]]
    return values


def all_of(tensor: Any) -> bool:
    """Whether all elements hold."""
    return bool(np.all(numbers(tensor)))


def active_modes() -> dict[str, bool]:
    """The modes of this thread that are not as usual."""
    on = {"inference": is_inference_mode_enabled(), "anomaly": is_anomaly_enabled()}
    off = {} if is_grad_enabled() or on["inference"] else {"grad": False}
    return off | {mode: True for mode, enabled in on.items() if enabled}
