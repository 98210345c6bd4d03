"""Hooks by which PyTorch tells that a module is called, and that an optimizer takes a step."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any

MODULE = "torch.nn.modules.module"
HOOKS = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks")  # of one module


class ModuleHooks:
    """The hooks that a `source` has on all modules, until they are removed."""

    def __init__(self, source: Any) -> None:
        self.source = source
        module = sys.modules[MODULE]
        self.handles = [
            module.register_module_forward_pre_hook(self.entered),
            module.register_module_forward_hook(self.returned, always_call=True),
        ]

    def remove(self) -> None:
        """Remove them."""
        for handle in self.handles:
            handle.remove()

    def entered(self, module: Any, args: Any) -> None:
        """A module is about to run."""
        if threading.get_ident() == self.source.thread and self.source.listens():
            self.source.recorder.modules.called(module, args)

    def returned(self, module: Any, args: Any, result: Any) -> None:
        """A module has run, or an error ended it."""
        if threading.get_ident() == self.source.thread:
            self.source.recorder.modules.returned(module, result)


def only_for_hooks(frame: FrameType) -> bool:
    """Whether PyTorch calls a module by way of a frame only because there are hooks for all modules."""
    if frame.f_code.co_name != "inner" or frame.f_globals.get("__name__") != MODULE:
        return False
    held, others = vars(frame.f_locals["self"]), len(frame.f_globals["_global_forward_hooks"]) > 1
    return not others and not any(held[kind] for kind in HOOKS)


OPTIMIZERS = "torch.optim."


def step_told(source: Any, tell: Any) -> Any:
    """A hook that tells of the steps of PyTorch's own optimizers; those of a class of the user's consist
    of steps of the cell."""

    def hook(optimizer: Any, *arguments: Any) -> None:
        if threading.get_ident() == source.thread and type(optimizer).step.__module__.startswith(OPTIMIZERS):
            tell(optimizer)

    return hook
