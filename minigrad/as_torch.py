"""`import torch` that means minigrad, for programs that were written for PyTorch."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["install_as_torch"]

PACKAGE = __name__.rpartition(".")[0]


class Alias:
    """Finds `torch` and its modules: each is minigrad's own module of the same path, loaded once."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module of `torch`; None for other modules. ModuleNotFoundError says what
        minigrad does not have."""
        root, _, rest = fullname.partition(".")
        if root != "torch":
            return None
        name = f"{PACKAGE}.{rest}" if rest else PACKAGE
        try:
            return ModuleSpec(fullname, self, loader_state=import_module(name))  # type: ignore[arg-type]
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
        raise ModuleNotFoundError(f"minigrad has no {fullname} (see docs/ops.md)", name=fullname)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return minigrad's module. The import system writes `spec` into it; `exec_module` undoes that."""
        module: ModuleType = spec.loader_state
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec. Its code has run already."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install_as_torch() -> None:
    """Make `import torch` mean minigrad in this process.

    A program that says `import torch`, `import torch.nn as nn` or `from torch.utils.data import DataLoader`
    then runs on minigrad as it is. A second call does nothing.

    Call it first, before anything imports PyTorch::

        import minigrad
        minigrad.install_as_torch()
        import torch  # minigrad

    Raises:
        RuntimeError: PyTorch was imported before. Two libraries cannot both be `torch`.
    """
    loaded = sys.modules.get("torch")
    if loaded is sys.modules[PACKAGE]:
        return
    if loaded is not None:
        raise RuntimeError(
            "PyTorch was already imported in this process, so `import torch` cannot mean minigrad. "
            "Restart Python (in Jupyter: Kernel > Restart) and call install_as_torch() first."
        )
    sys.meta_path.insert(0, Alias())
    import_module("torch")
