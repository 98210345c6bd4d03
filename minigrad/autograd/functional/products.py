"""Products of a Jacobian or Hessian with a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.modes import Within
from .common import as_tuple, called, check_strict, enter, filled, gradients, leave, unpacked, zeros_like

NO_V = "The vector v can only be None if the {} a single Tensor with a single element."
STAGES = {"vjp": "back", "jvp": "back_trick", "vhp": "double_back", "hvp": "double_back_trick"}


def product(who: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool) -> Any:
    """Return the results of the function `who`: the outputs of `func`, and a product with the vector `v`.

    A backward pass from `outputs` (for a Hessian, from the gradient) multiplies by v from the left. That
    product is linear in the tensors it starts from, so its own gradient with respect to them multiplies from
    the right: `jvp` and `hvp` differentiate once more.
    """
    of_hessian, from_right = who in ("vhp", "hvp"), who in ("jvp", "hvp")
    with Within(grad_enabled=True):
        inputs_given, inputs = as_tuple(inputs, "inputs", who)
        inputs = enter(inputs, create_graph)
        if who != "vjp":
            v = vector(v, who, inputs, inputs_given, create_graph, "input to the user-provided function is")
        outputs_given, outputs = called(func, inputs, who, strict, of_hessian)
        back, ends = outputs, inputs
        if of_hessian:
            back = gradients(outputs, inputs, create_graph=True)
            check_strict(back, "jacobian", strict)
        elif from_right:
            ends = outputs
        else:
            v = vector(v, who, outputs, outputs_given, create_graph, "user-provided function returns")
        starts = inputs
        if from_right:
            starts = tuple(zeros_like(t, requires_grad=True) for t in ends)  # any numbers would do
            back = gradients(back, inputs, starts, create_graph=True)
            check_strict(back, "grad_inputs", strict and not of_hessian)
    found = gradients(back, starts, v, create_graph=create_graph)
    found = filled(found, ends, strict, create_graph, STAGES[who])
    outputs, found = leave(outputs, create_graph), leave(found, create_graph)
    return unpacked(outputs, outputs_given), unpacked(found, outputs_given if who == "jvp" else inputs_given)


def vector(
    v: Any, who: str, like: tuple[Any, ...], like_given: bool, create_graph: bool, what: str
) -> tuple[Any, ...] | None:
    """Return the vector of a product, checked against the tensors it must be like; None if it may be left
    out.
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(NO_V.format(what))
        return None
    v = enter(as_tuple(v, "v", who)[1], create_graph, need_graph=False)
    check_v(v, like, like_given)
    return v


def check_v(v: tuple[Any, ...], other: tuple[Any, ...], other_given: bool) -> None:
    """Raise RuntimeError with PyTorch's texts unless `v` has the tensors' sizes of `other`."""
    if len(v) != len(other):
        if other_given:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (mine, theirs) in enumerate(zip(v, other)):
        if mine.shape != theirs.shape:
            entry = f"Entry {i} in " if other_given else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {theirs.shape} but got {mine.shape}.")


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the outputs of a function and the product vᵀJ of a vector and its Jacobian.

    Args:
        func: function of tensors that returns a tensor or a tuple of tensors.
        inputs: tensor or tuple of tensors.
        v: vector, of the structure and shapes of the outputs; None for a single element.
        create_graph: True connects both results to the inputs.
        strict: True raises an error for an input that the outputs do not depend on; False gives zeros.

    Returns:
        The outputs and the product, of the structure of inputs.

    Raises:
        RuntimeError: v has another shape, or strict is True and there is no dependence.

    Example:
        >>> torch.autograd.functional.vjp(lambda x: x**2, torch.tensor([1.0, 3.0]), torch.ones(2))
        (tensor([1., 9.]), tensor([2., 6.]))

    Source: PyTorch's page `torch.autograd.functional.vjp`.
    """
    return product("vjp", func, inputs, v, create_graph, strict)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the outputs of a function and the product Jv of its Jacobian and a vector.

    It differentiates twice: vᵀJ is linear in v, and its Jacobian with respect to v is Jᵀ.

    Args:
        func: function of tensors that returns a tensor or a tuple of tensors.
        inputs: tensor or tuple of tensors.
        v: vector, of the structure and shapes of inputs; None for a single element.
        create_graph: True connects both results to the inputs.
        strict: True raises an error for an input that the outputs do not depend on; False gives zeros.

    Returns:
        The outputs and the product, of the structure of the outputs.

    Raises:
        RuntimeError: v has another shape, or strict is True and there is no dependence.

    Example:
        >>> torch.autograd.functional.jvp(lambda x: x**2, torch.tensor([1.0, 3.0]), torch.ones(2))
        (tensor([1., 9.]), tensor([2., 6.]))

    Source: PyTorch's page `torch.autograd.functional.jvp`.
    """
    return product("jvp", func, inputs, v, create_graph, strict)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the output of a function and the product vᵀH of a vector and its Hessian.

    Args:
        func: function of tensors that returns a single element.
        inputs: tensor or tuple of tensors.
        v: vector, of the structure and shapes of inputs; None for a single element.
        create_graph: True connects both results to the inputs.
        strict: True raises an error for an input that the output does not depend on; False gives zeros.

    Returns:
        The output and the product, of the structure of inputs.

    Raises:
        RuntimeError: the function returns several elements, or v has another shape.

    Example:
        >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))

    Source: PyTorch's page `torch.autograd.functional.vhp`.
    """
    return product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the output of a function and the product Hv of its Hessian and a vector.

    For a function that is twice continuously differentiable it equals `vhp`, which is faster.

    Args:
        func: function of tensors that returns a single element.
        inputs: tensor or tuple of tensors.
        v: vector, of the structure and shapes of inputs; None for a single element.
        create_graph: True connects both results to the inputs.
        strict: True raises an error for an input that the output does not depend on; False gives zeros.

    Returns:
        The output and the product, of the structure of inputs.

    Raises:
        RuntimeError: the function returns several elements, or v has another shape.

    Example:
        >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))

    Source: PyTorch's page `torch.autograd.functional.hvp`.
    """
    return product("hvp", func, inputs, v, create_graph, strict)
