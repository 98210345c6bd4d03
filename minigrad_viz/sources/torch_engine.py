"""Stand-ins by which PyTorch tells that a backward call runs, and that a part of it is imported."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Engine:
    """A stand-in for autograd's engine that tells of the backward calls of one thread."""

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

    @property
    def run_backward(self) -> Any:
        """What runs backward: on other threads PyTorch's own."""
        here = threading.get_ident() == self.source.thread
        return self.run if here else self.engine.run_backward

    def run(self, roots: Any, gradients: Any, keep_graph: bool, create_graph: bool, inputs: Any = (),
            *args: Any, **kwargs: Any) -> Any:  # fmt: skip
        """Run backward as PyTorch would."""
        __tracebackhide__ = True
        recorder, run = self.source.recorder, self.engine.run_backward
        if not (recorder.tape.call or self.source.listens()):
            return run(roots, gradients, keep_graph, create_graph, inputs, *args, **kwargs)
        kind = "backward" if kwargs.get("accumulate_grad") else "grad"
        self.source.modes.ask()
        batched = sys._getframe(2).f_code.co_name == "vjp"  # what `is_grads_batched` makes of the call
        wanted = inputs if kind == "grad" else inputs or None
        if not recorder.tape.call:
            self.source.keeps = keep_graph
        error: BaseException | None = None
        result: Any = None
        told = self.source, kind, roots, gradients, create_graph, wanted, batched
        try:
            watched = not recorder.tape.rounds.light
            recorder.backward.backward_started(*told)
            builds = watched and create_graph and recorder.tape.depth == 1
            with self.source.told.within(watched and self.source.nodes.custom, builds):
                result = run(roots, gradients, keep_graph, create_graph, inputs, *args, **kwargs)
            return result
        except BaseException as raised:
            error = raised
            raise
        finally:
            recorder.backward.backward_ended(error, result)
            error = None  # or the error and this frame would refer to each other, and so keep the roots


class Waiting(importlib.abc.MetaPathFinder):
    """Stands first in `sys.meta_path` until a module is imported, and calls `ready` then."""

    def __init__(self, module: str, ready: Callable[[], None]) -> None:
        self.module, self.ready = module, ready
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """The spec that the other finders have for the module; nothing for any other one."""
        if name != self.module or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                vars(loader).pop("exec_module", None)  # another recorder may have waited, too
                execute(module)
                self.ready()

            loader.exec_module = exec_module
        return spec
