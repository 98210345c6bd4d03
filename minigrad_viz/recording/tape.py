"""What the parts of a recorder share: the notes, the ids, and how far the cell has come; and what keeps the
recorder and the cell apart: the recorder reads unnoticed, and its faults stay its own.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any

from minigrad import Tensor

from ..isolation import has_arrived, pass_on
from ..protocol import (
    SCALARS,
    TENSORS,
    has_history,
    history_of,
    is_dense,
    is_tensor,
    memory_of,
    number_of,
    numbers_inside,
    text_of,
    value_of,
    value_of_view,
    variables,
    version_of,
)
from ..trace import notes
from ..trace.events import Inside
from ..trace.ids import Ids
from ..trace.source_positions import Locator, Reached, Spot
from .long_loops import Loops, Rest, Rounds

OPEN = contextlib.nullcontext
BYTES = 2**16  # of an array, that are read in the time of a note
LARGE = 2**18  # bytes of an array that is not read again while nobody writes to it


def observer_method(method: Callable[..., None], light: bool = False) -> Any:
    """A method of a part of a recorder, which has a `tape`, through which a source tells: quiet while the
    recorder itself reads tensors, and it raises only what has arrived from outside. It is called while
    rounds are only counted (`light`), or while they are not."""

    @functools.wraps(method)
    def careful(self: Any, *args: Any) -> None:
        tape = self.tape
        if tape.busy or tape.problem is not None or tape.rounds.light is not light or tape.rest.whole:
            return
        tape.busy = True
        try:
            if tape.shield is OPEN:
                method(self, *args)
            else:
                with tape.shield():
                    method(self, *args)
        except Exception as problem:
            if has_arrived(problem):
                raise
            tape.problem = problem
        finally:
            tape.busy = False

    return careful


watching_lightly = functools.partial(observer_method, light=True)


class Large:
    """What was taken of large tensors, which need not be gone through again as long as somebody has the
    memory and nobody wrote to it, be it through another view, as `w.T` that a node saved. Writes that change
    no version (by NumPy) show in a sample of the numbers."""

    SAMPLE = 64  # numbers

    def __init__(self, numbers: notes.Numbers) -> None:
        self.numbers = numbers
        # By what tells a memory from others: what of it was read and when, by whom, and what was taken.
        self._known: dict[int, list[tuple[Any, list[weakref.ref[Any]], Any]]] = {}

    def value(self, tensor: Any, data: Any) -> Any:
        """What is taken of a tensor, whose numbers are `data`. Of a result all numbers are read, since its
        extremes may explain what is not finite later."""
        exact = history_of(tensor) is not None
        memory = memory_of(tensor)
        if memory is None or not is_dense(data):
            return self.numbers.take(data, exact)
        axes = sorted(zip(data.strides, data.shape, strict=True))
        sample = data.ravel("K")[:: max(data.size // self.SAMPLE, 1)].tobytes()
        now = version_of(tensor), data.ctypes.data, axes, data.dtype, sample
        entries = self._known.setdefault(memory[0], [])
        entries[:] = [entry for entry in entries if any(self._lives(ref, memory[0]) for ref in entry[1])]
        for where, owners, taken in entries:
            if where == now:
                owners.append(weakref.ref(tensor))
                return value_of_view(taken, data)
        taken = self.numbers.take(data, exact)
        entries.append((now, [weakref.ref(tensor)], taken))
        return taken

    def hold(self, tensor: Any) -> None:
        """A tensor has memory that was read when another had it, as a `.grad` has that of what was sent."""
        memory = memory_of(tensor) if self._known else None
        for _, owners, _ in self._known.get(memory[0], ()) if memory is not None else ():
            owners.append(weakref.ref(tensor))

    @staticmethod
    def _lives(reference: weakref.ref[Any], memory: int) -> bool:
        """Whether a tensor is there that has this memory still."""
        tensor = reference()
        return tensor is not None and (memory_of(tensor) or (0,))[0] == memory

    def forget(self, tensor: Any) -> None:
        """A tensor was written to, whose memory others may use without its version."""
        memory = memory_of(tensor) if self._known else None
        if memory is not None:
            self._known.pop(memory[0], None)


At = tuple[int | None, int | None, Reached | None]  # a point by its number, and how `Locator.reach` found it


class Tape:
    """Has `notes` of the events that will be made (see Note [Notes] in `notes`), the points in the source
    that they refer to (`spots`), and `ids`.

    `more` counts what takes as long as a note and is none. `calls` counts the backward calls; `call` is the
    number of the one that is running, 0 outside, and `depth` is greater than 1 inside one that runs inside
    another; `creates` says that it builds a graph, `inside` is the key of the custom Function whose backward
    runs, `again` counts checkpoints that compute again. `busy` is true while tensors are read for this, in
    the context `shield`; what went wrong first is `problem`.
    """

    def __init__(self, source: str, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.locator = Locator(source, namespace)
        self.notes: list[Any] = []
        self.numbers = notes.Numbers()
        self.more = 0
        self.large = Large(self.numbers)
        self.spots: list[Any] = []
        self.ids = Ids()
        self.busy = False
        self.shield: Callable[[], Any] = OPEN  # a source may set it
        self.problem: Exception | None = None
        self.call = self.calls = self.depth = self.again = 0
        self.creates = False
        self.built: list[Any] = []  # what a call that builds a graph has computed, where a source keeps that
        self.inside: Any = None
        self.rest, self.rounds, self.loops = Rest(), Rounds(), Loops(self.locator, namespace)
        self.step = self._step = 0  # a source may number what it tells, if it tells of one op several times
        self._places: dict[int, int] = {}
        self._ops: dict[tuple[int, int], tuple[int, bool]] = {}  # by code and offset: where ops stand
        self._kinds: dict[type, bool] = {}  # whether objects of a class are tensors

    @property
    def work(self) -> int:
        """What recording has cost so far, in notes. See Note [Lighter watching]."""
        return len(self.notes) + self.more + self.numbers.read // BYTES

    def taken(self, tensor: Any) -> Any:
        """A tensor's numbers as they are now."""
        if tensor.__class__ in TENSORS and tensor.__class__ is not Tensor:
            return self.native_taken(tensor)
        return self._taken(tensor)

    def native_taken(self, tensor: Any) -> Any:
        """The same of a plain tensor of PyTorch's, of which small ones are read at once: this happens about
        130 times in a step of training."""
        kind, numbers = SCALARS[tensor.dtype], self.numbers
        if kind is None or tensor.is_nested:
            return self._taken(tensor)
        try:
            if not tensor.dim():
                return kind(tensor.item())
            data = (tensor.detach() if tensor.requires_grad else tensor).numpy()
        except (RuntimeError, TypeError, NotImplementedError) as refused:  # on the meta device, or wrapped
            pass_on(refused)
            return self._taken(tensor)
        size = data.nbytes
        if size <= notes.SMALL < numbers.room:
            numbers.read += size
            numbers.room -= size
            return data.copy()
        return numbers.take(data) if size <= LARGE else self.large.value(tensor, data)

    def _taken(self, tensor: Any) -> Any:
        number = number_of(tensor)
        if number is not None:
            return number
        data = numbers_inside(tensor)
        if data is None or (tensor.__class__ is not Tensor and SCALARS[tensor.dtype] is None):
            return value_of(tensor)
        return self.numbers.take(data) if data.nbytes <= LARGE else self.large.value(tensor, data)

    def variables(self) -> list[tuple[str, Any]]:
        """The variables of the namespace that are tensors whose history can be read."""
        kinds, found = self._kinds, []
        for name, value in variables(self.namespace):
            kind = kinds.get(type(value))
            if kind is None:
                kind = kinds[type(value)] = is_tensor(value)
            if kind and has_history(value):
                found.append((name, value))
        return found

    def inside_op(self, node: str, title: str, inputs: list[Any], result: Any, span: Any) -> Inside:
        """An op that ran inside a backward call, with its values."""
        values = tuple(value_of(v) if is_tensor(v) else text_of(v) for v in inputs)
        return Inside(self.call, node, title, values, value_of(result), span)

    # ── where the user's code stands ────────────────────────────────────────────────────────────────────────

    def here(self) -> Any:
        """The span of the expression that calls what asks; nothing is noted."""
        spot = self.locator.at(sys._getframe(3))
        return None if spot is None else spot.span

    def place(self) -> Spot | None:
        """Where in the source the user's code is. Outside a backward call it is noted, for the statements
        of the cell."""
        frame = sys._getframe(2)
        return self.locator.at(frame) if self.call else self._reached(*self.locator.reach(frame))

    def own_place(self) -> Spot | None:
        """The same for what an op made; None where a library ran the op for itself, inside a function that
        the cell called: then that expression is not what the op computed."""
        spot = self.place()
        return None if spot is not None and self.locator.inside(sys._getframe(2)) else spot

    def op_place(self) -> At:
        """The same for an `OpNote`, which contains the place as well. The place of
        an op that code outside of libraries calls is found once."""
        if self.call:
            spot = self.own_place()
            return notes.NOWHERE if spot is None else (self.place_of(spot), None, None)
        start = sys._getframe(4)  # frames of ours come first
        frame, inner = self.locator.nearest(start)
        here = (0, 0) if frame is None else (id(frame.f_code), frame.f_lasti)
        known, top = self._ops.get(here), None
        if known is None:
            spot, top, inner = self.locator.reach(start)
            if spot is None or self.locator.inside(start):
                self._reached(spot, top, inner)
                return notes.NOWHERE
            known = self.place_of(spot), spot.nested
            if self.locator.spots.get(here) is spot and not self.locator.counts(inner):
                self._ops[here] = known
        elif known[1]:
            assert frame is not None
            top = self.locator.top(frame.f_back)
        if self.step and self.step == self._step:
            return known[0], None, None
        self._step = self.step
        return known[0], top, inner

    def come(self, at: At) -> At:
        """Note the place of an op at once; what is left for the note of the op."""
        place, top, inner = at
        if place is not None and inner is not None:
            self.notes.append(notes.PlaceNote(self.spots[place], top, inner))
        return place, None, None

    def _reached(self, spot: Spot | None, top: int | None, inner: Reached) -> Spot | None:
        before, self._step = self._step, self.step
        if spot is not None and not (self.step and self.step == before):
            self.notes.append(notes.PlaceNote(spot, top, inner))
        return spot

    def place_of(self, spot: Spot) -> int:
        """The number of a point in the source, for notes."""
        number = self._places.get(id(spot))
        if number is None:
            number = self._places[id(spot)] = len(self.spots)
            self.spots.append(spot)  # which keeps it, so that its identity holds
        return number


def describe(error: BaseException) -> str:
    """An error as one line: class and text."""
    try:
        text = str(error)
    except Exception as problem:  # its own `__str__`
        pass_on(problem)
        text = ""
    return f"{type(error).__name__}: {text}".strip()
