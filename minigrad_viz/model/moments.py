"""How tensors stood at every moment of a trace.

Note [True at this moment]
    A card of a picture is drawn as its tensor stood when the call had ended. A leaf has another value before
    and after an update, and another `.grad` before a deposit and after a reset. So a card also has the other
    moments of its call, and each step of the player says which of them it shows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..protocol import Value
from ..trace.events import Asked, Created, Detached, Forward, Left, Mutated, Snapshot, TensorState

MOMENTS = 8  # of one tensor in one call
ASSIGNED = ".data"  # how the name of what is assigned to the numbers of a tensor ends


class Moments:
    """How each tensor was seen, and when: as it came, and after what happened to it; and which tensor each
    variable was. `given` are the tensors that were given other numbers by `x.data = …`, by the time."""

    def __init__(self) -> None:
        self.of: dict[str, list[tuple[int, TensorState]]] = {}
        self.bound: dict[str, list[tuple[int, str]]] = {}
        self.given: dict[int, str] = {}

    def add(self, time: int, state: TensorState) -> None:
        """A tensor stands so when event `time` is over."""
        self.of.setdefault(state.id, []).append((time, state))

    def last(self, tensor: str) -> TensorState:
        """A tensor as it was seen last."""
        return self.of[tensor][-1][1]

    def at(self, tensor: str, time: float) -> TensorState | None:
        """How a tensor stood when event `time` was over; None before it came."""
        known = self.of.get(tensor, [])
        place = bisect_right(known, time, key=lambda seen: seen[0])
        return known[place - 1][1] if place else None

    def changes(self, tensor: str, times: Sequence[float]) -> Iterator[tuple[int, TensorState]]:
        """Of all `times` those at which a tensor stands otherwise than at the time before, by their places,
        with how it stands then. Thousands of tensors are asked for thousands of times."""
        known = self.of.get(tensor, [])
        places = np.searchsorted([time for time, _ in known], times, side="right")
        for i in np.flatnonzero(np.diff(places, prepend=0)).tolist():
            if places[i]:
                yield i, known[places[i] - 1][1]

    def bind(self, time: int, event: Any) -> None:
        """Follow the variables."""
        name = getattr(event, "name", None) or ""
        assigned = self.variable(name.removesuffix(ASSIGNED), time) if name.endswith(ASSIGNED) else None
        if isinstance(event, Forward) and assigned in self.of:
            self.given[time] = assigned
            self.add(time, self.last(assigned)._replace(value=event.outputs[0].value))
        rows = (
            event.rows if isinstance(event, Snapshot) else [(name, state) for state in states_of(event)][:1]
        )
        for variable, state in rows:
            self.bound.setdefault(variable, []).append((time, state.id))

    def variable(self, name: str, time: float) -> str | None:
        """The tensor that a variable was when event `time` was over."""
        known = self.bound.get(name, [])
        place = bisect_right(known, time, key=lambda bound: bound[0])
        return known[place - 1][1] if place else None

    def stood_in(
        self, span: tuple[int, int], state: TensorState, passed: Value | None
    ) -> tuple[tuple[Value | None, Value | None], ...]:
        """How a tensor stood in a `span` of events, if that changed; () for too many moments. The gradient of
        a result is the one that `passed` through it, at all moments: when it was kept is not known before the
        end."""
        (begin, end), first = span, self.at(state.id, span[0] - 1)
        inside = [then for time, then in self.of.get(state.id, ()) if begin <= time <= end]
        moments = inside if first is None else [first, *inside]
        pairs = [(then.value, then.grad if state.is_leaf else passed) for then in moments]
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
