"""The steps of optimizers: what each knows of its parameters, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..protocol import is_tensor, version_of
from ..trace.events import Mutated
from .guard import observing

if TYPE_CHECKING:
    from .recorder import Recorder


class OptimizerSteps:
    """Notes the steps of optimizers, each as one event and a write for every parameter."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        # Of the step that runs: where it stands, and of each parameter its id, its version and its state.
        self.open: tuple[Any, dict[str, tuple[Any, int, dict[str, Any]]]] | None = None

    @observing
    def starts(self, optimizer: Any) -> None:
        """An optimizer is about to change its parameters."""
        recorder, self.open = self.recorder, None
        if recorder.call:
            return  # from a hook
        spot, states = recorder.place(), recorder.states
        found = {}
        for group in optimizer.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    found[states.id_of(param)] = param, version_of(param), self._state(optimizer, param)
        self.open = recorder.write_at(spot), found

    @observing
    def ended(self, optimizer: Any) -> None:
        """It has changed them."""
        if self.open is None:
            return
        (span, found), self.open = self.open, None
        settings = {id(p): numbers_of(g) for g in optimizer.param_groups for p in g["params"]}
        recorder = self.recorder
        rows, writes = [], []
        for name, (param, version, before) in found.items():
            now = self._state(optimizer, param)
            state = tuple((key, before.get(key), taken) for key, taken in now.items())
            rows.append((name, settings.get(id(param), ()), state))
            row = recorder.states.state_of(param, name)
            told = "step", name, row, (name,), span, version, recorder.crossing.sharing(param)
            writes.append(("event", Mutated, *told))
        recorder.notes.append(("stepped", type(optimizer).__name__, rows, span))
        recorder.notes.extend(writes)

    def _state(self, optimizer: Any, param: Any) -> dict[str, Any]:
        """The optimizer's own tensors for a parameter, as they are now."""
        known = optimizer.state.get(param, {})
        return {name: self.recorder.states.taken(t) for name, t in known.items() if is_tensor(t)}


def numbers_of(group: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """The settings of a group that are numbers; of a pair (`betas`) each with its number."""
    found = []
    for name, value in group.items():
        several = value if name != "params" and isinstance(value, tuple | list) else [value]
        for i, number in enumerate(several, 1):
            if isinstance(number, bool | int | float):
                found.append((f"{name}{i}" if len(several) > 1 else name, float(number)))
    return tuple(found)
