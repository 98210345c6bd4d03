"""How functions of one element are declared, which dtypes they refuse, and missing derivatives."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..core import differentiable
from .half_precision import wide


def function(**how: Any) -> Any:
    """Declare a function of one element: integers become floats, float16 is computed in float32."""

    def declare(kernel: Any) -> Any:
        return differentiable(elementwise=True, floating=True, kernel=wide(kernel), **how)(kernel)

    return declare


def special(**how: Any) -> Any:
    """Declare a function of one real number that is computed in double precision, whatever its dtype."""

    def declare(kernel: Any) -> Any:
        return differentiable(elementwise=True, floating=True, kernel=precise(kernel), **how)(kernel)

    return declare


def precise(kernel: Any) -> Any:
    """Return a kernel that computes in double precision and rounds once."""

    @functools.wraps(kernel)
    def run(self: Any, *others: Any) -> Any:
        return np.asarray(kernel(np.asarray(self, np.float64), *others), np.float64).astype(self.dtype)[()]

    return run


def one_by_one(function: Any) -> Any:
    """Return a function of Python's `math` on arrays."""
    on_objects = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(on_objects(x), np.float64)


def refusal(name: str) -> Any:
    """Return a vjp that raises the error of PyTorch for an op without a derivative."""

    def refuse(g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return refuse


def second_refusal(name: str) -> Any:
    """Return a vjp that raises the error of PyTorch for a derivative that cannot be differentiated itself."""

    def refuse(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return refuse


def no_derivative(name: str, *inputs: str) -> dict[str, Any]:
    """What `differentiable` takes for an op without a derivative: its node, and what raises the errors."""

    def no_tangent() -> Any:
        raise NotImplementedError(f"Trying to use forward AD with aten::{name} that does not support it.")

    return {"node": "NotImplemented", "jvp": no_tangent, **dict.fromkeys(inputs, refusal(name))}
