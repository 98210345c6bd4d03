"""Steps on the numbers of tensors, where nobody watches and nothing is out of the ordinary.

An op on tensors has dtypes, shapes, modes, views and memory to ask about, which for a small parameter takes
ten times as long as the arithmetic. Here all of that is asked once for each tensor and step. `Numbers` has
those methods of tensors that steps are written in, so a formula stands once, in `Optimizer.update`, for both;
it computes what the ops do, bit by bit, and counts the same changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import FAST_ARRAYS
from ..storage import Storage
from ..tensor import Tensor
from ..tensor_base import share

SETTINGS = frozenset((bool, int, float, str, list, type(None)))  # which arrays take as tensors do


def on_numbers(update: Any) -> Any:
    """Mark an `update` that, once a parameter has a state, asks of tensors only what `Numbers` has."""
    update.on_numbers = True
    return update


def are_plain(group: dict[str, Any]) -> bool:
    """Whether the settings of a group are Python's numbers, not tensors or NumPy's."""
    for value in group.values():
        kind = value.__class__
        if kind is tuple:
            if not SETTINGS.issuperset(map(type, value)):
                return False
        elif kind not in SETTINGS:
            return False
    return True


def raw(other: Any) -> Any:
    """What NumPy takes for an operand."""
    return other.array if other.__class__ is Numbers else other


def makes(ufunc: Any) -> Any:
    """A method that gives new numbers."""

    def method(self: Any, *other: Any) -> Numbers:
        return Numbers(ufunc(self.array, *map(raw, other)), NOBODYS)

    return method


def writes(ufunc: Any) -> Any:
    """A method that writes into the numbers."""

    def method(self: Any, *other: Any) -> Any:
        ufunc(self.array, *map(raw, other), out=self.array)
        self.storage.version += 1
        return self

    return method


NOBODYS = Storage()  # of results, which no tensor has yet: its version says nothing


class Numbers:
    """The array of a tensor and its version counter, with the arithmetic of tensors."""

    __slots__ = ("array", "storage")

    def __init__(self, array: Any, storage: Storage) -> None:
        self.array, self.storage = array, storage

    __mul__, __truediv__, __neg__ = makes(np.multiply), makes(np.true_divide), makes(np.negative)
    div, sub, sqrt, abs, maximum = (
        __truediv__,
        makes(np.subtract),
        makes(np.sqrt),
        makes(np.abs),
        makes(np.maximum),
    )
    mul_, div_, sqrt_ = writes(np.multiply), writes(np.true_divide), writes(np.sqrt)
    __imul__ = mul_

    def __rtruediv__(self, other: float) -> Numbers:
        return Numbers(1 / self.array * other, NOBODYS)

    def item(self) -> Any:
        """The one number, as Python's."""
        return self.array.item()

    def copy_(self, other: Any) -> Numbers:
        """Write other numbers into these."""
        self.array[...] = raw(other)
        self.storage.version += 1
        return self

    fill_ = copy_

    def conj(self) -> Numbers:
        """The same: only real numbers come here."""
        return self

    def clone(self) -> Numbers:
        """A copy."""
        return Numbers(self.array.copy(), NOBODYS)

    def add(self, other: Any, *, alpha: Any = 1) -> Numbers:
        """`self + alpha · other`."""
        return Numbers(self.array + multiple(raw(other), alpha), NOBODYS)

    def add_(self, other: Any, *, alpha: Any = 1) -> Numbers:
        """`self += alpha · other`."""
        return self._plus(multiple(raw(other), alpha))

    __iadd__ = add_

    def addcmul(self, tensor1: Numbers, tensor2: Numbers, *, value: Any = 1) -> Numbers:
        """`self + value · tensor1 · tensor2`."""
        return self.clone().addcmul_(tensor1, tensor2, value=value)

    def addcmul_(self, tensor1: Numbers, tensor2: Numbers, *, value: Any = 1) -> Numbers:
        """`self += value · tensor1 · tensor2`."""
        term = value * tensor1.array
        return self._plus(np.multiply(term, tensor2.array, out=term))

    def addcdiv_(self, tensor1: Numbers, tensor2: Numbers, *, value: Any = 1) -> Numbers:
        """`self += value · tensor1 / tensor2`."""
        term = value * tensor1.array
        return self._plus(np.true_divide(term, tensor2.array, out=term))

    def lerp_(self, end: Numbers, weight: float) -> Numbers:
        """The point between `self` and `end`, from whichever is nearer, as the op computes it."""
        way = end.array - self.array
        if abs(weight) < 0.5:
            way *= weight
            return self._plus(way)
        way *= 1 - weight
        np.subtract(end.array, way, out=self.array)
        self.storage.version += 1
        return self

    def _plus(self, term: Any) -> Numbers:
        np.add(self.array, term, out=self.array)
        self.storage.version += 1
        return self


def multiple(other: Any, alpha: Any) -> Any:
    """`alpha · other`."""
    return other if alpha == 1 else alpha * other


def opened(param: Tensor, grad: Tensor, state: dict[str, Any]) -> Any:
    """The Numbers of a parameter, its gradient and its state (a dictionary). None unless all of them are
    plain: float32 or float64 arrays without gaps, alike but for what is 0-dim in the state, the gradient in
    memory of its own.
    """
    data, sent = param._data, grad._data
    if data.__class__ is not np.ndarray or not data.ndim or sent.__class__ is not np.ndarray:
        return None
    if sent.dtype is not data.dtype or sent.shape != data.shape or grad._bits:
        return None
    written = {name: written_to(t, data) for name, t in state.items()}
    mine = written_to(param, data)
    if mine is None or None in written.values() or np.may_share_memory(data, sent):
        return None
    return mine, Numbers(sent, NOBODYS), written


def written_to(t: Any, like: np.ndarray) -> Numbers | None:
    """The numbers of a tensor that a step writes to."""
    if not isinstance(t, Tensor) or t._bits or t._inference:
        return None
    storage, data = share(t), t._data
    if data.dtype not in FAST_ARRAYS or not data.flags.carray:
        return None
    if data.ndim and (data.dtype is not like.dtype or data.shape != like.shape):
        return None
    return Numbers(data, storage)
