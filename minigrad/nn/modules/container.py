"""Modules that hold others: Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .module import indented
from .parameter_containers import Keyed, Listed, ParameterDict, ParameterList, checked_index

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Modules(Listed):
    """Base class of containers whose modules are named "0", "1", …"""

    def _put(self, modules: Iterable[Any]) -> None:
        """Replace all modules and number them again."""
        kept = list(modules)
        self._modules.clear()
        self.extend(kept)

    def __add__(self, other: Iterable[Any]) -> Any:
        return type(self)().extend([*self, *other])

    def __delitem__(self, index: Any) -> None:
        kept = list(self)
        del kept[index if isinstance(index, slice) else checked_index(index, len(kept))]
        self._put(kept)

    def insert(self, index: int, module: Any) -> Any:
        """Add a module before the one at `index`."""
        kept = list(self)
        kept.insert(index, module)
        self._put(kept)
        return self

    def pop(self, index: Any = -1) -> Any:
        """Remove a module and return it."""
        module = self[index]
        del self[index]
        return module


class Sequential(Modules):
    """Module that calls its modules in order; each one receives the result of the one before.

    Args:
        args: the modules, or one dictionary of names and modules.

    Shape:
        The first module's input → the last module's output.

    Raises:
        TypeError: an argument is not a module.

    Example:
        >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())(torch.ones(1, 2)).shape
        torch.Size([1, 3])

    Source: PyTorch's page `torch.nn.Sequential`.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], Mapping) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def _part(self, index: slice) -> Any:
        """Return a new container with some of the modules, under their names."""
        return type(self)(dict(list(self._modules.items())[index]))

    def forward(self, input: Any) -> Any:
        """Return the last module's result."""
        for module in self:
            input = module(input)
        return input


class ModuleList(Modules):
    """List of modules whose parameters belong to the module that holds the list.

    It cannot be called. Use it when `forward` calls the modules itself.

    Args:
        modules: modules to start with.

    Shape:
        None: it computes nothing.

    Raises:
        IndexError: the index is out of range.
        TypeError: an item is not a module.

    Example:
        >>> layers = nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])
        >>> len(layers), len(list(layers.parameters()))
        (2, 2)

    Source: PyTorch's page `torch.nn.ModuleList`.
    """

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def _parts(self) -> list[str]:
        runs: list[list[Any]] = []  # equal neighbors share a line: first index, last index, text
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        return [
            f"({a}): {indented(text)}" if a == b else f"({a}-{b}): {b - a + 1} x {indented(text)}"
            for a, b, text in runs
        ]


class ModuleDict(Keyed):
    """Dictionary of modules whose parameters belong to the module that holds it.

    It cannot be called. It keeps the order in which the modules were added.

    Args:
        modules: dictionary, or pairs of names and modules, to start with.

    Shape:
        None: it computes nothing.

    Raises:
        KeyError: there is no module of that name.
        TypeError: a value is not a module.

    Example:
        >>> nn.ModuleDict({"relu": nn.ReLU()})["relu"](torch.tensor([-1.0])).tolist()
        [0.0]

    Source: PyTorch's page `torch.nn.ModuleDict`.
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)
