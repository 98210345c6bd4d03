"""The limits of the ratios: minigrad's time divided by PyTorch's with one thread. Where arrays dominate and
the machine's BLAS decides, the divisor is the time of the same arithmetic in hand-written NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass

from engines import BY_HAND, PYTORCH
from large_programs import LARGE_NAMES
from programs import NAMES
from timing import Row


@dataclass(frozen=True)
class Goal:
    """`holds` must not be exceeded, `goal` is the aim; both are ratios to the time of `against`."""

    holds: float
    goal: float
    against: str = PYTORCH


GOALS = {
    "a": Goal(0.22, 0.16),
    "b": Goal(0.30, 0.22),
    "c number 1000": Goal(0.19, 0.14),
    "c leaf 1000": Goal(0.27, 0.20),
    "c number 100000": Goal(0.21, 0.15),
    "c leaf 100000": Goal(0.28, 0.21),
    "d": Goal(0.28, 0.20),
    "e scalars": Goal(0.45, 0.25),
    "e tensors": Goal(0.75, 0.55),
    "f": Goal(1.3, 1.1, BY_HAND),
    "g 1000": Goal(0.40, 0.32),
    "g 100000": Goal(1.45, 1.2, BY_HAND),
    "g 1000000": Goal(1.3, 1.1, BY_HAND),
    "h": Goal(1.08, 1.02, BY_HAND),
    "i": Goal(1.3, 1.1, BY_HAND),
    "j Hessian": Goal(0.50, 0.35),
    "j Jacobian": Goal(0.45, 0.25),
    "k": Goal(0.58, 0.45),
    **dict.fromkeys(NAMES, Goal(1.0, 0.7)),  # what learners write is not slower than PyTorch
    **dict.fromkeys(LARGE_NAMES, Goal(8.0, 4.0)),  # nothing is slow beyond reason
    **dict.fromkeys(("randperm", "vmap-grad"), Goal(5.0, 3.0)),
}


def goal_of(key: str) -> Goal | None:
    """The goal of a workload or, where its variants share one, of the workload without its variant."""
    return GOALS.get(key) or GOALS.get(key.rpartition(" ")[0])


def misses(row: Row) -> bool:
    """Whether a row does not keep what it must."""
    goal = goal_of(row.key)
    ratio = row.ratios.get(goal.against) if goal else None
    return goal is not None and ratio is not None and ratio.median > goal.holds
