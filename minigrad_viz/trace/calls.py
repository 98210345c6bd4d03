"""Calls of library functions as plain data: their arguments, with tensors by number.

A tensor has the number of its id in the trace (`t5` is 5). Nothing here keeps a tensor alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import EllipsisType
from typing import Any, NamedTuple, cast

import numpy as np

from ..protocol import is_tensor


class Ref(NamedTuple):
    """A tensor by its number."""

    number: int


class GradOf(NamedTuple):
    """The `.grad` of a tensor, which has no id of its own."""

    owner: int


class NoData(NamedTuple):
    """An argument that is neither a tensor nor plain data: of this class."""

    kind: str


class InputTensor(NamedTuple):
    """A tensor that was there before it was used: its numbers, what it is, and the gradient that it had."""

    data: Any
    learns: bool = False
    parameter: bool = False
    grad: Any = None


class TensorWithoutId:
    """A tensor that had no id when it was used. `number` is set when the cell has ended, if it got one;
    else `data` are its numbers as they were, if they were copied."""

    __slots__ = ("data", "number", "reference")

    def __init__(self, tensor: Any, data: Any = None) -> None:
        self.reference: Any = weakref.ref(tensor)
        self.data, self.number = data, cast(int | None, None)

    def settle(self, known: Callable[[Any], str | None]) -> None:
        """The cell has ended."""
        tensor = self.reference()
        name = None if tensor is None else known(tensor)
        self.number, self.reference = None if name is None else int(name[1:]), None


PLAIN = (int, float, complex, bool, str, bytes, type(None), EllipsisType, np.generic, np.dtype)
WORDS = ("dtype", "device", "layout", "memory_format", "Size")  # what libraries have besides tensors


def template_of(value: Any, number: Callable[[Any], Any]) -> Any:
    """An argument as plain data, in which `number` stands for a tensor."""
    if is_tensor(value):
        return number(value)
    kind = type(value)
    if kind in (list, tuple):
        return kind([template_of(item, number) for item in value])
    if kind is dict:
        return {key: template_of(item, number) for key, item in value.items()}
    if kind is slice:
        return slice(*[template_of(part, number) for part in (value.start, value.stop, value.step)])
    if isinstance(value, PLAIN) or kind.__name__ in WORDS:
        return value
    if isinstance(value, tuple):  # one with names, or the indices of minigrad
        return rebuild_tuple(kind, [template_of(item, number) for item in value])
    return value.copy() if isinstance(value, np.ndarray) else NoData(kind.__name__)


def rebuild_tuple(kind: type, items: list[Any]) -> Any:
    """A tuple of a class of its own."""
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


MARKS = (Ref, GradOf, NoData, InputTensor)


def flat_values(value: Any) -> list[Any]:
    """A value, or those in lists, tuples and dictionaries, one by one."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple) and type(value) not in MARKS:
        return [item for part in value for item in flat_values(part)]
    return [value]


# Functions that draw random numbers although they take tensors.
RANDOM = frozenset((
    "alpha_dropout", "bernoulli", "cauchy", "dropout", "dropout1d", "dropout2d", "dropout3d", "exponential",
    "feature_alpha_dropout", "geometric", "gumbel_softmax", "log_normal", "multinomial", "normal", "poisson",
    "rand_like", "randint_like", "randn_like", "random", "rrelu", "uniform",
))  # fmt: skip
