"""What is loaded when it is first used: names of a module, as PEP 562 lets one do it, and whole modules."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib import import_module, reload
from operator import attrgetter
from types import ModuleType
from typing import Any

from .left_out import missing


def later(
    scope: dict[str, Any], table: dict[str, str], finish: Callable[[str, Any], Any] | None = None
) -> tuple[Any, Any]:
    """`__getattr__` and `__dir__` of the module with the globals `scope` for what stands in the table, by
    module of its package: names, or `name=other` for what has another name there (`name=Class.method` too).
    Under "" stand modules of the package themselves.

    What is found may be finished, and then is an ordinary global of the module.
    """
    homes = {}
    for module, names in table.items():
        for name in names.split():
            public, _, own = name.partition("=")
            homes[public] = module, own or public

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise missing(scope["__name__"].partition(".")[2] or "torch", name)
        module, own = homes[name]
        if not module:
            return import_module(f".{own}", scope["__package__"])
        value = attrgetter(own)(import_module(f".{module}", scope["__package__"]))
        scope[name] = value if finish is None else finish(name, value)
        return scope[name]

    def __dir__() -> list[str]:
        return sorted({*scope, *homes})

    return __getattr__, __dir__


_lock = threading.RLock()  # one for all late modules: two threads cannot wait for each other
_loading: set[str] = set()


class LateModule(ModuleType):
    """A module that runs when a name in it is first asked for, and is an ordinary module from then on."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # `inspect` and `warnings` ask every module for such names
            raise AttributeError(name)
        load(self)
        if type(self) is ModuleType:  # it has run, and may have a `__getattr__` of its own
            return getattr(self, name)
        try:
            return vars(self)[name]
        except KeyError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None


def late_modules(package: str, names: str) -> list[ModuleType]:
    """Modules of a package that wait until they are used, whoever imports them."""
    scope = vars(sys.modules[package])
    for name in names.split():
        module = f"{package}.{name}"
        scope[name] = sys.modules.setdefault(module, LateModule(module))
    return [scope[name] for name in names.split()]


def load(module: ModuleType) -> None:
    """Run a module that waits for it. Other threads wait until it has run; it may ask for its own names."""
    with _lock:
        if isinstance(module, LateModule) and module.__name__ not in _loading:
            _loading.add(module.__name__)
            try:
                reload(module)
                module.__class__ = ModuleType  # type: ignore[assignment]
            finally:
                _loading.discard(module.__name__)
