"""Which tensor and which node is which, without keeping any of them alive.

Note [Identity]
    A leaf or a constant is known by its object, found again by a weak reference. A result is known by
    (node, output number), because different objects may stand for the same result (a saved value rebuilt
    by its node). A node is known by its key: minigrad's by the sequence number, which is unique there, and
    its AccumulateGrads by their object; PyTorch's, where each thread counts for itself, by what is noted in
    the node's `metadata`, which is its id.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from minigrad import Tensor
from minigrad.observing import LAST

from ..protocol import NATIVE, history_of

Key = int | str  # of a node

_serial = itertools.count()


class Ids:
    """Ids of tensors (`t0`, `t1`, …) and nodes (`n0`, `n1`, …), given in the order in which they are first
    seen. `outputs` has the tensor made by a node, by the node's key, or by (key, number) where it is not the
    first output; `objects` the tensors by address, which another object may have later, `references` by
    id."""

    def __init__(self) -> None:
        self._note = f"minigrad_viz {next(_serial)}"  # text alone gives the cycle collector nothing to do
        self.objects: dict[int, tuple[str, weakref.ref[Any]]] = {}
        self.outputs: dict[Any, str] = {}
        self._ends: dict[int, tuple[str, weakref.ref[Any]]] = {}  # AccumulateGrads
        self.references: dict[str, weakref.ref[Any]] = {}
        self._numbers: dict[int, str] = {}
        self.tensors = itertools.count()
        self._nodes = itertools.count()
        self.earlier: tuple[Ids, ...] = ()  # those of earlier cells, the newest first
        self.same_tensors: dict[str, tuple[Ids, str]] = {}  # by id: what an earlier cell called the same
        self.same_nodes: dict[str, tuple[Ids, str]] = {}

    def key(self, node: Any) -> Key:
        """What a node is known by."""
        number = None if type(node) in NATIVE else getattr(node, "_seq", None)
        if number is None:
            metadata = node.metadata
            known = metadata.get(self._note)
            if known is None:
                known = f"n{next(self._nodes)}"
                if self.earlier and metadata:  # an earlier cell has seen it
                    seen = ((ids, metadata[ids._note]) for ids in self.earlier if ids._note in metadata)
                    self.same_nodes.update((known, each) for each in itertools.islice(seen, 1))
                metadata[self._note] = known
            return known
        if number != LAST:
            return number
        end = self._ends.get(id(node))
        if end is None or end[1]() is not node:
            end = self._ends[id(node)] = f"n{next(self._nodes)}", weakref.ref(node)
        return end[0]

    def name(self, key: Key) -> str:
        """The id of the node with this key, given on first sight."""
        if isinstance(key, str):
            return key
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = f"n{next(self._nodes)}"
        return known

    def node(self, node: Any) -> str:
        """The id of a node."""
        return self.name(self.key(node))

    def output(self, node: Any, nr: int = 0) -> str | None:
        """The id of a node's output, if it has one."""
        return self.outputs.get((self.key(node), nr) if nr else self.key(node))

    def known(self, tensor: Any) -> str | None:
        """The id of a tensor that was seen before."""
        if tensor.__class__ is Tensor and tensor._view is None:
            fn = tensor._fn  # without its properties, which would take half of the time
            if fn is not None:
                return self.outputs.get((fn._seq, tensor._nr) if tensor._nr else fn._seq)
            known = self.objects.get(id(tensor))
            return known[0] if known is not None and known[1]() is tensor else None
        fn = history_of(tensor)
        if fn is None:
            return self.object(tensor)
        if type(fn) not in NATIVE and not (hasattr(fn, "_seq") or hasattr(fn, "metadata")):
            return None  # of an engine that somebody writes: there is nowhere to keep an id
        key, nr = self.key(fn), tensor.output_nr
        return self.outputs.get((key, nr) if nr else key)

    def object(self, tensor: Any) -> str | None:
        """The id that this object had last, whatever its history is now."""
        known = self.objects.get(id(tensor))
        return known[0] if known is not None and known[1]() is tensor else None

    def overwritten(self, node: Any) -> str | None:
        """The id that a tensor had before it was written to through a view, by which `node` became its
        history; for minigrad, where not every result is known as an object."""
        while type(node).__name__ == "CopySlices" and hasattr(node, "_seq"):
            node, nr = node.next_functions[0]
            known = None if node is None else self.output(node, nr)
            if known is not None:
                return known
        return None

    def claim(self, tensor: Any) -> str:
        """The id of a tensor, known or fresh."""
        return self.known(tensor) or self.new(tensor)

    def new(self, tensor: Any, place: Any = None) -> str:
        """A fresh id for a tensor; where its place in `outputs` is known already, that is `place`."""
        name = f"t{next(self.tensors)}"
        reference = self.references[name] = weakref.ref(tensor)
        self.objects[id(tensor)] = name, reference
        fn = history_of(tensor) if place is None else None
        if fn is not None:
            self._put(fn, tensor.output_nr, name)
        elif place is not None:
            self.outputs[place] = name
        for ids in self.earlier:
            known = ids.object(tensor)
            if known is not None:
                self.same_tensors[name] = ids, known
                break
        return name

    def match_numbers(self) -> None:
        """Find what earlier cells called the nodes, and their outputs, that are known by their numbers."""
        for ids in self.earlier:
            for number in self._numbers.keys() & ids._numbers.keys():
                self.same_nodes.setdefault(self._numbers[number], (ids, ids._numbers[number]))
            for place in self.outputs.keys() & ids.outputs.keys():
                number = place[0] if isinstance(place, tuple) else place
                if isinstance(number, int):  # a text is a name that only one cell gave
                    self.same_tensors.setdefault(self.outputs[place], (ids, ids.outputs[place]))

    @property
    def upcoming(self) -> int:
        """The number of the tensor that comes next, which Python's counters tell only in their text."""
        return int(repr(self.tensors)[len("count(") : -1])

    def unseen(self, node: Any, nr: int) -> str:
        """A fresh id for output `nr` of a node, a tensor that nobody has any more."""
        name = f"t{next(self.tensors)}"
        self._put(node, nr, name)
        return name

    def _put(self, node: Any, nr: int, name: str) -> None:
        self.outputs[(self.key(node), nr) if nr else self.key(node)] = name

    def alive(self, name: str | None) -> Any:
        """The tensor of an id, if its object still exists."""
        reference = self.references.get(name or "")
        return None if reference is None else reference()

    def forget(self, first: int) -> None:
        """Forget the tensors from number `first` on. Those of outputs and references came in this order."""
        while self.outputs and int(next(reversed(self.outputs.values()))[1:]) >= first:
            self.outputs.popitem()
        while self.references and int(next(reversed(self.references))[1:]) >= first:
            name, reference = self.references.popitem()
            tensor = reference()
            if tensor is not None and self.objects.get(id(tensor), ("",))[0] == name:
                del self.objects[id(tensor)]

    def keep(self, tensors: set[str]) -> None:
        """Forget all tensors but these, and what made them."""
        for address in [a for a, (name, _) in self.objects.items() if name not in tensors]:
            del self.objects[address]
        for place in [place for place, name in self.outputs.items() if name not in tensors]:
            del self.outputs[place]
        for name in self.references.keys() - tensors:
            del self.references[name]
        made = {place[0] if isinstance(place, tuple) else place for place in self.outputs}
        for number in self._numbers.keys() - made:
            del self._numbers[number]
        for address in [a for a, (_, reference) in self._ends.items() if reference() is None]:
            del self._ends[address]
