"""Hooks by which PyTorch tells that a module is called, and that an optimizer takes a step."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, ClassVar

MODULE = "torch.nn.modules.module"
HOOKS = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks")  # of one module
GLOBAL = tuple(f"_global{kind}" for kind in HOOKS)  # of all modules


class ModuleHooks:
    """The hooks that a `source` has on all modules, until they are removed. While there are some, a stand-in
    answers PyTorch's question whether there are any, because it warns of them."""

    told: ClassVar[list[ModuleHooks]] = []
    plain: ClassVar[Any] = None  # what the stand-in stands for

    def __init__(self, source: Any) -> None:
        self.source = source
        module: Any = sys.modules[MODULE]
        if not self.told:
            ModuleHooks.plain, module._has_any_global_hook = module._has_any_global_hook, has_others
        self.told.append(self)
        self.handles = [
            module.register_module_forward_pre_hook(self.entered),
            module.register_module_forward_hook(self.returned, always_call=True),
        ]

    def remove(self) -> None:
        """Remove them."""
        for handle in self.handles:
            handle.remove()
        self.told.remove(self)
        if not self.told:
            module: Any = sys.modules[MODULE]
            module._has_any_global_hook = ModuleHooks.plain

    def entered(self, module: Any, args: Any) -> None:
        """A module is about to run."""
        if threading.get_ident() == self.source.thread and self.source.listens():
            self.source.recorder.modules.called(module, args)

    def returned(self, module: Any, args: Any, result: Any) -> None:
        """A module has run, or an error ended it."""
        if threading.get_ident() == self.source.thread:
            self.source.recorder.modules.returned(module, result)


def has_others() -> bool:
    """Whether there are hooks for all modules besides ours."""
    space = vars(sys.modules[MODULE])
    hooks = (hook for name in GLOBAL for hook in space[name].values())
    return any(not isinstance(getattr(hook, "__self__", None), ModuleHooks) for hook in hooks)


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
