"""The modes of PyTorch, of which only the grad mode tells that it is switched."""

from __future__ import annotations

from typing import Any

from .torch_frames import CHECKPOINT, by_torch

SWITCHES = ("torch.autograd.grad_mode", "torch.utils._contextlib")  # what stands between a mode and who asks


class TorchModes:
    """Tells a recorder of modes: of the grad mode when it is switched, of the others when asked to look."""

    def __init__(self, torch: Any, recorder: Any) -> None:
        self.torch, self.recorder = torch, recorder
        self.asked: Any = None  # what PyTorch said when it was last asked
        self.stood = self.standing()
        for name, enabled in self.stood.items():
            if enabled:
                recorder.mode_stands(name, enabled)
        if not torch.is_grad_enabled() and not self.stood["inference"]:
            recorder.mode_stands("grad", False)

    def switched(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Switch the grad mode, and tell if it is the cell that asked."""
        __tracebackhide__ = True
        before = self.torch.is_grad_enabled()
        result = func(*args, **kwargs)
        enabled = self.torch.is_grad_enabled()
        if enabled != before and not by_torch(*SWITCHES):
            self.recorder.mode_changed("grad", enabled)
        return result

    def standing(self) -> dict[str, bool]:
        """The modes that nobody tells of, as they stand."""
        torch = self.torch
        hooks = torch._C._autograd._top_saved_tensors_default_hooks(False)
        return {
            "inference": torch.is_inference_mode_enabled(),
            "anomaly": torch.is_anomaly_enabled(),
            "saved_tensors_hooks": hooks is not None and hooks[0].__module__ != CHECKPOINT,
            "forward_ad": torch.autograd.forward_ad._current_level >= 0,
        }

    def ask(self) -> None:
        """Tell of the modes that were switched since they were asked for last."""
        torch = self.torch
        if self.recorder.tape.rounds.light:
            return
        raw = (
            torch.is_inference_mode_enabled(),
            torch.is_anomaly_enabled(),
            torch._C._autograd._top_saved_tensors_default_hooks(False) is None,
            torch.autograd.forward_ad._current_level,
        )
        if raw == self.asked:
            return
        self.asked = raw
        before, self.stood = self.stood, self.standing()
        for name, enabled in self.stood.items():
            if enabled != before[name]:
                self.recorder.mode_changed(name, enabled)
