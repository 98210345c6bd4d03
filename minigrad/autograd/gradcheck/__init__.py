"""Checking derivatives by finite differences, in PyTorch's words."""

from __future__ import annotations

import warnings
from typing import Any

from ... import dialect, dtypes, modes
from ...inplace import Unobserved
from ...storage import strides_of
from ..run import grad
from . import backward, forward
from .compare import quickly, slowly
from .problem import (
    Limits,
    Problem,
    as_tuple,
    backward_problems,
    differentiable,
    forward_problems,
    is_tensor,
)
from .texts import GradcheckError
from .vectors import gradient_for

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def gradcheck(
    func: Any,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the derivatives of `func` with central differences (f(x + eps) - f(x - eps)) / 2 eps.

    True when every element of every Jacobian agrees: |analytical - numerical| <= atol + rtol · |numerical|.
    Otherwise GradcheckError with both matrices, or False without `raise_exception`. Inputs that require a
    gradient should be float64 or complex128 and must not overlap in memory.

    `check_backward_ad`, `check_forward_ad`: which derivatives are compared. `fast_mode`: in fixed random
    directions only, see Note [Fast mode]. `nondet_tol`: how much two backwards may differ.
    `check_undefined_grad`: missing gradients (and tangents) count as zeros. `check_grad_dtypes`: gradients
    are complex where their tensors are. `check_batched_grad`, `check_batched_forward_grad`: a batch of
    gradients gives what each one gives. `masked` is about sparse tensors, which minigrad has not.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    given = as_tuple(inputs)
    check_inputs(given)
    limits = Limits(eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        with Unobserved(modes.is_grad_enabled()):
            problem = Problem(func, given, as_tuple(func(*given)), limits)
            problem.outputs  # noqa: B018 - results without `requires_grad` are refused here
            compare_all(problem, fast_mode, check_backward_ad, check_forward_ad, check_undefined_grad)
            if check_batched_forward_grad:
                forward.check_batched(problem)
            if check_backward_ad:
                if check_batched_grad:
                    backward.check_batched(problem)
                backward.check_multiplied(problem, masked)
                if check_undefined_grad:
                    backward.check_undefined(problem)
    except GradcheckError as error:
        if not raise_exception:
            return False
        if dialect.get_dialect() == "1.4":
            raise RuntimeError(*error.args) from error.__cause__
        raise
    return True


def compare_all(problem: Problem, fast: bool, by_backward: bool, by_forward: bool, undefined: bool) -> None:
    """Compare the differences with what backward gives, then with what forward mode gives."""
    compare = quickly if fast else slowly
    for part in backward_problems(problem) if by_backward else ():
        compare(part)
    parts = forward_problems(problem) if by_forward else ()
    for part in parts:
        compare(part)
    for part in parts if undefined else ():
        forward.check_undefined(part)


def check_inputs(inputs: tuple[Any, ...]) -> None:
    """ValueError when nothing requires a gradient, RuntimeError when elements share memory; a warning for
    single precision.
    """
    found = False
    for j, t in enumerate(inputs):
        if not (is_tensor(t) and t.requires_grad):
            continue
        found = True
        if dtypes.of(t._data) not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"Input #{j} requires gradient and is not a double precision floating point or complex. This "
                "check will likely fail if all the inputs are not of double precision floating point or "
                "complex. ",
                stacklevel=3,
            )
        strides = zip(strides_of(t._data), t._data.shape, strict=True)
        if t._data.size and any(s == 0 and n > 1 for s, n in strides):
            raise RuntimeError(
                f"The {j}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


def gradgradcheck(
    func: Any,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """The same for the gradients of `func` as a function of its inputs and of `grad_outputs`.

    Without `grad_outputs` they are fixed random numbers between -1 and 1, with gaps in memory if
    `gen_non_contig_grad_outputs`. The second derivative is taken by a second backward
    (`check_rev_over_rev`), by forward mode over the first one (`check_fwd_over_rev`), or both. The other
    options are those of `gradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    given = as_tuple(inputs)
    if grad_outputs is None:
        with Unobserved(modes.is_grad_enabled()):
            outputs = differentiable(as_tuple(func(*given)))
        starts = tuple(gradient_for(o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        starts = as_tuple(grad_outputs)
    learning = [i for i, t in enumerate(given) if is_tensor(t) and t.requires_grad]
    learning_starts = [i for i, t in enumerate(starts) if t.requires_grad]

    def gradients(*args: Any) -> tuple[Any, ...]:
        some, rest = args[: len(args) - len(starts)], args[len(args) - len(starts) :]
        some = again(some, learning)
        outputs = differentiable(as_tuple(func(*some)))
        wanted = [some[i] for i in learning]
        sent = grad(outputs, wanted, again(rest, learning_starts), create_graph=True, allow_unused=True)
        return tuple(g for g in sent if g is not None)

    return gradcheck(
        gradients,
        given + starts,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        masked=masked,
    )


def again(tensors: tuple[Any, ...], learning: list[int]) -> tuple[Any, ...]:
    """`tensors`, those at `learning` needing a gradient again after forward mode detached them."""
    return tuple(t.requires_grad_() if i in learning else t for i, t in enumerate(tensors))
