"""The steps of optimizers: the settings and state of each parameter, before and after."""

from __future__ import annotations

from typing import Any

from ..protocol import is_tensor, version_of
from ..trace.events import Mutated, OptimizerStepped, Stepping
from .crossing import Crossing
from .named import write_at
from .states import States
from .tape import Tape, observing


class OptimizerSteps:
    """Notes the steps of optimizers, each as one event and a write for every parameter."""

    def __init__(self, tape: Tape, states: States, crossing: Crossing) -> None:
        self.tape, self.states, self.crossing = tape, states, crossing
        # Of the step that runs: where it stands, and of each parameter its id, its version and its state.
        self.open: tuple[Any, dict[str, tuple[Any, int, dict[str, Any]]]] | None = None

    @observing
    def starts(self, optimizer: Any) -> None:
        """An optimizer is about to change its parameters."""
        tape, states, self.open = self.tape, self.states, None
        if tape.call:
            return  # from a hook
        spot = tape.place()
        found = {}
        for group in optimizer.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    found[states.id_of(param)] = param, version_of(param), self._state(optimizer, param)
        self.open = write_at(spot), found

    @observing
    def ended(self, optimizer: Any) -> None:
        """It has changed them."""
        if self.open is None:
            return
        (span, found), self.open = self.open, None
        settings = {id(p): numbers_of(g) for g in optimizer.param_groups for p in g["params"]}
        rows, writes = [], []
        for name, (param, version, before) in found.items():
            now = self._state(optimizer, param)
            state = tuple((key, before.get(key), taken) for key, taken in now.items())
            rows.append(Stepping(name, settings.get(id(param), ()), state))
            row = self.states.state_of(param, name)
            shared = self.crossing.sharing(param)
            writes.append(Mutated("step", name, row, (name,), span, version, shared))
        self.tape.notes.append(OptimizerStepped(type(optimizer).__name__, tuple(rows), span))
        self.tape.notes.extend(writes)

    def _state(self, optimizer: Any, param: Any) -> dict[str, Any]:
        """The optimizer's own tensors for a parameter, as they are now."""
        known = optimizer.state.get(param, {})
        return {name: self.tape.taken(t) for name, t in known.items() if is_tensor(t)}


def numbers_of(group: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """The settings of a group that are numbers; of a pair (`betas`) each with its number."""
    found = []
    for name, value in group.items():
        several = value if name != "params" and isinstance(value, tuple | list) else [value]
        for i, number in enumerate(several, 1):
            if isinstance(number, bool | int | float):
                found.append((f"{name}{i}" if len(several) > 1 else name, float(number)))
    return tuple(found)
