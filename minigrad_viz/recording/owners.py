"""Which tensor has which gradient."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..protocol import version_of
from ..trace.ids import Ids

RETURNED = 1000  # gradients that `grad()` returned, after which those that are gone are forgotten


class Held(NamedTuple):
    """A `.grad` as it was last seen: which object it was, its version, and what was taken of its numbers."""

    address: int
    version: int
    taken: Any


class Owners:
    """Which tensors of the trace have which `.grad`, so that a write into one is known for what it is."""

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.held: dict[str, Held] = {}  # by the id of the tensor whose gradient it is
        self.aliases: dict[str, str] = {}  # of the gradient (`x.grad.data`), by their ids
        self.owners: dict[int, str] = {}  # of what was a `.grad`, by address, which another may have now
        # What `grad()` returned, by address: the object, the tensor whose gradient it is, and the call.
        self.results: dict[int, tuple[weakref.ref[Any], str, int]] = {}

    def hold(self, tensor: str, grad: Any, taken: Any) -> None:
        """The tensor's gradient is this one, with these numbers."""
        self.held[tensor] = Held(id(grad), version_of(grad), taken)
        self.owners[id(grad)] = tensor

    def returned(self, gradients: Iterable[tuple[str, Any]], call: int) -> None:
        """`grad()` returned gradients of these tensors."""
        if len(self.results) > RETURNED:
            self.results = {at: kept for at, kept in self.results.items() if kept[0]() is not None}
        for name, grad in gradients:
            if grad is not None:
                self.results[id(grad)] = weakref.ref(grad), name, call

    def origin(self, tensor: Any) -> tuple[str, int]:
        """The tensor whose gradient this object is, and the call whose `grad()` returned it (0: it is the
        `.grad` of that tensor); ("", 0) for what is none."""
        kept = self.results.get(id(tensor))
        if kept is not None and kept[0]() is tensor:
            return kept[1:]
        name = self.owners.get(id(tensor), "")
        owner = self.ids.alive(name)
        has = owner is not None and (owner.is_leaf or owner.retains_grad)  # else PyTorch warns
        return (name, 0) if has and owner.grad is tensor else ("", 0)

    def alias(self, source: Any, result: str) -> None:
        """`result` has the memory of `source`, be that a gradient or not."""
        tensor = self.owner_of(source)
        if tensor is not None:
            self.aliases[result] = tensor

    def owner_of(self, grad: Any) -> str | None:
        """The tensor whose gradient this object is."""
        address = id(grad)
        for name, held in self.held.items():
            if held.address == address:
                tensor = self.ids.alive(name)
                if tensor is not None and tensor.grad is grad:
                    return name
        return None
