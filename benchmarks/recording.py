"""Row m: what it costs to record a cell, as `%%autograd` does, from `start()` to `stop()`."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import Row, measure

import minigrad
from minigrad_viz.recording.recorder import Recorder

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
            p -= 0.1 * p.grad
            p.grad = None
"""
MOONS = """
    h = (x @ w1 + b1).tanh()
    h = (h @ w2 + b2).tanh()
    loss = ((1 - (h @ w3 + b3) * target).exp() + 1).log().mean()
"""
DIGITS = """
    out = (x @ w1 + b1).tanh() @ w2 + b2
    loss = (out.exp().sum(1).log() - (out * target).sum(1)).mean()
"""


def layers(*sizes: int, batch: int) -> Callable[[], dict[str, Any]]:
    """Makes the variables of a training cell: parameters of layers of these sizes, a batch and its target."""

    def names() -> dict[str, Any]:
        random = np.random.default_rng(0)

        def tensor(*shape: int, learnt: bool = False) -> Any:
            data = random.normal(size=shape) / np.sqrt(shape[0])
            return minigrad.tensor(data.astype(np.float32), requires_grad=learnt)

        found: dict[str, Any] = {"x": tensor(batch, sizes[0]), "target": tensor(batch, sizes[-1])}
        for i, (width, height) in enumerate(itertools.pairwise(sizes), 1):
            found |= {f"w{i}": tensor(width, height, learnt=True), f"b{i}": tensor(height, learnt=True)}
        return found | {"parameters": [t for name, t in found.items() if name[0] in "wb"]}

    return names


def sampler(cell: str, names: Callable[[], dict[str, Any]], recorded: bool) -> Callable[[], float]:
    """Takes the processor seconds of one run of a cell on fresh variables; the cycle collector stays on."""
    code = compile(cell, "<cell>", "exec")

    def sample() -> float:
        space = {"torch": minigrad, "__name__": "__main__", **names()}
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


def time_recording(rounds: int, quick: bool) -> list[tuple[Row, int]]:
    """Each cell with and without a recorder, in turn; with the number of forward ops of a chain (else 0)."""
    steps = 2 if quick else 10
    chains = [100] if quick else [1_000, 10_000]
    moons, digits = (TRAINING.format(n=steps, forward=text) for text in (MOONS, DIGITS))
    cells: list[tuple[str, str, Callable[[], dict[str, Any]], int]] = [
        (f"MLP on two moons, {steps} steps", moons, layers(2, 16, 16, 1, batch=100), 0),
        (f"MLP 784-256-10, {steps} steps", digits, layers(784, 256, 10, batch=64), 0),
        *((f"chain of {n:,} · leaf", CHAIN.format(n=n), dict, n) for n in chains),
    ]
    rows = []
    for title, cell, names, ops in cells:
        both = {"recorded": sampler(cell, names, True), "unrecorded": sampler(cell, names, False)}
        for sample in both.values():
            sample()
        rows.append((measure("m", title, both, rounds), ops))
    return rows


def recording_line(row: Row, ops: int) -> str:
    """One cell in a sentence."""
    ratio = row.ratios["unrecorded"]
    text = f"m recording, {row.title}: {ratio.median:.2f} ({ratio.low:.2f}–{ratio.high:.2f}) × unrecorded"
    if not ops:
        return f"{text}."
    more = (row.seconds["recorded"] - row.seconds["unrecorded"]) / ops
    return f"{text}, {more * 1e6:.1f} µs an op more."
