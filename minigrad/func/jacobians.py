"""`jacrev`, `jacfwd` and `hessian`: whole Jacobians of functions.

Note [Columns]
    `jacfwd` runs the function once, in forward mode, on tangents v that are inner leaves. The tangent of the
    output is then Jv, with a graph that is linear in v. Backward from w gives wᵀJ, whose graph is linear in
    w. The rows of its Jacobian with respect to w are the columns of J, and one pass computes them all.

    Forward mode ignores `no_grad` inside the function. So tangents are recorded there too, but primals count
    as constants (`modes.record_tangents`). One thing differs from PyTorch: if the Jacobian is differentiated
    again, tangents that were made before such a block keep their history in it.

    Dual numbers have one level. Inside another forward transform, `jacfwd` therefore computes rows, as
    `jacrev` does. So does the outer Jacobian of `hessian`, because a backward pass on dual numbers takes
    three times as long as a recorded one. Where the function switches the grad mode, which forward mode
    ignores, the outer Jacobian is computed by `jacfwd` after all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd.functional import notify_observers as observed
from ..autograd.functional import zeros_like_inputs
from ..autograd.run import blocks, element_rows, no_rows
from ..core import F, dtypes, modes
from ..core.dtypes import DIFFERENTIABLE
from ..core.modes import Within
from ..core.tangents import without_tangents
from ..core.tensor_state import TensorBase
from . import pytree
from .grad import VJP, input_gradients, jvp, mark, run_inside
from .levels import Level, transform_block
from .pytree import Argnums, replace, select_arguments
from .vmap import check_randomness, drawing


def refuse_complex(who: str, tree: Any, what: str) -> None:
    """Raise RuntimeError with PyTorch's text for complex tensors."""
    for i, leaf in enumerate(pytree.flatten_tree(tree)[0]):
        if isinstance(leaf, TensorBase) and dtypes.of(leaf._data).is_complex:
            raise RuntimeError(
                f"{who}: Expected all {what} to be real but received complex tensor at flattened input idx: "
                f"{i}"
            )


def jacobian_by_vjps(
    who: str, func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool,
    at_once: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the Jacobian of `func` and aux. `func` runs once; one backward pass computes `at_once` rows."""
    refuse_complex(who, args, "inputs")
    level = Level()
    with transform_block("grad"):
        ran = run_inside(level, func, args, argnums, has_aux, VJP)
        refuse_complex(who, ran.outputs, "outputs")
        rows = [rows_of(level, out, ran.leaves, at_once) for out in ran.outputs]
        parts = [blocks(column, ran.outputs, x) for column, x in zip(zip(*rows), ran.leaves)]
        aux, *result = level.end(ran.aux, *(zip(*parts) if parts else [()] * len(ran.outputs)))
    jacobian = pytree.unflatten([pytree.unflatten(row, ran.spec) for row in result], ran.output_spec)
    return jacobian, pytree.unflatten(aux, ran.aux_spec)


def rows_of(level: Level, out: Any, leaves: list[Any], at_once: int | None = None) -> list[Any]:
    """Return, for each inner leaf, the gradients of all elements of `out`; zeros without one."""
    rows = element_rows(out, tuple(leaves), out.requires_grad and level.needs_graph(out), at_once)
    mark(rows, [out])
    return [no_rows(out, leaf) if g is None else g for g, leaf in zip(rows, leaves)]


def jacobian_by_jvps(
    func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool
) -> tuple[Any, Any]:
    """Return the Jacobian of `func` and aux, from one run of `func` in forward mode. See Note [Columns]."""
    places = tuple(range(len(args))) if argnums is None else argnums
    inputs, spec = pytree.flatten_tree(select_arguments(args, places))

    def call(chosen: Any) -> Any:
        return func(*replace(args, places, chosen))

    level = Level()
    with Within(record_tangents=True):
        given, leaves = directions(level, inputs)
        primal, tangent = pytree.unflatten(inputs, spec), pytree.unflatten(given, spec)
        output, tangents, *aux = jvp(call, (primal,), (tangent,), has_aux=has_aux)
    refuse_complex("jacfwd", output, "outputs")
    outputs, output_spec = pytree.flatten_tree(output)
    with transform_block("jvp"), Within(grad_enabled=True):
        sent = pytree.flatten_tree(tangents)[0]
        starts = [level.inner(zeros_like_inputs(out)) for out in outputs]
        products = input_gradients(sent, leaves, starts)
        columns = [rows_of(level, product, starts) for product in products]
        result = []
        for parts, tangent in zip(zip(*columns), sent):
            if level.needs_graph(tangent):
                parts = (*parts, tangent.unsqueeze(0)[:0])  # no numbers, but its graph
            result.append(blocks(parts, inputs, tangent, True))
    outside = level.end(*(result or [[] for _ in outputs]))
    jacobian = pytree.unflatten([pytree.unflatten(row, spec) for row in outside], output_spec)
    return jacobian, aux[0] if has_aux else None


def directions(level: Level, inputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return tangents for `inputs`, which may be written to, and the inner leaves that they are copies of."""
    leaves = [level.inner(zeros_like_inputs(x)) if x._data.dtype in DIFFERENTIABLE else x for x in inputs]
    with without_tangents():
        return [F.clone(leaf) for leaf in leaves], leaves


def jacrev(
    func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that computes the Jacobian of `func` in reverse mode.

    `func` runs once. Then one backward pass over its graph computes many rows of the Jacobian.

    >>> import minigrad as torch
    >>> torch.func.jacrev(lambda x: x**2)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])

    Args:
        func: takes tensors, or nested structures of them, and returns one or the other.
        argnums: the number of the argument to differentiate with respect to, or a tuple of numbers.
        has_aux: `func` returns `(output, aux)`, and the new function returns `(jacobian, aux)`.
        chunk_size: how many rows a pass computes. Fewer rows need less memory. Default: up to 256.

    Shape:
        For an output of shape (*m) and an argument of shape (*n), the Jacobian has the shape (*m, *n). With
        several outputs and arguments it has the structure of the output, and in each place that of `argnums`.

    Returns:
        A function with the parameters of `func`. Derivatives of its result can be taken again.

    Raises:
        ValueError: `chunk_size` is not positive.
        RuntimeError: an input or output is complex, or an output is not a floating-point tensor.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.jacrev.html
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @observed("jacrev")
    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        select_arguments(args, argnums)
        jacobian, aux = jacobian_by_vjps("jacrev", func, args, argnums, has_aux, chunk_size)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `func` in forward mode.

    The result is that of `jacrev`, computed column by column. This is faster if the output has many more
    elements than the arguments. `func` runs once. See Note [Columns].

    >>> import minigrad as torch
    >>> torch.func.jacfwd(lambda t: torch.stack([t, t**2, t**3]))(torch.tensor(2.0))
    tensor([ 1.,  4., 12.])

    Args:
        func: takes tensors, or nested structures of them, and returns one or the other.
        argnums: the number of the argument to differentiate with respect to, or a tuple of numbers.
        has_aux: `func` returns `(output, aux)`, and the new function returns `(jacobian, aux)`.
        randomness: whether `func` may draw random numbers: "error", "same" or "different". All columns see
            the same numbers, with "different" too.

    Shape:
        As for `jacrev`: (*m, *n) for an output of shape (*m) and an argument of shape (*n).

    Returns:
        A function with the parameters of `func`. Derivatives of its result can be taken again.

    Raises:
        RuntimeError: an input or output is complex, or `func` draws random numbers and may not.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.jacfwd.html
    """

    @observed("jacfwd")
    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacfwd", args, "inputs")
        check_randomness(randomness)
        with drawing(randomness):
            if "jvp" in modes.state.transforms:
                jacobian, aux = jacobian_by_vjps("jacfwd", func, args, argnums, has_aux)
            else:
                jacobian, aux = jacobian_by_jvps(func, args, argnums, has_aux)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `func`: the Jacobian of its Jacobian.

    `func` runs once, its gradient is computed with a graph, and a pass over that graph computes the rows.

    >>> import minigrad as torch
    >>> torch.func.hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])

    Args:
        func: takes tensors, or nested structures of them, and returns one or the other.
        argnums: the number of the argument to differentiate with respect to, or a tuple of numbers.

    Shape:
        (*m, *n, *n) for an output of shape (*m) and an argument of shape (*n); (*n, *n) for a scalar output.

    Returns:
        A function with the parameters of `func`. Derivatives of its result can be taken again.

    Raises:
        RuntimeError: an input or output is complex, or `func` draws random numbers.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.hessian.html
    """
    inner = jacrev(func, argnums)

    @observed("hessian")
    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        before = modes.grad_switches
        with drawing("error"):
            result = jacobian_by_vjps("jacfwd", inner, args, argnums, False)[0]
        if modes.grad_switches != before:  # by `func`: forward mode ignores that, see Note [Columns]
            return jacfwd(inner, argnums)(*args)
        return result

    return wrapper
