"""Training that goes on: further rounds of a cell's loop, with another learning rate on request; a slice
of its loss.

The forward pass of a round is what runs after its last write to a leaf. A slice is believed only if it gives
the loss of the round itself again, to the last digit.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..isolation import pass_on
from ..recording.round_states import ROUND_STATES, RoundState
from ..trace.calls import InputTensor, Ref, flat_values
from ..trace.events import Trace
from ..words import text
from .live import ELEMENTS, ReplayRefusal
from .program import (
    GRAD,
    Instruction,
    Program,
    Rounds,
    array,
    build_optimizer,
    optimizer_state,
    with_rate,
)
from .runs import OtherBranch, isolated_run, machine, perform

# ─── Whether two rounds of a loop did the same


def without_names(steps: Sequence[Instruction]) -> list[Instruction]:
    """Steps that compute."""
    return [step for step in steps if step.kind != "names"]


def difference(
    last: Sequence[Instruction], before: Sequence[Instruction], given: Container[int] | None
) -> str:
    """Why two rounds do not do the same, as a key of the catalogue; "" if they do. `given` are the tensors
    that no step made; None where only the operations must be the same."""
    if len(last) != len(before):
        return "training_no_branch"
    made: dict[int, int] = {}  # numbers in the last round by those in the other
    for new, old in zip(last, before, strict=True):
        key = step_difference(new, old)
        if not key and not new.fresh and given is not None:
            key = argument_difference(
                (new.args, dict(new.options)), (old.args, dict(old.options)), made, given
            )
        if key:
            return key
        pair(new.results, old.results, made)
    return ""


def step_difference(new: Instruction, old: Instruction) -> str:
    """Why two steps do not do the same, whatever their arguments."""
    if new.kind != old.kind or new.run != old.run or new.grad_mode != old.grad_mode:
        return "training_no_branch"
    if new.made is not None and old.made is not None:
        return "" if np.array_equal(new.made.data, old.made.data) else "training_no_data"
    if new.kind == "ask" and new.answer != old.answer:
        return "training_no_branch"
    return "training_no_settings" if new.kind == "optimizer" and new.answer != old.answer else ""


def pair(new: Any, old: Any, made: dict[int, int]) -> None:
    """Results of the same step have corresponding numbers."""
    if type(new) is Ref and type(old) is Ref:
        made[old.number] = new.number
    elif isinstance(new, list | tuple) and isinstance(old, list | tuple):
        for a, b in zip(new, old):
            pair(a, b, made)


def argument_difference(new: Any, old: Any, made: Mapping[int, int], given: Container[int]) -> str:
    """Why arguments differ."""
    if type(new) is not type(old):
        return "training_no_branch"
    if type(new) is Ref:
        if new.number == made.get(old.number, old.number):
            return ""
        return "training_no_data" if new.number in given else "training_no_carried"
    if isinstance(new, dict):
        new, old = tuple(new.items()), tuple(old.items())
    if isinstance(new, list | tuple):
        if len(new) != len(old):
            return "training_no_branch"
        return next(filter(None, (argument_difference(a, b, made, given) for a, b in zip(new, old))), "")
    if isinstance(new, np.ndarray):
        return "" if np.array_equal(new, old) else "training_no_data"
    return "" if new is old or new == old else "training_no_settings"


# ─── Training that goes on


class RoundResult(NamedTuple):
    """The state when the steps of a round have run: tensors by number, optimizers, the root of the
    backward call, and the state of random numbers."""

    tensors: dict[int, Any]
    optimizers: list[Any]
    loss: float
    random: Any


class Training:
    """The loop of a cell, which can go on. `round` is the round that gave the present state,
    `losses` has the value of the root in all rounds that are known, by number. A round is computed by the
    operations of the cell's last one, and changes none of the cell's variables.

    Refused, a ValueError that says why, where the loop draws new data, where its rounds differ, or where a
    recorded round cannot be computed again to the last digit.
    """

    def __init__(self, trace: Trace, program: Program | None, lang: str | None = None) -> None:
        self.lang = lang
        rounds = None if program is None else program.rounds
        if program is None or rounds is None:
            raise ReplayRefusal(text("training_no_rounds", lang))
        if rounds.why_not is not None:
            key, values = rounds.why_not
            raise ReplayRefusal(text(key, lang, **values))
        if rounds.total < 3:  # the first round has what stands before the loop as well
            raise ReplayRefusal(text("training_no_loop", lang))
        self.program, self.parts = program, machine(program.library)
        self.steps: tuple[Instruction, ...] = tuple(rounds.segments[-1])
        self._compare(rounds)
        self.names = leaf_names(trace, program)
        self.states: deque[RoundState] = deque(rounds.states, maxlen=ROUND_STATES)
        self._check()
        self.losses = {state.number: state.loss for state in self.states}
        self.rate = rate_of(self.steps, self.states[-1])
        self.cell = self.round  # the cell's last round

    def _compare(self, rounds: Rounds) -> None:
        """Refused unless the newest rounds did the same, and began with what ran after the last one."""
        begun, plain = without_names(rounds.current), without_names(self.steps)
        key = difference(plain, without_names(rounds.segments[0]), self.program.given)
        key = key or difference(plain[: len(begun)], begun, None)
        if key:
            raise ReplayRefusal(text(key, self.lang))

    def _check(self) -> None:
        """Refused unless the last round, computed again, gives the cell's numbers."""
        try:
            again = self._run(self.states[-2])
        except Exception as problem:
            pass_on(problem)
            said = f"{type(problem).__name__}: {problem}"
            raise ReplayRefusal(text("live_no_same", self.lang, problem=said)) from problem
        own = self.states[-1]
        if not same_states(again, own):
            raise ReplayRefusal(
                text("live_no_same", self.lang, problem=text("training_round", self.lang, n=own.number))
            )

    def __repr__(self) -> str:
        now = text("training_repr", self.lang, n=self.round, loss=f"{self.loss:.5g}")
        kept = text("training_repr_kept", self.lang, first=self.rounds[0], last=self.rounds[-1])
        rate = "" if self.rate is None else f", lr={self.rate:g}"
        return f"{now} {kept}\nmore(10{rate})   rewind({self.rounds[0]})   values()   losses"

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
            raise ReplayRefusal(text("training_no_rate", self.lang))
        self.rate = self.rate if lr is None else lr
        found = []
        for _ in range(rounds):
            try:
                state = self._run(self.states[-1])._replace(rate=self.rate)
            except OtherBranch as turned:
                said = {"line": turned.line, "before": turned.before, "after": turned.after}
                raise ReplayRefusal(text("live_turned", self.lang, **said)) from turned
            self.states.append(state)
            self.losses[state.number] = state.loss
            found.append(state.loss)
        return found

    def rewind(self, round: int) -> float:
        """Go back to the state after a round, and return the value of the root in it. The same
        rounds then give the same numbers."""
        if round not in self.rounds:
            kept = ", ".join(map(str, self.rounds))
            raise ReplayRefusal(text("training_no_state", self.lang, n=round, kept=kept))
        while self.states[-1].number != round:
            self.losses.pop(self.states.pop().number, None)
        return self.loss

    # ── running ─────────────────────────────────────────────────────────────────────────────────────────────

    def _run(self, state: RoundState) -> RoundState:
        """The state after one more round."""
        tensors, optimizers, loss, random = self.play(state)
        after = {n: current_tensor(tensors[n], given) for n, given in state.tensors.items()}
        groups = [with_rate(one, state.rate) for one in state.optimizers]
        left = tuple(optimizer_state(one, own, tensors) for one, own in zip(groups, optimizers, strict=True))
        return RoundState(state.number + 1, after, left, random, loss)

    def play(
        self, state: RoundState, first: int = 0, after: Callable[[int, Mapping[int, Any]], None] | None = None
    ) -> RoundResult:
        """Run the steps of a round from that state, or those from the `first` on that use no tensor of an
        earlier step; `after` sees the tensors after each."""
        module = self.parts.module
        tensors = {n: self.parts.build(given) for n, given in {**self.program.given, **state.tensors}.items()}
        groups = [with_rate(one, state.rate) for one in state.optimizers]
        optimizers = [build_optimizer(one, tensors, module) for one in groups]
        loss = math.nan
        with isolated_run(module, draws=True):
            if state.random is not None:
                module.set_rng_state(module.tensor(state.random))
            for i, step in enumerate(without_names(self.steps)[first:], first):
                if first and not has_tensors(step, tensors):
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
        return RoundResult(tensors, optimizers, loss, random)

    @property
    def constant(self) -> float | None:
        """The learning rate of a hand-written update, which is in the steps; None with an optimizer."""
        return None if self.states[-1].optimizers else constant_in(self.steps)


# ── one step ────────────────────────────────────────────────────────────────────────────────────────────────


def drawing_anew(step: Instruction) -> Instruction:
    """A step that draws new random numbers where the cell drew some."""
    return step if step.fresh is None else step._replace(run=step.fresh[0], args=step.fresh[1], options={})


def has_tensors(step: Instruction, tensors: Mapping[int, Any]) -> bool:
    """Whether all tensors are there that a step uses."""
    parts = flat_values((step.args, dict(step.options)))
    return all(part.number in tensors for part in parts if type(part) is Ref)


def current_tensor(tensor: Any, before: InputTensor) -> InputTensor:
    """The present state of a tensor."""
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
        parts = flat_values(step.args)
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
    return step._replace(args=replace_number(step.args, constant, rate))


def replace_number(part: Any, old: float, new: float) -> Any:
    """Arguments with another number."""
    if type(part) is float and part == old:
        return new
    return (
        type(part)(replace_number(item, old, new) for item in part) if type(part) in (list, tuple) else part
    )


# ── states ──────────────────────────────────────────────────────────────────────────────────────────────────


def same_states(a: RoundState, b: RoundState) -> bool:
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


def leaf_names(trace: Trace, program: Program) -> dict[str, int]:
    """The leaves by name."""
    names = dict(reversed(trace.names))
    return {names[id]: number for number, id in program.leaves.items() if id in names}


# ─── A slice of the landscape of a loss


POINTS = 41
ROOM = 4096  # numbers in all leaves together
STEPS = 200  # of a round


class Point(NamedTuple):
    """A number of a leaf, the root with it, and the slope there (NaN: not computed)."""

    x: float
    y: float
    slope: float = math.nan


class Slice(NamedTuple):
    """The root at `xs`, the others as they are after the last round; where that round is, and where the
    update that follows leads. `grad` is what is in the leaf's `.grad`."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    here: Point
    next: Point
    grad: float


def movable_numbers(training: Training) -> dict[str, tuple[int, tuple[int, ...]]]:
    """The numbers that can move, by name: the tensor of each, and the place in it."""
    found = {}
    for name, number in training.names.items():
        given = training.states[-1].tensors.get(number)
        if given is not None and given.data.dtype.kind == "f" and given.data.size <= ELEMENTS:
            for place in itertools.product(*map(range, given.data.shape)):
                called = f"{name}[{', '.join(map(str, place))}]" if place else name
                found[called] = number, place
    return found


def slice_of(training: Training, name: str) -> Slice | None:
    """The slice along one number; None where the loss cannot be computed apart from the update."""
    number, place = movable_numbers(training)[name]
    leaves = [n for n in training.names.values() if n in training.states[-1].tensors]
    if len(training.steps) > STEPS or sum(training.states[-1].tensors[n].data.size for n in leaves) > ROOM:
        return None
    try:
        cut, after = last_write(training, leaves)
        x, further = (
            float(data[place]) for data in (training.states[-1].tensors[number].data, after[number])
        )
        here = point(training, cut, number, place, x)
        if here.y != training.loss:
            return None
        reach = max(0.9 * max(abs(x), 1.0), 1.5 * abs(further - x))
        around = np.linspace(x - reach, x + reach, POINTS).tolist()
        xs = sorted({x, further, *(each for each in around if abs(each - x) > reach / POINTS)})
        ys = [point(training, cut, number, place, each).y for each in xs]
        kept = training.states[-1].tensors[number].grad
        grad = math.nan if kept is None else float(kept[place])
        there = Point(further, ys[xs.index(further)])
        return Slice(tuple(xs), tuple(ys), here, there, grad) if math.isfinite(there.y) else None
    except (OtherBranch, RuntimeError) as problem:
        pass_on(problem)
        return None  # the next round takes another way, or part of a round does not run by itself


def last_write(training: Training, leaves: list[int]) -> tuple[int, Mapping[int, Any]]:
    """How many steps of a round there are until its last write to a leaf, and the leaves after it."""
    state = training.states[-1]
    found, stood = 0, {n: state.tensors[n].data for n in leaves}

    def look(i: int, tensors: Mapping[int, Any]) -> None:
        nonlocal found, stood
        now = {n: array(tensors[n]) for n in leaves}
        if any(not np.array_equal(now[n], stood[n], equal_nan=True) for n in leaves):
            found, stood = i + 1, now

    training.play(state, after=look)
    return found, stood


def point(training: Training, cut: int, number: int, place: tuple[int, ...], x: float) -> Point:
    """The root of the last round with one number of a leaf changed (NaN: it would take another way), and its
    derivative."""
    last = training.states[-1]
    before = training.states[-2] if len(training.states) > 1 else last
    data = np.array(last.tensors[number].data)
    data[place] = x
    tensors = {n: without_gradient(given) for n, given in last.tensors.items()}
    tensors[number] = tensors[number]._replace(data=data if data.ndim else data[()])
    state = RoundState(last.number, tensors, last.optimizers, before.random, last.loss, last.rate)
    try:
        played = training.play(state, first=cut)
    except OtherBranch:  # there the round would take another way
        return Point(x, math.nan)
    grad = played.tensors[number].grad
    return Point(x, played.loss, math.nan if grad is None else float(array(grad)[place]))


def without_gradient(given: InputTensor) -> InputTensor:
    """A tensor whose gradient is zero where it has one."""
    return given if given.grad is None else given._replace(grad=np.zeros_like(given.grad))
