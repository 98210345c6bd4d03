"""What else is asked of a backward: linear in the incoming gradient, and at ease without one."""

from __future__ import annotations

import warnings
from typing import Any

from ..function import Function
from ..functional.common import zeros_like
from ..run import grad
from .problem import Problem, agree, as_tuple, differentiable
from .texts import UNDEFINED, UNDEFINED_GIVES, UNDEFINED_RAISES, GradcheckError


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


def check_undefined(problem: Problem) -> None:
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
