"""Derivatives by forward mode; what else is asked of forward mode and of backward: to be linear, and at ease
without a tangent or a gradient.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core.tensor_state import numbers, share
from .. import forward_ad
from ..function import Function
from ..functional.common import zeros_like
from ..run import grad
from .problem import (
    Problem,
    agree,
    as_tuple,
    differentiable,
    is_complex,
    is_continuous,
    vectors,
)
from .texts import UNDEFINED, UNDEFINED_GIVES, UNDEFINED_RAISES, GradcheckError


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


def check_undefined_tangents(problem: Problem) -> None:
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


def check_multiplied(problem: Problem, masked: bool | None) -> None:
    """Raise GradcheckError unless zeros come out where zeros go in (nearly, if `masked`)."""
    starts = [zeros_like(o) for o in problem.outputs]
    sent = grad(problem.outputs, problem.inputs_with_grad, starts, allow_unused=True)
    for g, t in zip(sent, problem.inputs_with_grad, strict=True):
        if g is None:
            continue
        if not (agree(g._data, 0, 1e-5, 1e-8) if masked else (g._data == 0).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        if g._data.dtype != t._data.dtype:
            raise GradcheckError("grad is incorrect type")
        if g._data.shape != t._data.shape:
            raise GradcheckError("grad is incorrect size")


class UndefinedGrad(Function):
    """Gives its input; nothing comes back."""

    @staticmethod
    def forward(ctx: Any, t: Any) -> Any:
        """Return a view of the tensor."""
        return t.view_as(t)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Return no gradient, not even zeros."""
        return None


def check_undefined_gradients(problem: Problem) -> None:
    """Raise GradcheckError unless outputs without a gradient count as outputs whose gradient is zero."""

    def fresh() -> tuple[Any, ...]:
        return differentiable(as_tuple(problem.function(*problem.inputs)))

    check_without(problem, [UndefinedGrad.apply(o) for o in fresh()])
    if len(problem.outputs) > 1:
        for i in range(len(problem.outputs)):
            check_without(problem, [UndefinedGrad.apply(o) if k == i else o for k, o in enumerate(fresh())])


def check_without(problem: Problem, outputs: list[Any]) -> None:
    """Check one set of outputs, some of which send nothing back."""
    try:
        sent = grad(outputs, problem.inputs_with_grad, [zeros_like(o) for o in outputs], allow_unused=True)
    except RuntimeError as error:
        warnings.warn(UNDEFINED, stacklevel=2)
        raise GradcheckError(UNDEFINED_RAISES) from error
    if any(g is not None and not (g._data == 0).all() for g in sent):
        warnings.warn(UNDEFINED, stacklevel=2)
        raise GradcheckError(UNDEFINED_GIVES)
