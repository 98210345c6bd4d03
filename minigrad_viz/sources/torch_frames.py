"""What the frames of the stack tell of a call of PyTorch: who called, and on whose behalf."""

from __future__ import annotations

import sys
from typing import Any

FUNCTION = "torch.autograd.function"  # where the backward of a custom Function is called
CHECKPOINT = "torch.utils.checkpoint"


def outside(frame: Any, passed: tuple[str, ...] = ()) -> Any:
    """The first frame, from this one outward, that is neither of the viewer nor of the function by which
    PyTorch hands a call to them, nor of the modules `passed`."""
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("minigrad_viz."):
        frame = frame.f_back
    while frame is not None and (
        frame.f_code.co_name == "__torch_function__" or frame.f_globals.get("__name__") in passed
    ):
        frame = frame.f_back
    return frame


def running() -> Any:
    """The node of the custom Function whose backward called; None if none did."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "apply" and frame.f_globals.get("__name__") == FUNCTION:
            node = frame.f_locals.get("self")
            return node if hasattr(type(node), "_forward_cls") else None
        frame = frame.f_back
    return None


def runs_again() -> bool | None:
    """Whether a function of the user's called, which a checkpoint runs again; None if a checkpoint itself
    called."""
    frame = outside(sys._getframe(1))
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
    frame = outside(sys._getframe(1), passed)
    return frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "torch"
