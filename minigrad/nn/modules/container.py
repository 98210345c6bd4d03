"""Modules that hold others: Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...tensor import Tensor
from ..parameter import Parameter
from .module import Module, indented
from .registered import type_name

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def place(index: Any, count: int) -> int:
    """An index counted from the front; IndexError if out of range."""
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range")
    return index % count


class Listed(Module):
    """Modules under the names "0", "1", …"""

    def _put(self, modules: Iterable[Any]) -> None:
        """Give the names anew."""
        kept = list(modules)
        self._modules.clear()
        for i, module in enumerate(kept):
            self.add_module(str(i), module)

    def __getitem__(self, index: Any) -> Any:
        found = list(self._modules.values())
        if isinstance(index, slice):
            return self._part(index)
        return found[place(index, len(found))]

    def _part(self, index: slice) -> Any:
        """The same with some of the modules."""
        raise NotImplementedError

    def __setitem__(self, index: Any, module: Any) -> None:
        setattr(self, list(self._modules)[place(index, len(self))], module)

    def __delitem__(self, index: Any) -> None:
        kept = list(self._modules.values())
        del kept[index if isinstance(index, slice) else place(index, len(kept))]
        self._put(kept)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._modules.values()))

    def append(self, module: Any) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Any]) -> Any:
        """Add modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Add a module before the one at `index`."""
        kept = list(self)
        kept.insert(index, module)
        self._put(kept)
        return self

    def pop(self, index: Any = -1) -> Any:
        """Take a module out, and return it."""
        module = self[index]
        del self[index]
        return module


class Sequential(Listed):
    """Modules that are called one after the other, each with what the one before it gave.

    They are given one by one, or as a dictionary that names them.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], Mapping) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        """What the last module gives."""
        for module in self:
            input = module(input)
        return input

    def _part(self, index: slice) -> Any:
        return type(self)(dict(list(self._modules.items())[index]))

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        gone = names[index] if isinstance(index, slice) else [names[place(index, len(names))]]
        for name in gone:
            del self._modules[name]
        self._put(self._modules.values())


class ModuleList(Listed):
    """A list of modules whose parameters count as the module's own. It is not called."""

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def _part(self, index: slice) -> Any:
        return type(self)(list(self._modules.values())[index])

    def __add__(self, other: Iterable[Any]) -> Any:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Any]) -> Any:
        return self.extend(modules)

    def __repr__(self) -> str:
        texts = [repr(module) for module in self]
        if not texts:
            return f"{self._get_name()}()"
        runs: list[list[Any]] = []  # equal neighbors are told once: first index, last index, text
        for i, text in enumerate(texts):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [
            f"({a}): {indented(text)}" if a == b else f"({a}-{b}): {b - a + 1} x {indented(text)}"
            for a, b, text in runs
        ]
        return f"{self._get_name()}(\n" + "".join(f"  {line}\n" for line in lines) + ")"


class ModuleDict(Module):
    """Modules by name, in the order in which they came."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out, and return it."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Pairs of names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a dictionary, or of pairs of names and modules."""
        for key, module in modules.items() if isinstance(modules, Mapping) else modules:
            self[key] = module


def as_parameter(value: Any) -> Any:
    """A tensor as a Parameter, anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def entry(name: Any, value: Any, kind_of: Callable[[Any], str]) -> str:
    """A line of the repr of a list or dictionary of parameters, which write dtypes each in its own way."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.shape))
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({name}): {kind} containing: [{kind_of(value)} of size {size}]"


class ParameterList(Module):
    """A list of parameters; tensors become Parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(*index.indices(len(self)))])
        return getattr(self, str(place(index, len(self))))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(place(index, len(self))), as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __iadd__(self, values: Iterable[Any]) -> Any:
        return self.extend(values)

    def append(self, value: Any) -> Any:
        """Add a parameter at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Any:
        """Add parameters at the end."""
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """A line for each parameter."""
        return "\n".join(entry(i, value, lambda t: f"torch.{t.dtype.name}") for i, value in enumerate(self))


class ParameterDict(Module):
    """Parameters by name; tensors become Parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, key, as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterator[tuple[str, Any]]:
        """Pairs of names and parameters."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterator[Any]:
        """The parameters."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add the parameters of a dictionary, or of pairs of names and parameters."""
        for key, value in parameters.items() if isinstance(parameters, Mapping) else parameters:
            self[key] = value

    def extra_repr(self) -> str:
        """A line for each parameter."""
        return "\n".join(entry(key, value, type_name) for key, value in self.items())
