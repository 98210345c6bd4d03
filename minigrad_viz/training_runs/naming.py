"""The names that the user gives to models, parameters and modules: `net.body.0.weight`."""

from __future__ import annotations

import linecache
import re
from typing import Any

from ..training_faults.evidence import Place

PARALLEL = ("DataParallel", "DistributedDataParallel")  # which hold the model as `module`


def variable_of(frame: Any, value: Any) -> str:
    """The variable that holds a value, in a frame or those that called it; "" if none does."""
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            for name, held in list(space.items()):
                if held is value and not name.startswith("_") and name != "self":
                    return name
        frame = frame.f_back
    return ""


def line_with(file: str, pattern: str, first: int = 1) -> Place | None:
    """The first line of a file, from a line on, in which a pattern is found."""
    for number, line in enumerate(linecache.getlines(file)[first - 1 :], first):
        if re.search(pattern, line):
            return Place(file, number)
    return None


def assignment_of(frame: Any, value: Any) -> Place | None:
    """The line that assigns the variable which holds a value."""
    name = variable_of(frame, value)
    return (
        line_with(frame.f_code.co_filename, rf"\b{re.escape(name)}\b[^=]*=[^=]") if name and frame else None
    )


def inner_path(path: str, root: Any) -> str:
    """The path inside a model, without the wrappers of torch.compile and DataParallel."""
    path = ".".join(part for part in path.split(".") if part != "_orig_mod")
    if type(root).__name__ in PARALLEL:
        path = path.removeprefix("module").lstrip(".")
    return path


class Names:
    """Names of the modules and parameters below the models that were called."""

    def __init__(self) -> None:
        self.roots: dict[str, Any] = {}
        self.modules: dict[int, str] = {}
        self.parameters: dict[int, tuple[str, str, int, bool]] = {}  # name, model, position, registered
        self.listed: dict[str, Place | None] = {}

    def add(self, root: Any, name: str, Module: Any) -> None:
        """A model: all of its modules and parameters get names. Modules in lists, which it does not
        list, get them too."""
        while name in self.roots:
            name += "_"
        self.roots = {n: r for n, r in self.roots.items() if not any(r is m for m in root.modules())}
        self.roots[name] = root
        order = 1000 * len(self.roots)
        for inner, module in root.named_modules():
            self.modules[id(module)] = f"{name}.{inner_path(inner, root)}".rstrip(".")
        for inner, parameter in root.named_parameters():
            self.parameters[id(parameter)] = (f"{name}.{inner_path(inner, root)}", name, order, True)
            order += 1
        for module in list(root.modules()):
            for attribute, held in list(vars(module).items()):
                if attribute.startswith("_"):
                    continue
                members = held.values() if isinstance(held, dict) else held
                if not isinstance(held, list | tuple | dict):
                    continue
                for index, member in enumerate(members):
                    if isinstance(member, Module) and id(member) not in self.modules:
                        path = f"{self.modules[id(module)]}.{attribute}"
                        self._hidden(member, f"{path}[{index}]", name, order)
                        self.listed[path] = line_of_attribute(module, attribute)
                        order += 100

    def _hidden(self, module: Any, path: str, root: str, order: int) -> None:
        for inner, each in module.named_modules():
            self.modules[id(each)] = f"{path}.{inner}".rstrip(".")
        for inner, parameter in module.named_parameters():
            self.parameters[id(parameter)] = (f"{path}.{inner}", root, order, False)
            order += 1


def line_of_attribute(module: Any, attribute: str) -> Place | None:
    """The line of a class that sets an attribute."""
    code = getattr(type(module).__init__, "__code__", None)
    if code is None:
        return None
    return line_with(code.co_filename, rf"self\.{re.escape(attribute)}\s*[:=]", code.co_firstlineno)
