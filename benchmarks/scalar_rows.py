"""Rows a to d, and e with every number a scalar of its own: what each op costs beside its arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from engines import Engine
from moons import moons, parameters, sizes
from workload import Run, Workload, of_numbers

ONE = np.float32(1.0)
FACTOR = 1.0 + 2.0**-13  # exact in float32, so that engines of either precision multiply by the same number


def tutorial() -> Workload:
    """x = 5, y = x³, z = log y, ∂z/∂x."""

    def tape(engine: Engine) -> Run:
        leaf, log = engine.leaf, engine.ops.log

        def run() -> Any:
            x = leaf(5.0)
            y = x**3
            z = log(y)
            z.backward()
            return x.grad

        return run

    def functional(engine: Engine) -> Run:
        log = engine.ops.log
        derivative = engine.gradients(lambda x: log(x**3))
        return lambda: derivative(5.0)

    def by_hand() -> Run:
        def run() -> Any:
            x = np.float32(5.0)
            y = x**3
            np.log(y)
            gy = ONE / y
            return gy * (3.0 * x**2)

        return run

    return Workload("a", "tutorial graph log(x³)", tape, functional, by_hand, needs=("log",))


def tutorial_twice() -> Workload:
    """The same graph: ∂z/∂x with a graph of its own, and ∂²z/∂x²."""

    def tape(engine: Engine) -> Run:
        leaf, log, grad = engine.leaf, engine.ops.log, engine.ops.grad

        def run() -> Any:
            x = leaf(5.0)
            y = x**3
            z = log(y)
            (first,) = grad(z, x, create_graph=True)
            (second,) = grad(first, x)
            return first, second

        return run

    def functional(engine: Engine) -> Run:
        log = engine.ops.log
        first_and_second = engine.ops.value_and_grad(engine.gradients(lambda x: log(x**3)))
        return lambda: first_and_second(5.0)

    def by_hand() -> Run:
        def run() -> Any:
            x = np.float32(5.0)
            y = x**3
            np.log(y)
            gy = ONE / y
            slope = 3.0 * x**2
            first = gy * slope
            # first = slope(x) / y(x): through the slope, and through 1/y and y
            second = gy * (6.0 * x) - slope * gy * gy * slope
            return first, second

        return run

    return Workload(
        "b", "the same, create_graph, grad again", tape, functional, by_hand, needs=("log", "grad")
    )


def chain_by_number(n: int) -> Workload:
    """y = x · c · c · …, c a Python number."""

    def forward(ops: Any, x: Any) -> Any:
        for _ in range(n):
            x = x * FACTOR
        return x

    def by_hand(x: Any) -> Any:
        forward(None, x)
        g = ONE
        for _ in range(n):
            g = g * FACTOR
        return (g,)

    title = f"chain of {n:,} · number"
    return of_numbers(f"c number {n}", title, forward, (1.0,), by_hand, chain_tolerance(n))


def chain_by_leaf(n: int) -> Workload:
    """y = x · w · w · …, both leaves."""

    def forward(ops: Any, x: Any, w: Any) -> Any:
        for _ in range(n):
            x = x * w
        return x

    def by_hand(y: Any, w: Any) -> Any:
        saved = []
        for _ in range(n):
            saved.append(y)
            y = y * w
        g, gw = ONE, np.float32(0.0)
        for y in reversed(saved):
            gw = gw + g * y
            g = g * w
        return g, gw

    title = f"chain of {n:,} · leaf"
    return of_numbers(f"c leaf {n}", title, forward, (1.0, FACTOR), by_hand, chain_tolerance(n))


def chain_tolerance(n: int) -> float:
    """Half a float32 rounding error a step, should all of them go the same way."""
    return max(1e-5, n * float(np.finfo(np.float32).eps) / 2)


def dag(n: int) -> Workload:
    """`n` scalars in two strands, s ← s + p and p ← p · s, so that each is used twice.

    Started here, s rises to about 0.986 and p falls towards 0 at a pace that float32 holds; the gradients
    settle near 1.4 and 70.
    """

    def forward(ops: Any, s: Any, p: Any) -> Any:
        for _ in range(n // 2):
            s = s + p
            p = p * s
        return s + p

    def by_hand(s: Any, p: Any) -> Any:
        saved = []
        for _ in range(n // 2):
            s = s + p
            saved.append((s, p))
            p = p * s
        gs = gp = ONE
        for s, p in reversed(saved):
            gs = gs + gp * p
            gp = gs + gp * s
        return gs, gp

    return of_numbers("d", f"DAG of {n:,} scalars, fan-out 2", forward, (0.98, 1e-4), by_hand, 1e-3)


def scalar_moons(batch: int) -> Workload:
    """A step on two moons without arrays: the network of row e, its weights scalars that are leaves.

    The weights move in each step. There is no counterpart by hand: a derivative in NumPy is written in
    arrays, as the other variant of row e has it.
    """
    points, signs = moons(batch)
    rows, wanted = points.tolist(), signs.ravel().tolist()

    def forward(ops: Any, *leaves: Any) -> Any:
        relu, layers, taken = ops.relu, [], iter(leaves)
        for width, height in sizes:
            weights = [[next(taken) for _ in range(height)] for _ in range(width)]
            layers.append(([*zip(*weights)], [next(taken) for _ in range(height)]))
        loss = 0.0
        for row, sign in zip(rows, wanted):
            values: Any = row
            for i, (columns, biases) in enumerate(layers):
                sums = []
                for column, total in zip(columns, biases):
                    for weight, value in zip(column, values):
                        total = total + weight * value
                    sums.append(total)
                values = sums if i == len(layers) - 1 else [relu(s) for s in sums]
            loss = loss + relu(1.0 - values[0] * sign)
        return loss * (1.0 / batch)

    start = [float(number) for array in parameters() for number in array.ravel()]
    title = f"MLP on two moons, all scalars, batch {batch}, SGD"
    return of_numbers("e scalars", title, forward, start, None, 1e-3, rate=1e-4)


def scalar_rows(small: bool) -> list[Workload]:
    """Rows a to d and the second of e; all of them short if `small`."""
    chains = [100] if small else [1_000, 100_000]
    return [
        tutorial(),
        tutorial_twice(),
        *(make(n) for n in chains for make in (chain_by_number, chain_by_leaf)),
        dag(1_000 if small else 10_000),
        scalar_moons(1 if small else 4),
    ]
