"""Products of a Jacobian or Hessian with a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.modes import Within
from ...core.tensor_state import TensorBase
from .common import as_tuple, check_strict, check_v, enter, filled, gradients, leave, unpacked, zeros_like

NO_V_OUTPUT = (
    "The vector v can only be None if the user-provided function returns a single Tensor with a single "
    "element."
)
NO_V_INPUT = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
    "single element."
)
OUTPUTS = "outputs of the user-provided function"
Result = tuple[Any, Any]


def vector(
    v: Any, who: str, like: tuple[Any, ...], like_given: bool, create_graph: bool, missing: str
) -> tuple[Any, ...] | None:
    """Return the vector of a product, checked against the tensors it must be like; None if it may be left
    out.
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(missing)
        return None
    v = enter(as_tuple(v, "v", who)[1], create_graph, need_graph=False)
    check_v(v, like, like_given)
    return v


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Result:
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
    with Within(grad_enabled=True):
        inputs_given, inputs = as_tuple(inputs, "inputs", "vjp")
        inputs = enter(inputs, create_graph)
        outputs_given, outputs = as_tuple(func(*inputs), OUTPUTS, "vjp")
        check_strict(outputs, "outputs", strict)
        v = vector(v, "vjp", outputs, outputs_given, create_graph, NO_V_OUTPUT)
    found = gradients(outputs, inputs, v, create_graph=create_graph)
    product = filled(found, inputs, strict, create_graph, "back")
    return results(outputs, outputs_given, product, inputs_given, create_graph)


def results(
    outputs: Any, outputs_given: bool, product: Any, product_given: bool, create_graph: bool
) -> Result:
    """Return output and product as the caller gets them."""
    outputs, product = leave(outputs, create_graph), leave(product, create_graph)
    return unpacked(outputs, outputs_given), unpacked(product, product_given)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Result:
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
    with Within(grad_enabled=True):
        inputs_given, inputs = as_tuple(inputs, "inputs", "jvp")
        inputs = enter(inputs, create_graph)
        v = vector(v, "jvp", inputs, inputs_given, create_graph, NO_V_INPUT)
        outputs_given, outputs = as_tuple(func(*inputs), OUTPUTS, "jvp")
        check_strict(outputs, "outputs", strict)
        starts = tuple(zeros_like(out, requires_grad=True) for out in outputs)  # any numbers would do
        back = gradients(outputs, inputs, starts, create_graph=True)
        check_strict(back, "grad_inputs", strict)
    found = gradients(back, starts, v, create_graph=create_graph)
    product = filled(found, outputs, strict, create_graph, "back_trick")
    return results(outputs, outputs_given, product, outputs_given, create_graph)


def first_derivative(
    func: Callable[..., Any], inputs: tuple[Any, ...], who: str, strict: bool
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the one-element output of `func` as a tuple, and its gradients with their graph."""
    given, outputs = as_tuple(func(*inputs), OUTPUTS, who)
    check_strict(outputs, "outputs", strict)
    if given or not isinstance(outputs[0], TensorBase):
        raise RuntimeError(f"The function given to {who} should return a single Tensor")
    if outputs[0]._data.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {who} should contain a single element"
        )
    found = gradients(outputs, inputs, create_graph=True)
    check_strict(found, "jacobian", strict)
    return outputs, found


def of_hessian(
    who: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool
) -> Result:
    """Return the results of `vhp`, or of `hvp`, which differentiates once more.

    The product is linear in the tensors that it starts from.
    """
    with Within(grad_enabled=True):
        given, inputs = as_tuple(inputs, "inputs", who)
        inputs = enter(inputs, create_graph)
        v = vector(v, who, inputs, given, create_graph, NO_V_INPUT)
        outputs, back = first_derivative(func, inputs, who, strict)
        starts, stage = inputs, "double_back"
        if who == "hvp":
            starts, stage = tuple(zeros_like(x, requires_grad=True) for x in inputs), "double_back_trick"
            back = gradients(back, inputs, starts, create_graph=True)
    found = gradients(back, starts, v, create_graph=create_graph)
    product = filled(found, inputs, strict, create_graph, stage)
    return results(outputs, False, product, given, create_graph)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Result:
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
    return of_hessian("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Result:
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
    return of_hessian("hvp", func, inputs, v, create_graph, strict)
