"""Modules that hold parameters: ParameterList and ParameterDict."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...tensor import Tensor
from ..parameter import Parameter
from .module import Module
from .tree import type_name

__all__ = ["ParameterDict", "ParameterList"]


def checked_index(index: Any, count: int) -> int:
    """Return an index counted from the front; raise IndexError if it is out of range."""
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range")
    return index % count


def as_parameter(value: Any) -> Any:
    """Return a tensor as a Parameter, and anything else unchanged."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def describe(name: Any, value: Any, kind_of: Callable[[Any], str]) -> str:
    """Return one line of the repr of a ParameterList or ParameterDict, which write dtypes differently."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.shape))
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({name}): {kind} containing: [{kind_of(value)} of size {size}]"


class Listed(Module):
    """Base class of lists; `_names` are the names of the items, in order."""

    @property
    def _names(self) -> list[str]:
        return list(self._modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(index)
        return getattr(self, self._names[checked_index(index, len(self))])

    def _part(self, index: slice) -> Any:
        """Return a new list with some of the items."""
        make: Any = type(self)
        return make(list(self)[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        setattr(self, self._names[checked_index(index, len(self))], value)

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, name) for name in self._names])

    def __iadd__(self, values: Iterable[Any]) -> Any:
        return self.extend(values)

    def append(self, module: Any) -> Any:
        """Add a module at the end."""
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


class ParameterList(Listed):
    """List of parameters; tensors become Parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    @property
    def _names(self) -> list[str]:
        return [str(i) for i in range(self._size)]

    def __setitem__(self, index: int, value: Any) -> None:
        super().__setitem__(index, as_parameter(value))

    def append(self, value: Any) -> Any:
        """Add a parameter at the end."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Any:
        """Add parameters at the end."""
        return super().extend(values)

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return "\n".join(
            describe(i, value, lambda t: f"torch.{t.dtype.name}") for i, value in enumerate(self)
        )


class Keyed(Module):
    """Base class of dictionaries; `_entries` holds their keys."""

    @property
    def _entries(self) -> dict[str, Any]:
        return self._modules

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __len__(self) -> int:
        return len(self._entries)

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

    def _add(self, entries: Any) -> None:
        for key, value in entries.items() if isinstance(entries, Mapping) else entries:
            self[key] = value


class ParameterDict(Keyed):
    """Dictionary of parameters; tensors become Parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def update(self, parameters: Any) -> None:
        """Add the parameters of a dictionary, or of pairs of names and parameters."""
        self._add(parameters)

    @property
    def _entries(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self._keys}

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, key, as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return "\n".join(describe(key, value, type_name) for key, value in self.items())
