"""`jacrev`, `jacfwd` and `hessian`: whole Jacobians of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import F, dtypes
from ..core.tensor_state import TensorBase, wrap
from . import pytree
from .argnums import Argnums, wanted
from .forward import pushforward
from .mapping import check_randomness
from .reverse import pullback, zeros


def refuse_complex(who: str, tree: Any, what: str) -> None:
    """RuntimeError with PyTorch's text for complex tensors."""
    for i, leaf in enumerate(pytree.flatten(tree)[0]):
        if isinstance(leaf, TensorBase) and dtypes.of(leaf._data).is_complex:
            raise RuntimeError(
                f"{who}: Expected all {what} to be real but received complex tensor at flattened input idx: "
                f"{i}"
            )


def units(leaves: list[Any]) -> list[list[Any]]:
    """For each element of all leaves together, leaves of zeros with 1 at the position of that element."""
    result = []
    for n, leaf in enumerate(leaves):
        for k in range(leaf.numel()):
            flat = np.zeros(leaf.numel(), leaf._data.dtype)
            flat[k] = 1
            unit = [zeros(other) for other in leaves]
            unit[n] = wrap(flat.reshape(leaf._data.shape)[()])
            result.append(unit)
    return result


def shaped(parts: list[Any], dim: int, outer: Any, inner: Any, like: Any) -> Any:
    """Rows (or columns) side by side along `dim`, in the shape of the Jacobian of `outer` by `inner`."""
    shape = (*outer.shape, *inner.shape)
    return (F.stack(parts, dim) if parts else wrap(np.zeros(shape, like._data.dtype))).reshape(shape)


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func` with respect to the arguments `argnums`, in reverse
    mode: `func` runs once, and backward once for each element of its output.

    Of each output, per argument, a tensor of the output's sizes followed by the argument's, in the structure
    of the output, and inside it that of the arguments. With `has_aux` the result is `(jacobian, aux)`.
    `chunk_size`, how many rows PyTorch computes together, makes no difference here.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacrev", args, "inputs")
        output, vjp_fn, aux = pullback(func, args, argnums, has_aux)
        outputs, output_spec = pytree.flatten(output)
        refuse_complex("jacrev", outputs, "outputs")
        inputs, input_spec = pytree.flatten(wanted(args, argnums))
        rows = [pytree.flatten(vjp_fn(pytree.unflatten(u, output_spec)))[0] for u in units(outputs)]
        result, start = [], 0
        for out in outputs:
            mine = rows[start : start + out.numel()]
            start += out.numel()
            parts = [shaped([row[n] for row in mine], 0, out, x, x) for n, x in enumerate(inputs)]
            result.append(pytree.unflatten(parts, input_spec))
        jacobian = pytree.unflatten(result, output_spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func` as `jacrev` does, in forward mode: `func` runs once
    for each element of the arguments `argnums` (PyTorch batches these runs into one)."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacfwd", args, "inputs")
        check_randomness(randomness)
        chosen = args if argnums is None else wanted(args, argnums)
        inputs, input_spec = pytree.flatten(chosen)
        columns: list[list[Any]] = []
        output: Any = None
        aux: Any = None
        for unit in units(inputs) or [[zeros(x) for x in inputs]]:
            tangent = pytree.unflatten(unit, input_spec)
            tangent = (tangent,) if isinstance(argnums, int) else tangent
            output, found, other = pushforward(func, args, tangent, argnums, has_aux=has_aux)
            aux = aux if columns else other
            refuse_complex("jacfwd", output, "outputs")
            columns.append(pytree.flatten(found)[0])
        outputs, output_spec = pytree.flatten(output)
        result = []
        for n, out in enumerate(outputs):
            parts, start = [], 0
            for x in inputs:
                mine = columns[start : start + x.numel()]
                start += x.numel()
                parts.append(shaped([column[n] for column in mine], -1, out, x, out))
            result.append(pytree.unflatten(parts, input_spec))
        jacobian = pytree.unflatten(result, output_spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of `func`: `jacfwd(jacrev(func))`."""
    return jacfwd(jacrev(func, argnums), argnums)
