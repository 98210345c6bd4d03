"""How far to go in a direction: a step that keeps the strong Wolfe conditions (Nocedal and Wright, 2006)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

ENOUGH_DOWN, FLAT_ENOUGH = 1e-4, 0.9  # how much of the first slope a step has to gain, and may leave
NARROW = 1e-9


class Point(NamedTuple):
    """A step of size `t`: the loss there, its gradient, and the slope along the direction."""

    t: float
    loss: float
    gradient: Any
    slope: float


def cubic_minimum(a: Point, b: Point, low: float, high: float) -> float:
    """Return the minimum, within `low` and `high`, of the cubic through two losses and slopes."""
    if a.t > b.t:
        a, b = b, a
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = bend**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = math.sqrt(square)
    found = b.t - (b.t - a.t) * ((b.slope + root - bend) / (b.slope - a.slope + 2 * root))
    return min(max(found, low), high)


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, Any]], t: float, direction: Any, loss: float, gradient: Any,
    slope: float, most: int,
) -> tuple[Point, int]:  # fmt: skip
    """Return the step and the number of evaluations; at most `most` follow the first one.

    `evaluate` returns loss and gradient after a step of a size. Sizes start at `t`; the other arguments
    belong to the step of size 0.
    """

    def at(t: float) -> Point:
        new_loss, new_gradient = evaluate(t)
        return Point(t, new_loss, new_gradient, new_gradient.dot(direction).item())

    def is_too_high(point: Point) -> bool:
        return point.loss > loss + ENOUGH_DOWN * point.t * slope

    def is_flat(point: Point) -> bool:
        return abs(point.slope) <= -FLAT_ENOUGH * slope

    start = before = Point(0.0, loss, gradient.clone(), slope)
    new, tries = at(t), 0
    while tries < most:  # until there is a good step between two
        if is_too_high(new) or (tries > 1 and new.loss >= before.loss):
            break
        if is_flat(new):
            return new, tries + 1
        if new.slope >= 0:
            break
        t = cubic_minimum(before, new, new.t + 0.01 * (new.t - before.t), new.t * 10)
        before, new = new, at(t)
        tries += 1
    else:
        before = start
    low, high = (before, new) if before.loss <= new.loss else (new, before)
    width = direction.abs().max().item()
    stuck = False
    while tries < most and abs(high.t - low.t) * width >= NARROW:
        t, stuck = between(low, high, stuck)
        new = at(t)
        tries += 1
        if is_too_high(new) or new.loss >= low.loss:
            low, high = (new, low) if new.loss < low.loss else (low, new)
        elif is_flat(new):
            return new, tries + 1
        else:
            low, high = new, low if new.slope * (high.t - low.t) >= 0 else high
    return low, tries + 1


def between(low: Point, high: Point, stuck: bool) -> tuple[float, bool]:
    """Return the next size to try, and whether it is near an end; it is not near an end twice in a row."""
    least, most = sorted((low.t, high.t))
    t = cubic_minimum(low, high, least, most)
    margin = 0.1 * (most - least)
    if min(most - t, t - least) >= margin:
        return t, False
    if stuck or t >= most or t <= least:
        return (most - margin if abs(t - most) < abs(t - least) else least + margin), False
    return t, True
