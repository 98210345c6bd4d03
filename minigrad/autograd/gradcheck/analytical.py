"""Derivatives by the backward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dialect
from ...core.tensor_state import numbers, wrap
from ..run import grad
from .problem import Problem
from .texts import NONDETERMINISTIC, NOT_REENTRANT, GradcheckError


def rows(problem: Problem, output: Any) -> list[list[Any]]:
    """Return, for each input, the gradients of each element of `output`, from one backward pass each."""
    found: list[list[Any]] = [[] for _ in problem.inputs_with_grad]
    shape, dtype = output._data.shape, output._data.dtype
    for k in range(output._data.size):
        start = np.zeros(output._data.size, dtype)
        start[k] = 1
        for column, g in zip(found, vjp(problem, output, start.reshape(shape)[()]), strict=True):
            column.append(g)
    return found


def vjp(problem: Problem, output: Any, gradient: Any) -> tuple[Any, ...]:
    """Return the gradients of all inputs, from the raw gradient of `output`."""
    return grad(output, problem.inputs_with_grad, wrap(gradient), retain_graph=True, allow_unused=True)


def matrix(t: Any, gradients: list[Any], width: int) -> tuple[np.ndarray, bool]:
    """Return gradients of the input `t` as the columns of a matrix, and whether they have its dtype."""
    found = np.zeros((t._data.size, width), t._data.dtype)
    right = True
    for k, g in enumerate(gradients):
        if g is not None:
            right = right and g._data.dtype == t._data.dtype
            found[:, k] = numbers(g).reshape(-1)
    return found, right


def jacobians(problem: Problem, i: int, v: Any = None, checked: bool = True) -> list[np.ndarray]:
    """Return, for each input, the Jacobian of output `i`, or in fast mode its product with the vector `v`.

    It is computed twice. If `checked`, raise GradcheckError with PyTorch's text where the two differ.
    """
    output = problem.outputs[i]

    def once() -> list[list[Any]]:
        if v is None:
            return rows(problem, output)
        return [[g] for g in vjp(problem, output, v.reshape(output._data.shape)[()])]

    width = output._data.size if v is None else 1
    first, second = once(), once()
    found = [
        matrix(t, gradients, width) for t, gradients in zip(problem.inputs_with_grad, first, strict=True)
    ]
    if not checked:
        return [m for m, _ in found]
    if problem.limits.check_grad_dtypes and not all(right for _, right in found):
        raise GradcheckError("Gradient has dtype mismatch")
    for t, (m, _), gradients in zip(problem.inputs_with_grad, found, second, strict=True):
        again, _ = matrix(t, gradients, width)
        if np.abs(m - again).max(initial=0) > problem.limits.nondet_tol:
            note = NONDETERMINISTIC if dialect.get_dialect() == "2" else ""
            raise GradcheckError(NOT_REENTRANT.format(problem.limits.nondet_tol) + note)
    return [m for m, _ in found]
