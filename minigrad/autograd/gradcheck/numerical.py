"""Derivatives by central differences: (f(x + v) - f(x - v)) / 2 eps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor_state import numbers, share
from .problem import Problem, is_complex, is_continuous


def difference(problem: Problem, array: np.ndarray, where: Any, step: Any, index: str) -> list[Any]:
    """The difference quotients, flat, of all results when `array[where]` moves by `step`; raw data.

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
    """`(b - a) / by`, flat; None for a result that is not continuous."""
    if a.dtype.kind not in "fc":
        return None
    return ((b - a) / a.dtype.type(by)).reshape(-1)


def check_alike(a: np.ndarray, b: np.ndarray, how: str) -> None:
    """AssertionError with PyTorch's text unless two results have one shape and dtype."""
    for name, x, y in (
        ("shape", f"torch.Size({list(a.shape)})", f"torch.Size({list(b.shape)})"),
        ("dtype", str(dtypes.of(a)), str(dtypes.of(b))),
    ):
        if x != y:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {name} when inputs are perturbed {how}, "
                f"but got: {name}s {x} and {y}."
            )


def directional(problem: Problem, j: int, u: Any) -> list[Any]:
    """The derivatives of all results by input `j` in the direction `u`, a pair of directions for a complex
    input (fast mode).
    """
    t = problem.inputs[j]
    share(t)
    eps, shape = problem.limits.eps, t._data.shape
    if not is_complex(t):
        return difference(problem, t._data, ..., eps * u.reshape(shape), "")
    real, imag = (eps * part.reshape(shape) for part in u)
    by_real = difference(problem, t._data, ..., real, "")
    by_imag = difference(problem, t._data, ..., imag * 1j, "")
    return [joined(x, y) for x, y in zip(by_real, by_imag, strict=True)]


def joined(by_real: Any, by_imag: Any) -> Any:
    """The derivatives of one result by the real and the imaginary part of an input, as one complex number."""
    return None if by_real is None else by_real + by_imag * 1j


def jacobians(problem: Problem, j: int) -> list[np.ndarray | None]:
    """Per result its Jacobian by input `j`: a row per element of the input, a column per element of the
    result; None for a result that is not continuous.
    """
    t = problem.inputs[j]
    share(t)
    size, complex_input = t._data.size, is_complex(t)
    found: list[Any] = [
        np.zeros((size, o._data.size), t._data.dtype if complex_input else o._data.dtype)
        if is_continuous(o)
        else None
        for o in problem.results
    ]
    eps = problem.limits.eps
    for row, index in enumerate(np.ndindex(t._data.shape)):
        columns = difference(problem, t._data, index, eps, f"on index {index} ")
        if complex_input:
            by_imag = difference(problem, t._data, index, eps * 1j, f"on index {index} ")
            columns = [joined(x, y) for x, y in zip(columns, by_imag, strict=True)]
        for jacobian, column in zip(found, columns, strict=False):
            if jacobian is not None:
                jacobian[row] = column
    return found
