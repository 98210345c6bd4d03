"""Products of a Jacobian or Hessian with a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.hook_calls import Mode
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
    """The vector of a product, checked against the tensors it must be like; None if it may be left out."""
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
    """Return `func(*inputs)` and the product of a vector and its Jacobian J, vᵀJ.

    >>> import minigrad as torch
    >>> x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    >>> torch.autograd.functional.vjp(lambda x: x**2, x, v)
    (tensor([1., 4.]), tensor([ 2., 40.]))

    Args:
        func: takes tensors and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors, the arguments of `func`.
        v: the vector, with the structure of the output. It may be left out if the output is one element.
        create_graph: connect the result to `inputs`, so that it can be differentiated again.
        strict: raise an error, instead of returning zeros, if something does not depend on an input.

    Shape:
        `v` has the shapes of the output, the product those of `inputs`.

    Returns:
        `(output, product)`.

    Raises:
        TypeError: an input or output is no tensor.
        RuntimeError: `v` is left out or has the wrong size, or `strict` finds something that does not
            depend on an input.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.vjp.html
    """
    with Mode(True):
        inputs_given, inputs = as_tuple(inputs, "inputs", "vjp")
        inputs = enter(inputs, create_graph)
        outputs_given, outputs = as_tuple(func(*inputs), OUTPUTS, "vjp")
        check_strict(outputs, "outputs", strict)
        v = vector(v, "vjp", outputs, outputs_given, create_graph, NO_V_OUTPUT)
    with Mode(create_graph or modes.is_grad_enabled()):
        found = gradients(outputs, inputs, v, create_graph=create_graph)
        product = filled(found, inputs, strict, create_graph, "back")
    return results(outputs, outputs_given, product, inputs_given, create_graph)


def results(
    outputs: Any, outputs_given: bool, product: Any, product_given: bool, create_graph: bool
) -> Result:
    """Output and product as the caller gets them."""
    outputs, product = leave(outputs, create_graph), leave(product, create_graph)
    return unpacked(outputs, outputs_given), unpacked(product, product_given)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Result:
    """Return `func(*inputs)` and the product of its Jacobian J and a vector, Jv.

    It is computed by two backward passes: vᵀJ is linear in v, and the Jacobian of that product is Jᵀ.

    >>> import minigrad as torch
    >>> x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    >>> torch.autograd.functional.jvp(lambda x: x**2, x, v)
    (tensor([1., 4.]), tensor([ 2., 40.]))

    Args:
        func: takes tensors and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors, the arguments of `func`.
        v: the vector, with the structure of `inputs`. It may be left out if the input is one element.
        create_graph: connect the result to `inputs`, so that it can be differentiated again.
        strict: raise an error, instead of returning zeros, if something does not depend on an input.

    Shape:
        `v` has the shapes of `inputs`, the product those of the output.

    Returns:
        `(output, product)`.

    Raises:
        TypeError: an input or output is no tensor.
        RuntimeError: `v` is left out or has the wrong size, or `strict` finds something that does not
            depend on an input.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.jvp.html
    """
    with Mode(True):
        inputs_given, inputs = as_tuple(inputs, "inputs", "jvp")
        inputs = enter(inputs, create_graph)
        v = vector(v, "jvp", inputs, inputs_given, create_graph, NO_V_INPUT)
        outputs_given, outputs = as_tuple(func(*inputs), OUTPUTS, "jvp")
        check_strict(outputs, "outputs", strict)
        starts = tuple(zeros_like(out, requires_grad=True) for out in outputs)  # any numbers would do
        back = gradients(outputs, inputs, starts, create_graph=True)
        check_strict(back, "grad_inputs", strict)
    with Mode(create_graph or modes.is_grad_enabled()):
        found = gradients(back, starts, v, create_graph=create_graph)
        product = filled(found, outputs, strict, create_graph, "back_trick")
    return results(outputs, outputs_given, product, outputs_given, create_graph)


def first_derivative(
    func: Callable[..., Any], inputs: tuple[Any, ...], who: str, strict: bool
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The one-element output of `func` as a tuple, and its gradients with their graph."""
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


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Result:
    """Return `func(*inputs)` and the product of a vector and its Hessian H, vᵀH.

    >>> import minigrad as torch
    >>> x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), x, v)
    (tensor(9.), tensor([  6., 120.]))

    Args:
        func: takes tensors and returns a tensor with one element.
        inputs: a tensor or a tuple of tensors, the arguments of `func`.
        v: the vector, with the structure of `inputs`. It may be left out if the input is one element.
        create_graph: connect the result to `inputs`, so that it can be differentiated again.
        strict: raise an error, instead of returning zeros, if something does not depend on an input.

    Shape:
        `v` and the product have the shapes of `inputs`.

    Returns:
        `(output, product)`.

    Raises:
        TypeError: an input or output is no tensor.
        RuntimeError: `func` returns more than one element, `v` is left out or has the wrong size, or
            `strict` finds something that does not depend on an input.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.vhp.html
    """
    with Mode(True):
        given, inputs = as_tuple(inputs, "inputs", "vhp")
        inputs = enter(inputs, create_graph)
        v = vector(v, "vhp", inputs, given, create_graph, NO_V_INPUT)
        outputs, first = first_derivative(func, inputs, "vhp", strict)
    with Mode(create_graph or modes.is_grad_enabled()):
        found = gradients(first, inputs, v, create_graph=create_graph)
        product = filled(found, inputs, strict, create_graph, "double_back")
    return results(outputs, False, product, given, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Result:
    """Return `func(*inputs)` and the product of its Hessian H and a vector, Hv.

    For a function that is twice continuously differentiable it equals `vhp`, which is faster.

    >>> import minigrad as torch
    >>> x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), x, v)
    (tensor(9.), tensor([  6., 120.]))

    Args:
        func: takes tensors and returns a tensor with one element.
        inputs: a tensor or a tuple of tensors, the arguments of `func`.
        v: the vector, with the structure of `inputs`. It may be left out if the input is one element.
        create_graph: connect the result to `inputs`, so that it can be differentiated again.
        strict: raise an error, instead of returning zeros, if something does not depend on an input.

    Shape:
        `v` and the product have the shapes of `inputs`.

    Returns:
        `(output, product)`.

    Raises:
        TypeError: an input or output is no tensor.
        RuntimeError: `func` returns more than one element, `v` is left out or has the wrong size, or
            `strict` finds something that does not depend on an input.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.hvp.html
    """
    with Mode(True):
        given, inputs = as_tuple(inputs, "inputs", "hvp")
        inputs = enter(inputs, create_graph)
        v = vector(v, "hvp", inputs, given, create_graph, NO_V_INPUT)
        outputs, first = first_derivative(func, inputs, "hvp", strict)
        starts = tuple(zeros_like(x, requires_grad=True) for x in inputs)
        back = gradients(first, inputs, starts, create_graph=True)
        check_strict(first, "hessian", strict)
    with Mode(create_graph or modes.is_grad_enabled()):
        found = gradients(back, starts, v, create_graph=create_graph)
        product = filled(found, inputs, strict, create_graph, "double_back_trick")
    return results(outputs, False, product, given, create_graph)
