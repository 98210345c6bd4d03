"""Calls of modules: their outputs at sampled steps, and the mode that models are in."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ..training_faults.evidence import ModuleFacts, OpRecord, Place
from .graphs import Call
from .hub import Listener, user_frame, user_place
from .naming import variable_of


class ModuleCalls(Listener):
    """Watches models at every step, and all modules at sampled ones."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.calls: list[Call] = []  # of this step
        self.open: list[tuple[int, int]] = []  # modules that run: id, first number of its nodes
        self.behaves: dict[int, list[Any]] = {}  # of each model the modules that depend on `training`
        self.evals: dict[int, Place | None] = {}  # where eval() was called first
        self.evaluating_now = False
        self.measured_model = ""

    def forget_step(self) -> None:
        """The next step begins."""
        self.calls.clear()
        self.open.clear()

    def enter_module(self, module: Any, args: Any) -> None:
        if threading.get_ident() != self.thread:
            return
        if (
            not self.open
            and id(module) not in self.run.names.modules
            and any(True for _ in module.parameters())
        ):
            self.add_root(module, "")
            self.enter_root(module, args)
        self.open.append((id(module), self.library.sequence()))

    def leave_module(self, module: Any, result: Any) -> None:
        if threading.get_ident() != self.thread or not self.open:
            return
        start = 0
        while self.open:  # an error may have left some open
            key, start = self.open.pop()
            if key == id(module):
                break
        name, kind = self.run.names.modules.get(id(module), ""), type(module).__name__
        self.calls.append(Call(name, kind, start, self.library.sequence()))
        if not name:
            return
        facts = self.evidence.modules.get(name)
        if facts is None:
            leaf = not any(True for _ in module.children())
            facts = ModuleFacts(name, kind, len(self.evidence.modules), leaf=leaf)
            self.evidence.modules[name] = facts
        facts.calls += 1
        first = result[0] if isinstance(result, tuple) and result else result
        if self.library.is_tensor(first) and facts.leaf and self.library.is_float(first):
            facts.shape = tuple(first.shape)
            self.run.measures.output(facts, first, self.evidence.steps + 1)

    def add_root(self, module: Any, name: str) -> None:
        frame = user_frame()
        name = name or variable_of(frame, module) or type(module).__name__.lower()
        self.run.names.add(module, name, self.library.Module)
        self.behaves[id(module)] = [m for m in module.modules() if depends_on_training(m)]
        compiling = self.library.compiling

        def enter(module: Any, args: Any) -> None:
            if not compiling():
                self.guarded(self.enter_root, module, args)

        def leave(module: Any, args: Any, result: Any) -> None:
            if not compiling():
                self.guarded(self.leave_root, module, result)

        self.run.handles.append(module.register_forward_pre_hook(enter))
        self.run.handles.append(module.register_forward_hook(leave))

    def start(self) -> None:
        """Look for what was compiled before."""
        for module in self.library.compiled_modules():
            self._compiled(module, variable_of(user_frame(), module))

    def after_compile(self, args: Any, kwargs: Any, result: Any) -> None:
        given = args[0] if args else kwargs.get("model")
        if given is not None:  # else it gives a decorator
            self._compiled(result if result is not None else given, variable_of(user_frame(), given))

    def _compiled(self, part: Any, name: str) -> None:
        """From now on nothing hooks modules or reads ops: a compiler would take our hooks for a part of the
        program. What optimizers, backward calls and the graph show remains."""
        self.run.by_compiler = True
        self.run.stop_hooks()
        if isinstance(part, self.library.Module):
            name = name or type(part).__name__.lower()
            if id(part) not in self.run.names.modules:
                self.add_root(part, name)
        name = name or getattr(part, "__name__", "")
        if name not in self.evidence.compiled:
            self.evidence.compiled.append(name)

    def enter_root(self, module: Any, args: Any) -> None:
        """A model is called, at any step."""
        if threading.get_ident() != self.thread:
            return
        self.run.turn_recording()
        behaves = self.behaves.get(id(module), [])
        if self.library.grad_enabled():
            if self.evaluating_now:
                self.end_evaluation()
            if behaves and self.run.sampled:
                if any(each.training for each in behaves):
                    self.evidence.trained_forwards += 1
                elif not module.training:
                    self.evidence.evaluated += 1
                    place = self.evals.get(id(module))
                    self.evidence.evaluating = (self.run.names.modules.get(id(module), ""), place)
            if self.run.sampled:
                self.run.batches.note_batch(module, args)
        elif behaves and self.evidence.steps and any(each.training for each in behaves):
            first = self.evidence.measured_in_training is None and not self.evaluating_now
            if not self.run.tracing and first and not self.run.by_compiler:
                self.evaluating_now = True
                self.library.start_ops(self.run.note_op)

    def leave_root(self, module: Any, result: Any) -> None:
        if self.library.grad_enabled() or not self.behaves.get(id(module)):
            return
        first = result[0] if isinstance(result, tuple) and result else result
        if self.library.is_tensor(first) and any(each.training for each in self.behaves[id(module)]):
            made = self.run.trace.of(first) or OpRecord("model", None)
            self.run.trace.known[id(first)] = (weakref.ref(first), made)
            if self.evidence.steps:
                self.run.trace.outputs[id(first)] = made
                self.measured_model = self.run.names.modules.get(id(module), "")

    def end_evaluation(self) -> None:
        self._note_evaluation()
        self.evaluating_now = False
        if not self.run.tracing:
            self.library.stop_ops()
            self.run.trace.clear()

    def _note_evaluation(self) -> None:
        place = self.run.trace.measured
        if place is not None and self.evidence.measured_in_training is None:
            self.evidence.measured_in_training = (self.measured_model, place)

    def before_eval(self, args: Any, kwargs: Any) -> None:
        self.evals.setdefault(id(args[0]), user_place())

    def before_freeze(self, args: Any, kwargs: Any) -> None:
        if (len(args) > 1 and args[1] is False) or kwargs.get("requires_grad") is False:
            self.evidence.frozen_place = user_place()


def depends_on_training(module: Any) -> bool:
    """Whether a module computes something else in training than in evaluation, and is meant to."""
    kind = type(module).__name__
    if "Dropout" in kind:
        return bool(getattr(module, "p", 0))
    if "BatchNorm" in kind:
        weight = getattr(module, "weight", None)
        return weight is None or bool(weight.requires_grad)
    return False
