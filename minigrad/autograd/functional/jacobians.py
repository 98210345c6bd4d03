"""Whole Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import F
from ...core.modes import Within
from ...core.tensor_state import wrap
from .. import forward_ad
from ..rows import blocks, element_rows, no_rows, units
from .common import as_tuple, called, check_strict, enter, leave, observed, unpacked, zeros_like

STRATEGIES = ("forward-mode", "reverse-mode")
BAD_STRATEGY = 'Expected strategy to be either "forward-mode" or "reverse-mode".'
HINT = (
    ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. '
    'Otherwise, prefer to use "reverse-mode".'
)
NOT_TOGETHER = (
    "torch.autograd.functional.jacobian: `{}=True` and `{}` are not supported together{}. Please either set "
    "`{}=False` or `{}`."
)
FORWARD, REVERSE = 'strategy="forward-mode"', 'strategy="reverse-mode"'


@observed("jacobian")
def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Compute the Jacobian of a function: the derivative of each output element by each input element.

    Args:
        func: function of tensors that returns a tensor or a tuple of tensors.
        inputs: tensor or tuple of tensors.
        create_graph: True connects the Jacobian to the inputs.
        strict: True raises an error for an input that the outputs do not depend on; False gives zeros.
        vectorize: True computes all rows in one call of `autograd.grad`.
        strategy: "reverse-mode" computes rows; "forward-mode" computes columns and needs vectorize.

    Returns:
        A tensor of the output's shape followed by the input's; a tuple for several outputs, with a tuple in
        each place for several inputs.

    Raises:
        RuntimeError: strict is True and there is no dependence.
        AssertionError: the strategy is unknown.
        NotImplementedError: "forward-mode" with create_graph or without vectorize.

    Example:
        >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 3.0]))
        tensor([[2., 0.],
                [0., 6.]])

    Source: PyTorch's page `torch.autograd.functional.jacobian`.
    """
    if strategy not in STRATEGIES:
        raise AssertionError(BAD_STRATEGY + HINT)
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                NOT_TOGETHER.format("create_graph", FORWARD, " (yet)", "create_graph", REVERSE)
            )
        return by_columns(func, inputs, strict, vectorize)
    with Within(grad_enabled=True):
        inputs_given, inputs = as_tuple(inputs, "inputs", "jacobian")
        inputs = enter(inputs, create_graph)
        outputs_given, outputs = called(func, inputs, "jacobian", strict)
        if vectorize and strict:
            raise RuntimeError(
                NOT_TOGETHER.format("strict", "vectorized=True", "", "strict", "vectorize=False")
            )
        result: Any
        found = [rows(i, out, inputs, create_graph, strict) for i, out in enumerate(outputs)]
        if vectorize:  # then all blocks are parts of one tensor
            result = zip(*(blocks(column, outputs, x) for column, x in zip(zip(*found), inputs)))
        else:
            pairs = zip(found, outputs)
            result = (
                tuple(r.view((*out.shape, *x.shape)) for r, x in zip(row, inputs)) for row, out in pairs
            )
        return structured(leave(tuple(result), create_graph), outputs_given, inputs_given)


def structured(result: Any, outputs_given: bool, inputs_given: bool) -> Any:
    """Return a sequence of sequences without the levels at which no tuple was given."""
    if not inputs_given:
        result = tuple(row[0] for row in result)
    return unpacked(result, outputs_given)


def rows(i: int, out: Any, inputs: tuple[Any, ...], create_graph: bool, strict: bool) -> tuple[Any, ...]:
    """Return the gradients of all elements of output number `i`, by input."""
    result = []
    if not out.numel():
        F.stack(())  # an error, as in PyTorch
    for n, (found, x) in enumerate(zip(element_rows(out, inputs, create_graph), inputs)):
        if found is None:
            if strict:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {n}. This is not "
                    "allowed in strict mode."
                )
            found = no_rows(out, x)
        elif strict and create_graph and not found.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}. This is not "
                "allowed in strict mode when create_graph=True."
            )
        result.append(found)
    return tuple(result)


def by_columns(func: Callable[..., Any], inputs: Any, strict: bool, vectorize: bool) -> Any:
    """Return the Jacobian in forward mode: a run of `func` on dual tensors for each element of the inputs."""
    if strict:
        raise RuntimeError(NOT_TOGETHER.format("strict", FORWARD, " (yet)", "strict", REVERSE))
    inputs_given, inputs = as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    columns = []
    for k, x in enumerate(inputs):
        for unit in units(x, 1):
            directions = [wrap(unit[0]) if n == k else zeros_like(other) for n, other in enumerate(inputs)]
            outputs_given, primals, tangents = column(func, inputs, directions)
            columns.append(tangents)
    result = []
    for n, out in enumerate(primals):
        whole = F.stack([tangents[n] for tangents in columns], -1)
        parts = whole.split([x.numel() for x in inputs], dim=-1)
        result.append([part.reshape((*out.shape, *x.shape)) for part, x in zip(parts, inputs)])
    return structured(result, outputs_given, inputs_given)


def column(
    func: Callable[..., Any], inputs: tuple[Any, ...], tangents: list[Any]
) -> tuple[bool, list[Any], list[Any]]:
    """Return whether `func` returns a tuple, its outputs, and their tangents."""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, t) for x, t in zip(inputs, tangents)]
        outputs_given, outputs = as_tuple(func(*duals), "outputs", "None")
        pairs = [forward_ad.unpack_dual(out) for out in outputs]
        found = [zeros_like(p.primal) if p.tangent is None else p.tangent for p in pairs]
        return outputs_given, [p.primal for p in pairs], found


@observed("hessian")
def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Compute the Hessian of a function: all its second derivatives.

    It is the Jacobian of the Jacobian; the inner one is always computed in reverse mode.

    Args:
        func: function of tensors that returns a single element.
        inputs: tensor or tuple of tensors.
        create_graph: True connects the Hessian to the inputs.
        strict: True raises an error for an input that the output does not depend on; False gives zeros.
        vectorize: True computes all rows in one call of `autograd.grad`.
        outer_jacobian_strategy: "reverse-mode" or "forward-mode" for the outer Jacobian.

    Returns:
        A tensor of the input's shape twice; a tuple of tuples for several inputs.

    Raises:
        RuntimeError: the function returns several elements, or strict is True and there is no dependence.
        AssertionError: the strategy is unknown.

    Example:
        >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])

    Source: PyTorch's page `torch.autograd.functional.hessian`.
    """
    inputs_given, inputs = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in STRATEGIES:
        raise AssertionError(BAD_STRATEGY)

    def single(*args: Any) -> Any:
        return called(func, args, "hessian", strict, True)[1][0].squeeze()

    def first(*args: Any) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            args = tuple(t.requires_grad_(True) for t in args)
        found = jacobian(single, args, create_graph=True)
        check_strict(found, "jacobian", strict)
        return found

    result = jacobian(first, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return structured(result, inputs_given, inputs_given)
