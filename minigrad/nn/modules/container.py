"""Containers of layers and of parameters."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...left_out import refuse
from ...tensor import Tensor
from ..parameter import Parameter
from .module import Module, indent
from .tree import type_name

__all__ = ["ParameterDict", "ParameterList", "ModuleDict", "ModuleList", "Sequential"]


# ─── Base classes of lists and dictionaries of modules or parameters; ParameterList and ParameterDict


def checked_index(index: Any, count: int) -> int:
    """Return an index counted from the front; raise IndexError if it is out of range."""
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range")
    return index % count


class Container(Module):
    """Base class of lists and dictionaries; `_entries` holds the entries by name."""

    @property
    def _entries(self) -> dict[str, Any]:
        return self._modules

    def __len__(self) -> int:
        return len(self._entries)


class ListContainer(Container):
    """Base class of lists, whose entries have names "0", "1", …, or those of a dictionary."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(index)
        return list(self)[checked_index(index, len(self))]

    def _part(self, index: slice) -> Any:
        """Return a new list with some of the items."""
        make: Any = type(self)
        return make(list(self)[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        setattr(self, list(self._entries)[checked_index(index, len(self))], value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries.values())

    def __iadd__(self, values: Iterable[Any]) -> Any:
        return self.extend(values)

    def append(self, module: Any) -> Any:
        """Add an item at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Any]) -> Any:
        """Add items at the end."""
        if not isinstance(modules, Iterable):
            kind = type(modules).__name__
            raise TypeError(f"{self._get_name()}.extend should be called with an iterable, but got {kind}")
        for module in list(modules):
            self.append(module)
        return self


class DictContainer(Container):
    """Base class of dictionaries."""

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __delitem__(self, key: str) -> None:
        del self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def keys(self) -> Any:
        """Return the names."""
        return self._entries.keys()

    def items(self) -> Any:
        """Return pairs of names and entries."""
        return self._entries.items()

    def values(self) -> Any:
        """Return the entries."""
        return self._entries.values()

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()

    def pop(self, key: str) -> Any:
        """Remove an entry and return it."""
        return self._entries.pop(key)

    def update(self, modules: Any) -> None:
        """Add the entries of a dictionary, or of pairs of names and entries."""
        for key, value in modules.items() if isinstance(modules, Mapping) else modules:
            self[key] = value


class Parameters(Container):
    """Base class of containers of parameters."""

    @property
    def _entries(self) -> dict[str, Any]:
        return self._parameters

    def _put(self, name: str, value: Any) -> None:
        """Register a tensor, which becomes a Parameter."""
        refuse(type(self).__name__, **{"entries that are not tensors": not isinstance(value, Tensor)})
        setattr(self, name, value if isinstance(value, Parameter) else Parameter(value))

    def _kind(self, value: Any) -> str:
        """Return the type of a parameter as the repr shows it."""
        return type_name(value)

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return "\n".join(
            f"  ({name}): Parameter containing: [{self._kind(t)} of size {'x'.join(map(str, t.shape))}]"
            for name, t in self._entries.items()
        )


class ParameterList(Parameters, ListContainer):
    """List of parameters; tensors become Parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(values or ())

    def __setitem__(self, index: int, value: Any) -> None:
        self._put(str(checked_index(index, len(self))), value)

    def append(self, value: Any) -> Any:
        """Add a parameter at the end."""
        self._put(str(len(self)), value)
        return self

    def extend(self, values: Iterable[Any]) -> Any:
        """Add parameters at the end."""
        return super().extend(values)

    def _kind(self, value: Any) -> str:
        return f"torch.{value.dtype.name}"


class ParameterDict(Parameters, DictContainer):
    """Dictionary of parameters; tensors become Parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.update(parameters or {})

    def __setitem__(self, key: str, value: Any) -> None:
        self._put(key, value)

    def update(self, parameters: Any) -> None:
        """Add the parameters of a dictionary, or of pairs of names and parameters."""
        super().update(parameters)


# ─── Modules that hold others: Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict


class Modules(ListContainer):
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
            f"({a}): {indent(text)}" if a == b else f"({a}-{b}): {b - a + 1} x {indent(text)}"
            for a, b, text in runs
        ]


class ModuleDict(DictContainer):
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
