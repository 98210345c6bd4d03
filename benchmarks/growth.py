"""How time and memory grow with the graph, and what the cycle collector takes of the time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import processes
from engines import MODULES, OURS, Engine
from figures import Figure, Task
from scalar_rows import chain_by_leaf, scalar_moons
from timing import measure, sampler
from workload import Run

Make = Callable[[Engine, int], Run]
MANY = 100_000
EVEN = 1.5  # a cost that is in proportion to the size, within what caches and allocators do to it


def repeated_leaf(engine: Engine, uses: int) -> Run:
    """Backward alone, through a graph that uses one leaf so many times; the graph is kept."""
    x = engine.leaf(0.5)
    y = x
    for _ in range(uses - 1):
        y = y + x

    def run() -> Any:
        y.backward(retain_graph=True)
        x.grad = None

    return run


def second_derivative(engine: Engine, length: int) -> Run:
    """d²/dx² of x · x · x · …, through the graph of the first derivative."""
    grad = engine.ops.grad

    def run() -> Any:
        x = engine.leaf(1.0)
        y = x
        for _ in range(length - 1):
            y = y * x
        (first,) = grad(y, x, create_graph=True)
        return grad(first, x)

    return run


def whole_chain(engine: Engine, length: int) -> Run:
    return chain_by_leaf(length).tape(engine)


def seconds_per_node(engine: Engine, make: Make, sizes: Sequence[int], task: Task) -> list[float]:
    """Processor time a node at each size, the cycle collector off: its share is a row of its own."""
    found = []
    for n in sizes:
        sample = sampler(make(engine, n), 0.001 if task.small else 0.05, time.process_time)
        found.append(statistics.median(sample() for _ in range(min(task.rounds, 3))) / n)
    return found


def per_node(title: str, make: Make, sizes: Sequence[int], task: Task, most: int = MANY) -> list[Figure]:
    """Seconds a node at each size, and the factor by which they grow from the smallest size to the largest.

    PyTorch is measured up to `most` nodes, because larger graphs take minutes.
    """
    ours = seconds_per_node(task.engines[0], make, sizes, task)
    theirs: list[float | None] = [None] * len(sizes)
    if task.pytorch:
        theirs[:] = seconds_per_node(task.pytorch, make, [n for n in sizes if n <= most], task)
        theirs += [None] * (len(sizes) - len(theirs))
    found = [
        Figure("growth", f"{title}, {n:,}: processor time a node", seconds, "s", peer=peer)
        for n, seconds, peer in zip(sizes, ours, theirs)
    ]
    peer = theirs[-1] / theirs[0] if theirs[0] and theirs[-1] else None
    last = f"{title}: {sizes[-1]:,} against {sizes[0]:,}"
    return [*found, Figure("growth", last, ours[-1] / ours[0], "×", EVEN, peer=peer)]


def memory_per_node(sizes: Sequence[int]) -> list[Figure]:
    """Bytes a node of a chain at each size, and how much the dearest differs from the cheapest."""
    held = [processes.ask("chain", MODULES[OURS], "leaf", n, "heap")["bytes"] for n in sizes]
    found = [Figure("growth", f"chain · leaf, {n:,}: bytes a node", b, "B") for n, b in zip(sizes, held)]
    return [
        *found,
        Figure(
            "growth", "chain · leaf: the dearest node against the cheapest", max(held) / min(held), "×", EVEN
        ),
    ]


def growth(task: Task) -> list[Figure]:
    """Time and memory a node from 10³ to 10⁶ ops, one leaf used often, and second derivatives."""
    chains = (10, 100) if task.small else (1_000, 10_000, 100_000, 1_000_000)
    uses = (10, 100) if task.small else (1_000, 10_000, 100_000)
    return [
        *per_node("chain · leaf", whole_chain, chains, task),
        *memory_per_node((100, 1_000) if task.small else chains),
        *per_node("backward, one leaf used often", repeated_leaf, uses, task),
        *per_node("second derivative, create_graph", second_derivative, uses, task, most=10_000),
    ]


def collector(task: Task) -> list[Figure]:
    """The share of the time that the cycle collector takes, where graphs are built and freed."""
    workloads = (
        [chain_by_leaf(100)] if task.small else [*map(chain_by_leaf, (1_000, 100_000)), scalar_moons(4)]
    )
    found = []
    for workload in workloads:
        shares: list[float | None] = []
        for engine in (task.engines[0], task.pytorch):
            run = workload.bind(engine) if engine else None
            shares.append(None if run is None else share(run, task))
        title = f"cycle collector's share, {workload.title}"
        found.append(Figure("collector", title, shares[0], "%", peer=shares[1]))
    return found


def share(run: Run, task: Task) -> float:
    """Per cent of the time that is saved by switching the collector off."""
    budget = 0.001 if task.small else 0.05
    clock = time.process_time
    both = {"on": sampler(run, budget, clock, collecting=True), "off": sampler(run, budget, clock)}
    ratio = measure("collector", "", both, min(task.rounds, 7)).ratios["off"].median
    return 100 * max(0.0, 1 - 1 / ratio)
