"""Training that goes on: further rounds of a cell's loop, with another learning rate on request, and back."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..faults import pass_on
from ..trace.events import Trace
from ..words import text
from .alike import difference, without_names
from .live import Refused
from .optimizers import array, built, taken, with_rate
from .program import GRAD, Given, Instruction, Program, Ref, flat
from .rounds import KEPT, KeptRounds, RoundState
from .running import Turned, machine, perform, quietly


class Played(NamedTuple):
    """How all stands when the steps of a round have run: tensors by number, optimizers, the root of the
    backward call, and the state of random numbers."""

    tensors: dict[int, Any]
    optimizers: list[Any]
    loss: float
    random: Any


class Training:
    """The loop of a cell, which can go on. `round` is the round after which everything stands as it is now,
    `losses` has the value of the root in all rounds that are known, by number. A round is computed by the
    operations of the cell's last one, and changes none of the cell's variables.

    Refused, a ValueError that says why, where the loop draws new data, where its rounds differ, or where a
    recorded round cannot be computed again to the last digit.
    """

    def __init__(self, trace: Trace, program: Program | None, lang: str | None = None) -> None:
        self.lang = lang
        rounds = None if program is None else program.rounds
        if program is None or rounds is None:
            raise Refused(text("training_no_rounds", lang))
        if rounds.why_not is not None:
            key, values = rounds.why_not
            raise Refused(text(key, lang, **values))
        if rounds.count < 3:  # the first round has what stands before the loop as well
            raise Refused(text("training_no_loop", lang))
        self.program, self.parts = program, machine(program.library)
        self.steps: tuple[Instruction, ...] = tuple(rounds.segments[-1])
        self._compare(rounds)
        self.names = names_of(trace, program)
        self.states: deque[RoundState] = deque(rounds.states, maxlen=KEPT)
        self._check()
        self.losses = {state.number: state.loss for state in self.states}
        self.rate = rate_of(self.steps, self.states[-1])
        self.cell = self.round  # the cell's last round

    def _compare(self, rounds: KeptRounds) -> None:
        """Refused unless the newest rounds did the same, and began with what ran after the last one."""
        begun, plain = without_names(rounds.current), without_names(self.steps)
        key = difference(plain, without_names(rounds.segments[0]), self.program.given)
        key = key or difference(plain[: len(begun)], begun, None)
        if key:
            raise Refused(text(key, self.lang))

    def _check(self) -> None:
        """Refused unless the last round, computed again, gives the cell's numbers."""
        try:
            again = self._run(self.states[-2])
        except Exception as problem:
            pass_on(problem)
            said = f"{type(problem).__name__}: {problem}"
            raise Refused(text("live_no_same", self.lang, problem=said)) from problem
        own = self.states[-1]
        if not same(again, own):
            raise Refused(
                text("live_no_same", self.lang, problem=text("training_round", self.lang, n=own.number))
            )

    # ── what a reader does ──────────────────────────────────────────────────────────────────────────────────

    @property
    def round(self) -> int:
        """The number of the last round that was computed."""
        return self.states[-1].number

    @property
    def loss(self) -> float:
        """The value of the root in that round."""
        return self.states[-1].loss

    @property
    def rounds(self) -> tuple[int, ...]:
        """The rounds to which `rewind` can go back."""
        return tuple(state.number for state in self.states)

    def values(self) -> dict[str, Any]:
        """The values of the leaves after that round, by name, as numbers or nested lists."""
        tensors = self.states[-1].tensors
        return {name: tensors[n].data.tolist() for name, n in self.names.items() if n in tensors}

    def more(self, rounds: int = 1, lr: float | None = None) -> list[float]:
        """Compute further rounds, and return the value of the root in each. `lr` is the learning rate of
        their updates and of those that come later; the update of the round before has taken place. Refused
        where a round would take another way than the cell's."""
        if lr is not None and self.rate is None:
            raise Refused(text("training_no_rate", self.lang))
        self.rate = self.rate if lr is None else lr
        found = []
        for _ in range(rounds):
            try:
                state = self._run(self.states[-1])._replace(rate=self.rate)
            except Turned as turned:
                said = {"line": turned.line, "before": turned.before, "after": turned.after}
                raise Refused(text("live_turned", self.lang, **said)) from turned
            self.states.append(state)
            self.losses[state.number] = state.loss
            found.append(state.loss)
        return found

    def rewind(self, round: int) -> float:
        """Go back to how everything stood after a round, and return the value of the root in it. The same
        rounds then give the same numbers."""
        if round not in self.rounds:
            kept = ", ".join(map(str, self.rounds))
            raise Refused(text("training_no_state", self.lang, n=round, kept=kept))
        while self.states[-1].number != round:
            self.losses.pop(self.states.pop().number, None)
        return self.loss

    # ── running ─────────────────────────────────────────────────────────────────────────────────────────────

    def _run(self, state: RoundState) -> RoundState:
        """The state after one more round."""
        tensors, optimizers, loss, random = self.play(state)
        after = {n: standing(tensors[n], given) for n, given in state.tensors.items()}
        groups = [with_rate(one, state.rate) for one in state.optimizers]
        left = tuple(taken(one, own, tensors) for one, own in zip(groups, optimizers, strict=True))
        return RoundState(state.number + 1, after, left, random, loss)

    def play(
        self, state: RoundState, first: int = 0, after: Callable[[int, Mapping[int, Any]], None] | None = None
    ) -> Played:
        """Run the steps of a round from how all stood, or those from the `first` on that use no tensor of an
        earlier step; `after` sees the tensors after each."""
        module = self.parts.module
        tensors = {n: self.parts.build(given) for n, given in {**self.program.given, **state.tensors}.items()}
        groups = [with_rate(one, state.rate) for one in state.optimizers]
        optimizers = [built(one, tensors, module) for one in groups]
        loss = math.nan
        with quietly(module, draws=True):
            if state.random is not None:
                module.set_rng_state(module.tensor(state.random))
            for i, step in enumerate(without_names(self.steps)[first:], first):
                if first and not known(step, tensors):
                    continue
                if step.kind == "optimizer":
                    optimizers[step.args[0]].step()
                else:
                    step = drawing_anew(with_constant(step, self.constant, state.rate))
                    perform(step, tensors, self.parts)
                if step.backward is not None:
                    root = tensors[step.backward.number]
                    loss = float(root.item()) if root.numel() == 1 else math.nan
                if after is not None:
                    after(i, tensors)
            module.set_grad_enabled(True)
            random = np.array(module.get_rng_state().numpy())
        return Played(tensors, optimizers, loss, random)

    @property
    def constant(self) -> float | None:
        """The learning rate of a hand-written update, which stands in the steps; None with an optimizer."""
        return None if self.states[-1].optimizers else constant_in(self.steps)


# ── one step ────────────────────────────────────────────────────────────────────────────────────────────────


def drawing_anew(step: Instruction) -> Instruction:
    """A step that draws new random numbers where the cell drew some."""
    return step if step.fresh is None else step._replace(run=step.fresh[0], args=step.fresh[1], options={})


def known(step: Instruction, tensors: Mapping[int, Any]) -> bool:
    """Whether all tensors are there that a step uses."""
    parts = flat((step.args, dict(step.options)))
    return all(part.number in tensors for part in parts if type(part) is Ref)


def standing(tensor: Any, before: Given) -> Given:
    """A tensor as it stands now."""
    grad = tensor.grad if before.learns else None
    return before._replace(data=array(tensor), grad=None if grad is None else array(grad))


# ── the learning rate ───────────────────────────────────────────────────────────────────────────────────────


def rate_of(steps: tuple[Instruction, ...], state: RoundState) -> float | None:
    """The learning rate of a loop; None if there are several, or none is found."""
    if state.optimizers:
        rates = {float(group["lr"]) for one in state.optimizers for group in one.groups}
        return rates.pop() if len(rates) == 1 else None
    return constant_in(steps)


def constant_in(steps: tuple[Instruction, ...]) -> float | None:
    """The one number by which gradients are multiplied in hand-written updates."""
    grads: set[int] = set()
    found = set()
    for step in steps:
        parts = flat(step.args)
        if any(type(part) is Ref and part.number in grads for part in parts):
            found |= {part for part in parts if type(part) is float}
        if is_grad(step) and type(step.results) is Ref:
            grads.add(step.results.number)
    return found.pop() if len(found) == 1 else None


def is_grad(step: Instruction) -> bool:
    """Whether a step reads the `.grad` of a tensor."""
    return step.run is GRAD or getattr(getattr(step.run, "__self__", None), "__name__", "") == "grad"


def with_constant(step: Instruction, constant: float | None, rate: float | None) -> Instruction:
    """A step with another learning rate, if it has the old one as a number."""
    if constant is None or rate is None or rate == constant:
        return step
    return step._replace(args=replaced(step.args, constant, rate))


def replaced(part: Any, old: float, new: float) -> Any:
    """Arguments with another number."""
    if type(part) is float and part == old:
        return new
    return type(part)(replaced(item, old, new) for item in part) if type(part) in (list, tuple) else part


# ── states ──────────────────────────────────────────────────────────────────────────────────────────────────


def same(a: RoundState, b: RoundState) -> bool:
    """Whether two states have the same numbers, to the last digit."""
    if not (a.loss == b.loss or (math.isnan(a.loss) and math.isnan(b.loss))):
        return False
    for number, mine in a.tensors.items():
        theirs = b.tensors.get(number)
        if theirs is None or not equal(mine.data, theirs.data) or not equal(mine.grad, theirs.grad):
            return False
    return True


def equal(a: Any, b: Any) -> bool:
    """Whether two arrays are the same."""
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def names_of(trace: Trace, program: Program) -> dict[str, int]:
    """The leaves by name."""
    names = dict(reversed(trace.names))
    return {names[id]: number for number, id in sorted(program.leaves.items()) if id in names}
