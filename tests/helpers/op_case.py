"""One line per op: how it is written, in both libraries, and on which inputs it is tried.

`Case(name, function, inputs)`: `function(L, *tensors)` with `L` the library; an input is a shape, filled with
numbers that suit the op (`low`, `high`), or the numbers themselves. `smooth=False`: finite differences do not
tell its derivative. `other_order=True`: the gradient of the second input is the same product taken in another
order, so that its graph differs: pow keeps the order of PyTorch 1.4, on which the last digit of documented
results depends. `twice=False`: no second derivative is finite. `numbers="real"` or `"complex"`: the op takes
only these; `same_graph=False`: PyTorch composes its gradient otherwise; `forward=False`: PyTorch has no
forward mode for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    name: str
    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    low: float = 0.5
    high: float = 2.0
    smooth: bool = True
    other_order: bool = False
    twice: bool = True
    numbers: str = "both"
    same_graph: bool = True
    forward: bool = True

    def arrays(self, dtype: str) -> list[np.ndarray]:
        """The inputs as arrays: fixed, different numbers between `low` and `high`; of complex ones this is
        the real part, and the imaginary part is the numbers in reverse order.
        """
        if dtype.startswith("complex"):
            real = self.arrays("float64")
            return [(a + 0.75j * a.ravel()[::-1].reshape(a.shape)).astype(dtype) for a in real]
        made = []
        for k, item in enumerate(self.inputs):
            if isinstance(item, tuple):
                n = int(np.prod(item))
                steps = (np.arange(n) * 7 + 3 * k + 2) % (n + 5)
                made.append(
                    (self.low + (self.high - self.low) * (steps + 0.3) / (n + 5.6))
                    .reshape(item)
                    .astype(dtype)
                )
            else:
                made.append(np.array(item, dtype))
        return made


SHAPES = ((), (3,), (2, 3))
PAIRS = (
    ((), ()),
    ((3,), (3,)),
    ((3,), ()),
    ((), (3,)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((1,), (2, 2)),
    ((2, 3), (2, 3)),
)


def results_of(result: Any) -> list[Any]:
    """The results of an op as a list."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


def each(name: str, function: Any, low: float = 0.5, high: float = 2.0, **how: bool) -> list[Case]:
    """One input, in every shape."""
    return [Case(f"{name} {list(s)}", function, (s,), low, high, **how) for s in SHAPES]


def pairs(name: str, function: Any, low: float = 0.5, high: float = 2.0, **how: bool) -> list[Case]:
    """Two inputs, in every pair of shapes that broadcasts."""
    return [Case(f"{name} {list(a)} {list(b)}", function, (a, b), low, high, **how) for a, b in PAIRS]
