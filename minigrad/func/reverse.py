"""`grad`, `grad_and_value` and `vjp`: derivatives of functions, in reverse mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..autograd.functional import common
from ..autograd.functional.common import zeros_like
from ..core import dtypes, modes
from ..core.tensor_state import TensorBase
from . import pytree
from .arguments import Argnums, replace, selected
from .levels import Level, inside

GRAD, VJP = "grad_and_value(f)(*args)", "vjp(f, *primals)"
AUX = "{}: output of function f should be a tuple: (output, aux) if has_aux is True"


def split_aux(output: Any, who: str) -> Any:
    """Return the pair that a function with `has_aux` returned, after a check."""
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(AUX.format(who))
    return output


def gradients_or_none(
    outputs: list[Any], inputs: list[Any], given: list[Any] | None = None, create_graph: bool = True
) -> list[Any]:
    """Return gradients of those outputs that have a graph; None for inputs on which none depends."""
    if not inputs:
        return []
    found = common.gradients(outputs, tuple(inputs), given, retain_graph=True, create_graph=create_graph)
    if not create_graph:
        mark(found, [*outputs, *(given or ())])
    return list(found)


def mark(gradients: Iterable[Any], sources: list[Any]) -> None:
    """Note that gradients without a graph depend on the examples of `vmap` that their sources depend on."""
    marks = dict.fromkeys(batch for t in sources if isinstance(t, TensorBase) for batch in t._batched)
    for g in gradients:
        if g is not None and not g.requires_grad:
            g._batched = tuple(marks)


def gradients(
    outputs: list[Any], inputs: list[Any], given: list[Any] | None = None, create_graph: bool = True
) -> list[Any]:
    """Return the gradients of `gradients_or_none`, with zeros instead of None."""
    found = gradients_or_none(outputs, inputs, given, create_graph)
    return [zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def check_outputs(output: list[Any], who: str) -> None:
    """Raise RuntimeError with PyTorch's texts unless a function returned tensors, and at least one."""
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
    """Return a function that computes the gradient of `func`.

    Calls can be nested: `grad(grad(f))` is the second derivative. `no_grad` has an effect inside `func`, but
    not around the call.

    >>> import minigrad as torch
    >>> torch.func.grad(lambda x: x**3)(torch.tensor(2.0))
    tensor(12.)

    Args:
        func: takes tensors, or nested structures of them, and returns a 0-dim tensor.
        argnums: the number of the argument to differentiate with respect to, or a tuple of numbers.
        has_aux: `func` returns `(output, aux)`, and the new function returns `(gradient, aux)`.

    Shape:
        The gradient has the shape of its argument; for a nested structure it has that structure.

    Returns:
        A function with the parameters of `func`. Derivatives of its result can be taken again.

    Raises:
        RuntimeError: the output is no 0-dim tensor, or there is no argument of that number.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.grad.html
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
    """Return a function that computes the gradient of `func` and its output: see `grad`.

    >>> import minigrad as torch
    >>> torch.func.grad_and_value(lambda x: x**3)(torch.tensor(2.0))
    (tensor(12.), tensor(8.))

    Args:
        func: takes tensors, or nested structures of them, and returns a 0-dim tensor.
        argnums: the number of the argument to differentiate with respect to, or a tuple of numbers.
        has_aux: `func` returns `(output, aux)`, and the new function returns `(gradient, (output, aux))`.

    Shape:
        The gradient has the shape of its argument, the output has the shape ().

    Returns:
        A function with the parameters of `func` that returns `(gradient, output)`.

    Raises:
        RuntimeError: the output is no 0-dim tensor, or there is no argument of that number.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.grad_and_value.html
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        selected(args, argnums)  # None, which means all arguments to `run_inside`, is an error here
        level = Level()
        with inside("grad"):
            ran = run_inside(level, functools.partial(func, **kwargs), args, argnums, has_aux, GRAD)
            found = gradients(ran.outputs, ran.leaves, None, level.needs_graph(ran.outputs[0]))
            result, (value,), aux = level.end(found, ran.outputs, ran.aux)
        gradient = pytree.unflatten(result, ran.spec)
        return gradient, (value, pytree.unflatten(aux, ran.aux_spec)) if has_aux else value

    return wrapper


def check_scalar(output: Any) -> None:
    """Raise RuntimeError with PyTorch's texts unless the output is a 0-dim tensor."""
    if not isinstance(output, TensorBase):
        raise RuntimeError(f"{GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
    dims = output._data.ndim
    if dims:
        raise RuntimeError(
            f"{GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {dims} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return `func(*primals)` and a function that multiplies a vector v by the Jacobian J: v ↦ vᵀJ.

    >>> import minigrad as torch
    >>> output, vjp_fn = torch.func.vjp(lambda x: x**2, torch.tensor([1.0, 2.0]))
    >>> vjp_fn(torch.tensor([1.0, 10.0]))
    (tensor([ 2., 40.]),)

    Args:
        func: takes tensors, or nested structures of them, and returns one or the other.
        primals: the arguments of `func`.
        has_aux: `func` returns `(output, aux)`; `aux` is passed through and not differentiated.

    Shape:
        The vector has the structure and the shapes of the output, the product those of `primals`.

    Returns:
        `(output, vjp_fn)`, or `(output, vjp_fn, aux)`. `vjp_fn` can be called more than once.

    Raises:
        RuntimeError: an output is no floating-point or complex tensor.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.vjp.html
    """
    level = Level()
    with inside("grad"):
        ran = run_inside(level, func, primals, None, has_aux, VJP)
        result = pytree.unflatten(level.outward(ran.outputs), ran.output_spec)
        aux = pytree.unflatten(level.outward(ran.aux), ran.aux_spec)
        level.stay()

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        create = modes.is_grad_enabled() if create_graph is None else create_graph
        given, given_spec = pytree.flatten(cotangents)
        if given_spec != ran.output_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function. cotangents: {pytree.structure_text(given_spec)}, primal output: "
                f"{pytree.structure_text(ran.output_spec)}"
            )
        found = gradients(ran.outputs, ran.leaves, given, create)
        return pytree.unflatten(level.outward(found), ran.spec)

    return (result, vjp_fn, aux) if has_aux else (result, vjp_fn)


class Ran(NamedTuple):
    """What a function did at a level: inner leaves, outputs and aux, each as leaves and their structure."""

    leaves: list[Any]
    spec: Any
    outputs: list[Any]
    output_spec: Any
    aux: list[Any]
    aux_spec: Any


def run_inside(
    level: Level, func: Callable[..., Any], primals: tuple[Any, ...], argnums: Argnums | None, has_aux: bool,
    who: str,
) -> Ran:  # fmt: skip
    """Run `func` with the arguments `argnums` (None: all) replaced by leaves of this level. Raises
    RuntimeError with PyTorch's texts unless `func` returns tensors that can be differentiated, or for `GRAD`
    a 0-dim tensor.
    """
    inner = level.enter(primals if argnums is None else selected(primals, argnums))
    output = func(*(inner if argnums is None else replace(primals, argnums, inner)))
    output, aux = split_aux(output, who) if has_aux else (output, ())
    outputs, output_spec = pytree.flatten(output)
    if who == GRAD:
        check_scalar(output)
    else:
        check_outputs(outputs, who)
        for out in outputs:
            if out._data.dtype not in dtypes.DIFFERENTIABLE:
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                    f"with dtype torch.{dtypes.of(out._data).name}"
                )
    return Ran(*pytree.flatten(inner), outputs, output_spec, *pytree.flatten(aux))
