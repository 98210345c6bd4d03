"""Interleaved rounds: each engine once in every round, so that a busy moment of the machine meets all."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Sampler = Callable[[], float]  # seconds a call, from one round
Clock = Callable[[], float]

# The processor's clock counts all threads of this process and is less disturbed by other processes.
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}
PATIENCE = 20.0  # seconds after which a row makes no more rounds, if it has the fewest that are wanted
FEWEST = 3  # for these it goes on three times as long


@dataclass(frozen=True)
class Spread:
    """The median over the rounds and the quartiles."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """A measured row: seconds a call by engine, and minigrad's time over each other engine's."""

    key: str
    title: str
    rounds: int
    seconds: dict[str, Spread]
    ratios: dict[str, Spread]


def spread(samples: Sequence[float]) -> Spread:
    """Median and quartiles; of one sample, three times that."""
    if len(samples) == 1:
        return Spread(samples[0], samples[0], samples[0])
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Spread(median, low, high)


def sampler(run: Callable[[], Any], budget: float, clock: Clock) -> Sampler:
    """Times `run` as often as fits into `budget` seconds, at least once.

    The cycle collector runs before, so that nobody pays for what another engine left behind. It stays on: an
    engine whose graphs are cycles pays for freeing them.
    """
    calls = range(0)

    def timed(times: range) -> float:
        start = clock()
        for _ in times:
            run()
        return (clock() - start) / len(times)

    def taken() -> float:
        nonlocal calls
        if not calls:  # the first time it is found out how often
            first = timed(range(1))
            if first >= budget:
                calls = range(1)
                return first
            calls = range(max(1, int(budget / max(timed(range(1)), 1e-7))))
        return timed(calls)

    def sample() -> float:
        gc.collect()
        return taken()

    return sample


def measure(key: str, title: str, samplers: Mapping[str, Sampler], rounds: int) -> Row:
    """Take `rounds` samples of each engine in turn. The first of `samplers` is compared with the others."""
    samples: dict[str, list[float]] = {name: [] for name in samplers}
    names = list(samplers)
    begin = time.perf_counter()
    for made in range(rounds):
        patience = PATIENCE if made >= FEWEST else 3 * PATIENCE
        if made and time.perf_counter() - begin > patience:
            break
        turn = made % len(names)
        for name in names[turn:] + names[:turn]:  # nobody is always the first
            samples[name].append(samplers[name]())
    ours = samples[names[0]]
    ratios = {name: spread([a / b for a, b in zip(ours, samples[name])]) for name in names[1:]}
    return Row(key, title, len(ours), {name: spread(taken) for name, taken in samples.items()}, ratios)
