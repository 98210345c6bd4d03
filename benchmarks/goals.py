"""What the ratios have to be: minigrad's time over PyTorch's with one thread, and over some others'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engines import BY_HAND


@dataclass(frozen=True)
class Goal:
    """`holds` must not be exceeded, `goal` is aimed at; `others` are limits against other engines."""

    holds: float
    goal: float
    others: Mapping[str, float] = field(default_factory=dict)


MICROGRAD, MYGRAD, HIPS = "micrograd", "MyGrad", "HIPS autograd"

GOALS = {
    "a": Goal(0.20, 0.15, {MICROGRAD: 1.0, BY_HAND: 6}),
    "b": Goal(0.28, 0.20, {HIPS: 0.13, BY_HAND: 14}),
    "c number": Goal(0.16, 0.12, {MICROGRAD: 0.3, BY_HAND: 14}),
    "c leaf": Goal(0.24, 0.18, {MICROGRAD: 0.65, BY_HAND: 14}),
    "d": Goal(0.27, 0.20, {MICROGRAD: 0.6, BY_HAND: 10}),
    "e tensors": Goal(0.65, 0.50, {MYGRAD: 0.27, BY_HAND: 2.7}),
    "e scalars": Goal(0.30, 0.24, {MICROGRAD: 1.0}),
    "f": Goal(0.88, 0.80, {MYGRAD: 0.95, BY_HAND: 1.12}),
    "g 1000": Goal(0.40, 0.32, {HIPS: 0.26, BY_HAND: 2.7}),
    "g 100000": Goal(0.40, 0.32, {HIPS: 0.7, BY_HAND: 1.3}),
    "g 1000000": Goal(0.33, 0.25, {HIPS: 0.85, BY_HAND: 1.2}),
    "h": Goal(0.90, 0.85, {MYGRAD: 1.03, BY_HAND: 1.02}),
    "i": Goal(0.80, 0.65, {MYGRAD: 0.15, BY_HAND: 1.4}),
    "j Hessian": Goal(0.45, 0.33, {HIPS: 0.35}),
    "j Jacobian": Goal(0.45, 0.30, {HIPS: 0.6}),
    "k": Goal(0.55, 0.40, {MYGRAD: 0.55}),
}


def goal_of(key: str) -> Goal | None:
    """The goal of a workload or, where its sizes share one, of the workload without its size."""
    return GOALS.get(key) or GOALS.get(key.rpartition(" ")[0])
