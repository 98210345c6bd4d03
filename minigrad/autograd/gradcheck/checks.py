"""What is checked. The two derivatives are compared element by element (slow mode) or in random directions
(fast mode). Forward mode and backward must be linear, and work without a tangent or a gradient.

Note [Fast mode]
    Instead of the Jacobian J only the number v·J·u is compared, with fixed random u and v: the differences
    give J·u with two calls of the function, one backward gives v·J. `atol`, which is meant for an element of
    J, grows with the sums of u and v.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core.tensor_state import numbers, wrap
from .. import forward_ad
from ..function import Function
from ..functional import zeros_like_inputs
from ..run import grad
from .derivatives import (
    IN_SLOW_MODE,
    SLOW_WOULD_PASS,
    UNDEFINED,
    UNDEFINED_GIVES,
    UNDEFINED_RAISES,
    GradcheckError,
    Problem,
    agree,
    by_backward,
    by_differences,
    by_forward,
    differentiable,
    duals,
    is_continuous,
    mismatch,
    outputs_as_tuple,
    real_and_imaginary_parts,
    vectors,
)

ZERO = "Numerical gradient for function expected to be zero"


def compare_all(problem: Problem, fast: bool, backward: bool, forward: bool, undefined: bool) -> None:
    """Compare the differences with what backward gives, then with what forward mode gives."""
    compare = quickly if fast else slowly
    for part in real_and_imaginary_parts(problem, False) if backward else ():
        compare(part)
    forwards = real_and_imaginary_parts(problem, True) if forward else ()
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
            judge(problem, i, j, expected, directional_product(sent[i][j][:, 0], u), tolerance(problem, u, v))


def directional_product(gradient: np.ndarray, u: Any) -> Any:
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
            for inputs[j] in (forward_ad.make_dual(t.detach(), zeros_like_inputs(t)), t.detach()):
                outputs = filter(is_continuous, outputs_as_tuple(problem.function(*inputs)))
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
    starts = [zeros_like_inputs(o) for o in problem.outputs]
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
        return differentiable(outputs_as_tuple(problem.function(*problem.inputs)))

    check_without(problem, [UndefinedGrad.apply(o) for o in fresh()])
    if len(problem.outputs) > 1:
        for i in range(len(problem.outputs)):
            check_without(problem, [UndefinedGrad.apply(o) if k == i else o for k, o in enumerate(fresh())])


def check_without(problem: Problem, outputs: list[Any]) -> None:
    """Check one set of outputs, some of which send nothing back."""
    try:
        sent = grad(
            outputs, problem.inputs_with_grad, [zeros_like_inputs(o) for o in outputs], allow_unused=True
        )
    except RuntimeError as error:
        warnings.warn(UNDEFINED, stacklevel=2)
        raise GradcheckError(UNDEFINED_RAISES) from error
    if any(g is not None and not (g._data == 0).all() for g in sent):
        warnings.warn(UNDEFINED, stacklevel=2)
        raise GradcheckError(UNDEFINED_GIVES)
