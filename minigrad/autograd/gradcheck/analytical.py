"""Derivatives by the backward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dialect
from ...core.tensor_state import numbers, wrap
from ..run import grad
from .problem import Problem
from .texts import NONDETERMINISTIC, NOT_REENTRANT, GradcheckError


def columns(problem: Problem, i: int, v: Any) -> list[tuple[Any, ...]]:
    """Return, for each input, the gradients of the elements of output `i`, from one backward pass each, or
    the gradient from the vector `v`.
    """
    output, inputs = problem.outputs[i], problem.inputs_with_grad
    data = output._data
    starts = np.eye(data.size, dtype=data.dtype) if v is None else [v]
    how = {"retain_graph": True, "allow_unused": True}
    rows = [grad(output, inputs, wrap(start.reshape(data.shape)[()]), **how) for start in starts]
    return [*zip(*rows)] or [()] * len(inputs)


def matrix(t: Any, gradients: tuple[Any, ...]) -> tuple[np.ndarray, bool]:
    """Return gradients of the input `t` as the columns of a matrix, and whether they have its dtype."""
    found = np.zeros((t._data.size, len(gradients)), t._data.dtype)
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
    first, second = columns(problem, i, v), columns(problem, i, v)
    found = [matrix(t, gradients) for t, gradients in zip(problem.inputs_with_grad, first, strict=True)]
    if checked and problem.limits.check_grad_dtypes and not all(right for _, right in found):
        raise GradcheckError("Gradient has dtype mismatch")
    for t, (m, _), gradients in zip(problem.inputs_with_grad, found, second, strict=True):
        again, _ = matrix(t, gradients)
        if checked and np.abs(m - again).max(initial=0) > problem.limits.nondet_tol:
            note = NONDETERMINISTIC if dialect.get_dialect() == "2" else ""
            raise GradcheckError(NOT_REENTRANT.format(problem.limits.nondet_tol) + note)
    return [m for m, _ in found]
