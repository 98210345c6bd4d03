"""Stand-ins and hooks by which PyTorch tells that a backward call runs, that a module is called, and that
PyTorch is imported.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import sys
import threading
from types import FrameType, ModuleType
from typing import Any


class Engine:
    """A stand-in for autograd's engine that tells of backward calls."""

    def __init__(self, engine: Any, source: Any) -> None:
        self.engine = engine
        self.source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def remove(self, variable: Any) -> None:
        """Take it away from `Variable`, also from below the stand-in of another recorder."""
        above = variable._execution_engine
        if above is self:
            variable._execution_engine = self.engine
        while isinstance(above, Engine):
            if above.engine is self:
                above.engine = self.engine
            above = above.engine

    def run_backward(self, roots: Any, gradients: Any, keep_graph: bool, create_graph: bool, inputs: Any = (),
                     *args: Any, **kwargs: Any) -> Any:  # fmt: skip
        """Run backward as PyTorch would."""
        __tracebackhide__ = True
        recorder, run = self.source.recorder, self.engine.run_backward
        here = threading.get_ident() == self.source.thread
        if not here or not (recorder.tape.call or self.source.listens()):
            return run(roots, gradients, keep_graph, create_graph, inputs, *args, **kwargs)
        kind = "backward" if kwargs.get("accumulate_grad") else "grad"
        self.source.modes.ask()
        batched = sys._getframe(2).f_code.co_name == "vjp"  # what `is_grads_batched` makes of the call
        wanted = inputs if kind == "grad" else inputs or None
        if not recorder.tape.call:
            self.source.keeps = keep_graph
        recorder.backward.backward_started(self.source, kind, roots, gradients, create_graph, wanted, batched)
        error: BaseException | None = None
        result: Any = None
        try:
            with self.source.inside() if self.source.nodes.custom else contextlib.nullcontext():
                result = run(roots, gradients, keep_graph, create_graph, inputs, *args, **kwargs)
            return result
        except BaseException as raised:
            error = raised
            raise
        finally:
            recorder.backward.backward_ended(error, result)
            error = None  # or the error and this frame would refer to each other, and so keep the roots


class Waiting(importlib.abc.MetaPathFinder):
    """Stands first in `sys.meta_path` until PyTorch is imported, and has it watched then."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """The spec that the other finders have for PyTorch; nothing for any other module."""
        if name != "torch" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                del loader.exec_module
                execute(module)
                self.source.install()

            loader.exec_module = exec_module
        return spec


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
