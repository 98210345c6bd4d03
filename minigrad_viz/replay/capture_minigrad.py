"""Capturing a program of minigrad, whose observers tell of every op."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

import minigrad
from minigrad import Tensor, is_grad_enabled
from minigrad.observing import (
    F,
    Observer,
    Op,
    Tensors,
    add_observer,
    dispatch,
    hidden_from_observers,
    numbers,
    observers,
    remove_observer,
)

from .capture import RANDOM, ProgramCapture, carefully
from .program import GRAD, InputTensor, Ref, Unreplayable

# ─── What the frames of the stack say of an op of minigrad


OURS = ("minigrad.", "minigrad_viz.")


def named_frame(*names: str) -> Any:
    """The frame of a function of minigrad's of one of these names, inside which something happens."""
    frame: Any = sys._getframe(2)
    while frame is not None and is_own_module(frame.f_globals.get("__name__")):
        if frame.f_code.co_name in names:
            return frame
        frame = frame.f_back
    return None


METHODS: Any = Tensor
PART, WRITE = METHODS.__getitem__.__code__, METHODS.__setitem__.__code__


def item_frame() -> Any:
    """The frame of `x[key] = value`, else that of `x[key]`, inside which something happens."""
    frame: Any = sys._getframe(2)
    part = None
    while frame is not None and is_own_module(frame.f_globals.get("__name__")):
        if frame.f_code is WRITE:
            return frame
        part = frame if frame.f_code is PART and part is None else part
        frame = frame.f_back
    return part


@functools.cache
def is_own_module(name: Any) -> bool:
    """Whether a module of this name is minigrad's or the viewer's."""
    return str(name).startswith(OURS)


# ─── Taking down a program of minigrad, whose observers tell of every op


DATA = operator.attrgetter("data")
COMPARED = ("allclose", "equal")  # functions that compare by an op, and give a bool


class MinigradCapture(ProgramCapture, Observer):
    """An observer that takes down what a cell computes with minigrad."""

    optimizers = "minigrad.optim."

    def __init__(self, recorder: Any) -> None:
        super().__init__(recorder, "minigrad")
        self.depth = 0  # of backward calls
        self._call: Any = None  # the backward call that runs
        self.gradients: set[int] = set()  # tensors that were read as `.grad` in this round

    def start(self) -> None:
        """Begin to listen."""
        add_observer(self)

    def end(self) -> None:
        """Stop listening."""
        if self in observers():
            remove_observer(self)

    def ref(self, tensor: Any) -> Ref:
        """A tensor that is used. The `.grad` of one that is known is read by a step of its own."""
        if self.number_of(tensor) is None:
            owner = self.owner_of(tensor)
            if owner is not None:
                mine = self.ref(owner)
                read = self.new(tensor)
                self.gradients.add(read.number)
                self.step("call", GRAD, (mine,), results=read)
        return super().ref(tensor)

    def owner_of(self, tensor: Any) -> Any:
        """The tensor, among those that are known, whose `.grad` a tensor is; or None."""
        owners = (reference() for _, reference in self.known.values())
        return next((owner for owner in owners if owner is not None and grad_of(owner) is tensor), None)

    # ── ops ─────────────────────────────────────────────────────────────────────────────────────────────────

    @carefully
    def forward(self, op: Any, inputs: Any, outputs: Any) -> None:
        """An op ran."""
        if self.depth:
            return
        if op.__class__ is not Op:
            raise Unreplayable("live_no_function", name=op.__name__)
        part = item_frame()
        if part is not None and part.f_code is WRITE:
            return  # on the way to the part that is written
        if part is not None:
            return self.part(part.f_locals["self"], part.f_locals["key"], inputs[0], outputs)
        args = None if op.listed or "indices" in op.params else self.known_arguments(inputs)
        if args is None:
            args = tuple([self.argument(value) for value in regroup_arguments(op, inputs)])
        several = isinstance(outputs, tuple | list)
        results = tuple(map(self.result, outputs)) if several else self.result(outputs)
        more = {"grad_mode": is_grad_enabled(), "fresh": self.dropped(op)}
        self.step("call", dispatch, (op, args), results=results, **more)
        if op.name in ("isclose", "eq") and named_frame(*COMPARED) is not None:
            answer = all_of(outputs)
            self.step("ask", all_of, (results,), answer=answer, line=self.line())

    def dropped(self, op: Any) -> Any:
        """How dropout draws again, whose noise is the second factor of a product."""
        frame = named_frame("drop") if op.name == "mul" and self.rounds is not None else None
        if frame is None or frame.f_locals["feature"] or frame.f_locals["inplace"]:
            return None  # without it, the noise of each round is new data
        return minigrad.nn.functional.dropout, (self.ref(frame.f_locals["input"]), frame.f_locals["p"])

    def part(self, whole: Any, key: Any, first: Any, outputs: Any) -> None:
        """An op ran inside `whole[key]`; the first of several takes `whole` itself."""
        if first is not whole:
            self.steps[-1] = self.steps[-1]._replace(results=self.result(outputs))
            return
        args = self.argument(whole), self.argument(key)
        enabled = is_grad_enabled()
        self.step("call", operator.getitem, args, results=self.result(outputs), grad_mode=enabled)

    @carefully
    def mutated(self, op: Any, values: Any, version: int, history: Any) -> None:
        """An op wrote into its first argument. One that nobody knows yet will be known as it stands then."""
        if self.depth:
            return
        frame = item_frame()
        frame = frame if frame is not None and frame.f_code is WRITE else None
        if frame is not None:
            values = [frame.f_locals[name] for name in ("self", "key", "value")]
        if self.owner_of(values[0]) is None and not self.writes(values[0], values[1:]):
            return
        self.note_names()
        if frame is not None:
            self.step("call", operator.setitem, map(self.argument, values), grad_mode=is_grad_enabled())
            return
        if op.view or op.name.rstrip("_") in RANDOM:
            raise Unreplayable("live_no_op", name=op.name)
        args = [self.argument(value) for value in regroup_arguments(op, values)]
        self.step("call", F.in_place, (op, *args), grad_mode=is_grad_enabled())

    @carefully
    def created(self, tensor: Any, data: Any) -> None:
        """A tensor was made from data."""
        if not self.depth and self.number_of(tensor) is None:
            made = self.taken(tensor)
            self.step("make", None, results=self.new(tensor), made=made)

    @carefully
    def detached(self, source: Any, result: Any, how: str) -> None:
        """`detach()` or `.data` was called, or `detach_()`."""
        if self.depth:
            return
        mine = self.ref(source)
        run: Callable[..., Any] = DATA if how == "data" else Tensor.detach
        run = Tensor.detach_ if source is result else run
        self.step("call", run, (mine,), results=self.result(result), grad_mode=is_grad_enabled())

    @carefully
    def left(self, tensor: Any, how: str, value: Any) -> None:
        """Numbers of a tensor were given out."""
        if not self.depth:
            self.exits()

    @carefully
    def answered(self, tensor: Any, value: Any) -> None:
        """Python asked a tensor for its truth, or for a whole number."""
        if not self.depth:
            self.step("ask", type(value), (self.ref(tensor),), answer=value, line=self.line())

    @carefully
    def asked(self, tensor: Any) -> None:
        """`requires_grad` was set."""
        if not self.depth and self.number_of(tensor) is not None:
            self.step("call", Tensor.requires_grad_, (self.ref(tensor), tensor.requires_grad))

    @carefully
    def grad_set(self, tensor: Any, before: Any) -> None:
        """`.grad` was assigned or deleted."""
        if not self.depth and self.number_of(tensor) is not None:
            grad = grad_of(tensor)
            value = None if grad is None else ProgramCapture.ref(self, grad)
            self.step("call", setattr, (self.ref(tensor), "grad", value))

    @carefully
    def mode_changed(self, mode: str, enabled: bool) -> None:
        """A mode was switched; the grad mode is noted with each step."""
        if mode != "grad":
            raise Unreplayable("live_no_mode", mode=mode)

    # ── backward ────────────────────────────────────────────────────────────────────────────────────────────

    @carefully
    def backward_started(self, roots: Any, gradients: Any, options: Any) -> None:
        """A backward call starts."""
        self.depth += 1
        if self.depth > 1:
            raise Unreplayable("live_no_hook")
        if getattr(options, "batched", False):
            raise Unreplayable("live_no_op", name="is_grads_batched")
        for _, reference in list(self.known.values()):
            tensor = reference()
            if tensor is not None and tensor.retains_grad:
                self.step("call", Tensor.retain_grad, (self.ref(tensor),))
        self.note_names()
        keeps = {"retain_graph": options.retain_graph, "create_graph": options.create_graph}
        gradients = tuple(self.argument(None if self.is_implied(g) else g) for g in gradients)
        roots = tuple(map(self.argument, roots))
        if options.call == "grad":
            args = roots, tuple(map(self.argument, options.inputs)), gradients
            self._call = minigrad.autograd.grad, args, keeps | {"allow_unused": True}
        else:
            inputs = None if options.inputs is None else tuple(map(self.argument, options.inputs))
            self._call = minigrad.autograd.backward, (roots, gradients), keeps | {"inputs": inputs}

    def is_implied(self, gradient: Any) -> bool:
        """Whether a gradient is the 1 with which backward starts if it is given none."""
        unknown = isinstance(gradient, Tensor) and self.number_of(gradient) is None
        return unknown and gradient.numel() == 1 and numbers(gradient).item() == 1

    @carefully
    def backward_ended(self, error: Any, captured: Any) -> None:
        """It ended."""
        self.depth -= 1
        if error is not None:
            raise Unreplayable("live_no_error")
        run, args, options = self._call
        results = captured and tuple(None if g is None else self.result(g) for g in captured)
        more = {"results": results, "grad_mode": is_grad_enabled()}
        single = run is minigrad.autograd.backward and len(args[0]) == 1
        root = args[0][0] if single and type(args[0][0]) is Ref else None
        self.step("call", run, args, MappingProxyType(options), **more, backward=root)
        if root is not None and self.rounds is not None:
            one = next((t for number, t in self.alive() if number == root.number), None)
            value = numbers(one).item() if one is not None and one.numel() == 1 else None
            for address, (number, _) in list(self.known.items()):
                if number in self.gradients:  # the next round reads it again
                    del self.known[address]
            self.gradients.clear()
            with hidden_from_observers():
                self.ended(value, np.array(numbers(minigrad.get_rng_state())))

    @carefully
    def hook_starts(self, *_: Any) -> None:
        """A hook of the user's runs."""
        raise Unreplayable("live_no_hook")

    @carefully
    def packed(self, *_: Any) -> None:
        """A saved-tensor hook ran."""
        raise Unreplayable("live_no_hook")

    @carefully
    def recomputed(self, *_: Any) -> None:
        """A checkpoint computes again."""
        raise Unreplayable("live_no_op", name="checkpoint")

    @carefully
    def step_ended(self, optimizer: Any) -> None:
        """An optimizer changed its parameters."""
        self.stepped(optimizer)


def grad_of(tensor: Any) -> Any:
    """The `.grad` of a tensor, read only where it can be there: elsewhere reading it warns."""
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def all_of(tensor: Any) -> bool:
    """Whether all elements hold."""
    return bool(np.all(numbers(tensor)))


def regroup_arguments(op: Any, values: Any) -> list[Any]:
    """The arguments of an op, of which observers see a list of tensors one by one."""
    values, more = list(values), len(values) - len(op.params) + 1
    if op.listed:
        return [values[:more], *values[more:]]
    if "indices" in op.params:
        at = op.params.index("indices")
        return [*values[:at], Tensors(values[at : at + more]), *values[at + more :]]
    return values


def build_minigrad_tensor(given: InputTensor) -> Any:
    """A new tensor."""
    kind = minigrad.nn.Parameter if given.parameter else None
    made = minigrad.tensor(given.data, requires_grad=given.learns and kind is None)
    if kind is not None:
        made = kind(made, requires_grad=given.learns)
    if given.grad is not None:
        made.grad = minigrad.tensor(given.grad)
    return made
