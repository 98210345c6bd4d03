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
    """`(func(*inputs), vᵀJ)`: the vector-Jacobian product, of the structure of `inputs`.

    `v` has the structure and sizes of the output and may be left out for one element. `create_graph`: both
    results are connected to the inputs. `strict`: an error, not zeros, for inputs on which nothing depends.
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
    """`(func(*inputs), Jv)`: the Jacobian-vector product, of the structure of the output.

    It is the backward of the backward: vᵀJ is linear in v, and its own Jacobian is Jᵀ. `v` has the structure
    and sizes of `inputs`; for the rest see `vjp`.
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
    """`(func(*inputs), vᵀH)` for the Hessian H of a function with one element: see `vjp`."""
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
    """`(func(*inputs), Hv)` for the Hessian H of a function with one element: see `vjp`.

    For a function that is twice continuously differentiable it equals `vhp`, which is faster.
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
