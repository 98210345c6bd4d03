"""Derivatives by forward mode, and what else is asked of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor_state import numbers, share
from .. import forward_ad
from ..functional.common import zeros_like
from .problem import (
    Problem,
    agree,
    as_tuple,
    is_complex,
    is_continuous,
    vectors,
)
from .texts import GradcheckError


def duals(problem: Problem) -> tuple[list[Any], list[Any]]:
    """Return the inputs, those that need a gradient as dual tensors, and the tangents of these: zeros to
    fill.
    """
    inputs, tangents = list(problem.inputs), []
    for j in problem.input_indices:
        t = inputs[j]
        inputs[j] = forward_ad.make_dual(t.detach(), zeros_like(t))
        tangents.append(forward_ad.unpack_dual(inputs[j])[1])
    for tangent in tangents:
        share(tangent)
    return inputs, tangents


def tangents_of(problem: Problem, inputs: list[Any]) -> list[Any]:
    """Return the tangents of all results, flat: zeros where there is none, None if one is not continuous.

    Raise GradcheckError where dtypes are checked and only one of a tangent and its result is complex.
    """
    found: list[Any] = []
    for o in as_tuple(problem.function(*inputs)):
        if not is_continuous(o):
            found.append(None)
            continue
        primal, tangent = forward_ad.unpack_dual(o)
        if tangent is None:
            found.append(np.zeros(primal._data.size, primal._data.dtype))
            continue
        if problem.limits.check_grad_dtypes and is_complex(primal) != is_complex(tangent):
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        found.append(np.array(numbers(tangent)).reshape(-1))
    return found


def jacobians(problem: Problem, directions: list[Any] | None = None) -> list[list[Any]]:
    """Return the Jacobians by input and result, None for a result that is not continuous.

    In fast mode they have one row: the derivative in the direction that is given for the input.
    """
    found = []
    with forward_ad.dual_level():
        inputs, tangents = duals(problem)
        for j, tangent in enumerate(tangents):
            data, rows = tangent._data, []
            steps: Any = [(index, 1) for index in np.ndindex(data.shape)]
            if directions is not None:
                steps = [(..., directions[j].reshape(data.shape))]
            for where, value in steps:
                data[where] = value
                rows.append(tangents_of(problem, inputs))
                data[where] = 0
            found.append(
                [
                    np.array([row[k] for row in rows]).reshape(len(rows), o._data.size)
                    if is_continuous(o)
                    else None
                    for k, o in enumerate(problem.results)
                ]
            )
    return found


def check_undefined(problem: Problem) -> None:
    """Raise GradcheckError unless an input without tangent counts as one whose tangent is zero."""
    with forward_ad.dual_level():
        inputs, tangents = duals(problem)
        _, directions = vectors(problem)
        for tangent, u in zip(tangents, directions, strict=True):
            tangent._data[...] = u.reshape(tangent._data.shape)
        for j in problem.input_indices:
            t, dual = problem.inputs[j], inputs[j]
            given = []
            for inputs[j] in (forward_ad.make_dual(t.detach(), zeros_like(t)), t.detach()):
                outputs = filter(is_continuous, as_tuple(problem.function(*inputs)))
                given.append([forward_ad.unpack_dual(o)[1] for o in outputs])
            inputs[j] = dual
            for i, (a, b) in enumerate(zip(*given, strict=True)):
                if a is not None and b is not None and not agree(numbers(a), numbers(b), 1e-5, 1e-8):
                    raise GradcheckError(
                        "Mismatch in tangent values for output with index: ", i, " when input: ", t,
                        " has an undefined tangent value. ", " Got: ", a, " but expected: ", b,
                    )  # fmt: skip
