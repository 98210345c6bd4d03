"""What a check compares: central differences (f(x + v) - f(x - v)) / 2 eps, what backward gives, and what
forward mode gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dialect, dtypes
from ...core.tensor_state import numbers, share, wrap
from .. import forward_ad
from ..functional.common import zeros_like
from ..run import grad
from .problem import Problem, as_tuple, is_complex, is_continuous
from .texts import NONDETERMINISTIC, NOT_REENTRANT, GradcheckError


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


def by_differences(problem: Problem, j: int, u: Any = None) -> list[Any]:
    """Return, for each result, its Jacobian with respect to input `j`: a row for each element of the input,
    or in fast mode one row, the derivative in the direction `u`. A complex input has a pair of directions.

    It is None for a result that is not continuous.
    """
    t, eps = problem.inputs[j], problem.limits.eps
    share(t)
    if u is None:
        steps = [(index, eps, eps, f"on index {index} ") for index in np.ndindex(t._data.shape)]
    else:
        pair = u if isinstance(u, tuple) else (u, u)
        steps = [(..., *(eps * part.reshape(t._data.shape) for part in pair), "")]
    return by_result(problem, [derivatives(problem, t, *step) for step in steps])


def by_result(problem: Problem, rows: list[list[Any]]) -> list[Any]:
    """Return, for each result, a matrix of its part of the rows; None for a result that is not continuous."""
    return [
        np.array([row[k] for row in rows]).reshape(len(rows), o._data.size) if is_continuous(o) else None
        for k, o in enumerate(problem.results)
    ]


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


def by_backward(problem: Problem, i: int, v: Any = None, checked: bool = True) -> list[np.ndarray]:
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


def by_forward(problem: Problem, directions: list[Any] | None = None) -> list[list[Any]]:
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
            found.append(by_result(problem, rows))
    return found
