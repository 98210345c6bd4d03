"""Compiled calls of PyTorch: Dynamo must not find anything of ours, and what one of them did is told as one op.

Note [Compiled calls]
    Dynamo, the front end of `torch.compile`, reads the code of all that a compiled function calls. Modes, hooks
    and stand-ins belong to that, so it would compile them too. Whatever code it compiled before, it only uses
    while the modes are the same. So nothing of ours is there while Dynamo is switched on, and the call is
    told from outside, by what it was given and what it returned.

    Dynamo is switched by `set_eval_frame`, which a stand-in replaces in the module that calls it. A function
    that was compiled before the cell comes by the same way. The outermost frame that switched Dynamo on
    has the arguments of the call, and in the end its result.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, ClassVar

from .torch_engine import Waiting

EVAL_FRAME = "torch._dynamo.eval_frame"
NAMES = ("set_eval_frame", "_maybe_set_eval_frame")  # both may be the function in C


class CompiledCalls:
    """Tells a `source` of compiled calls. `frame` is the one that runs the outermost of them now."""

    told: ClassVar[list[CompiledCalls]] = []  # the stand-in is there as long as there are some
    plain: ClassVar[Any] = None  # what it stands for

    def __init__(self, source: Any) -> None:
        self.source = source
        self.frame: FrameType | None = None
        self._call: Any = None
        self._waiting: Waiting | None = None
        if EVAL_FRAME in sys.modules:
            self._install()
        else:
            self._waiting = Waiting(EVAL_FRAME, self._install)

    def remove(self) -> None:
        """Tell no more."""
        if self._waiting is not None:
            self._waiting.remove()
        if self not in self.told:
            return
        self.told.remove(self)
        if not self.told:
            replace(switch, CompiledCalls.plain)

    def _install(self) -> None:
        if not self.told:
            module: Any = sys.modules[EVAL_FRAME]
            CompiledCalls.plain = module.set_eval_frame
            module.skip_code(switch.__code__)  # it also runs while Dynamo is on
            replace(CompiledCalls.plain, switch)
        self.told.append(self)

    def entered(self, frame: FrameType) -> None:
        """Dynamo is about to be switched on by a function that runs in `frame`."""
        if self.frame is None and threading.get_ident() == self.source.thread:
            self.frame = frame
            known = frame.f_locals
            self._call = self.source.compiled_call(frame, known.get("args", ()), known.get("kwargs", {}))
            self.source.pause()

    def left(self, frame: FrameType) -> None:
        """It was switched off by a function that runs in `frame`."""
        if self.frame is None or threading.get_ident() != self.source.thread or not self._ends(frame):
            return
        call, self.frame, self._call = self._call, None, None
        self.source.resume()
        if call is not None and "result" in frame.f_locals:
            self.source.compiled_ran(call, frame.f_locals["result"])

    def _ends(self, frame: FrameType) -> bool:
        """Whether what switches Dynamo off in a frame is what switched it on."""
        block = self.frame is not None and self.frame.f_code.co_name == "__enter__"
        if not block:
            return frame is self.frame
        return frame.f_code.co_name == "__exit__" and frame.f_locals["self"] is self.frame.f_locals["self"]


def switch(callback: Any) -> Any:
    """Switch Dynamo on with a callback, or off (None), as `set_eval_frame` does."""
    frame: Any = sys._getframe(1)
    if frame.f_code.co_name in NAMES:
        frame = frame.f_back
    if callback is None:
        before = CompiledCalls.plain(None)
        for each in CompiledCalls.told:
            each.left(frame)
        return before
    for each in CompiledCalls.told:
        each.entered(frame)
    return CompiledCalls.plain(callback)


def replace(function: Any, other: Any) -> None:
    """Put `other` in the place of a function that switches Dynamo."""
    space = vars(sys.modules[EVAL_FRAME])
    for name in NAMES:
        if space.get(name) is function:
            space[name] = other
