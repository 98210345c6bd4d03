"""A group of stations while it is being put together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .module_calls import ModuleCall
from .place import Place


class GroupDraft:
    """A group while it is being put together; the outermost has no kind. `items` are boxes and places of the
    scene, in the order in which they ran; `given` the tensors that it received."""

    def __init__(self, kind: str, title: str, items: list[Any], call: ModuleCall | None = None) -> None:
        self.kind, self.title, self.items, self.call = kind, title, items, call
        self.path = call.event.path if call is not None else ""
        self.around: GroupDraft | None = None
        self.times = 1
        self.leaves: list[Place] = []  # what nobody computed and stands inside
        self.given: set[str] = set() if call is None else set(call.inputs)

    def places(self) -> Iterator[Place]:
        """All places inside that were computed there."""
        for item in self.items:
            yield from item.places() if isinstance(item, GroupDraft) else (item,)

    def boxes(self) -> Iterator[GroupDraft]:
        """The boxes inside, outer ones first."""
        for item in self.items:
            if isinstance(item, GroupDraft):
                yield item
                yield from item.boxes()

    def chain(self) -> list[GroupDraft]:
        """This box and those around it, innermost first."""
        found, box = [], self
        while box.around is not None:
            found.append(box)
            box = box.around
        return [*found, box]
