"""The rounds of a training loop as they are taken down: what the newest did, and how all stood after each.

Note [Rounds]
    A round ends when its backward call has ended. What follows (the update, gradients that are reset) is the
    beginning of the next round, so a round is what ran between the ends of two backward calls, whatever the
    order in the body of the loop. The state after a round is what a further round needs: the tensors that
    were there before it, with their gradients, the optimizers, and the state of random numbers.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..protocol import is_tensor
from .program import Given, Instruction

KEPT = 20  # states of rounds
STEPS = 600  # of a round
BYTES = 1_000_000  # of a state


class OptimizerState(NamedTuple):
    """An optimizer: its class, its groups with parameters by number, and its state by parameter. Tensors of
    the state are arrays."""

    kind: type
    groups: tuple[dict[str, Any], ...]
    state: Mapping[int, Mapping[str, Any]]


class RoundState(NamedTuple):
    """How all stood after a round: tensors by number, optimizers, the state of random numbers (None: none are
    drawn), and the value of the root of its backward call. The update that follows has the learning `rate`
    (None: that of the cell)."""

    number: int
    tensors: Mapping[int, Given]
    optimizers: tuple[OptimizerState, ...]
    random: Any
    loss: float
    rate: float | None = None


class KeptRounds:
    """Takes down the rounds of a loop. `segments` has the steps of the newest rounds, `current` those since
    then; `states` the newest states."""

    def __init__(self) -> None:
        self.current: list[Instruction] = []
        self.segments: deque[list[Instruction]] = deque(maxlen=2)
        self.states: deque[RoundState] = deque(maxlen=KEPT)
        self.optimizers: list[weakref.ref[Any]] = []
        self.start = 0  # the number of the first tensor of the current round
        self.count = 0
        self.why_not: tuple[str, Mapping[str, Any]] | None = None

    def refuse(self, key: str, **values: Any) -> None:
        """Note why there cannot be further rounds."""
        if self.why_not is None:
            self.why_not = key, values
            self.current, self.optimizers = [], []
            self.segments.clear()
            self.states.clear()

    def note(self, step: Instruction) -> None:
        """A step of the current round."""
        if self.why_not is None:
            self.current.append(step)
            if len(self.current) > STEPS:
                self.refuse("training_no_end", most=STEPS)

    def stepped(self, optimizer: Any, settings: Any) -> Instruction:
        """An optimizer changed its parameters."""
        known = [reference() for reference in self.optimizers]
        if not any(one is optimizer for one in known):
            self.optimizers.append(weakref.ref(optimizer))
            known.append(optimizer)
        index = next(i for i, one in enumerate(known) if one is optimizer)
        return Instruction("optimizer", None, (index,), answer=settings)

    def ended(self, taker: Any, root: Any, random: Any) -> None:
        """A backward call ended, and with it the round. `taker` knows the tensors."""
        self.count += 1
        if self.why_not is not None:
            return
        tensors, size = {}, 0
        for number, tensor in taker.alive():
            if number < self.start or not self.count > 1:
                tensors[number] = given = taker.standing(tensor)
                size += given.data.nbytes * (1 + (given.grad is not None))
        optimizers = tuple(state_of(one, taker) for one in self.live_optimizers())
        kept = [value for one in optimizers for state in one.state.values() for value in state.values()]
        size += sum(getattr(value, "nbytes", 0) for value in kept) + getattr(random, "nbytes", 0)
        if size > BYTES:
            return self.refuse("live_no_room")
        loss = float(root) if root is not None else float("nan")
        self.states.append(RoundState(self.count, tensors, optimizers, random, loss))
        self.segments.append(self.current)
        self.current, self.start = [], taker.count
        return None

    def live_optimizers(self) -> Iterable[Any]:
        """The optimizers that are still there."""
        return [one for reference in self.optimizers if (one := reference()) is not None]


def state_of(optimizer: Any, taker: Any) -> OptimizerState:
    """An optimizer as it stands now."""
    groups = tuple(
        {**group, "params": [taker.number_of(p) for p in group["params"]]} for group in optimizer.param_groups
    )
    state = {taker.number_of(param): arrays_in(own, taker) for param, own in optimizer.state.items()}
    return OptimizerState(type(optimizer), groups, state)


def arrays_in(own: Mapping[str, Any], taker: Any) -> dict[str, Any]:
    """The state of one parameter, with arrays for tensors."""
    copied = taker.copied
    return {name: copied(value, counts=False) if is_tensor(value) else value for name, value in own.items()}
