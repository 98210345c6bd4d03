"""Row o: pictures, the first of a process and those of graphs of 10 to 5,000 nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from figures import Figure, Task, middle
from process_rows import first_picture
from timing import CLOCKS, Clock

import minigrad
from minigrad_viz import draw


def chain(n: int) -> Any:
    """A chain of n multiplications, which the picture folds into one station."""
    y = minigrad.tensor(1.0, requires_grad=True)
    for _ in range(n):
        y = y * 1.01
    return y


def strands(n: int) -> Any:
    """Every value is used twice: nothing can be folded."""
    s, p = minigrad.tensor(0.98, requires_grad=True), minigrad.tensor(1e-4, requires_grad=True)
    for _ in range(n // 2):
        s = s + p
        p = p * s
    return s + p


def show(root: Any, clock: Clock) -> tuple[float, bool]:
    """Seconds until there is an SVG, or an outline because the graph is too large; whether it is an SVG."""
    start = clock()
    picture = draw(root, names={})
    drawn = picture.svg() is not None
    if not drawn:
        picture.outline()
    return clock() - start, drawn


def pictures(task: Task) -> list[Figure]:
    """The first one in a fresh process, then each size in this one."""
    found = first_picture(task)
    graphs: dict[str, Callable[[int], Any]] = {"chain": chain, "DAG": strands}
    for name, make in graphs.items():
        for n in (10, 50) if task.small else (10, 100, 1_000, 5_000):
            root = make(n)
            shown = [show(root, CLOCKS[task.clock]) for _ in range(min(task.rounds, 3))]
            kind = "SVG" if shown[0][1] else "outline"
            limits = (1.5, 0.5) if n == 1_000 else ()
            seconds = middle([s for s, _ in shown])
            found.append(Figure("o", f"{name} of {n:,} nodes, as {kind}", seconds, "s", *limits))
    return found
