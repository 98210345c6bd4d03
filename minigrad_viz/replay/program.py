"""What a cell computed, as a program that can run again: plain data, which keeps no tensor alive.

Note [Programs]
    A program has the tensors that came into the cell (`Given`) with their numbers, and the calls of
    library functions in their order (`Instruction`), with tensors by number and all other arguments as
    they were. To run it is to make new tensors and to call the same functions: no code of the user's
    runs. A cell that cannot be computed again in this way has no program but a reason for that, which is
    a key of the catalogue. What is overlooked here is found later: a program counts only if it gives the
    numbers of the cell (see `live`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

GRAD = operator.attrgetter("grad")  # reads the gradient of a tensor
MOST = 300  # steps of a program
ROOM = 1_000_000  # bytes of all arrays that a program keeps


class Ref(NamedTuple):
    """A tensor of the program, by its number."""

    number: int


class Given(NamedTuple):
    """A tensor that was there before it was used: its numbers, what it is, and the gradient that it had."""

    data: Any
    learns: bool = False
    parameter: bool = False
    grad: Any = None


class Instruction(NamedTuple):
    """One call: `run(*args, **options)`, whose `results` are tensors by number, in lists and tuples as they
    came. `grad_mode` says whether the grad mode was on. A step of the kind "make" makes the tensor `made`;
    one of the kind "ask" asks whether something holds, and the cell went on with `answer` at line `line`;
    before one of the kind "draw" random numbers are in the state `answer`; a "names" step says which
    variables were which tensors, an "optimizer" step that an optimizer took one. What draws new numbers in a
    further round is `fresh`, with its arguments; `backward` is the root of a backward call."""

    kind: str
    run: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = {}
    results: Any = None
    grad_mode: bool = True
    made: Given | None = None
    answer: Any = None
    line: int = 0
    fresh: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
    backward: Ref | None = None


class Program(NamedTuple):
    """A whole cell, computed by `library`. `names` has the variables at the end, `leaves` the ids in the
    cell's trace of those tensors whose gradients can be computed; `why_not` says with a key of the catalogue,
    and the values for it, why the cell cannot be computed again."""

    library: str
    given: Mapping[int, Given]
    steps: tuple[Instruction, ...]
    names: Mapping[str, int]
    leaves: Mapping[int, str]
    why_not: tuple[str, Mapping[str, Any]] | None = None
    rounds: Any = None  # those of a loop, where they were taken down as well (see `rounds`)


class Unreplayable(Exception):
    """A value that no program can keep. `why` is a key of the catalogue, with its values."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.why = key, values


PLAIN = (int, float, complex, bool, str, bytes, type(None), EllipsisType, np.generic)
WORDS = ("dtype", "device", "layout", "memory_format", "Size")  # what libraries have besides tensors


def templated(value: Any, number: Callable[[Any], Ref], is_tensor: Callable[[Any], bool]) -> Any:
    """An argument as plain data, with tensors by number. Unreplayable for what is neither."""
    if is_tensor(value):
        return number(value)
    kind = type(value)
    if kind in (list, tuple):
        return kind(templated(item, number, is_tensor) for item in value)
    if kind is dict:
        return {key: templated(item, number, is_tensor) for key, item in value.items()}
    if kind is slice:
        parts = (templated(part, number, is_tensor) for part in (value.start, value.stop, value.step))
        return slice(*parts)
    if isinstance(value, PLAIN) or kind.__name__ in WORDS:
        return value
    if isinstance(value, tuple):  # one with names, or the indices of minigrad
        return rebuilt(kind, [templated(item, number, is_tensor) for item in value])
    if isinstance(value, np.ndarray):
        return value.copy()
    raise Unreplayable("live_no_argument", kind=kind.__name__)


def flat(value: Any) -> list[Any]:
    """A value, or those in lists, tuples and dictionaries, one by one."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple) and type(value) is not Ref:
        return [item for part in value for item in flat(part)]
    return [value]


def filled(template: Any, tensors: Mapping[int, Any]) -> Any:
    """The argument of a template."""
    kind = type(template)
    if kind is Ref:
        return tensors[template.number]
    if kind in (list, tuple):
        return kind(filled(item, tensors) for item in template)
    if kind is dict:
        return {key: filled(item, tensors) for key, item in template.items()}
    if kind is slice:
        return slice(*(filled(part, tensors) for part in (template.start, template.stop, template.step)))
    if isinstance(template, tuple) and any(type(item) is Ref for item in template):
        return rebuilt(kind, [filled(item, tensors) for item in template])
    return template


def rebuilt(kind: type, items: list[Any]) -> Any:
    """A tuple of a class of its own."""
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def bind(template: Any, result: Any, tensors: dict[int, Any]) -> None:
    """Give the tensors of a result the numbers that they have in the program."""
    if type(template) is Ref:
        tensors[template.number] = result
    elif isinstance(template, list | tuple):
        for part, item in zip(template, result, strict=True):
            bind(part, item, tensors)
    elif isinstance(template, dict):
        for key, part in template.items():
            bind(part, result[key], tensors)
