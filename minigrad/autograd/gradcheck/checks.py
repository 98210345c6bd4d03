"""What else is asked of forward mode and of backward: to be linear, and at ease without a tangent or a
gradient.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...core.tensor_state import numbers
from .. import forward_ad
from ..function import Function
from ..functional.common import zeros_like
from ..run import grad
from .derivatives import duals
from .problem import Problem, agree, as_tuple, differentiable, is_continuous, vectors
from .texts import UNDEFINED, UNDEFINED_GIVES, UNDEFINED_RAISES, GradcheckError


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
