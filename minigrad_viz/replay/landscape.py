"""A slice of the landscape of a loss: the root of the last round while one number of a leaf moves.

The forward pass of a round is what runs after its last write to a leaf. A slice is believed only if it gives
the loss of the round itself again, to the last digit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..faults import pass_on
from .live import ELEMENTS
from .optimizers import array
from .program import Given
from .rounds import RoundState
from .running import Turned
from .training import Training

POINTS = 41
ROOM = 4096  # numbers in all leaves together
STEPS = 200  # of a round


class Point(NamedTuple):
    """A number of a leaf, the root with it, and the slope there (NaN: not computed)."""

    x: float
    y: float
    slope: float = math.nan


class Slice(NamedTuple):
    """The root at `xs`, the others as they are after the last round; where that round is, and where the
    update that follows leads. `grad` is what stands in the leaf's `.grad`."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    here: Point
    next: Point
    grad: float


def movable(training: Training) -> dict[str, tuple[int, tuple[int, ...]]]:
    """The numbers that can move, by name: the tensor of each, and the place in it."""
    found = {}
    for name, number in training.names.items():
        given = training.states[-1].tensors.get(number)
        if given is not None and given.data.dtype.kind == "f" and given.data.size <= ELEMENTS:
            for place in itertools.product(*map(range, given.data.shape)):
                called = f"{name}[{', '.join(map(str, place))}]" if place else name
                found[called] = number, place
    return found


def slice_of(training: Training, name: str) -> Slice | None:
    """The slice along one number; None where the loss cannot be computed apart from the update."""
    number, place = movable(training)[name]
    leaves = [n for n in training.names.values() if n in training.states[-1].tensors]
    if len(training.steps) > STEPS or sum(training.states[-1].tensors[n].data.size for n in leaves) > ROOM:
        return None
    try:
        cut, after = last_write(training, leaves)
        x, further = (
            float(data[place]) for data in (training.states[-1].tensors[number].data, after[number])
        )
        here = point(training, cut, number, place, x)
        if here.y != training.loss:
            return None
        reach = max(0.9 * max(abs(x), 1.0), 1.5 * abs(further - x))
        around = np.linspace(x - reach, x + reach, POINTS).tolist()
        xs = sorted({x, further, *(each for each in around if abs(each - x) > reach / POINTS)})
        ys = [point(training, cut, number, place, each).y for each in xs]
        kept = training.states[-1].tensors[number].grad
        grad = math.nan if kept is None else float(kept[place])
        there = Point(further, ys[xs.index(further)])
        return Slice(tuple(xs), tuple(ys), here, there, grad) if math.isfinite(there.y) else None
    except (Turned, RuntimeError) as problem:
        pass_on(problem)
        return None  # the next round takes another way, or part of a round does not run by itself


def last_write(training: Training, leaves: list[int]) -> tuple[int, Mapping[int, Any]]:
    """How many steps of a round there are until its last write to a leaf, and the leaves after it."""
    state = training.states[-1]
    found, stood = 0, {n: state.tensors[n].data for n in leaves}

    def look(i: int, tensors: Mapping[int, Any]) -> None:
        nonlocal found, stood
        now = {n: array(tensors[n]) for n in leaves}
        if any(not np.array_equal(now[n], stood[n], equal_nan=True) for n in leaves):
            found, stood = i + 1, now

    training.play(state, after=look)
    return found, stood


def point(training: Training, cut: int, number: int, place: tuple[int, ...], x: float) -> Point:
    """The root of the last round with one number of a leaf changed (NaN: it would take another way), and its
    derivative."""
    last = training.states[-1]
    before = training.states[-2] if len(training.states) > 1 else last
    data = np.array(last.tensors[number].data)
    data[place] = x
    tensors = {n: without_gradient(given) for n, given in last.tensors.items()}
    tensors[number] = tensors[number]._replace(data=data if data.ndim else data[()])
    state = RoundState(last.number, tensors, last.optimizers, before.random, last.loss, last.rate)
    try:
        played = training.play(state, first=cut)
    except Turned:  # there the round would take another way
        return Point(x, math.nan)
    grad = played.tensors[number].grad
    return Point(x, played.loss, math.nan if grad is None else float(array(grad)[place]))


def without_gradient(given: Given) -> Given:
    """A tensor whose gradient is zero where it has one."""
    return given if given.grad is None else given._replace(grad=np.zeros_like(given.grad))
