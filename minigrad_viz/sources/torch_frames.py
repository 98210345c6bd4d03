"""What the frames of the stack say about a call of PyTorch: who called, and on whose behalf; and the modes of
PyTorch, of which only the grad mode reports that it is switched.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

from ..protocol import function_of

FUNCTION = "torch.autograd.function"  # where the backward of a custom Function is called
CHECKPOINT = "torch.utils.checkpoint"


def user_frame(frame: Any, passed: tuple[str, ...] = ()) -> Any:
    """The first frame, from this one outward, that is neither of the viewer nor of the function by which
    PyTorch hands a call to it, nor of the modules `passed`."""
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("minigrad_viz."):
        frame = frame.f_back
    while frame is not None and (
        frame.f_code.co_name == "__torch_function__" or frame.f_globals.get("__name__") in passed
    ):
        frame = frame.f_back
    return frame


def viewer_frames(stack: Sequence[Any]) -> set[int]:
    """The places in a stack, innermost frame first, of frames that are there only because PyTorch is
    watched. Where one of ours has called a function `func` of PyTorch's through a mode, `func`
    itself has a second frame, further out."""
    found: set[int] = set()
    names = [str(frame.f_globals.get("__name__")) for frame in stack]
    for i, frame in enumerate(stack):
        if not names[i].startswith("minigrad_viz."):
            continue
        found.add(i)
        if names[i + 1 : i + 2] == ["torch.overrides"]:
            found.add(i + 1)
            code = getattr(frame.f_locals.get("func"), "__code__", None)
            if i + 2 < len(stack) and stack[i + 2].f_code is code:
                found.add(i + 2)
    return found


def without_viewer_frames(tb: TracebackType | None) -> TracebackType | None:
    """A traceback as it would be if nothing were watched; as it is, if it has no other frames."""
    entries: list[TracebackType] = []
    entry = tb
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    entries.reverse()
    extra = viewer_frames([entry.tb_frame for entry in entries])
    return link_entries([entry for i, entry in enumerate(entries) if i not in extra]) or tb


def link_entries(entries: Iterable[TracebackType]) -> TracebackType | None:
    """The traceback of some entries of another one, innermost first."""
    result: TracebackType | None = None
    for entry in entries:
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def running_function_node() -> Any:
    """The node of the custom Function whose backward called; None if none did."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "apply" and frame.f_globals.get("__name__") == FUNCTION:
            node = frame.f_locals.get("self")
            return None if function_of(node) is None else node
        frame = frame.f_back
    return None


def runs_again() -> bool | None:
    """Whether a function of the user's called, which a checkpoint runs again; None if a checkpoint itself
    called."""
    frame = user_frame(sys._getframe(1))
    if frame is None or str(frame.f_globals.get("__name__")).startswith(("torch.autograd", CHECKPOINT)):
        return None if frame is not None and frame.f_globals["__name__"] == CHECKPOINT else False
    while frame is not None and frame.f_code.co_name != "run_backward":
        if frame.f_globals.get("__name__") == CHECKPOINT:
            return True
        frame = frame.f_back
    return False


def by_torch(*passed: str) -> bool:
    """Whether PyTorch itself asked for a new tensor, as a module does for its parameters, or for a mode, by
    way of the modules `passed`."""
    frame = user_frame(sys._getframe(1), passed)
    return frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "torch"


MODES = "inference", "anomaly", "saved_tensors_hooks", "forward_ad"  # that nobody tells of
SWITCHES = ("torch.autograd.grad_mode", "torch.utils._contextlib")  # what stands between a mode and who asks


def mode_stack() -> list[Any]:
    """The function modes of this thread, the innermost last."""
    from torch.overrides import _get_current_function_mode_stack

    return list(_get_current_function_mode_stack())


def put_modes(modes: Iterable[Any]) -> None:
    """Make these the function modes of this thread."""
    from torch.overrides import _pop_mode, _push_mode

    modes = list(modes)
    for _ in mode_stack():
        _pop_mode()
    for mode in modes:
        _push_mode(mode)


class TorchModes:
    """Tells a recorder of modes: of the grad mode when it is switched, of the others when asked to look."""

    def __init__(self, torch: Any, source: Any) -> None:
        self.torch, self.source, self.recorder = torch, source, source.recorder
        recorder = self.recorder
        self.stood = self.standing()
        for name, enabled in zip(MODES, self.stood, strict=True):
            if enabled:
                recorder.mode_stands(name, enabled)
        if not torch.is_grad_enabled() and not torch.is_inference_mode_enabled():
            recorder.mode_stands("grad", False)

    def switched(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Switch the grad mode, and tell if it is the cell that asked. An interrupt leaves a block that was
        beginning as not begun, and a block that was ending as ended. A call that switches the mode on, as in
        a `finally`, has switched it on."""
        __tracebackhide__ = True
        before = result = None
        try:
            before = self.torch.is_grad_enabled()
            result = func(*args, **kwargs)
            enabled = self.torch.is_grad_enabled()
            if enabled != before and self.source.listens() and not by_torch(*SWITCHES):
                self.recorder.mode_changed("grad", enabled)
        except BaseException:
            caller = user_frame(sys._getframe(1))
            ends = caller is not None and caller.f_code.co_name == "__exit__"
            if ends or args[:1] == (True,):
                func(*args, **kwargs)
            elif before is not None:
                func(before)
            raise
        return result

    def standing(self) -> tuple[bool, ...]:
        """The present state of `MODES`."""
        torch = self.torch
        hooks = torch._C._autograd._top_saved_tensors_default_hooks(False)
        return (
            torch.is_inference_mode_enabled(),
            torch.is_anomaly_enabled(),
            hooks is not None and hooks[0].__module__ != CHECKPOINT,
            torch.autograd.forward_ad._current_level >= 0,
        )

    def ask(self) -> None:
        """Tell of the modes that were switched since they were asked for last."""
        before, now = self.stood, self.standing()
        if now != before and not self.recorder.tape.rounds.light:
            self.stood = now
            for name, stood, stands in zip(MODES, before, now, strict=True):
                if stands != stood:
                    self.recorder.mode_changed(name, stands)


PROPERTIES = ("T", "mT", "H", "mH", "real", "imag")  # attributes that compute; other attributes are only read
PROFILED = ("record_function_enter", "record_function_exit")


def title(func: Any) -> str | None:
    """The name of what is called, without underscores; None for reading or writing an attribute, and for what
    tells a profiler where a step of an optimizer begins and ends."""
    name = getattr(func, "__name__", "")
    if name in ("__get__", "__set__", "__delete__"):
        attribute = getattr(func.__self__, "__name__", "")
        return attribute if name == "__get__" and attribute in (*PROPERTIES, "data") else None
    plain = name.strip("_")
    return None if plain.startswith(PROFILED) else plain


def flat_arguments(values: Any) -> list[Any]:
    """Arguments or results, with those in lists and tuples one by one."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found += flat_arguments(value)
        else:
            found.append(value)
    return found
