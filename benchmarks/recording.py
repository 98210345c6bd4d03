"""Row m: what it costs to record a cell, as `%%autograd` does, from `start()` to `stop()`."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from figures import Figure, Task
from moons import moons, sizes
from timing import Row, measure
from workload import normal

import minigrad
from minigrad_viz.recording.recorder import Recorder

Space = dict[str, Any]

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


def variables(x: np.ndarray, target: np.ndarray, *layers: tuple[int, int]) -> Callable[[], Space]:
    """Makes the variables of a training cell: data, and parameters of layers of these sizes."""

    def make() -> Space:
        found: Space = {"x": minigrad.tensor(x), "target": minigrad.tensor(target), "parameters": []}
        for i, (width, height) in enumerate(layers, 1):
            weight, bias = normal(width, height, seed=i, scale=width**-0.5), np.zeros(height, np.float32)
            learnt = [minigrad.tensor(data, requires_grad=True) for data in (weight, bias)]
            found |= {f"w{i}": learnt[0], f"b{i}": learnt[1]}
            found["parameters"] += learnt
        return found

    return make


def sampler(cell: str, make: Callable[[], Space], recorded: bool) -> Callable[[], float]:
    """Takes the processor seconds of one run of a cell on fresh variables; the cycle collector stays on."""
    code = compile(cell, "<cell>", "exec")

    def sample() -> float:
        space = {"torch": minigrad, "__name__": "__main__", **make()}
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


def compare(title: str, cell: str, make: Callable[[], Space], rounds: int) -> Row:
    """A cell with and without a recorder, in turn."""
    both = {"recorded": sampler(cell, make, True), "unrecorded": sampler(cell, make, False)}
    for sample in both.values():
        sample()
    return measure("m", title, both, rounds)


def recording(task: Task) -> list[Figure]:
    """Rows e and f as ratios, chains as seconds that an op takes longer."""
    steps = 2 if task.small else 10
    digits = normal(64, 784, seed=2), np.arange(64) % 10
    cells = {
        f"row e, {steps} steps": (MOONS, variables(*moons(100), *sizes)),
        f"row f, {steps} steps": (DIGITS, variables(*digits, *itertools.pairwise((784, 256, 10)))),
    }
    found = []
    for title, (forward, make) in cells.items():
        row = compare(title, TRAINING.format(n=steps, forward=forward), make, task.rounds)
        ratio = row.ratios["unrecorded"].median
        found.append(Figure("m", f"recorded against unrecorded, {title}", ratio, "×", 3, 2))
    for n in [100] if task.small else [1_000, 10_000]:
        row = compare(f"chain of {n:,} · leaf", CHAIN.format(n=n), dict, task.rounds)
        more = (row.seconds["recorded"].median - row.seconds["unrecorded"].median) / n
        found.append(Figure("m", f"recording takes longer, {row.title}: an op", more, "s", 5e-6, 3e-6))
    return found
