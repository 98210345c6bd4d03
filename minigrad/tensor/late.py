"""Methods whose ops are loaded when one of them is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from types import ModuleType
from typing import Any


class Late:
    """A method that is `name` of a module (`Class.name` too), or made from that, when it is first asked for.

    It then stands in its own place in the class, so that calling it costs what a method costs.
    """

    __slots__ = ("finish", "home", "make", "name", "places")
    finish: Callable[[Any, str], Any] | None  # what becomes of the method under each of its names

    def __init__(self, home: ModuleType, name: str, make: Callable[[Any], Any] | None = None) -> None:
        self.home, self.name, self.make, self.finish = home, name, make, None
        self.places: list[tuple[type, str]] = []  # several for a method with other names

    def __set_name__(self, owner: type, name: str) -> None:
        self.places.append((owner, name))

    def __get__(self, t: Any, kind: type | None = None) -> Any:
        method = attrgetter(self.name)(self.home)
        if self.make is not None:
            method = self.make(method)
        for owner, name in self.places:
            setattr(owner, name, method if self.finish is None else self.finish(method, name))
        return getattr(kind if t is None else t, self.places[0][1])


def late(home: ModuleType, names: str, make: Callable[[Any], Any] | None = None) -> Iterator[Any]:
    """Such a method for each of the names."""
    return (Late(home, name, make) for name in names.split())
