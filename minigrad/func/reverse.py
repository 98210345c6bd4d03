"""`grad`, `grad_and_value` and `vjp`: derivatives of functions, in reverse mode."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.run import grad as backward_grad
from ..core import dtypes, modes
from ..core.tensor_state import TensorBase, wrap
from . import pytree
from .argnums import Argnums, replace, wanted
from .levels import Level, Transform

GRAD = "grad_and_value(f)(*args)"
AUX = "{}: output of function f should be a tuple: (output, aux) if has_aux is True"


def split_aux(output: Any, who: str) -> Any:
    """What a function with `has_aux` returned, checked to be a pair."""
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(AUX.format(who))
    return output


def reached(
    outputs: list[Any], inputs: list[Any], given: list[Any] | None = None, create_graph: bool = True
) -> list[Any]:
    """Gradients of those outputs that have a graph; None for inputs on which none depends."""
    chosen = [i for i, out in enumerate(outputs) if out.requires_grad]
    if not chosen or not inputs:
        return [None] * len(inputs)
    found = backward_grad(
        [outputs[i] for i in chosen],
        inputs,
        None if given is None else [given[i] for i in chosen],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )
    return list(found)


def gradients(
    outputs: list[Any], inputs: list[Any], given: list[Any] | None = None, create_graph: bool = True
) -> list[Any]:
    """`reached` with zeros instead of None."""
    found = reached(outputs, inputs, given, create_graph)
    return [zeros(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def zeros(t: TensorBase) -> Any:
    """Zeros like `t` that depend on nothing."""
    return wrap(np.zeros_like(t._data)[()])


def check_outputs(output: list[Any], who: str) -> None:
    """RuntimeError with PyTorch's texts unless a function returned tensors, and at least one."""
    if not output or (len(output) == 1 and output[0] is None):
        raise RuntimeError(
            f"{who}: Expected f to be a function that has non-empty output (got output = {output})"
        )
    for out in output:
        if not isinstance(out, TensorBase):
            raise RuntimeError(
                f"{who}: expected f(*primals) to return only tensors, got unsupported type {type(out)}"
            )


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of `func`, which must return a 0-dim tensor.

    The gradient is that of the argument number `argnums`, or a tuple of gradients for a tuple of numbers; an
    argument may be a nested structure of tensors, and its gradient is one too. With `has_aux`, `func` returns
    `(output, aux)` and the result is `(gradient, aux)`. Calls can be nested for higher derivatives, and the
    result is connected to whatever outside it depends on. `no_grad` counts inside `func` only.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns `(gradient, output)` of `func`, or `(gradient, (output, aux))`: see `grad`."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        level = Level()
        with Transform("grad"):
            inner = level.enter(wanted(args, argnums))
            output = func(*replace(args, argnums, inner), **kwargs)
            aux = None
            if has_aux:
                output, aux = split_aux(output, GRAD)
            check_scalar(output)
            leaves, spec = pytree.flatten(inner)
            found = gradients([output], leaves)
            others, aux_spec = pytree.flatten(aux) if has_aux else ([], pytree.LEAF)
            result, (value,), others = map(level.outward, (found, [output], others))
            level.leave([*result, value, *others])
        gradient = pytree.unflatten(result, spec)
        return gradient, (value, pytree.unflatten(others, aux_spec)) if has_aux else value

    return wrapper


def check_scalar(output: Any) -> None:
    """RuntimeError with PyTorch's texts unless the output is a 0-dim tensor."""
    if not isinstance(output, TensorBase):
        raise RuntimeError(f"{GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
    dims = output._data.ndim
    if dims:
        raise RuntimeError(
            f"{GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {dims} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`(output, vjp_fn)`, or `(output, vjp_fn, aux)`: the result of `func(*primals)` and a function that
    takes cotangents of the structure of `output` and returns the vector-Jacobian products, one per primal.
    """
    output, vjp_fn, aux = pullback(func, primals, None, has_aux)
    return (output, vjp_fn, aux) if has_aux else (output, vjp_fn)


def pullback(
    func: Callable[..., Any], primals: tuple[Any, ...], argnums: Argnums | None, has_aux: bool
) -> tuple[Any, Callable[..., Any], Any]:
    """`vjp` for the arguments `argnums` (None: all), whose structure the products have."""
    level = Level()
    with Transform("grad"):
        if argnums is None:
            inner = level.enter(primals)
            args = inner
        else:
            inner = level.enter(wanted(primals, argnums))
            args = replace(primals, argnums, inner)
        output, aux = func(*args), None
        if has_aux:
            output, aux = split_aux(output, "vjp(f, *primals)")
            aux = pytree.apply(level.outside, aux)
        outputs, output_spec = pytree.flatten(output)
        check_outputs(outputs, "vjp(f, *primals)")
        leaves, spec = pytree.flatten(inner)
        result = pytree.unflatten(level.outward(outputs), output_spec)
        for out in outputs:
            kind = dtypes.of(out._data)
            if not (kind.is_floating_point or kind.is_complex):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                    f"with dtype torch.{kind.name}"
                )
        level.stay()

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        create = modes.is_grad_enabled() if create_graph is None else create_graph
        given, given_spec = pytree.flatten(cotangents)
        if given_spec != output_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function. cotangents: {pytree.written(given_spec)}, primal output: "
                f"{pytree.written(output_spec)}"
            )
        found = gradients(outputs, leaves, given, create)
        return pytree.unflatten(level.outward(found), spec)

    return result, vjp_fn, aux
