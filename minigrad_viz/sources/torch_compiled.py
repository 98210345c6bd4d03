"""Compiled calls of PyTorch: Dynamo must not find anything of ours, and each of them is one op.

Note [Compiled calls]
    Dynamo, the front end of `torch.compile`, reads the code of all that a compiled function calls. Modes,
    hooks and stand-ins belong to that, so it would compile them too. It uses what it compiled before only
    while the modes are the same. So nothing of ours is there while Dynamo is switched on, and the call is
    seen from outside, by what it was given and what it returned.

    Dynamo is switched by `set_eval_frame`, which a stand-in replaces in the module that calls it. A function
    that was compiled before the cell comes by the same way. The outermost frame that switched Dynamo on
    has the arguments of the call, and in the end its result.

    `torch.export` lets Dynamo read a function that does not run as a step of the cell, and `torch.jit.trace`
    runs one to take down its ops with the places and the variables of the frames. Stand-ins for the
    functions that do so take everything away as well, and it is no step.
"""

from __future__ import annotations

import functools
import sys
import threading
from types import FrameType
from typing import Any, ClassVar

from .torch_engine import Waiting

EVAL_FRAME = "torch._dynamo.eval_frame"
SWITCHES = ("set_eval_frame", "_maybe_set_eval_frame")  # both may be the function in C
READERS = (  # functions that read code or frames, by the modules that call them
    ("torch.jit._trace", "_trace_impl"),
    ("torch._C", "_create_graph_by_tracing"),
    ("torch.export._trace", "_export_to_torch_ir"),
    ("torch._dynamo.convert_frame", "fullgraph_capture"),
)


class CompiledCalls:
    """Tells a `source` of compiled calls. `frame` is the one that runs the outermost of them now; `away` says
    that what watches PyTorch has been taken away."""

    told: ClassVar[list[CompiledCalls]] = []  # the stand-ins are there as long as there are some
    plain: ClassVar[dict[tuple[str, str], Any]] = {}  # what they stand for, by module and name

    def __init__(self, source: Any) -> None:
        self.source = source
        self.frame: FrameType | None = None
        self.away = False
        self._call: Any = None
        self._waiting: list[Waiting] = []

    def install(self) -> None:
        """Tell from now on."""
        self.told.append(self)
        stand_in()
        absent = {EVAL_FRAME, *(module for module, _ in READERS)} - sys.modules.keys()
        for module in sorted(absent):
            self._waiting.append(Waiting(module, stand_in))

    def remove(self) -> None:
        """Tell no more; it may be called again."""
        for each in self._waiting:
            each.remove()
        self.away, self.frame, self._call = False, None, None
        if self in self.told:
            self.told.remove(self)
        if not self.told:
            for (module, name), function in self.plain.items():
                vars(sys.modules[module])[name] = function
            self.plain.clear()

    def entered(self, frame: FrameType) -> None:
        """Dynamo is about to be switched on by a function that runs in `frame`."""
        if self.frame is None and threading.get_ident() == self.source.thread:
            self.frame = frame
            known = frame.f_locals
            self._call = self.source.compiled_call(frame, known.get("args", ()), known.get("kwargs", {}))
            self.leave_alone()

    def left(self, frame: FrameType) -> None:
        """It was switched off by a function that runs in `frame`."""
        if self.frame is None or threading.get_ident() != self.source.thread or not self._ends(frame):
            return
        call, self.frame, self._call = self._call, None, None
        self.come_back()
        if call is not None and "result" in frame.f_locals:
            self.source.compiled_ran(call, frame.f_locals["result"])

    def leave_alone(self) -> bool:
        """Take away what watches PyTorch on this thread; whether it was there."""
        if self.away or threading.get_ident() != self.source.thread:
            return False
        self.away = True
        self.source.pause()
        return True

    def come_back(self) -> None:
        """Put it back, unless nobody watches any more."""
        if self.away:
            self.away = False
            self.source.resume()

    def _ends(self, frame: FrameType) -> bool:
        """Whether what switches Dynamo off in a frame is what switched it on."""
        assert self.frame is not None
        if self.frame.f_code.co_name != "__enter__":
            return frame is self.frame
        return frame.f_code.co_name == "__exit__" and frame.f_locals["self"] is self.frame.f_locals["self"]


def stand_in() -> None:
    """Put the stand-ins in their places, in the modules that are there by now."""
    plain = CompiledCalls.plain
    for module, name in (*((EVAL_FRAME, name) for name in SWITCHES), *READERS):
        space = vars(sys.modules.get(module, object))
        if name in space and (module, name) not in plain:
            plain[module, name] = function = space[name]
            space[name] = switch if module == EVAL_FRAME else reading(function)
            if module == EVAL_FRAME:
                space["skip_code"](switch.__code__)  # it also runs while Dynamo is on


def switch(callback: Any) -> Any:
    """Switch Dynamo on with a callback, or off (None), as `set_eval_frame` does."""
    frame: Any = sys._getframe(1)
    plain = CompiledCalls.plain[EVAL_FRAME, SWITCHES[0]]
    if callback is None:
        before = plain(None)
        for each in reversed(CompiledCalls.told):
            each.left(frame)
        return before
    for each in CompiledCalls.told:
        each.entered(frame)
    return plain(callback)


def reading(function: Any) -> Any:
    """A function that reads code or frames, where it finds nothing of ours."""

    @functools.wraps(function)
    def read(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        absent = [each for each in CompiledCalls.told if each.leave_alone()]
        try:
            return function(*args, **kwargs)
        finally:
            for each in reversed(absent):
                each.come_back()

    return read
