"""How tensors stood at every moment of a trace.

Note [True at this moment]
    A card of a picture is drawn as its tensor stood when the call had ended. A leaf has another value before
    and after an update, and another `.grad` before a deposit and after a reset. So a card also has the other
    moments of its call, and each step of the player says which of them it shows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..protocol import Value
from ..trace.events import (
    Asked,
    Created,
    Deposited,
    Detached,
    Forward,
    GradSet,
    Left,
    Mutated,
    Snapshot,
    TensorState,
)

MOMENTS = 8  # of one tensor in one call
ASSIGNED = ".data"  # how the name of what is assigned to the numbers of a tensor ends


class Stood(NamedTuple):
    """From event `time` on a tensor had this value, this `.grad` and this version."""

    time: int
    value: Value | None
    grad: Value | None
    version: int


NEVER = Stood(-1, None, None, 0)


class Moments:
    """The moments of every tensor, read once."""

    def __init__(self, events: Sequence[Any]) -> None:
        self.of: dict[str, list[Stood]] = {}
        self.bound: dict[str, str] = {}  # variable -> the tensor that it is
        self.given: dict[int, str] = {}  # time -> the tensor that was given other numbers by `x.data = …`
        for time, event in enumerate(events):
            for state in states_of(event):
                value = self.latest(state.id).value if state.value is None else state.value
                self.note(Stood(time, value, state.grad, state.version), state.id)
            if isinstance(event, Deposited | GradSet):
                self.note(self.latest(event.tensor)._replace(time=time, grad=event.after), event.tensor)
            self.assigned(time, event)

    def latest(self, tensor: str) -> Stood:
        """The last moment that was read."""
        return self.of.get(tensor, [NEVER])[-1]

    def note(self, moment: Stood, tensor: str) -> None:
        """Take a moment in, if it differs from the one before."""
        if moment[1:] != self.latest(tensor)[1:] or tensor not in self.of:
            self.of.setdefault(tensor, []).append(moment)

    def assigned(self, time: int, event: Any) -> None:
        """Follow the variables, to know whose numbers are assigned to."""
        name = getattr(event, "name", None) or ""
        if isinstance(event, Snapshot):
            self.bound.update((name, state.id) for name, state in event.rows)
        elif isinstance(event, Forward) and name.endswith(ASSIGNED):
            tensor = self.bound.get(name.removesuffix(ASSIGNED))
            if tensor is not None:
                self.given[time] = tensor
                value = event.outputs[0].value
                self.note(self.latest(tensor)._replace(time=time, value=value), tensor)
        elif name:
            self.bound.update((name, state.id) for state in states_of(event))

    def at(self, tensor: str, time: int) -> Stood:
        """How a tensor stood when event `time` was over."""
        known = self.of.get(tensor, [])
        place = bisect_right(known, time, key=lambda moment: moment.time)
        return known[place - 1] if place else NEVER

    def between(self, tensor: str, begin: int, end: int) -> list[Stood]:
        """The moments of a tensor from before event `begin` until `end` is over."""
        first = self.at(tensor, begin - 1)
        inside = (moment for moment in self.of.get(tensor, ()) if begin <= moment.time <= end)
        return [*([] if first is NEVER else [first]), *inside]


def stood_in(
    moments: Moments, span: tuple[int, int], state: TensorState, passed: Value | None
) -> tuple[tuple[Value | None, Value | None], ...]:
    """How a tensor stood in a `span` of events, if that changed; () for too many moments. The gradient of a
    result is the one that `passed` through it, at all moments: when it was kept is not known before the
    end."""
    pairs = [
        (value, grad if state.is_leaf else passed) for _, value, grad, _ in moments.between(state.id, *span)
    ]
    distinct = tuple(dict.fromkeys(pairs))
    drawn = state.value, state.grad if state.is_leaf else passed
    changed = any(pair != drawn for pair in distinct)
    return distinct if changed and len(distinct) <= MOMENTS else ()


def states_of(event: Any) -> Iterator[TensorState]:
    """The tensors that an event tells of, as they stand after it."""
    if isinstance(event, Created | Detached | Left | Asked):
        yield event.tensor
    elif isinstance(event, Forward):
        yield from event.outputs
    elif isinstance(event, Mutated):
        yield from (event.tensor, *event.also)
    elif isinstance(event, Snapshot):
        yield from (state for _, state in event.rows)
