"""What the products and Jacobians share: inputs and results, strict mode, gradients that may be missing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import F, modes
from ...core.tensor_state import TensorBase, wrap
from ..run import grad

NO_GRADIENT = {  # by what it is that does not require grad; in strict mode
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {} is independent of the inputs of the user-provided "
    "function. This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {} is independent of the input. This is not allowed in strict mode. You should ensure "
    "that your function is twice differentiable and that the jacobian depends on the inputs (this would be "
    "violated by a linear function for example).",
}
MISSING = {  # by stage: the gradient of an input is None; in strict mode
    "back": "The output of the user-provided function is independent of input {}. This is not allowed in "
    "strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {} in the grad_outputs "
    "when using the double backward trick to compute forward mode gradients. This is not allowed in strict "
    "mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {}. This is not "
    "allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {} in the "
    "grad_jacobian. This is not allowed in strict mode as it prevents from using the double backward trick "
    "to replace forward mode AD.",
}


def observed(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for what a transform called `name` has made: observers learn when it runs."""

    def decorate(run: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(run)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not modes.active:
                return run(*args, **kwargs)
            result = None
            modes.notify("transform_starts")
            try:
                result = run(*args, **kwargs)
                return result
            finally:
                modes.notify("transform_ended", name, args, result)

        return call

    return decorate


def as_tuple(value: Any, what: str, who: str) -> tuple[bool, tuple[Any, ...]]:
    """Return whether `value` is a tuple, and it as a tuple of tensors; raise TypeError for other values."""
    given = isinstance(value, tuple)
    values = value if given else (value,)
    for i, item in enumerate(values):
        if not isinstance(item, TensorBase):
            which = f"value at index {i}" if given else f"given {what}"
            raise TypeError(
                f"The {what} given to {who} must be either a Tensor or a tuple of Tensors but the {which} "
                f"has type {type(item)}."
            )
    return given, values


def enter(inputs: tuple[Any, ...], create_graph: bool, need_graph: bool = True) -> tuple[Any, ...]:
    """Return new tensors on the memory of `inputs`, so that other uses of the same tensors do not count.

    They are connected to the inputs under `create_graph`.
    """
    result = []
    for t in inputs:
        connected = create_graph and t.requires_grad
        result.append(F.view(t, t._data.shape) if connected else t.detach().requires_grad_(need_graph))
    return tuple(result)


def leave(results: Any, create_graph: bool) -> Any:
    """Return results, or tuples of them, without their history unless `create_graph`."""
    if not isinstance(results[0], TensorBase):
        return tuple(leave(part, create_graph) for part in results)
    return results if create_graph else tuple(t.detach() for t in results)


def check_strict(tensors: Any, kind: str, strict: bool) -> None:
    """Raise RuntimeError in strict mode if one of `tensors` is missing or does not require grad.

    `kind` is a key of `NO_GRADIENT`.
    """
    if not strict:
        return
    for i, t in enumerate(tensors):
        if t is None:
            raise RuntimeError(MISSING["back"].format(i))
        if not t.requires_grad:
            raise RuntimeError(NO_GRADIENT[kind].format(i))


def called(
    func: Any, inputs: tuple[Any, ...], who: str, strict: bool, single: bool = False
) -> tuple[bool, tuple[Any, ...]]:
    """Return whether `func` returns a tuple, and its outputs as one. Raise PyTorch's errors for outputs that
    are no tensors, in strict mode for those without a graph, and where a `single` element is needed.
    """
    given, outputs = as_tuple(func(*inputs), "outputs of the user-provided function", who)
    check_strict(outputs, "outputs", strict)
    if single and given:
        raise RuntimeError(f"The function given to {who} should return a single Tensor")
    if single and outputs[0]._data.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {who} should contain a single element"
        )
    return given, outputs


def gradients(
    outputs: Any, inputs: tuple[Any, ...], grad_outputs: Any = None, **options: Any
) -> tuple[Any, ...]:
    """Return the gradients of `autograd.grad` without outputs that are None or need no gradient.

    They are None for inputs that are not reached.
    """
    given = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    chosen = [(out, g) for out, g in zip(outputs, given) if out is not None and out.requires_grad]
    if not chosen:
        return (None,) * len(inputs)
    roots, starts = zip(*chosen)
    return grad(roots, inputs, None if grad_outputs is None else starts, allow_unused=True, **options)


def zeros_like(t: Any, requires_grad: bool = False) -> Any:
    """Return zeros of the shape and dtype of `t`."""
    zeros = wrap(np.zeros_like(t._data)[()])
    return zeros.requires_grad_() if requires_grad else zeros


def filled(grads: Any, like: Any, strict: bool, create_graph: bool, stage: str) -> tuple[Any, ...]:
    """Return gradients with zeros for missing ones, which in strict mode are an error (see `MISSING`)."""
    result = []
    for i, (g, t) in enumerate(zip(grads, like)):
        if g is None:
            if strict:
                raise RuntimeError(MISSING[stage].format(i))
            g = zeros_like(t)
        elif strict and create_graph and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed "
                "in strict mode when create_graph=True."
            )
        result.append(g)
    return tuple(result)


def unpacked(results: tuple[Any, ...], keep: bool) -> Any:
    """Return a tuple, or its one item where a tensor was given instead of a tuple."""
    return results if keep else results[0]
