"""The state after each of the newest rounds of a loop: what a further round begins with.

Note [Rounds]
    A round ends when its backward call has ended. What follows (the update, gradients that are reset) is the
    beginning of the next round, so a round is what ran between the ends of two backward calls, whatever the
    order in the body of the loop. The state after a round is what a further round needs: the tensors that
    were there before it, with their gradients, the optimizers, and the state of random numbers.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..protocol import array_of, dtype_name, history_of, is_parameter, is_tensor
from ..trace.calls import InputTensor
from .calls import Calls
from .tape import Tape

ROUND_STATES = 20  # states of rounds
BYTES = 1_000_000  # of a state


class OptimizerState(NamedTuple):
    """An optimizer: its class, its groups with parameters by number, and its state by parameter. Tensors of
    the state are arrays."""

    kind: type
    groups: tuple[dict[str, Any], ...]
    state: Mapping[int, Mapping[str, Any]]


class RoundState(NamedTuple):
    """The state after a round: tensors by number, optimizers, the state of random numbers (None: none are
    drawn), and the value of the root of its backward call. The update that follows has the learning `rate`
    (None: that of the cell)."""

    number: int
    tensors: Mapping[int, InputTensor]
    optimizers: tuple[OptimizerState, ...]
    random: Any
    loss: float
    rate: float | None = None


class RoundStates:
    """Copies the state after each round for a recorder. `states` are the newest, `count`
    all; `refused` is a key of the catalogue, with its values, if they are too large."""

    def __init__(self, tape: Tape, calls: Calls) -> None:
        self.tape, self.calls = tape, calls
        self.states: deque[RoundState] = deque(maxlen=ROUND_STATES)
        self.count = 0
        self.refused: tuple[str, Mapping[str, Any]] | None = None
        self._optimizers: list[weakref.ref[Any]] = []
        self._start = 0  # the number of the first tensor of the round

    def stepped(self, optimizer: Any) -> None:
        """An optimizer changed its parameters."""
        known = [reference() for reference in self._optimizers]
        if not any(one is optimizer for one in known):
            self._optimizers.append(weakref.ref(optimizer))
            known.append(optimizer)
        index = next(i for i, one in enumerate(known) if one is optimizer)
        self.calls.add("step", None, (index,), answer=settings_of(optimizer))

    def ended(self, root: float | None, library: Any) -> None:
        """A backward call of a library has ended, and with it a round."""
        self.count += 1
        if self.refused is not None:
            return
        tensors, size = {}, 0
        for name, reference in self.tape.ids.references.items():
            tensor, number = reference(), int(name[1:])
            if tensor is not None and (number < self._start or self.count == 1):
                current = state_now(tensor)
                if current is None:
                    return self._refuse("live_no_argument", kind=dtype_name(tensor))
                tensors[number] = current
                size += current.data.nbytes * (1 + (current.grad is not None))
        found = [one for reference in self._optimizers if (one := reference()) is not None]
        optimizers = tuple(state_of(one, self.tape.ids.known) for one in found)
        kept = [value for one in optimizers for state in one.state.values() for value in state.values()]
        random = array_of(library.get_rng_state()).copy()
        size += sum(getattr(value, "nbytes", 0) for value in kept) + getattr(random, "nbytes", 0)
        if size > BYTES:
            return self._refuse("live_no_room")
        loss = float("nan") if root is None else root
        self.states.append(RoundState(self.count, tensors, optimizers, random, loss))
        self._start = self.tape.ids.upcoming
        return None

    def _refuse(self, key: str, **values: Any) -> None:
        self.refused = key, values
        self.states.clear()
        self._optimizers.clear()


def state_now(tensor: Any) -> InputTensor | None:
    """A tensor as it is now, whatever its history; None where NumPy has no such numbers."""
    data = None if dtype_name(tensor) == "bfloat16" else array_of(tensor)
    if data is None:
        return None
    learns = tensor.requires_grad and history_of(tensor) is None
    grad = tensor.grad if learns else None
    kept = None if grad is None else array_of(grad)
    return InputTensor(data.copy(), learns, is_parameter(tensor), None if kept is None else kept.copy())


def settings_of(optimizer: Any) -> tuple[Any, ...]:
    """The settings of the groups of an optimizer, to be compared."""
    return tuple(
        tuple((name, repr(value)) for name, value in group.items() if name != "params")
        for group in optimizer.param_groups
    )


def state_of(optimizer: Any, known: Any) -> OptimizerState:
    """The present state of an optimizer."""

    def number(param: Any) -> int:
        return int(known(param)[1:])

    groups = tuple(
        {**group, "params": list(map(number, group["params"]))} for group in optimizer.param_groups
    )
    state = {number(param): arrays_in(own) for param, own in optimizer.state.items()}
    return OptimizerState(type(optimizer), groups, state)


def arrays_in(own: Mapping[str, Any]) -> dict[str, Any]:
    """The state of one parameter, with arrays for tensors."""
    return {name: array_of(value).copy() if is_tensor(value) else value for name, value in own.items()}
