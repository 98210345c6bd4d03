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
from . import analytical, forward, numerical
from .problem import Problem, agree, is_continuous, mismatch
from .texts import IN_SLOW_MODE, SLOW_WOULD_PASS, GradcheckError
from .vectors import vectors

ZERO = "Numerical gradient for function expected to be zero"


def slowly(problem: Problem) -> None:
    """GradcheckError with PyTorch's text unless every element of every Jacobian agrees."""
    by_input = [numerical.jacobians(problem, j) for j in problem.places]
    outputs = problem.outputs
    if not outputs:
        if any(m is not None and np.any(m != 0) for found in by_input for m in found):
            raise GradcheckError(ZERO)
        return
    learning = [i for i, o in enumerate(problem.results) if o.requires_grad]
    forwards = forward.jacobians(problem) if problem.forward else []
    continuous = [i for i, o in enumerate(problem.results) if is_continuous(o)]
    for i, o in enumerate(outputs):
        if problem.forward:
            found = [f[continuous.index(learning[i])] for f in forwards]
        else:
            found = analytical.jacobians(problem, o)
        for j, a in enumerate(found):
            compare(problem, i, j, by_input[j][learning[i]], a)


def compare(problem: Problem, i: int, j: int, expected: Any, found: Any) -> None:
    """GradcheckError unless two Jacobians of output `i` by input `j` agree."""
    if not agree(found, expected, problem.limits.rtol, problem.limits.atol):
        raise GradcheckError(mismatch(problem, i, j, expected, found))


def quickly(problem: Problem) -> None:
    """GradcheckError with PyTorch's text unless the Jacobians agree in fixed random directions.

    See Note [Fast mode].
    """
    outputs = problem.outputs
    vs, us = vectors(problem)
    by_input = [numerical.directional(problem, j, u) for j, u in zip(problem.places, us, strict=True)]
    if not outputs and not problem.forward:
        for x in (x for found in by_input for x in found if x is not None):
            if np.abs(x).max(initial=0) > problem.limits.nondet_tol:
                raise GradcheckError(ZERO)
        return
    learning = [i for i, o in enumerate(problem.results) if o.requires_grad]
    if problem.forward:
        continuous = [i for i, o in enumerate(problem.results) if is_continuous(o)]
        forwards = forward.jacobians(problem, us)
        for j, found in enumerate(forwards):
            for i, k in enumerate(learning):
                number = (by_input[j][k], found[continuous.index(k)])
                judge(problem, i, j, *number, tolerance(problem, us[j], None))
        return
    sent = [analytical.jacobians(problem, o, v) for o, v in zip(outputs, vs, strict=True)]
    for j, u in enumerate(us):
        for i, v in enumerate(vs):
            expected = (v * by_input[j][learning[i]]).sum()
            judge(problem, i, j, expected, along(sent[i][j][:, 0], u), tolerance(problem, u, v))


def along(gradient: np.ndarray, u: Any) -> Any:
    """The product of a flat gradient with a direction, by parts for a complex input."""
    if isinstance(u, tuple):
        return gradient.real.dot(u[0]) + 1j * gradient.imag.dot(u[1])
    return gradient.dot(u)


def tolerance(problem: Problem, u: Any, v: Any) -> float:
    """`atol` for a product with `u` and `v`."""
    parts = u if isinstance(u, tuple) else (u,)
    return problem.limits.atol * sum(float(p.sum()) for p in parts) * (1.0 if v is None else float(v.sum()))


def judge(problem: Problem, i: int, j: int, expected: Any, found: Any, atol: float) -> None:
    """GradcheckError, with the whole Jacobians in its text, unless two products agree."""
    if agree(found, expected, problem.limits.rtol, atol):
        return
    said = mismatch(problem, i, j, expected, found)
    expected, found = in_slow_mode(problem, i, j)
    largest = wrap(np.abs(expected - found).max())
    said += IN_SLOW_MODE.format(wrap(expected), wrap(found), largest)
    passes = agree(found, expected, problem.limits.rtol, problem.limits.atol)
    raise GradcheckError(said + (SLOW_WOULD_PASS if passes else ""))


def in_slow_mode(problem: Problem, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
    """The whole Jacobians of output `i` by input `j`, which the failure of fast mode shows."""
    place = [k for k, o in enumerate(problem.results) if o.requires_grad][i]
    expected = numerical.jacobians(problem, problem.places[j])[place]
    assert expected is not None
    if problem.forward:
        continuous = [k for k, o in enumerate(problem.results) if is_continuous(o)]
        found = forward.jacobians(problem)[j][continuous.index(place)]
    else:
        found = analytical.jacobians(problem, problem.outputs[i], checked=False)[j]
    return expected, found
