"""Whether updates made a tensor grow until it overflowed, and a learning rate that would not."""

from __future__ import annotations

import ast
import itertools
import math
from typing import NamedTuple

import numpy as np

from ..model.naming import plain_name
from ..numbers import number
from ..protocol import Value
from ..trace.events import Created, Deposited, Mutated
from .case import Case
from .first_nan import Origin
from .syntax import written_as

GROWN = 1e4  # times that a tensor grew before it counts as diverging
RATES = ("lr", "learning_rate", "step_size", "eta", "alpha", "rate")


class Divergence(NamedTuple):
    """The tensor `name` grew from `first` to `last` by `updates` of which the last stands in `line`. `rate`
    is the learning rate as it is written (None where that is not certain), `better` one that would converge,
    estimated from how the gradient changed between two updates."""

    name: str
    first: str
    last: str
    updates: int
    line: str
    rate: str | None
    better: str | None


def divergence_of(case: Case, origin: Origin) -> Divergence | None:
    """What grew by updates before nan or inf appeared; None if nothing did."""
    series: dict[str, list[Value]] = {}
    line = {}
    for event in case.trace.events[: origin.time + 1]:
        value = event.tensor.value if isinstance(event, Created | Mutated) else None
        if value is None or value.special:
            continue
        assert isinstance(event, Created | Mutated)
        if isinstance(event, Created):
            series[event.tensor.id] = [value]
        elif case.scene.asks(event.before) and event.before == event.tensor.id:
            series.setdefault(event.before, []).append(value)
            line[event.before] = event.span
    for tensor, values in series.items():
        sizes = [size for value in values if (size := largest(value)) is not None]
        if len(values) < 3 or len(sizes) != len(values) or sizes[-1] < GROWN * max(sizes[0], 1.0):
            continue
        name, dtype = plain_name(case.name(tensor)), values[0].dtype
        rate = rate_of(case)
        first, last = (number(sizes[i], dtype, 3) for i in (0, -1))
        better = None if rate is None else better_rate(case, tensor, float(rate))
        return Divergence(name, first, last, len(values) - 1, case.place(line[tensor]), rate, better)
    return None


def largest(value: Value) -> float | None:
    """The largest absolute value."""
    if value.low is None or value.high is None:
        return None
    return max(abs(value.low), abs(value.high))


def rate_of(case: Case) -> str | None:
    """The learning rate as the cell writes it: the only one that it gives by name, or in an update."""
    found: list[str] = []
    for part in case.parts():
        if isinstance(part, ast.keyword) and part.arg == "lr":
            found += constants(case, part.value)
        elif isinstance(part, ast.Assign | ast.AugAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            named = any(ast.unparse(target) in RATES for target in targets)
            if named or ".grad" in ast.unparse(part.value):
                found += constants(case, part.value)
    return found[0] if len(set(found)) == 1 else None


def constants(case: Case, tree: ast.expr) -> list[str]:
    """The numbers in an expression, as they are written."""
    parts = (part for part in ast.walk(tree) if isinstance(part, ast.Constant))
    return [written_as(case, each) for each in parts if type(each.value) in (int, float)]


def better_rate(case: Case, tensor: str, rate: float) -> str | None:
    """A rate below 1 over the largest change of the gradient per change of the tensor that was seen: with it
    gradient descent does not grow. None where the numbers do not show it."""
    points: list[tuple[np.ndarray, np.ndarray]] = []
    now: Value | None = None
    for event in case.trace.events:
        if isinstance(event, Created | Mutated) and event.tensor.id == tensor:
            now = event.tensor.value
        elif isinstance(event, Deposited) and event.tensor == tensor:
            if now is None or now.items is None or event.added.items is None:
                return None
            points.append((np.array(now.items, float), np.array(event.added.items, float)))
    steepest = 0.0
    with np.errstate(all="ignore"):
        for (x, g), (y, h) in itertools.pairwise(points):
            moved, changed = np.abs(y - x).max(), np.abs(h - g).max()
            if moved > 0 and np.isfinite(changed) and np.isfinite(moved):
                steepest = max(steepest, float(changed / moved))
    if not steepest or not math.isfinite(steepest) or 1 / steepest >= rate:
        return None
    most = 1.001 / steepest  # as the differences are rounded
    size = 10.0 ** math.floor(math.log10(most))
    return f"{math.floor(most / size) * size:.1g}"
