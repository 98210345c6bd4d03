"""Derivatives by central differences: (f(x + v) - f(x - v)) / 2 eps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor_state import numbers, share
from .problem import Problem, is_complex, is_continuous


def difference(problem: Problem, array: np.ndarray, where: Any, step: Any, index: str) -> list[Any]:
    """Return the difference quotients, flat, of all results when `array[where]` moves by `step`; raw data.

    The input's memory is written to behind its version's back, and restored. AssertionError with PyTorch's
    text if shapes or dtypes of the results depend on it.
    """
    eps = problem.limits.eps
    before = np.array(array[where])
    try:
        array[where] = before - step
        low = [np.array(numbers(o)) for o in problem.call()]
        array[where] = before + step
        high = [np.array(numbers(o)) for o in problem.call()]
    finally:
        array[where] = before
    for a, b in zip(low, high, strict=False):
        check_alike(a, b, f"{index}by {eps}")
    return [quotient(a, b, 2 * eps) for a, b in zip(low, high, strict=False)]


def quotient(a: np.ndarray, b: np.ndarray, by: float) -> Any:
    """Return `(b - a) / by`, flat; None for a result that is not continuous."""
    if a.dtype.kind not in "fc":
        return None
    return ((b - a) / a.dtype.type(by)).reshape(-1)


def check_alike(a: np.ndarray, b: np.ndarray, how: str) -> None:
    """Raise AssertionError with PyTorch's text unless two results have one shape and dtype."""
    for name, x, y in (
        ("shape", f"torch.Size({list(a.shape)})", f"torch.Size({list(b.shape)})"),
        ("dtype", str(dtypes.of(a)), str(dtypes.of(b))),
    ):
        if x != y:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {name} when inputs are perturbed {how}, "
                f"but got: {name}s {x} and {y}."
            )


def derivatives(problem: Problem, t: Any, where: Any, real: Any, imag: Any, index: str) -> list[Any]:
    """Return the derivatives of all results, flat, when `t[where]` moves by `real`.

    For a complex input, i times those for a move by i · `imag` is added; see Note [Complex functions].
    """
    found = difference(problem, t._data, where, real, index)
    if not is_complex(t):
        return found
    others = difference(problem, t._data, where, imag * 1j, index)
    return [None if a is None else a + b * 1j for a, b in zip(found, others, strict=True)]


def directional(problem: Problem, j: int, u: Any) -> list[Any]:
    """Return the derivatives of all results with respect to input `j` in the direction `u`.

    A complex input has a pair of directions.
    """
    t = problem.inputs[j]
    share(t)
    parts = u if isinstance(u, tuple) else (u, u)
    real, imag = (problem.limits.eps * part.reshape(t._data.shape) for part in parts)
    return derivatives(problem, t, ..., real, imag, "")


def jacobians(problem: Problem, j: int) -> list[np.ndarray | None]:
    """Return, for each result, its Jacobian with respect to input `j`: a row for each element of the input.

    It is None for a result that is not continuous.
    """
    t, eps = problem.inputs[j], problem.limits.eps
    share(t)
    found: list[Any] = [
        np.zeros((t._data.size, o._data.size), (t if is_complex(t) else o)._data.dtype)
        if is_continuous(o)
        else None
        for o in problem.results
    ]
    for row, index in enumerate(np.ndindex(t._data.shape)):
        columns = derivatives(problem, t, index, eps, eps, f"on index {index} ")
        for jacobian, column in zip(found, columns, strict=False):
            if jacobian is not None:
                jacobian[row] = column
    return found
