"""Comparing the two derivatives: element by element (slow mode) or in random directions (fast mode).

Note [Fast mode]
    Instead of the Jacobian J only the number v·J·u is compared, with fixed random u and v: the differences
    give J·u with two calls of the function, one backward gives v·J. `atol`, which is meant for an element of
    J, grows with the sums of u and v.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor_state import wrap
from .checks import check_undefined_tangents
from .derivatives import by_backward, by_differences, by_forward
from .problem import Problem, agree, mismatch, parts, vectors
from .texts import IN_SLOW_MODE, SLOW_WOULD_PASS, GradcheckError

ZERO = "Numerical gradient for function expected to be zero"


def compare_all(problem: Problem, fast: bool, backward: bool, forward: bool, undefined: bool) -> None:
    """Compare the differences with what backward gives, then with what forward mode gives."""
    compare = quickly if fast else slowly
    for part in parts(problem, False) if backward else ():
        compare(part)
    forwards = parts(problem, True) if forward else ()
    for part in forwards:
        compare(part)
    for part in forwards if undefined else ():
        check_undefined_tangents(part)


def slowly(problem: Problem) -> None:
    """Raise GradcheckError with PyTorch's text unless every element of every Jacobian agrees."""
    by_input = [by_differences(problem, j) for j in problem.input_indices]
    if not problem.output_indices:
        if any(m is not None and np.any(m != 0) for found in by_input for m in found):
            raise GradcheckError(ZERO)
        return
    forwards = by_forward(problem) if problem.forward else []
    for i, k in enumerate(problem.output_indices):
        found = [f[k] for f in forwards] if problem.forward else by_backward(problem, i)
        for j, jacobian in enumerate(found):
            compare(problem, i, j, by_input[j][k], jacobian)


def compare(problem: Problem, i: int, j: int, expected: Any, found: Any) -> None:
    """Raise GradcheckError unless two Jacobians of output `i` with respect to input `j` agree."""
    if not agree(found, expected, problem.limits.rtol, problem.limits.atol):
        raise GradcheckError(mismatch(problem, i, j, expected, found))


def quickly(problem: Problem) -> None:
    """Raise GradcheckError with PyTorch's text unless the Jacobians agree in fixed random directions.

    See Note [Fast mode].
    """
    vs, us = vectors(problem)
    by_input = [by_differences(problem, j, u) for j, u in zip(problem.input_indices, us, strict=True)]
    if problem.forward:
        for j, found in enumerate(by_forward(problem, us)):
            for i, k in enumerate(problem.output_indices):
                judge(problem, i, j, by_input[j][k][0], found[k][0], tolerance(problem, us[j], None))
        return
    if not problem.output_indices:
        for x in (x for found in by_input for x in found if x is not None):
            if np.abs(x).max(initial=0) > problem.limits.nondet_tol:
                raise GradcheckError(ZERO)
        return
    sent = [by_backward(problem, i, v) for i, v in enumerate(vs)]
    for j, u in enumerate(us):
        for i, v in enumerate(vs):
            expected = (v * by_input[j][problem.output_indices[i]][0]).sum()
            judge(problem, i, j, expected, product(sent[i][j][:, 0], u), tolerance(problem, u, v))


def product(gradient: np.ndarray, u: Any) -> Any:
    """Return the product of a flat gradient with a direction, by parts for a complex input."""
    if isinstance(u, tuple):
        return gradient.real.dot(u[0]) + 1j * gradient.imag.dot(u[1])
    return gradient.dot(u)


def tolerance(problem: Problem, u: Any, v: Any) -> float:
    """Return `atol` for a product with `u` and `v`."""
    parts = u if isinstance(u, tuple) else (u,)
    return problem.limits.atol * sum(float(p.sum()) for p in parts) * (1.0 if v is None else float(v.sum()))


def judge(problem: Problem, i: int, j: int, expected: Any, found: Any, atol: float) -> None:
    """Raise GradcheckError, with the whole Jacobians in its text, unless two products agree."""
    if agree(found, expected, problem.limits.rtol, atol):
        return
    said = mismatch(problem, i, j, expected, found)
    expected, found = in_slow_mode(problem, i, j)
    largest = wrap(np.abs(expected - found).max())
    said += IN_SLOW_MODE.format(wrap(expected), wrap(found), largest)
    passes = agree(found, expected, problem.limits.rtol, problem.limits.atol)
    raise GradcheckError(said + (SLOW_WOULD_PASS if passes else ""))


def in_slow_mode(problem: Problem, i: int, j: int) -> tuple[Any, Any]:
    """Return the whole Jacobians of output `i` with respect to input `j`, for the text of the error."""
    k = problem.output_indices[i]
    expected = by_differences(problem, problem.input_indices[j])[k]
    if problem.forward:
        return expected, by_forward(problem)[j][k]
    return expected, by_backward(problem, i, checked=False)[j]
