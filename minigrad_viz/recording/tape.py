"""What the parts of a recorder share: the notes, the ids, and where the cell stands; and what keeps the
recorder and the cell apart: the recorder reads unnoticed, and its faults stay its own.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..faults import has_arrived, pass_on
from ..hooks import text_of
from ..protocol import (
    array_of,
    dtype_name,
    has_history,
    is_tensor,
    memory_of,
    value_of,
    variables,
    version_of,
)
from ..trace import notes
from ..trace.events import Inside
from ..trace.ids import Ids
from ..trace.where import Locator, Reached, Spot
from .resting import Loops, Rest, Rounds

OPEN = contextlib.nullcontext
BYTES = 2**16  # of an array, that are read in the time of a note
LARGE = 2**18  # bytes of an array that is not read again while nobody writes to it


def observing(method: Callable[..., None], light: bool = False) -> Any:
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


watching_lightly = functools.partial(observing, light=True)


class Large:
    """What was taken of large tensors, which need not be gone through again as long as nobody wrote to their
    memory. Writes that no version tells of (by NumPy) show in a sample of the numbers."""

    SAMPLE = 64  # numbers

    def __init__(self, numbers: notes.Numbers) -> None:
        self.numbers = numbers
        self._known: dict[int, tuple[Any, ...]] = {}  # by address of the tensor

    def value(self, tensor: Any, data: Any) -> Any:
        """What is taken of a tensor, whose numbers are `data`."""
        memory = memory_of(tensor)
        if memory is None or not data.flags.c_contiguous:
            return self.numbers.take(data)
        sample = data.reshape(-1)[:: max(data.size // self.SAMPLE, 1)].tobytes()
        now = memory[0], version_of(tensor), data.ctypes.data, data.shape, data.dtype, sample
        known = self._known.get(id(tensor))
        if known is None or known[0]() is not tensor or known[2] != now:
            known = self._known[id(tensor)] = weakref.ref(tensor), self.numbers.take(data), now
        return known[1]

    def forget(self, tensor: Any) -> None:
        """A tensor was written to, whose memory others may use without its version."""
        memory = memory_of(tensor) if self._known else None
        if memory is not None:
            self._known = {key: known for key, known in self._known.items() if known[2][0] != memory[0]}


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
        data = array_of(tensor)
        if data is None or dtype_name(tensor) == "bfloat16":
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
        """Where in the source the user's code stands. Outside a backward call it is noted, for the statements
        of the cell."""
        frame = sys._getframe(2)
        return self.locator.at(frame) if self.call else self._reached(*self.locator.reach(frame))

    def own_place(self) -> Spot | None:
        """The same for what an op made; None where a library ran the op for itself, inside a function that
        the cell called: then that expression is not what the op computed."""
        spot = self.place()
        return None if spot is not None and self.locator.inside(sys._getframe(2)) else spot

    def op_place(self) -> At:
        """The same for the note of an op, see `notes.forward`, which tells of the place as well. Where an op
        stands that code outside of libraries calls is found once."""
        if self.call:
            spot = self.own_place()
            return notes.NOWHERE if spot is None else (self.place_of(spot), None, None)
        start = sys._getframe(4)  # frames of ours come first
        frame: FrameType | None = start
        inner: Reached = ()
        while frame is not None and frame.f_globals is not self.namespace:
            inner, frame = (frame.f_lasti, inner), frame.f_back
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
            self.notes.append(("reached", self.spots[place], top, inner))
        return place, None, None

    def _reached(self, spot: Spot | None, top: int | None, inner: Reached) -> Spot | None:
        before, self._step = self._step, self.step
        if spot is not None and not (self.step and self.step == before):
            self.notes.append(("reached", spot, top, inner))
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
