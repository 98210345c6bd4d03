"""Numbers that left the library, and memory that several tensors use."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from typing import Any, NamedTuple

from ..protocol import history_of, overlap, raw_array
from ..trace.where import Span

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
