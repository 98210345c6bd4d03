"""What keeps PyTorch and the user from noticing a recorder: how it reads tensors, and the lines that
warnings name.

Note [The line that a warning names]
    Python takes the line from the stack: that of the function that warns, or of a caller further out. While
    PyTorch is watched, the stack also has frames of ours, and those by which PyTorch hands a call to a mode.
    So each warning is looked at just before it is shown. If such a frame was counted, it is raised once more
    from the frame at the same level of the stack without them; the filters in force decide again.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from .torch_frames import viewer_frames

# ─── The context in which a recorder reads tensors of PyTorch, so that nothing of the user's notices it


def shield_of(torch: Any) -> Callable[[], Any]:
    """What gives a context in which neither modes, nor a tensor class's own `__torch_function__`, nor a
    profiler see what is read."""
    from torch.utils import _python_dispatch as dispatch

    functions, modes = torch._C.DisableTorchFunction, torch._C._len_torch_dispatch_stack
    before_dispatch = functools.partial(
        torch._C._dispatch_tls_is_dispatch_key_included, torch._C.DispatchKey.PreDispatch
    )
    profiled, record = torch._C._autograd._profiler_enabled, torch._C._autograd._enable_record_function

    @contextlib.contextmanager
    def unseen() -> Iterator[None]:
        profiling, taken = profiled(), []
        if profiling:
            record(False)
        with contextlib.ExitStack() as others:
            others.enter_context(functions())
            if before_dispatch():
                others.enter_context(dispatch._disable_current_modes())
            taken = [dispatch._pop_mode() for _ in range(modes())]
            try:
                yield
            finally:
                for mode in reversed(taken):
                    dispatch._push_mode(mode)
                if profiling:
                    record(True)

    def shield() -> Any:
        return unseen() if modes() or profiled() or before_dispatch() else functions()

    return shield


# ─── Warnings that a library raises while it is watched


class WarningCorrection:
    """Corrects warnings between `install` and `remove`."""

    def __init__(self) -> None:
        self.show: Callable[[Any], None] = print
        self.passes = True  # whether warnings are passed on as they are

    def install(self) -> None:
        """Begin."""
        module: Any = warnings  # what is shown goes through this function of it, in `catch_warnings`, too
        self.show, module._showwarnmsg = module._showwarnmsg, self.shown
        self.passes = False

    def remove(self) -> None:
        """Stop. Where another that began later has not stopped yet, warnings go on through this one."""
        module: Any = warnings
        self.passes = True
        if module._showwarnmsg == self.shown:
            module._showwarnmsg = self.below()

    def below(self) -> Callable[[Any], None]:
        """What showed warnings before, without those like this that have stopped since."""
        owner = getattr(self.show, "__self__", None)
        return owner.below() if isinstance(owner, WarningCorrection) and owner.passes else self.show

    def shown(self, message: Any) -> None:
        """A warning is about to be shown."""
        __tracebackhide__ = True
        if self.passes:
            self.show(message)
            return
        text = str(message.message)
        if (without := without_ours(text)) != text:
            message.message = message.category(without)
        stack = list(frame_and_callers(sys._getframe(1)))
        named = (message.filename, message.lineno)
        level = next((i for i, f in enumerate(stack) if (f.f_code.co_filename, f.f_lineno) == named), -1)
        extra = viewer_frames(stack)
        if not any(i <= level for i in extra):
            self.show(message)
            return
        forget_warning(message, stack[level])
        plain = [frame for i, frame in enumerate(stack) if i not in extra]
        frame = plain[min(level, len(plain) - 1)]
        space = frame.f_globals
        where = frame.f_code.co_filename, frame.f_lineno, space.get("__name__", "<string>")
        known = space.setdefault("__warningregistry__", {})
        self.passes = True
        try:
            warnings.warn_explicit(message.message, message.category, *where, known, source=message.source)
        finally:
            self.passes = False


ENTRY = re.compile(r'  File "(?P<file>[^"\n]*)", line \d+, in .*\n(?:    .*\n)*')  # of a printed stack
OURS = os.path.dirname(__file__)


def without_ours(text: str) -> str:
    """The text of a warning without our frames in the stack that anomaly detection writes into it, nor those
    by which PyTorch hands a call to a mode."""
    if OURS not in text:
        return text
    entries = list(ENTRY.finditer(text))
    extra: set[int] = set()
    for i, entry in enumerate(entries):
        if not entry["file"].startswith(OURS):
            continue
        extra.add(i)
        if i > 1 and entries[i - 1]["file"].endswith(os.path.join("torch", "overrides.py")):
            extra |= {i - 1, i - 2}
    for i in sorted(extra, reverse=True):
        text = text[: entries[i].start()] + text[entries[i].end() :]
    return text


def frame_and_callers(frame: FrameType | None) -> Any:
    """A frame and its callers."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def forget_warning(message: Any, frame: FrameType) -> None:
    """Take back what Python noted when it raised a warning, in order not to show it twice."""
    text = str(message.message)
    known: Any = frame.f_globals.get("__warningregistry__", {})
    known.pop((text, message.category, message.lineno), None)
    known.pop((text, message.category, 0), None)  # where modules or all code may show it once
    once: Any = getattr(warnings, "onceregistry", {})
    once.pop((text, message.category), None)
