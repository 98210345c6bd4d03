"""A library that is imported while a doctor watches: it is watched from then on."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Arrival(MetaPathFinder):
    """Calls `tell` when a module has been imported for the first time. It finds nothing itself: it asks the
    other finders, and adds to what their loader does."""

    def __init__(self, name: str, tell: Callable[[], None]) -> None:
        self.name, self.tell = name, tell
        self.asking = False

    def start(self) -> None:
        """Wait for the module, unless it is there."""
        if self.name not in sys.modules:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Wait no more."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec that others give, with a loader that tells."""
        if name != self.name or self.asking:
            return None
        self.asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.asking = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_tell(module: ModuleType) -> None:
                execute(module)
                self.stop()
                self.tell()

            spec.loader.exec_module = execute_and_tell  # type: ignore[method-assign]
        return spec
