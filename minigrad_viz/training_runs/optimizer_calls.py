"""Calls of optimizers, schedulers and clipping: their order, what is held, how far a step moves."""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass, field
from typing import Any

from ..training_faults.evidence import OptimizerFacts, Place
from .hub import Listener, user_place
from .library import has_closure


@dataclass
class OptimizerState:
    """What has happened since an optimizer's last step."""

    since: list[str] = field(default_factory=list)
    consumed: bool = False  # its gradients have been used
    mixed: bool = False  # new ones were added to them
    probes: list[Any] = field(default_factory=list)  # three of its parameters, weakly
    count: int = 0  # of its parameters
    place: Place | None = None  # the last backward call


class OptimizerCalls(Listener):
    """Watches optimizers and what belongs to their steps."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.known: dict[int, tuple[weakref.ref[Any], OptimizerFacts, OptimizerState]] = {}
        self.stepped: set[int] = set()  # in this step, by number
        self.regular: set[int] = set()  # in the step before
        self.by_backward = True  # no optimizer has stepped so far: backward calls are counted
        self.schedule_made: Place | None = None

    def register(self, optimizer: Any, place: Place | None) -> tuple[Any, OptimizerFacts, OptimizerState]:
        """The facts and the state of an optimizer; `place` is where it was created."""
        found = self.known.get(id(optimizer))
        if found is not None and found[0]() is optimizer:
            return found
        facts = OptimizerFacts(len(self.evidence.optimizers), type(optimizer).__name__, place)
        self.evidence.optimizers.append(facts)
        state = OptimizerState()
        row = (weakref.ref(optimizer), facts, state)
        self.known[id(optimizer)] = row
        self._take_parameters(optimizer, facts, state)
        return row

    def _take_parameters(self, optimizer: Any, facts: OptimizerFacts, state: OptimizerState) -> None:
        every = [p for group in optimizer.param_groups for p in group["params"]]
        state.count = len(every)
        facts.keys = tuple(map(id, every))
        chosen = {0, len(every) // 2, len(every) - 1} if every else set()
        state.probes = [weakref.ref(every[i]) for i in sorted(chosen)]

    def held(self) -> set[int]:
        """The keys of the parameters that an optimizer which has stepped holds."""
        return {key for _, facts, _ in self.known.values() if facts.steps for key in facts.keys}

    @staticmethod
    def has_gradient(probes: list[Any]) -> bool:
        """Whether some of these parameters have a gradient that is not all zeros."""
        for probe in probes:
            parameter = probe()
            grad = None if parameter is None else parameter.grad
            if grad is not None and bool(
                (grad.to_dense() if getattr(grad, "is_sparse", False) else grad).any().item()
            ):
                return True
        return False

    def after_optimizer(self, args: Any, kwargs: Any, result: Any) -> None:
        self.register(args[0], user_place())

    def before_reset(self, args: Any, kwargs: Any) -> None:
        self.run.turn_recording()
        _, facts, state = self.register(args[0], None)
        facts.resets += 1
        facts.reset_place = user_place()
        state.since.append("reset")
        state.consumed = state.mixed = False

    def after_reset_model(self, args: Any, kwargs: Any, result: Any) -> None:
        for _, facts, state in self.known.values():
            if not self.has_gradient(state.probes):
                facts.resets += 1
                facts.reset_place = user_place()
                state.since.append("reset")
                state.consumed = state.mixed = False

    def before_step_of(self, args: Any, kwargs: Any) -> None:
        """minigrad's optimizers have no hooks: their method is replaced."""
        self.before_step(args[0], has_closure(args[1:], kwargs))

    def after_step_of(self, args: Any, kwargs: Any, result: Any) -> None:
        self.after_step(args[0])

    def before_step(self, optimizer: Any, closure: bool) -> None:
        if threading.get_ident() != self.thread:
            return
        evidence = self.evidence
        evidence.library = evidence.library or self.library.name
        _, facts, state = self.register(optimizer, None)
        if self.by_backward:
            self.by_backward = False
            evidence.steps = 0
            for known in evidence.parameters.values():  # those samples belong to backward calls
                known.samples.clear()
        late = not facts.steps and evidence.steps > 1  # another optimizer takes over
        if facts.number in self.stepped or not self.stepped or late:
            self.regular = self.stepped or {facts.number}
            self.stepped = set()
            evidence.steps += 1
        self.stepped.add(facts.number)
        facts.steps += 1
        facts.step_place = user_place()
        every = [p for group in optimizer.param_groups for p in group["params"]]
        if len(every) != state.count:
            self._take_parameters(optimizer, facts, state)
        self._rates(optimizer, facts)
        if not closure:
            since = tuple(state.since)
            if facts.steps == 1:
                facts.first_had_backward = "backward" in since
            trained = [p for p in every if p.requires_grad]
            without = all(p.grad is None for p in trained)
            if not without and since[-1:] == ("reset",):
                without = not self.has_gradient(state.probes)
            if trained and without:
                facts.idle += 1
                facts.idle_since = since
            if state.mixed and "reset" not in since:
                facts.mixed += 1
                facts.mixed_place = state.place
            facts.backward_place = state.place
        if self.run.sampled or self.run.sampled_parameters:
            if evidence.steps not in evidence.sampled[-1:]:
                evidence.sampled.append(evidence.steps)
            with self.library.quiet():
                self.run.measures.before(self.run, every, evidence.steps)
        state.since.clear()

    def after_step(self, optimizer: Any) -> None:
        if threading.get_ident() != self.thread:
            return
        _, _, state = self.register(optimizer, None)
        state.consumed, state.mixed = True, False
        if self.run.measures.waits:
            with self.library.quiet():
                self.run.measures.after()
        self.run.sampled_parameters = False
        if self.stepped >= self.regular:
            self.run.between_rounds()

    def _rates(self, optimizer: Any, facts: OptimizerFacts) -> None:
        rates = [group.get("lr") for group in optimizer.param_groups]
        known = [float(rate) for rate in rates if isinstance(rate, int | float)]
        if not known:
            return
        rate = max(known)
        facts.decay = max(float(group.get("weight_decay") or 0) for group in optimizer.param_groups)
        if not facts.rates:
            facts.rates = [rate, rate, rate, rate]
        facts.rates[1] = min(facts.rates[1], rate)
        facts.rates[2] = max(facts.rates[2], rate)
        facts.rates[3] = rate
        facts.rate_zero += rate == 0
        if rate < 1e-4 * facts.rates[2]:
            facts.rate_tiny += 1
            facts.tiny_since = facts.tiny_since or facts.steps

    def before_clip(self, args: Any, kwargs: Any) -> None:
        given = args[0] if args else kwargs.get("parameters")
        every = [given] if self.library.is_tensor(given) else list(given)
        self.evidence.clip_place = user_place()
        keys = set(map(id, every))
        if all(p.grad is None for p in every):
            self.evidence.clips["early"] += 1
            return
        holders = [state for _, facts, state in self.known.values() if keys.intersection(facts.keys)]
        consumed = bool(holders) and all(
            state.consumed and "backward" not in state.since for state in holders
        )
        self.evidence.clips["late" if consumed else "fits"] += 1

    def after_clip(self, args: Any, kwargs: Any, result: Any) -> None:
        total = args[2] if len(args) > 2 and self.library.is_tensor(args[2]) else result
        limit = args[1] if len(args) > 1 else kwargs.get("max_norm")
        total = kwargs.get("total_norm", total)
        if self.run.sampled and self.library.is_tensor(total) and isinstance(limit, int | float):
            self.evidence.clip_norms.add((self.evidence.steps + 1, float(total.item()), float(limit)))

    def before_schedule(self, args: Any, kwargs: Any) -> None:
        if getattr(args[0], "_step_count", 1) < 1:  # its own first call, when it is created
            self.schedule_made = user_place()
            return
        evidence = self.evidence
        evidence.schedules += 1
        if not any(facts.steps for facts in evidence.optimizers) and evidence.schedules == 1:
            evidence.schedule_first = user_place()
        evidence.schedule_place = self.schedule_made or user_place()
