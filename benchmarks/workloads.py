"""What is timed: each workload once for tapes, once for functional engines, and once by hand in NumPy.

A workload bound to an engine is a function without arguments that does everything, from making the leaves to
the gradients, and returns the gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from peers import Peer

Run = Callable[[], Any]

ONE = np.float32(1.0)
FACTOR = 1.0 + 2.0**-13  # exact in float32, so that engines of either precision multiply by the same number


@dataclass(frozen=True)
class Workload:
    """A row of the table. `tape`, `functional` and `by_hand` bind it to an engine of that style."""

    row: str
    title: str
    tape: Callable[[Peer], Run]
    functional: Callable[[Peer], Run]
    by_hand: Callable[[], Run]
    tolerance: float  # largest relative difference between engines, float32 against float64 included
    second_order: bool = False

    def bind(self, peer: Peer) -> Run | None:
        """The function to time, or None if the workload wants second derivatives and the engine has none."""
        if peer.style == "by hand":
            return self.by_hand()
        if peer.style == "functional":
            return self.functional(peer)
        if self.second_order and peer.grad is None:
            return None
        return self.tape(peer)


def tutorial() -> Workload:
    """x = 5, y = x³, z = log y, ∂z/∂x."""

    def tape(peer: Peer) -> Run:
        leaf, log = peer.leaf, peer.log

        def run() -> Any:
            x = leaf(5.0)
            y = x**3
            z = log(y)
            z.backward()
            return x.grad

        return run

    def functional(peer: Peer) -> Run:
        log = peer.log
        derivative = peer.gradients(lambda x: log(x**3))
        return lambda: derivative(5.0)

    def by_hand() -> Run:
        def run() -> Any:
            x = np.float32(5.0)
            y = x**3
            np.log(y)
            gy = ONE / y
            return gy * (3.0 * x**2)

        return run

    return Workload("a", "tutorial graph log(x³)", tape, functional, by_hand, 1e-5)


def tutorial_twice() -> Workload:
    """The same graph: ∂z/∂x with a graph of its own, and ∂²z/∂x²."""

    def tape(peer: Peer) -> Run:
        leaf, log, grad = peer.leaf, peer.log, peer.grad

        def run() -> Any:
            x = leaf(5.0)
            y = x**3
            z = log(y)
            (first,) = grad(z, x, create_graph=True)
            (second,) = grad(first, x)
            return first, second

        return run

    def functional(peer: Peer) -> Run:
        log = peer.log
        first_and_second = peer.both(peer.gradients(lambda x: log(x**3)))
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

    title = "the same, create_graph, grad again"
    return Workload("b", title, tape, functional, by_hand, 1e-5, second_order=True)


def chain_by_number(n: int) -> Workload:
    """y = x · c · c · …, c a Python number."""

    def forward(x: Any) -> Any:
        y = x
        for _ in range(n):
            y = y * FACTOR
        return y

    def tape(peer: Peer) -> Run:
        def run() -> Any:
            x = peer.leaf(1.0)
            forward(x).backward()
            return x.grad

        return run

    def functional(peer: Peer) -> Run:
        derivative = peer.gradients(forward)
        return lambda: derivative(1.0)

    def by_hand() -> Run:
        def run() -> Any:
            forward(ONE)
            g = ONE
            for _ in range(n):
                g = g * FACTOR
            return g

        return run

    return Workload("c", f"chain of {n:,} · number", tape, functional, by_hand, chain_tolerance(n))


def chain_by_leaf(n: int) -> Workload:
    """y = x · w · w · …, both leaves."""

    def forward(x: Any, w: Any) -> Any:
        y = x
        for _ in range(n):
            y = y * w
        return y

    def tape(peer: Peer) -> Run:
        def run() -> Any:
            x, w = peer.leaf(1.0), peer.leaf(FACTOR)
            forward(x, w).backward()
            return x.grad, w.grad

        return run

    def functional(peer: Peer) -> Run:
        derivatives = peer.gradients(forward, (0, 1))
        return lambda: derivatives(1.0, FACTOR)

    def by_hand() -> Run:
        def run() -> Any:
            y, w = ONE, np.float32(FACTOR)
            saved = []
            for _ in range(n):
                saved.append(y)
                y = y * w
            g, gw = ONE, np.float32(0.0)
            for y in reversed(saved):
                gw = gw + g * y
                g = g * w
            return g, gw

        return run

    return Workload("c", f"chain of {n:,} · leaf", tape, functional, by_hand, chain_tolerance(n))


def chain_tolerance(n: int) -> float:
    """Half a float32 rounding error a step, should all of them go the same way."""
    return max(1e-5, n * float(np.finfo(np.float32).eps) / 2)


def dag(n: int) -> Workload:
    """`n` scalars in two strands, s ← s + p and p ← p · s, so that each is used twice.

    Started here, s rises to about 0.986 and p falls towards 0 at a pace that float32 holds; the gradients
    settle near 1.4 and 70.
    """
    start = (0.98, 1e-4)

    def forward(s: Any, p: Any) -> Any:
        for _ in range(n // 2):
            s = s + p
            p = p * s
        return s + p

    def tape(peer: Peer) -> Run:
        def run() -> Any:
            s, p = peer.leaf(start[0]), peer.leaf(start[1])
            forward(s, p).backward()
            return s.grad, p.grad

        return run

    def functional(peer: Peer) -> Run:
        derivatives = peer.gradients(forward, (0, 1))
        return lambda: derivatives(*start)

    def by_hand() -> Run:
        def run() -> Any:
            s, p = np.float32(start[0]), np.float32(start[1])
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

        return run

    return Workload("d", f"DAG of {n:,} scalars, fan-out 2", tape, functional, by_hand, 1e-3)


def choose(rows: set[str], quick: bool, deep: bool) -> list[Workload]:
    """The workloads of these rows; small ones if `quick`, and a chain of 100,000 if `deep`."""
    chain, scalars = (100, 1_000) if quick else (1_000, 10_000)
    lengths = [chain, 100_000] if deep else [chain]
    chains = [make(n) for n in lengths for make in (chain_by_number, chain_by_leaf)]
    return [w for w in (tutorial(), tutorial_twice(), *chains, dag(scalars)) if w.row in rows]
