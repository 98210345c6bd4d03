"""Replace `torch` by minigrad, so that PyTorch's own test files run on it unchanged.

After `install()`, `import torch` gives a `Facade`: a module that looks every name up in minigrad. minigrad
itself is not modified. `standins.py` has what stands for PyTorch's test helpers (`torch.testing._internal`).

A test file names many things that minigrad does not have, on import lines and in decorators. Those must not
prevent the other tests from running. So while a file is being imported, a missing name gives an `Absent`
object (`absent.py`). Inside a test, a missing name raises an AttributeError at once.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

from absent import Absent, lenient
from standins import STANDINS

import minigrad

ROOT = "torch"
OTHER = {"torch.ops"}  # modules that mean something else in minigrad


class Facade(ModuleType):
    """`torch.…`: a name is looked up among the stand-ins, then in minigrad's module of the same name."""

    def __init__(self, path: str, target: ModuleType | None, extras: dict[str, Any]) -> None:
        super().__init__(path)
        self.__dict__.update(extras)
        self.__dict__["_target"] = target
        self.__path__: list[str] = []  # every module may have submodules

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__name__}.{name}"
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        target = None if path in OTHER else self.__dict__["_target"]
        try:
            value = getattr(target, name)
        except AttributeError as error:
            if known(path):
                return importlib.import_module(path)
            if lenient():
                return Absent(path)
            if target is None:
                raise AttributeError(f"minigrad has no {path}") from None
            raise AttributeError(f"{error} (minigrad has no {path})") from None
        if isinstance(value, ModuleType) and known(path):
            return importlib.import_module(path)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """A test that replaces a function replaces it in minigrad. Submodules are the facade's own."""
        target = self.__dict__.get("_target")
        if isinstance(value, Facade) and callable(getattr(target, name, None)):
            return  # the import system sets submodules; `autograd.gradcheck` stays the function
        if target is None or name.startswith("__") or isinstance(value, Facade):
            super().__setattr__(name, value)
        else:
            setattr(target, name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.__dict__["_target"])})


def counterpart(path: str) -> ModuleType | None:
    """The module of minigrad that stands for the module `path` of PyTorch, or None."""
    if path in OTHER:
        return None
    module: Any = minigrad
    for part in path.split(".")[1:]:
        module = getattr(module, part, None)
    if not isinstance(
        module, ModuleType
    ):  # a function may have its module's name, as `autograd.gradcheck` has
        module = sys.modules.get(minigrad.__name__ + path.removeprefix(ROOT))
    return module


def known(path: str) -> bool:
    """Whether `path` is a module: minigrad's, a stand-in, or a package that holds a stand-in."""
    return counterpart(path) is not None or any(f"{name}.".startswith(f"{path}.") for name in STANDINS)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers `import torch…`, so that an installed PyTorch is never reached."""

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] != ROOT:
            return None
        if not known(fullname) and not lenient():
            raise ModuleNotFoundError(f"minigrad has no {fullname}", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Facade(spec.name, counterpart(spec.name), STANDINS.get(spec.name, {}))

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do: a facade looks its names up when they are used."""


def install() -> None:
    """Make `import torch` mean minigrad in this process, with the names of nodes that PyTorch 2 prints."""
    minigrad.set_dialect("2")
    sys.modules.pop(ROOT, None)
    sys.meta_path.insert(0, Finder())
    importlib.import_module(ROOT)
