"""Rows m and n: what it costs to record a cell, as `%%autograd` does, from `start()` to `stop()`."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from engines import OURS, PYTORCH, Engine
from figures import Figure, Task
from moons import moons, sizes
from timing import Row, measure
from workload import normal

from minigrad_viz.recording.recorder import Recorder

Space = dict[str, Any]
Make = Callable[[Any], Space]  # the library → the variables of a cell

# Seconds that an op may take longer, and how many times longer a step of training: must and goal.
LIMITS = {OURS: ((12e-6, 6e-6), (4, 2.5)), PYTORCH: ((60e-6, 30e-6), (6, 4))}

CHAIN = """
x, w = torch.tensor(1.0, requires_grad=True), torch.tensor(1.0001, requires_grad=True)
y = x
for _ in range({n}):
    y = y * w
y.backward()
"""
TRAINING = """
for _ in range({n}):
{forward}
    loss.backward()
    with torch.no_grad():
        for p in parameters:
            p -= 0.01 * p.grad
            p.grad = None
"""
MOONS = """
    h = torch.relu(x @ w1 + b1)
    h = torch.relu(h @ w2 + b2)
    loss = torch.relu(1.0 - (h @ w3 + b3) * target).mean()
    loss = loss + 1e-4 * ((w1 * w1).sum() + (w2 * w2).sum() + (w3 * w3).sum())
"""
DIGITS = """
    out = torch.relu(x @ w1 + b1) @ w2 + b2
    loss = torch.nn.functional.cross_entropy(out, target)
"""

LONG = """
x = torch.linspace(0.0, 1.0, 20)
w, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
losses = torch.zeros({n})
for epoch in range({n}):
    loss = ((w * x + b - 2 * x - 1) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad.zero_()
    b.grad.zero_()
    losses[epoch] = loss.item()
"""
WRITES = 5  # in each epoch of it


def variables(x: np.ndarray, target: np.ndarray, *layers: tuple[int, int]) -> Make:
    """Makes the variables of a training cell: data, and parameters of layers of these sizes."""

    def make(library: Any) -> Space:
        found: Space = {"x": library.tensor(x), "target": library.tensor(target), "parameters": []}
        for i, (width, height) in enumerate(layers, 1):
            weight, bias = normal(width, height, seed=i, scale=width**-0.5), np.zeros(height, np.float32)
            learnt = [library.tensor(data, requires_grad=True) for data in (weight, bias)]
            found |= {f"w{i}": learnt[0], f"b{i}": learnt[1]}
            found["parameters"] += learnt
        return found

    return make


def sampler(library: Any, cell: str, make: Make, recorded: bool) -> Callable[[], float]:
    """Takes the processor seconds of one run of a cell on fresh variables; the cycle collector stays on."""
    code = compile(cell, "<cell>", "exec")

    def sample() -> float:
        space = {"torch": library, "__name__": "__main__", **make(library)}
        recorder = Recorder(cell, space) if recorded else None
        gc.collect()
        start = time.process_time()
        if recorder is None:
            exec(code, space)
        else:
            recorder.start()
            exec(code, space)
            recorder.stop()
        return time.process_time() - start

    return sample


def compare(engine: Engine, title: str, cell: str, make: Make, rounds: int) -> Row:
    """A cell with and without a recorder, in turn."""
    library = engine.ops.library
    both = {"recorded": sampler(library, cell, make, True), "unrecorded": sampler(library, cell, make, False)}
    for sample in both.values():
        sample()
    return measure("m", title, both, rounds)


def recording(task: Task) -> list[Figure]:
    """Rows e and f as ratios, chains as seconds that an op takes longer; minigrad's cells, and PyTorch's."""
    return [
        figure
        for engine in (task.engines[0], task.pytorch)
        if engine is not None
        for figure in recorded(engine, task)
    ]


def recorded(engine: Engine, task: Task) -> list[Figure]:
    """The same for the cells of one library."""
    steps = 2 if task.small else 10
    digits = normal(64, 784, seed=2), np.arange(64) % 10
    cells = {
        f"row e, {steps} steps": (MOONS, variables(*moons(100), *sizes)),
        f"row f, {steps} steps": (DIGITS, variables(*digits, *itertools.pairwise((784, 256, 10)))),
    }
    op, step = LIMITS[engine.name]
    found = []
    for title, (forward, make) in cells.items():
        row = compare(engine, title, TRAINING.format(n=steps, forward=forward), make, task.rounds)
        ratio = row.ratios["unrecorded"].median
        what = f"{engine.name}: recorded against unrecorded, {title}"
        found.append(Figure("m", what, ratio, "×", *step))
    for n in [100] if task.small else [1_000, 10_000]:
        row = compare(engine, f"chain of {n:,} · leaf", CHAIN.format(n=n), no_variables, task.rounds)
        what = f"{engine.name}: recording takes longer, {row.title}: an op"
        found.append(Figure("m", what, longer(row) / n, "s", *op))
    return found


def no_variables(library: Any) -> Space:
    """For a cell that makes its own."""
    return {}


def longer(row: Row) -> float:
    """Seconds that recording adds."""
    return row.seconds["recorded"].median - row.seconds["unrecorded"].median


def watching(task: Task) -> list[Figure]:
    """Row n: seconds that a cell with a long loop takes longer."""
    epochs = 50 if task.small else 3_200
    title = f"a cell with a loop of {epochs:,} epochs, {epochs * WRITES:,} writes: watching it takes longer"
    row = compare(task.engines[0], title, LONG.format(n=epochs), no_variables, min(task.rounds, 5))
    return [Figure("n", title, longer(row), "s", 2.0, 1.0)]
