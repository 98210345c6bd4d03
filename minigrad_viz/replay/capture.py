"""Capturing the program of a cell while it runs: what both libraries have in common."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ..isolation import pass_on
from ..protocol import array_of, dtype_name, history_of, is_parameter, is_tensor, variables
from .number_exits import KEEPERS, Keeper, appended_to, call_of, is_print, uses_of
from .program import (
    MOST,
    ROOM,
    InputTensor,
    Instruction,
    Program,
    Ref,
    RoundHistory,
    Unreplayable,
    template_of,
)

# Functions that draw random numbers although they take tensors.
RANDOM = frozenset((
    "alpha_dropout", "bernoulli", "cauchy", "dropout", "dropout1d", "dropout2d", "dropout3d", "exponential",
    "feature_alpha_dropout", "geometric", "gumbel_softmax", "log_normal", "multinomial", "normal", "poisson",
    "rand_like", "randint_like", "randn_like", "random", "rrelu", "uniform",
))  # fmt: skip
NUMBERS = frozenset((int, float, bool))
FOR_LIVE = (
    "live_no_end",
    "live_no_optimizer",
    "live_no_kept",
)  # reasons that do not hinder further rounds of a loop


class ProgramCapture:
    """Takes down what a cell computes with one library, whose name is `library`; modules that begin with
    `optimizers` have its own optimizers. `recorder` is the cell's. It ends by itself when there is a reason
    why the cell cannot be computed again."""

    optimizers = ""

    def __init__(self, recorder: Any, library: str) -> None:
        self.recorder, self.library = recorder, library
        self.namespace: dict[str, Any] = recorder.tape.namespace
        self.given: dict[int, InputTensor] = {}
        self.steps: list[Instruction] = []
        self.why_not: tuple[str, Mapping[str, Any]] | None = None
        self.known: dict[int, tuple[int, weakref.ref[Any]]] = {}  # tensors by address
        self.count = 0
        self.rounds: RoundHistory | None = None  # those of a loop, if they are taken down as well
        self.keepers: list[Keeper] = []  # lists to which numbers were appended
        self._names: dict[str, int] = {}  # as they were noted last
        self._room = ROOM

    # ── tensors ─────────────────────────────────────────────────────────────────────────────────────────────

    def number_of(self, tensor: Any) -> int | None:
        """The number of a tensor that is known."""
        known = self.known.get(id(tensor))
        return known[0] if known is not None and known[1]() is tensor else None

    def new(self, tensor: Any) -> Ref:
        """A number for a tensor."""
        number = self.count
        self.count += 1
        self.known[id(tensor)] = number, weakref.ref(tensor)
        return Ref(number)

    def ref(self, tensor: Any) -> Ref:
        """A tensor that is used; one that nobody knows was there before."""
        number = self.number_of(tensor)
        if number is not None:
            return Ref(number)
        given = self.taken(tensor)
        ref = self.new(tensor)
        self.given[ref.number] = given
        return ref

    def result(self, tensor: Any) -> Ref:
        """A tensor that a step gave; it may be one that it was given."""
        number = self.number_of(tensor)
        return self.new(tensor) if number is None else Ref(number)

    def taken(self, tensor: Any) -> InputTensor:
        """A tensor without history, as it stands now."""
        if history_of(tensor) is not None:
            raise Unreplayable("live_no_history")
        return self.standing(tensor, counts=True)

    def standing(self, tensor: Any, counts: bool = False) -> InputTensor:
        """A tensor as it stands now, whatever its history; whether it `counts` for the program's size."""
        learns = tensor.requires_grad and history_of(tensor) is None
        grad = tensor.grad if learns else None
        kept = None if grad is None else self.copied(grad, counts)
        return InputTensor(self.copied(tensor, counts), learns, is_parameter(tensor), kept)

    def copied(self, tensor: Any, counts: bool = True) -> Any:
        """A copy of a tensor's numbers; whether it `counts` for the size of the program."""
        data = None if dtype_name(tensor) == "bfloat16" else array_of(tensor)
        if data is None:
            raise Unreplayable("live_no_argument", kind=dtype_name(tensor))
        self._room -= data.nbytes * counts
        if self._room < 0:
            raise Unreplayable("live_no_room")
        return data.copy()

    # ── steps ───────────────────────────────────────────────────────────────────────────────────────────────

    def argument(self, value: Any) -> Any:
        """An argument as a template."""
        return template_of(value, self.ref, is_tensor)

    def known_arguments(self, args: Any) -> tuple[Any, ...] | None:
        """The templates of arguments that are numbers and known tensors, at least one of these; else None."""
        found, tensors = [], 0
        for value in args:
            if value.__class__ in NUMBERS:
                found.append(value)
                continue
            number = self.number_of(value)
            if number is None:
                return None
            tensors += 1
            found.append(Ref(number))
        return tuple(found) if tensors else None

    def step(
        self, kind: str, run: Callable[..., Any] | None, args: Any = (), options: Any = MappingProxyType({}),
        **more: Any,
    ) -> None:  # fmt: skip
        """Note a step, by its parts."""
        self.note(Instruction(kind, run, tuple(args), options, **more))

    def note(self, step: Instruction) -> None:
        """Note a step."""
        if self.rounds is not None:
            self.rounds.note(step)
        if self.why_not is None and len(self.steps) >= MOST:
            self.refuse("live_no_end", most=MOST)
        elif self.why_not is None:
            self.steps.append(step)

    def bindings(self) -> dict[str, int]:
        """The variables that are tensors of the program."""
        found = {}
        for name, value in variables(self.namespace):
            if is_tensor(value) and (number := self.number_of(value)) is not None:
                found[name] = number
        return found

    def note_names(self) -> None:
        """Note which variables are which tensors, if that has changed."""
        names = self.bindings()
        if names != self._names:
            self._names = names
            self.step("names", None, answer=names)

    def writes(self, written: Any, others: Any) -> bool:
        """Whether a write counts. A recorder passes over one into a tensor that it does not know yet, which
        will be known as it stands then; but then it must not depend on a leaf."""
        if self.number_of(written) is not None:
            return True
        if any(is_tensor(other) and self.number_of(other) is not None for other in others):
            raise Unreplayable("live_no_history")
        return False

    def refuse(self, key: str, **values: Any) -> None:
        """Note why the cell cannot be computed again."""
        if self.why_not is None:
            self.why_not = key, values
            self.steps.clear()
        if self.rounds is not None and key not in FOR_LIVE:
            self.rounds.refuse(key, **values)
        if self.over:
            self.given, self.known = {}, {}
            self.end()

    @property
    def over(self) -> bool:
        """Whether there is nothing left to take down."""
        return self.why_not is not None and (self.rounds is None or self.rounds.why_not is not None)

    def alive(self) -> list[tuple[int, Any]]:
        """The tensors that are still there, by number; the others are forgotten."""
        found = []
        for address, (number, reference) in list(self.known.items()):
            tensor = reference()
            if tensor is None:
                del self.known[address]
            else:
                found.append((number, tensor))
        return found

    def follow(self) -> None:
        """Take down the rounds of a loop as well."""
        self.rounds = RoundHistory()

    def stepped(self, optimizer: Any) -> None:
        """An optimizer changed its parameters."""
        self.refuse("live_no_optimizer")
        if self.rounds is not None and self.rounds.why_not is None:
            if not type(optimizer).__module__.startswith(self.optimizers):
                raise Unreplayable("training_no_optimizer", name=type(optimizer).__name__)
            self.rounds.note(self.rounds.stepped(optimizer, settings_of(optimizer)))

    def ended(self, root: Any, random: Any) -> None:
        """A backward call has ended, and with it a round of a loop."""
        if self.rounds is not None:
            self.rounds.ended(self, root, random)

    def start(self) -> None:
        """Begin to listen."""

    def end(self) -> None:
        """Stop listening."""

    def exits(self) -> None:
        """Numbers left the library; where they are more than read, nobody knows what comes of them. See
        Note [Numbers that leave]."""
        frame = self.frame()
        spot = None if frame is None else self.recorder.tape.locator.at(frame)
        statement = None if spot is None else spot.statement
        call = None if statement is None else call_of(statement.text)
        if call is not None and statement is not None and frame is not None:
            known = {**frame.f_globals, **frame.f_locals}
            if is_print(call, known):
                return
            name = appended_to(call) or ""
            if type(known.get(name)) in KEEPERS:
                self.keepers.append(Keeper(name, known[name], statement.origin, statement.line))
                return
        raise Unreplayable("live_no_exit", line="?" if spot is None else spot.span.line)

    def check_keepers(self) -> None:
        """Refused where the cell does more with numbers that were appended to a list than to read them."""
        for use in uses_of(self.keepers, self.recorder.tape.locator.tree, self.namespace):
            self.refuse("live_no_kept", name=use.name, line=use.line)
            if use.looped and self.rounds is not None:
                self.rounds.refuse("live_no_kept", name=use.name, line=use.line)
        self.keepers.clear()

    def line(self) -> int:
        """The line of the cell that runs."""
        frame = self.frame()
        return 0 if frame is None else frame.f_lineno

    def frame(self) -> Any:
        """The frame of the cell; None outside of it."""
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_globals is not self.namespace:
            frame = frame.f_back
        return frame

    def program(self, error: BaseException | None) -> Program | None:
        """What was taken down; None if the cell had nothing to do with the library."""
        if error is not None and (self.steps or self.why_not):
            self.refuse("live_no_error")
        self.check_keepers()
        if not self.steps and self.why_not is None:
            return None
        names = {} if self.why_not else self.bindings()
        leaves = {} if self.over else dict(self.leaves())
        return Program(self.library, self.given, tuple(self.steps), names, leaves, self.why_not, self.rounds)

    def leaves(self) -> Iterator[tuple[int, str]]:
        """The tensors that are leaves now, with their ids in the trace."""
        for number, reference in self.known.values():
            tensor = reference()
            if tensor is not None and tensor.requires_grad and history_of(tensor) is None:
                id = self.recorder.tape.ids.known(tensor)
                if id is not None:
                    yield number, id


def carefully(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a Taker that raises no fault of its own in the cell, and does nothing once there is a
    reason against a program."""

    @functools.wraps(method)
    def careful(self: Any, *args: Any) -> Any:
        if self.why_not is not None and self.over:
            return None
        try:
            return method(self, *args)
        except Unreplayable as unfit:
            key, values = unfit.why
            self.refuse(key, **values)
        except Exception as problem:  # a fault here must not become one of the cell
            pass_on(problem)
            self.refuse("live_no_fault", problem=f"{type(problem).__name__}: {problem}")
        return None

    return careful


def settings_of(optimizer: Any) -> tuple[Any, ...]:
    """The settings of the groups of an optimizer, to be compared."""
    return tuple(
        tuple((name, repr(value)) for name, value in group.items() if name != "params")
        for group in optimizer.param_groups
    )
