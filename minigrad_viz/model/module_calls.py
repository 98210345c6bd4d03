"""The calls of modules in a trace: which ran inside which, and from when to when."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from ..trace.events import Called, Returned


def below(path: str, top: str) -> str:
    """The place of a module in the one at `top`: `net.0.conv` in `net.0` is `conv`; elsewhere all of it."""
    return path.removeprefix(f"{top}.") if top else path


class ModuleCall:
    """One call: its event, the call around it (None outside of any), and when it began, counted in events.
    `outputs` are the tensors that it returned."""

    def __init__(self, event: Called, around: ModuleCall | None, begin: int) -> None:
        self.event, self.around, self.begin = event, around, begin
        self.outputs: tuple[str, ...] = ()
        self.inputs = set(event.inputs)

    def chain(self) -> list[ModuleCall]:
        """This call and those around it, outermost first."""
        found: list[ModuleCall] = []
        call: ModuleCall | None = self
        while call is not None:
            found.append(call)
            call = call.around
        return found[::-1]


class ModuleCalls:
    """All calls of a trace. `parameters` has by id of the tensor the place of a parameter in its module:
    (path of the module, own name)."""

    def __init__(self, events: Iterable[Any]) -> None:
        self.calls: list[ModuleCall] = []
        self.parameters: dict[str, tuple[str, str]] = {}
        self._times: list[int] = []
        self._inner: list[ModuleCall | None] = []
        stack: list[ModuleCall] = []
        for time, event in enumerate(events):
            if isinstance(event, Called):
                stack.append(ModuleCall(event, stack[-1] if stack else None, time))
                self.calls.append(stack[-1])
                for name, id in event.parameters:
                    self.parameters.setdefault(id, (event.path, name))
            elif isinstance(event, Returned):
                stack.pop().outputs = event.outputs
            else:
                continue
            self._times.append(time)
            self._inner.append(stack[-1] if stack else None)

    def at(self, time: int) -> ModuleCall | None:
        """The innermost call that ran when so many events had happened."""
        known = bisect_right(self._times, time)
        return self._inner[known - 1] if known else None
