"""The notes of a recording → the program of the cell.

Note [Numbers of a program]
    Tensors have the numbers of their ids in the trace. A write may give a tensor a new id, although it is the
    same object: then both numbers are one (`same`). What has no id of its own, a `.grad` that nobody saw or
    data that was there only for one call, has a negative number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import minigrad
from minigrad.observing import F, Op, dispatch

from ..protocol import Value, pytorch
from ..recording.calls import MOST, CellCalls
from ..sources.minigrad import regroup_arguments
from ..trace.calls import GradOf, InputTensor, NoData, Ref, TensorWithoutId, rebuild_tuple
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
    TensorState,
)
from ..trace.notes import CallNote, OpNote
from .program import GRAD, Content, Instruction, Rounds

ROOM = 1_000_000  # bytes of all arrays that a program keeps
STEPS = 600  # of a round
FOR_LIVE = "live_no_end", "live_no_optimizer", "live_no_kept"  # do not hinder further rounds of a loop
DATA = operator.attrgetter("data")
DETACH: Mapping[str, Callable[[Any], Any]] = {"detach": operator.methodcaller("detach"), "data": DATA}
DETACH_ITSELF = operator.methodcaller("detach_")
HOOKS = HookRan, SavedPacked, SavedUnpacked


class Unreplayable(Exception):
    """A value that no program can keep. `why` is a key of the catalogue, with its values."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.why = key, values


def program_of(cell: CellCalls) -> Content:
    """The program of a cell."""
    return Derivation(cell).content()


class Derivation:
    """Reads the notes of a recording, one after the other. `before` are tensors that came in so far, `given`
    those of them that a step uses; `grads` are tensors that are the `.grad` of another, by number."""

    def __init__(self, cell: CellCalls) -> None:
        self.cell = cell
        self.libraries: set[str] = set()
        self.before: dict[int, Callable[[], InputTensor]] = {}
        self.given: dict[int, InputTensor] = {}
        self.met: dict[int, None] = {}  # all that the program knows, in their order
        self.strange: set[int] = set()  # have a history from before
        self.grads: dict[int, int] = {}
        self.read: dict[int, Ref] = {}  # the gradients that steps of this round have read, by owner
        self.same: dict[int, int] = {}
        self.names: dict[str, int] = {}
        self.steps: list[Instruction] = []
        self.current: list[Instruction] = []  # of the round
        self.segments: list[list[Instruction]] = []
        self.calls: dict[int, tuple[Any, int]] = {}  # what a backward call asked for, and its step
        self.enabled = True
        self.fresh: Any = None
        self.why: dict[str, Mapping[str, Any]] = dict(cell.hindrances)
        self._room, self._next = ROOM, 0

    # ── the whole ───────────────────────────────────────────────────────────────────────────────────────────

    def content(self) -> Content:
        """The program."""
        for use in self.cell.uses:
            self.why.setdefault("live_no_kept", {"name": use.name, "line": use.line})
        for note in self.cell.notes:
            try:
                READERS.get(note.__class__, Derivation.nothing)(self, note)
            except Unreplayable as unfit:
                self.why.setdefault(*unfit.why)
        if len(self.steps) > MOST:
            self.why.setdefault("live_no_end", {"most": MOST})
        if len(self.libraries) > 1:
            self.why["live_no_two"] = {}
        why_not = next(iter(self.why.items()), None)
        library = next(iter(sorted(self.libraries)), "minigrad")
        names = {name: self.number(id) for name, id in self.cell.names.items()}
        ids = {self.number(id): id for id in self.cell.leaves}
        leaves = {number: ids[number] for number in self.met if number in ids}
        names = {name: number for name, number in names.items() if number in self.met}
        steps = () if why_not else tuple(self.steps)
        return Content(library, self.given, steps, names, leaves, why_not, self.rounds())

    def rounds(self) -> Rounds | None:
        """The rounds of a loop, if they were asked for."""
        told = self.cell.rounds
        if told is None:
            return None
        why = next(((key, values) for key, values in self.why.items() if key not in FOR_LIVE), told.refused)
        looped = next((use for use in self.cell.uses if use.looped), None)
        if why is None and looped is not None:
            why = "live_no_kept", {"name": looped.name, "line": looped.line}
        if why is None and max(map(len, (self.current, *self.segments)), default=0) > STEPS:
            why = "training_no_end", {"most": STEPS}
        if why is not None:
            return Rounds(total=told.count, why_not=why)
        return Rounds(self.segments[-2:], self.current, tuple(told.states), told.count)

    def nothing(self, note: Any) -> None:
        """A note that says nothing of the program."""

    def step(self, kind: str, run: Any, args: Any = (), options: Any = None, **more: Any) -> None:
        """A step."""
        found = Instruction(kind, run, tuple(args), {} if options is None else options, **more)
        if len(self.steps) <= MOST:
            self.steps.append(found)
        self.current.append(found)

    # ── tensors ─────────────────────────────────────────────────────────────────────────────────────────────

    def number(self, id: Any) -> int:
        """The number of a tensor, by its id or by one of its numbers."""
        number = id if id.__class__ is int else int(id[1:])
        while number in self.same:
            number = self.same[number]
        return number

    def use(self, id: Any) -> Ref:
        """A tensor that a step uses."""
        number = self.number(id)
        owner = self.grads.get(number)
        if owner is not None:
            if self.read.get(owner) != Ref(number):
                self.read[owner] = Ref(number)
                self.step("call", GRAD, (self.use(owner),), results=Ref(number))
        elif number not in self.met:
            known = self.before.get(number)
            if known is None:
                raise Unreplayable("live_no_history")
            self.give(number, known())
        return Ref(number)

    def give(self, number: int, tensor: InputTensor) -> Ref:
        """A tensor comes in."""
        self._room -= tensor.data.nbytes
        if self._room < 0:
            raise Unreplayable("live_no_room")
        self.given[number], self.met[number] = tensor, None
        return Ref(number)

    def gradient(self, owner: int) -> Ref:
        """The `.grad` of a tensor."""
        mine = self.use(owner)
        known = self.read.get(mine.number)
        if known is None:
            self._next -= 1
            known = self.read[mine.number] = Ref(self._next)
            self.step("call", GRAD, (mine,), results=known)
        return known

    def argument(self, value: Any) -> Any:
        """An argument of a step by what was noted."""
        kind = type(value)
        if kind is Ref:
            return self.use(value.number)
        if kind is GradOf:
            return self.gradient(value.owner)
        if kind is TensorWithoutId:
            if value.number is not None:
                return self.use(value.number)
            if value.data is None:
                raise Unreplayable("live_no_history")
            value = value.data
        if isinstance(value, InputTensor):
            self._next -= 1
            return self.give(self._next, value)
        if kind is NoData:
            raise Unreplayable("live_no_argument", kind=value.kind)
        if kind in (list, tuple):
            return kind([self.argument(item) for item in value])
        if kind is dict:
            return {key: self.argument(item) for key, item in value.items()}
        if kind is slice:
            return slice(*map(self.argument, (value.start, value.stop, value.step)))
        if isinstance(value, tuple):
            return rebuild_tuple(kind, [self.argument(item) for item in value])
        return value

    def result(self, id: Any) -> Ref:
        """A tensor that a step returned."""
        number = self.number(id)
        self.met[number] = None
        return Ref(number)

    # ── what was noted ──────────────────────────────────────────────────────────────────────────────────────

    def op(self, note: OpNote) -> None:
        """An op ran."""
        self.enabled = note.enabled
        if note.call:
            return
        if note.counted:
            raise Unreplayable("live_no_op", name=note.op)
        if note.run is None:
            return  # a `CallNote` follows
        ours = isinstance(note.run, Op)
        self.libraries.add("minigrad" if ours or is_of_minigrad(note.run) else "torch")
        if isinstance(note.run, type):
            raise Unreplayable("live_no_function", name=note.run.__name__)
        args = [self.given_argument(each) for each in note.given]
        options: dict[str, Any] = {}
        if note.names:
            options = dict(zip(note.names, args[-len(note.names) :], strict=True))
            args = args[: -len(note.names)]
        results = tuple(self.result(row[0]) for row in note.rows)
        more: dict[str, Any] = {
            "results": results[0] if len(results) == 1 else results,
            "grad_mode": note.enabled,
        }
        if ours:
            more["fresh"], self.fresh = self.fresh, None
            self.step("call", dispatch, (note.run, tuple(regroup_arguments(note.run, args))), **more)
        else:
            self.step("call", note.run, args, options, **more)

    def given_argument(self, given: Any) -> Any:
        """An argument of an `OpNote`."""
        if given.__class__ is str:
            return self.use(given)
        return self.argument(given[-1]) if given.__class__ is tuple else given

    def call(self, note: CallNote) -> None:
        """A call of which events say too little."""
        if note.kind == "names":
            names = {name: self.argument(ref).number for name, ref in note.answer.items()}
            return self.name({**self.names, **names})
        if note.kind == "make":
            return self.make(note.results[0], note.run)
        if note.kind == "captured":
            return self.captured(note.answer, note.results)
        if note.kind == "step":
            return self.step("optimizer", None, note.args, answer=note.answer)
        if note.kind == "ask" and any(
            type(arg) is TensorWithoutId and arg.number is None for arg in note.args
        ):
            return None  # of a tensor that is no part of the program
        args, options = self.argument(note.args), self.argument(dict(note.options))
        if note.kind == "fresh":
            self.fresh = note.run, args
            return None
        if note.kind == "backward":
            return self.backward(note, args, options)
        self.enabled = note.enabled
        if note.run is not setattr:
            self.libraries.add("minigrad" if is_of_minigrad(note.run) else "torch")
        results = tuple(None if n is None else self.result(n) for n in note.results) or None
        more = {"results": results, "grad_mode": note.enabled, "answer": note.answer, "line": note.line}
        if note.run is setattr:
            self.read.pop(args[0].number, None)
        if isinstance(note.run, Op):
            return self.step("call", F.in_place, (note.run, *args), **more)
        return self.step(note.kind, note.run, args, options, **more)

    def backward(self, note: CallNote, args: Any, options: Any) -> None:
        """A backward call, with which a round ends."""
        self.libraries.add("minigrad" if is_of_minigrad(note.run) else "torch")
        single = "inputs" in options and len(args[0]) == 1
        root = args[0][0] if single else None
        self.step("call", note.run, args, options, grad_mode=self.enabled, backward=root)
        if "inputs" not in options:
            self.calls[note.answer] = args[1], len(self.steps) - 1
        if root is not None:
            self.segments.append(self.current)
            del self.segments[:-2]
            self.current, self.read = [], {}

    def make(self, number: int, library: str) -> None:
        """A tensor was made from data."""
        self.libraries.add(library)
        made = self.before.pop(number)()
        self._room -= made.data.nbytes
        if self._room < 0:
            raise Unreplayable("live_no_room")
        self.step("make", None, results=self.result(number), made=made)

    def created(self, note: TensorCreated | NumbersReturned) -> None:
        """A tensor came in."""
        state, number = note.tensor, self.number(note.tensor.id)
        owner, call = (note.gradient_of, note.call) if isinstance(note, TensorCreated) else ("", 0)
        if call and call in self.calls:
            wanted = self.calls[call][0]
            self.captured(call, [number if ref == Ref(self.number(owner)) else None for ref in wanted])
        elif owner:
            self.grads[number] = self.number(owner)
        elif state.node is not None:
            self.strange.add(number)
        else:
            self.before[number] = lambda: self.input(state, number)

    def captured(self, call: int, numbers: Sequence[int | None]) -> None:
        """`grad()` returned tensors with these numbers (None: not known yet)."""
        _, place = self.calls[call]
        step = self.steps[place]
        before = step.results or (None,) * len(numbers)
        results = tuple(
            known if n is None else self.result(n) for n, known in zip(numbers, before, strict=True)
        )
        self.steps[place] = step._replace(results=results)

    def input(self, state: TensorState, number: int) -> InputTensor:
        """A tensor as it was noted when it came in."""
        data, grad = (
            copy if value.__class__ is Value else value
            for value, copy in zip((state.value, state.grad), self.cell.copies.get(number, (None, None)))
        )
        if data is None:
            kind = getattr(state.value, "dtype", "tensor")
            if kind == "bfloat16":
                raise Unreplayable("live_no_argument", kind=kind)
            raise Unreplayable("live_no_room")
        learns = state.requires_grad
        return InputTensor(data, learns, state.parameter, grad if learns else None)

    def detached(self, note: TensorDetached) -> None:
        """`detach()` or `.data`, or `detach_()`."""
        run = DETACH_ITSELF if note.source == note.tensor.id else DETACH[note.how]
        mine = self.use(note.source)
        self.step("call", run, (mine,), results=self.result(note.tensor.id), grad_mode=self.enabled)

    def asked(self, note: RequiresGradSet) -> None:
        """`requires_grad` was set."""
        args = self.use(note.tensor.id), note.tensor.requires_grad
        self.step("call", set_requires_grad, args)

    def follow_write(self, note: InPlaceWrite) -> None:
        """A tensor was written to, and may have another id now."""
        before, after = self.number(note.before), int(note.tensor.id[1:])
        if before != after:
            self.same[after] = before

    def mode(self, note: ModeChanged) -> None:
        """A mode was switched."""
        if note.mode != "grad":
            raise Unreplayable("live_no_mode", mode=note.mode)
        self.enabled = note.enabled

    def snapshot(self, note: Snapshot) -> None:
        """The variables before a backward call."""
        if note.when == "before":
            names = {name: self.number(state.id) for name, state in note.rows if name.isidentifier()}
            self.name({name: self.use(n).number for name, n in names.items() if n not in self.strange})

    def name(self, names: dict[str, int]) -> None:
        """Variables are these tensors from now on."""
        if names != self.names:
            self.names = names
            self.step("names", None, answer=dict(names))

    def hook(self, note: Any) -> None:
        """A hook ran."""
        raise Unreplayable("live_no_hook")

    def stepped(self, note: OptimizerStepped) -> None:
        """An optimizer changed its parameters."""
        raise Unreplayable("live_no_optimizer")

    def recomputed(self, note: Recomputation) -> None:
        """A checkpoint computed something again."""
        raise Unreplayable("live_no_op", name="checkpoint")


READERS: Mapping[type, Callable[[Derivation, Any], None]] = {
    OpNote: Derivation.op,
    CallNote: Derivation.call,
    TensorCreated: Derivation.created,
    NumbersReturned: Derivation.created,
    TensorDetached: Derivation.detached,
    RequiresGradSet: Derivation.asked,
    InPlaceWrite: Derivation.follow_write,
    ModeChanged: Derivation.mode,
    Snapshot: Derivation.snapshot,
    OptimizerStepped: Derivation.stepped,
    Recomputation: Derivation.recomputed,
    **dict.fromkeys(HOOKS, Derivation.hook),
}


def set_requires_grad(tensor: Any, needed: bool) -> None:
    """Set whether a tensor requires gradients."""
    tensor.requires_grad_(needed)


def is_of_minigrad(run: Any) -> bool:
    """Whether a function is minigrad's."""
    return (
        isinstance(run, Op)
        or run in OURS
        or str(getattr(run, "__module__", "")).startswith(("minigrad.", "minigrad_viz."))
    )


OURS = bool, int, complex, operator.setitem


# ─── Tensors of a replay


def build_tensor(given: InputTensor, module: Any) -> Any:
    """A new tensor of a library."""
    made = module.tensor(given.data, requires_grad=given.learns and not given.parameter)
    if given.parameter:
        made = module.nn.Parameter(made, requires_grad=given.learns)
    if given.grad is not None:
        made.grad = module.tensor(given.grad)
    return made


def library_module(library: str) -> Any:
    """A library by its name."""
    return minigrad if library == "minigrad" else pytorch()
