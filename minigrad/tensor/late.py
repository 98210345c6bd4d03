"""Methods and properties whose modules are loaded when one of them is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any


class Late:
    """A member of a class that is `name` of a module (`Class.name` too), or made from that, when it is first
    asked for: a method or a property.

    It then stands in its own place in the class, so that calling it costs what a method costs.
    """

    __slots__ = ("finish", "home", "make", "name", "owner", "place")
    finish: Callable[[Any, str], Any] | None  # what becomes of a method under the name of its place
    owner: type
    place: str

    def __init__(self, home: ModuleType, name: str, make: Callable[[Any], Any] | None = None) -> None:
        self.home, self.name, self.make, self.finish = home, name, make, None

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.place = owner, name

    def found(self) -> Any:
        """The member, put into its place."""
        member = attrgetter(self.name)(self.home)
        if self.make is not None:
            member = self.make(member)
        if self.finish is not None and isinstance(member, FunctionType):
            member = self.finish(member, self.place)
        setattr(self.owner, self.place, member)
        return member

    def __get__(self, t: Any, kind: type | None = None) -> Any:
        return self.found().__get__(t, kind)

    def __set__(self, t: Any, value: Any) -> None:
        self.found()
        setattr(t, self.place, value)

    def __delete__(self, t: Any) -> None:
        self.found()
        delattr(t, self.place)


def late(home: ModuleType, names: str, make: Callable[[Any], Any] | None = None) -> Iterator[Any]:
    """Such a method for each of the names."""
    return (Late(home, name, make) for name in names.split())
