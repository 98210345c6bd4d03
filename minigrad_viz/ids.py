"""Which tensor and which node is which, without keeping any of them alive.

Note [Identity]
    A leaf or a constant is known by its object, found again by a weak reference. A result is known by
    (node, output number), because different objects may stand for the same result (a saved value rebuilt
    by its node). A node is known by its sequence number, which is unique in minigrad; in PyTorch, where
    each thread counts for itself, and for AccumulateGrads, by a number in the node's `metadata`.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from minigrad.graph import LAST

_serial = itertools.count()


class Ids:
    """Ids of tensors (`t0`, `t1`, …) and nodes (`n0`, `n1`, …), given in the order in which they are first
    seen."""

    def __init__(self) -> None:
        self._key = ("minigrad_viz", next(_serial))
        self._objects: dict[int, str] = {}  # by address, which another object may have later
        self._outputs: dict[tuple[str, int], str] = {}
        self._references: dict[str, weakref.ref[Any]] = {}
        self._numbers: dict[int, str] = {}
        self._tensors = itertools.count()
        self._nodes = itertools.count()

    def node(self, node: Any) -> str:
        """The id of a node, given on first sight."""
        number = getattr(node, "_seq", LAST)
        notes: Any = self._numbers
        if number == LAST:
            notes, number = node.metadata, self._key
        known = notes.get(number)
        if known is None:
            known = notes[number] = f"n{next(self._nodes)}"
        return known

    def output(self, node: Any, nr: int = 0) -> str | None:
        """The id of a node's output, if it has one."""
        return self._outputs.get((self.node(node), nr))

    def known(self, tensor: Any) -> str | None:
        """The id of a tensor that was seen before."""
        fn = tensor.grad_fn
        return self.object(tensor) if fn is None else self._outputs.get((self.node(fn), tensor.output_nr))

    def object(self, tensor: Any) -> str | None:
        """The id that this object had last, whatever its history is now."""
        name = self._objects.get(id(tensor))
        return name if name is not None and self._references[name]() is tensor else None

    def claim(self, tensor: Any) -> str:
        """The id of a tensor, known or fresh."""
        fn = tensor.grad_fn
        if fn is None:
            return self.object(tensor) or self._add(tensor)
        place = self.node(fn), tensor.output_nr
        known = self._outputs.get(place)
        if known is None:
            known = self._outputs[place] = self._add(tensor)
        return known

    def new(self, tensor: Any) -> str:
        """A fresh id for a tensor."""
        name = self._add(tensor)
        fn = tensor.grad_fn
        if fn is not None:
            self._outputs[self.node(fn), tensor.output_nr] = name
        return name

    def _add(self, tensor: Any) -> str:
        name = self._objects[id(tensor)] = f"t{next(self._tensors)}"
        self._references[name] = weakref.ref(tensor)
        return name

    def unseen(self, node: Any, nr: int) -> str:
        """A fresh id for output `nr` of a node, a tensor that nobody has any more."""
        name = self._outputs[self.node(node), nr] = f"t{next(self._tensors)}"
        return name

    def alive(self, name: str | None) -> Any:
        """The tensor of an id, if its object still exists."""
        reference = self._references.get(name or "")
        return None if reference is None else reference()
