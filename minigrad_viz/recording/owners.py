"""Which tensor has which gradient, which numbers left the library, and what memory several tensors use."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad import observing

from ..faults import pass_on
from ..protocol import history_of, notices, version_of
from ..trace.ids import Ids
from ..trace.where import Span

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
        return self.owner_of(tensor) or "", 0

    def alias(self, source: Any, result: str) -> None:
        """`result` has the memory of `source`, be that a gradient or not."""
        tensor = self.owner_of(source)
        if tensor is not None:
            self.aliases[result] = tensor

    def owner_of(self, grad: Any) -> str | None:
        """The tensor whose gradient this object is."""
        name = self.owners.get(id(grad), "")
        owner = self.ids.alive(name)
        has = owner is not None and (owner.is_leaf or owner.retains_grad)  # else PyTorch warns
        return name if has and owner.grad is grad else None


OUT = 64  # how many times that numbers left are remembered, and items of a list that are looked at


class Out(NamedTuple):
    """Numbers that left: of which tensor (and its id, if it had one), how, at which place in the source, and
    what they were: a Python number or list, or a reference to the array that owns them."""

    tensor: weakref.ref[Any]
    name: str | None
    how: str
    value: Any
    span: Span | None


class Exits:
    """What is remembered of numbers that left (`out`), and the tensors whose memory others may use, too."""

    def __init__(self) -> None:
        self.out: deque[Out] = deque(maxlen=OUT)
        self.shared: list[weakref.ref[Any]] = []

    def source_of(self, tensor: Any) -> Out | None:
        """The array that had left whose memory a tensor uses of which nobody told: PyTorch does not tell of
        `from_numpy`. None for any other tensor."""
        memory = raw_array(tensor) if self.out and history_of(tensor) is None else None
        if memory is None:
            return None
        # What left after numbers of the tensor itself had left may be just these.
        before = list(itertools.takewhile(lambda out: out.tensor() is not tensor, self.out))
        for out in reversed(before):
            array = out.value() if isinstance(out.value, weakref.ref) else None
            known = out.name is not None or out.tensor() is not None
            if known and array is not None and overlap(memory, array):
                return out
        return None

    def share(self, *tensors: Any) -> None:
        """Note that others may use the memory of these tensors, too."""
        if len(self.shared) >= OUT:
            alive = {id(t): ref for ref in self.shared if (t := ref()) is not None}
            self.shared = list(alive.values())
        self.shared += map(weakref.ref, tensors)


def raw_array(tensor: Any) -> np.ndarray | None:
    """A tensor's memory as it lies there; None for a number that shares it with nobody, and where NumPy
    cannot show it without a copy."""
    if notices(tensor):
        return None
    try:
        data = observing.memory(tensor) if isinstance(tensor, minigrad.Tensor) else tensor.detach().numpy()
    except (RuntimeError, TypeError, NotImplementedError) as refused:
        pass_on(refused)
        return None
    return data if isinstance(data, np.ndarray) else None


def overlap(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    """Whether two arrays that are there lie in the same memory."""
    return a is not None and b is not None and bool(np.may_share_memory(a, b))
