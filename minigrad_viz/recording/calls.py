"""What a replay needs beyond the events of a cell: functions with their arguments, answers on which the
program went on, numbers of larger tensors, and reasons not to replay.

Note [What a program needs]
    An op is noted with its function and its arguments, so a program of ops is in the notes of every
    recording (see `program_of` in `replay`). A `CallNote` is made only where the events say too little: of a
    write, a backward call, a tensor made from data, a question of Python's, a function with lists of
    tensors. Such notes do not count as work: a recording is the same whether or not it is computed again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..protocol import NUMBERS, dtype_name, is_tensor, numbers_inside, text_of
from ..trace.calls import GradOf, InputTensor, Ref, TensorWithoutId, template_of
from ..trace.events import (
    HookRan,
    InPlaceWrite,
    ModeChanged,
    NumbersReturned,
    OptimizerStepped,
    Recomputation,
    RequiresGradSet,
    SavedPacked,
    SavedUnpacked,
    Snapshot,
    TensorCreated,
    TensorDetached,
)
from ..trace.notes import SMALL, CallNote, OpNote
from .number_exits import KEEPERS, Keeper, Use, appended_to, call_of, is_print, uses_of
from .states import States
from .tape import Tape, observer_method

ROOM = 1_000_000  # bytes of all arrays that are copied
MOST = 300  # steps of a program that can be computed again
STEPS = frozenset((OpNote, CallNote, TensorDetached, RequiresGradSet))
FIXED = frozenset((str, type(None), complex))
READ = STEPS | {
    HookRan, InPlaceWrite, ModeChanged, NumbersReturned, OptimizerStepped, Recomputation, SavedPacked,
    SavedUnpacked, Snapshot, TensorCreated,
}  # fmt: skip


class CellCalls(NamedTuple):
    """What a recording has for a program: the `notes` that one is made of, the variables that are tensors in
    the end, the leaves (both by id), larger `copies` by number, and the `hindrances`: keys of the catalogue
    with the values for them. With `rounds`, what a `RoundStates` knows about the rounds of a loop."""

    notes: Sequence[Any]
    names: Mapping[str, str]
    leaves: Sequence[str]
    copies: Mapping[int, tuple[Any, Any]]
    hindrances: Mapping[str, Mapping[str, Any]]
    uses: Sequence[Use]
    rounds: Any = None


class Calls:
    """The part of a recorder that notes what no event says about a call. See Note [What a program needs]."""

    def __init__(self, tape: Tape, states: States) -> None:
        self.tape, self.states = tape, states
        self.rounds: Any = None  # a `RoundStates`, if those of a loop are asked for
        self.hindrances: dict[str, Mapping[str, Any]] = {}
        self.copies: dict[int, tuple[Any, Any]] = {}  # of a tensor and of its gradient
        self.keepers: dict[tuple[str, int, int], Keeper] = {}  # lists to which numbers were appended
        self.unseen: list[TensorWithoutId] = []
        self.archive: list[Any] | None = []  # notes that were pruned; None if they were too many
        self._room = ROOM
        states.keep = self.keep

    def hinder(self, key: str, **values: Any) -> None:
        """Something speaks against computing the cell again."""
        self.hindrances.setdefault(key, values)

    # ── arguments ───────────────────────────────────────────────────────────────────────────────────────────

    def argument(self, value: Any) -> Any:
        """An argument of an op that is not a tensor, as an `OpNote` has it."""
        kind = type(value)
        if kind in NUMBERS:
            return value
        if kind in FIXED or (kind is tuple and NUMBERS.issuperset(map(type, value))):
            return (value,)
        return text_of(value), template_of(value, self.ref)

    def template(self, value: Any) -> Any:
        """An argument of a `CallNote`."""
        return template_of(value, self.ref)

    def ref(self, tensor: Any, data: Any = None) -> Any:
        """What stands for a tensor."""
        name = self.tape.ids.known(tensor)
        if name is None and (owner := self.states.owners.owner_of(tensor)) is not None:
            return GradOf(int(owner[1:]))
        if name is not None:
            return Ref(int(name[1:]))
        self.unseen.append(TensorWithoutId(tensor, data))
        return self.unseen[-1]

    def ref_or_data(self, tensor: Any) -> Any:
        """The same; of one that may never get an id its numbers are copied."""
        if not is_tensor(tensor):
            return self.template(tensor)
        data = None if self.tape.ids.known(tensor) is not None else self.copied(tensor)
        return self.ref(tensor, None if data is None else InputTensor(data))

    def copied(self, tensor: Any) -> Any:
        """A copy of a tensor's numbers; None where there is no room, or NumPy has no such numbers."""
        if dtype_name(tensor) == "bfloat16":
            return None
        data = numbers_inside(tensor)
        if data is None or data.nbytes > self._room:
            return None
        self._room -= data.nbytes
        return data.copy()

    # ── notes ───────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, kind: str, run: Any, args: Any = (), options: Any = None, results: Any = (),
             enabled: bool = True, answer: Any = None, line: int = 0) -> None:  # fmt: skip
        """Note a call; its arguments are templates."""
        self.tape.more -= 1
        given = tuple(args), {} if options is None else options
        self.tape.notes.append(CallNote(kind, run, *given, results, enabled, answer, line))

    @observer_method
    def call(self, kind: str, run: Any, args: Any, options: Any, results: Sequence[Any], enabled: bool,
             answer: Any = None) -> None:  # fmt: skip
        """A function ran and returned these `results`, one by one."""
        if not self.tape.call:
            given = self.template(list(args)), self.template(dict(options))
            self.add(kind, run, *given, self.numbers(results), enabled, answer)

    def numbers(self, results: Sequence[Any]) -> tuple[int | None, ...]:
        """The numbers of results that are known tensors."""
        known = self.tape.ids.known
        return tuple(
            None if not is_tensor(t) or (name := known(t)) is None else int(name[1:]) for t in results
        )

    def add_creation(self, tensor: Any, name: str) -> None:
        """A tensor was made from data."""
        self.add("make", type(tensor).__module__.partition(".")[0], results=(int(name[1:]),))

    def keep(self, tensor: Any, name: str) -> None:
        """Copy the numbers of a tensor that has no history, where the note of it has only a summary."""
        data = None if tensor.requires_grad and tensor.grad_fn is not None else numbers_inside(tensor)
        if data is None or data.nbytes <= SMALL:
            return
        grad = tensor.grad if tensor.is_leaf else None
        copies = self.copied(tensor), None if grad is None else self.copied(grad)
        if copies[0] is not None:
            self.copies[int(name[1:])] = copies

    @observer_method
    def answered(self, run: Any, args: Any, options: Any, answer: Any) -> None:
        """Python asked for something, on which the program may go on in another way."""
        if not self.tape.call:
            given = self.template(list(args)), self.template(dict(options))
            self.add("ask", run, *given, answer=answer, line=self.line())

    @observer_method
    def effect(self, run: Any, *args: Any) -> None:
        """A function changed something about a tensor that no event reports."""
        if not self.tape.call and self.tape.ids.known(args[0]) is not None:
            self.add("call", run, [self.ref_or_data(value) for value in args])

    @observer_method
    def left(self) -> None:
        """Numbers left the library; where the cell does more than read them, their further use is unknown.
        See Note [Numbers that leave]."""
        if self.tape.call or self.tape.again:
            return
        frame = self.frame()
        spot = None if frame is None else self.tape.locator.at(frame)
        statement = None if spot is None else spot.statement
        call = None if statement is None else call_of(statement.text)
        if call is not None and statement is not None and frame is not None:
            known = {**frame.f_globals, **frame.f_locals}
            if is_print(call, known):
                return
            name = appended_to(call) or ""
            if type(known.get(name)) in KEEPERS:
                keeper = Keeper(name, known[name], statement.origin, statement.line)
                self.keepers[name, statement.line, id(known[name])] = keeper
                return
        self.hinder("live_no_exit", line="?" if spot is None else spot.span.line)

    def line(self) -> int:
        """The line of the cell that runs."""
        frame = self.frame()
        return 0 if frame is None else frame.f_lineno

    def frame(self) -> Any:
        """The frame of the cell; None outside of it."""
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_globals is not self.tape.namespace:
            frame = frame.f_back
        return frame

    # ── in the end ──────────────────────────────────────────────────────────────────────────────────────────

    def prune(self, begin: int, cut: int) -> None:
        """The notes from `begin` to `cut` are about to be left out."""
        if self.archive is not None:
            self.archive += [note for note in self.tape.notes[begin:cut] if note.__class__ in READ]
            if sum(note.__class__ in STEPS for note in self.archive) > MOST:
                self.archive = None

    def finish(self, begin: int, leaves: Sequence[str]) -> CellCalls:
        """What there is when the cell has ended; the notes before `begin` are left from those that were
        pruned."""
        tape = self.tape
        for each in self.unseen:
            each.settle(tape.ids.known)
        noted = [note for note in tape.notes[begin:] if note.__class__ in READ]
        if self.archive is None or tape.rest.counted or tape.rest.passed or tape.rounds.counted:
            self.hinder("live_no_end", most=MOST)
        noted = [*(self.archive or ()), *noted]
        many = sum(note.__class__ in STEPS for note in noted) > MOST and self.rounds is None
        if many:
            self.hinder("live_no_end", most=MOST)
        names = {name: id for name, t in tape.variables() if (id := tape.ids.known(t)) is not None}
        uses = tuple(uses_of(list(self.keepers.values()), tape.locator.tree, tape.namespace))
        self.keepers.clear()
        hindrances = dict(self.hindrances)
        return CellCalls(
            (*noted[:1],) if many else noted, names, leaves, self.copies, hindrances, uses, self.rounds
        )
