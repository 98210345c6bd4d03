"""Interleaved rounds: each engine once in every round, so that a busy moment of the machine meets all."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Sampler = Callable[[], float]  # seconds a call, from one round


@dataclass(frozen=True)
class Ratio:
    """minigrad's time over a peer's: the median over the rounds, the least and the greatest."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """A measured row: seconds a call by engine (median of the rounds), ratios by peer."""

    row: str
    title: str
    seconds: dict[str, float]
    ratios: dict[str, Ratio]


def sampler(run: Callable[[], Any], budget: float) -> Sampler:
    """Times `run` as often as fits into `budget` seconds, at least once; the cycle collector stays on."""
    start = time.perf_counter()
    run()
    once = time.perf_counter() - start
    calls = range(max(1, int(budget / max(once, 1e-7))))

    def sample() -> float:
        gc.collect()  # nobody pays for what another engine left behind
        start = time.perf_counter()
        for _ in calls:
            run()
        return (time.perf_counter() - start) / len(calls)

    return sample


def measure(row: str, title: str, samplers: Mapping[str, Sampler], rounds: int) -> Row:
    """Take `rounds` samples of each engine in turn. The first of `samplers` is compared with the others."""
    samples: dict[str, list[float]] = {name: [] for name in samplers}
    names = list(samplers)
    for r in range(rounds):
        turn = r % len(names)
        for name in names[turn:] + names[:turn]:  # nobody is always the first
            samples[name].append(samplers[name]())
    ours = samples[names[0]]
    ratios = {}
    for name in names[1:]:
        each = [a / b for a, b in zip(ours, samples[name], strict=True)]
        ratios[name] = Ratio(statistics.median(each), min(each), max(each))
    return Row(row, title, {name: statistics.median(s) for name, s in samples.items()}, ratios)
