"""The gradients of all engines are compared before anything is timed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from engines import OURS, Engine
from workload import Run, Workload


class Disagreement(Exception):
    """Two engines computed different gradients."""


def arrays(found: Any) -> list[np.ndarray]:
    """One gradient or several, as float64 arrays of NumPy."""
    several = found if isinstance(found, (tuple, list)) else (found,)
    return [np.asarray(g.tolist() if hasattr(g, "tolist") else g, np.float64) for g in several]


def alike(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Whether shapes agree and no difference exceeds `tolerance` times the largest number."""
    if a.shape != b.shape or not np.isfinite(a).all():
        return False
    return bool(np.abs(a - b).max(initial=0.0) <= tolerance * np.abs(a).max(initial=0.0))


def shown(found: Sequence[np.ndarray]) -> str:
    """The beginning of what was found."""
    text = np.array2string(found[0].ravel()[:4], separator=", ") if found else "nothing"
    return text if len(found) <= 1 else f"{text} and {len(found) - 1} more"


def agreeing(workload: Workload, engines: Sequence[Engine], remarks: list[str]) -> dict[str, Run]:
    """The workload bound to every engine that can do it, each run once and its gradients compared.

    An engine that cannot get through (a RecursionError, say) is left out with a remark. Raises Disagreement.
    """
    runs: dict[str, Run] = {}
    expected: list[np.ndarray] = []
    for name, run in workload.runs(engines).items():
        try:
            got = arrays(run())
        except Exception as error:
            if name == OURS:
                raise
            remarks.append(f"{name} cannot run “{workload.title}”: {type(error).__name__}.")
            continue
        expected = expected or got
        if len(got) != len(expected) or not all(
            alike(a, b, workload.tolerance) for a, b in zip(expected, got)
        ):
            raise Disagreement(f"{workload.title}: minigrad has {shown(expected)}, {name} has {shown(got)}")
        runs[name] = run
    return runs
