"""What a workload is: bound to an engine, a function without arguments that returns gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from engines import BY_HAND, Engine

Run = Callable[[], Any]
Bind = Callable[[Engine], Run]
Forward = Callable[..., Any]  # ops and leaves → a scalar; the same text for every engine


@dataclass(frozen=True)
class Workload:
    """A row of the table. `tape` and `functional` bind it to an engine of that style."""

    key: str  # its row, and the variant of the row
    title: str
    tape: Bind
    functional: Bind
    by_hand: Callable[[], Run] | None  # the same gradients in NumPy, with the derivative written out
    tolerance: float = 1e-4  # largest relative difference between engines, float32 against float64 included
    needs: tuple[str, ...] = ()  # ops that not every engine has

    @property
    def row(self) -> str:
        return self.key.split()[0]

    def bind(self, engine: Engine) -> Run | None:
        """The function to time, or None if the engine lacks what the workload needs."""
        if not all(hasattr(engine.ops, need) for need in self.needs):
            return None
        return self.functional(engine) if engine.style == "functional" else self.tape(engine)

    def runs(self, engines: Sequence[Engine]) -> dict[str, Run]:
        """The functions to time, by name of the engine; hand-written NumPy is one of them."""
        bound = {engine.name: self.bind(engine) for engine in engines}
        if self.by_hand is not None:
            bound[BY_HAND] = self.by_hand()
        return {name: run for name, run in bound.items() if run is not None}


def of_program(
    program: Callable[..., Run], start: Callable[[Any], Run] | None = None, tolerance: float = 1e-4
) -> Workload:
    """The row of a program in PyTorch's API, which only minigrad and PyTorch run: the function's name is the
    name of the row, its docstring the title. `start` is the program with its other arguments.
    """

    def bind(engine: Engine) -> Run:
        return (start or program)(engine.ops.library)

    assert program.__doc__
    name = program.__name__.replace("_", "-")
    return Workload(name, program.__doc__, bind, bind, None, tolerance, needs=("library",))


def of_numbers(
    key: str,
    title: str,
    forward: Forward,
    start: Sequence[float],
    by_hand: Forward | None,
    tolerance: float,
    rate: float = 0.0,
) -> Workload:
    """Gradients of forward(ops, *leaves) at numbers. Making the leaves counts, as in a learner's program.

    With a `rate` the leaves are made beforehand, and each call is a step of training that moves them.
    """

    def tape(engine: Engine) -> Run:
        leaf, ops = engine.leaf, engine.ops
        kept = [leaf(number) for number in start] if rate else None

        def run() -> Any:
            leaves = kept or [leaf(number) for number in start]
            forward(ops, *leaves).backward()
            gradients = [x.grad for x in leaves]
            if rate:
                engine.descend(leaves, rate)
            return gradients

        return run

    def functional(engine: Engine) -> Run:
        ops, numbers = engine.ops, [*start]
        gradients = engine.gradients(lambda *leaves: forward(ops, *leaves), tuple(range(len(start))))

        def run() -> Any:
            found = gradients(*numbers)
            if rate:
                numbers[:] = [number - rate * gradient for number, gradient in zip(numbers, found)]
            return found

        return run

    bound = None if by_hand is None else lambda: lambda: by_hand(*map(np.float32, start))
    return Workload(key, title, tape, functional, bound, tolerance)


def of_arrays(
    key: str,
    title: str,
    forward: Forward,
    arrays: Sequence[np.ndarray],
    by_hand: Forward,
    *,
    data: Sequence[np.ndarray] = (),
    rate: float = 0.0,
    needs: tuple[str, ...] = (),
) -> Workload:
    """Gradients of forward(ops, *data, *leaves) at arrays, which are made beforehand.

    With a `rate` each call is a step of training: the leaves then move against their gradients.
    """

    def tape(engine: Engine) -> Run:
        leaves, ops = [engine.leaf(array) for array in arrays], engine.ops
        given = [engine.constant(array) for array in data]

        def run() -> Any:
            forward(ops, *given, *leaves).backward()
            gradients = [x.grad for x in leaves]
            engine.descend(leaves, rate) if rate else engine.clear(leaves)
            return gradients

        return run

    def functional(engine: Engine) -> Run:
        ops = engine.ops
        of = engine.gradients(lambda *leaves: forward(ops, *data, *leaves), tuple(range(len(arrays))))
        return descending(of, arrays, rate)

    def hand() -> Run:
        return descending(lambda *leaves: by_hand(*data, *leaves), arrays, rate)

    return Workload(key, title, tape, functional, hand, needs=("arrays", *needs))


def descending(gradients: Callable[..., Any], arrays: Sequence[np.ndarray], rate: float) -> Run:
    """Calls `gradients` at copies of the arrays, which then move against them if there is a rate."""
    leaves = [array.copy() for array in arrays]

    def run() -> Any:
        found = gradients(*leaves)
        if rate:
            for leaf, gradient in zip(leaves, found):
                leaf -= rate * gradient
        return found

    return run


def normal(*shape: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """float32 numbers, the same at each call."""
    found = np.random.default_rng(seed).normal(size=shape, scale=scale)
    return found.astype(np.float32)
