"""Checking derivatives by finite differences, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from ...core import dialect, modes
from ...core.modes import hidden_from_observers as unobserved
from ..run import grad
from .checks import check_multiplied, check_undefined_gradients, compare_all
from .derivatives import GradcheckError, Limits, Problem, check_inputs, differentiable, gradient_for
from .derivatives import is_checked_tensor as is_tensor
from .derivatives import outputs_as_tuple as as_tuple

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def gradcheck(
    func: Any, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False, check_forward_ad: bool = False, check_backward_ad: bool = True,
    fast_mode: bool = False, masked: bool | None = None,
) -> bool:  # fmt: skip
    """Compare the derivatives of a function with central differences (f(x + eps) − f(x − eps)) / (2 eps).

    They agree if |analytical − numerical| ≤ atol + rtol · |numerical| for every element of every Jacobian.
    Use float64 or complex128 inputs that do not overlap in memory.

    Args:
        func: function of tensors that returns a tensor or a tuple of tensors.
        inputs: tensor or tuple of tensors; those that require a gradient are checked.
        eps: step of the differences.
        atol: absolute tolerance.
        rtol: relative tolerance.
        raise_exception: False returns False instead of raising an error.
        nondet_tol: largest difference between two backward calls.
        check_undefined_grad: True checks that a missing upstream gradient counts as zeros.
        check_grad_dtypes: True checks that gradients are complex only where their tensors are.
        check_batched_grad: checks nothing more, because a batch of gradients is computed one by one.
        check_batched_forward_grad: checks nothing more, because a batch of tangents is computed one by one.
        check_forward_ad: True checks forward mode.
        check_backward_ad: True checks backward.
        fast_mode: True compares in one fixed random direction only; see Note [Fast mode].
        masked: True accepts gradients near zero where the upstream gradient is zero.

    Returns:
        True if all derivatives agree.

    Raises:
        GradcheckError: a derivative differs; the text shows both matrices.
        ValueError: no input requires a gradient.

    Example:
        >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(torch.sin, x)
        True

    Source: PyTorch's page `torch.autograd.gradcheck.gradcheck`.
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
        with unobserved(modes.is_grad_enabled()):
            problem = Problem(func, given, as_tuple(func(*given)), limits)
            problem.outputs  # noqa: B018 - results without `requires_grad` are refused here
            compare_all(problem, fast_mode, check_backward_ad, check_forward_ad, check_undefined_grad)
            if check_backward_ad:
                check_multiplied(problem, masked)
                if check_undefined_grad:
                    check_undefined_gradients(problem)
    except GradcheckError as error:
        if not raise_exception:
            return False
        if dialect.get_dialect() == "1.4":
            raise RuntimeError(*error.args) from error.__cause__
        raise
    return True


def gradgradcheck(
    func: Any, inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
    nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
    fast_mode: bool = False, masked: bool = False,
) -> bool:  # fmt: skip
    """Compare the second derivatives of a function with central differences of its first derivatives.

    It calls `gradcheck` on the gradients of func as a function of its inputs and upstream gradients.

    Args:
        func: function of tensors that returns a tensor or a tuple of tensors.
        inputs: tensor or tuple of tensors; those that require a gradient are checked.
        grad_outputs: upstream gradients; fixed random numbers if None.
        eps: step of the differences.
        atol: absolute tolerance.
        rtol: relative tolerance.
        gen_non_contig_grad_outputs: True makes the random upstream gradients non-contiguous.
        raise_exception: False returns False instead of raising an error.
        nondet_tol: largest difference between two backward calls.
        check_undefined_grad: True checks that a missing upstream gradient counts as zeros.
        check_grad_dtypes: True checks that gradients are complex only where their tensors are.
        check_batched_grad: checks nothing more, because a batch of gradients is computed one by one.
        check_fwd_over_rev: True checks forward mode over backward.
        check_rev_over_rev: True checks backward over backward.
        fast_mode: True compares in one fixed random direction only; see Note [Fast mode].
        masked: True accepts gradients near zero where the upstream gradient is zero.

    Returns:
        True if all derivatives agree.

    Raises:
        GradcheckError: a derivative differs; the text shows both matrices.
        ValueError: no input requires a gradient.

    Example:
        >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradgradcheck(torch.sin, x)
        True

    Source: PyTorch's page `torch.autograd.gradcheck.gradgradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    given = as_tuple(inputs)
    if grad_outputs is None:
        with unobserved(modes.is_grad_enabled()):
            outputs = differentiable(as_tuple(func(*given)))
        starts = tuple(gradient_for(o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        starts = as_tuple(grad_outputs)
    inputs_with_grad = [i for i, t in enumerate(given) if is_tensor(t) and t.requires_grad]
    learning_starts = [i for i, t in enumerate(starts) if t.requires_grad]

    def gradients(*args: Any) -> tuple[Any, ...]:
        some, rest = args[: len(args) - len(starts)], args[len(args) - len(starts) :]
        some = requiring(some, inputs_with_grad)
        outputs = differentiable(as_tuple(func(*some)))
        wanted = [some[i] for i in inputs_with_grad]
        rest = requiring(rest, learning_starts)
        sent = grad(outputs, wanted, rest, create_graph=True, allow_unused=True)
        return tuple(g for g in sent if g is not None)

    return gradcheck(
        gradients, given + starts, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, fast_mode=fast_mode, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, masked=masked,
    )  # fmt: skip


def requiring(tensors: tuple[Any, ...], input_indices: list[int]) -> tuple[Any, ...]:
    """Return the tensors; those at `input_indices`, which forward mode may have detached, require a gradient
    again.
    """
    return tuple(t.requires_grad_() if i in input_indices else t for i, t in enumerate(tensors))
